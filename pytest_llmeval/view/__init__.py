"""The pages of `llmeval view` over a folder of runs, and the local server that gives them."""
