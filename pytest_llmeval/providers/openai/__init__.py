"""OpenAI's protocol: chat completions and the Responses API."""
