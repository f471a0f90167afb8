"""General solvers: async pipelines from a sample to a completion, for any benchmark."""
