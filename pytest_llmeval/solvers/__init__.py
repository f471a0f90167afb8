"""General solvers: async pipelines from a sample to a completion, of no domain."""
