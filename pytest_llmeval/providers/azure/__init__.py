"""Deployments at Azure OpenAI."""
