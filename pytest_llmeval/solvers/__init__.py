"""The solvers: async pipelines from a sample to a completion, over the ports of `context`."""
