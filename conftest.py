"""Loads the plugin in a checkout that is not installed.

Once it is installed, pytest finds it by its entry point.
"""

pytest_plugins = ["pytest_llmeval.plugin"]
