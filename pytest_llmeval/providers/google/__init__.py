"""Gemini's API, at Google AI and Vertex AI."""
