"""The asyncio side: runs solvers ahead of the tests."""
