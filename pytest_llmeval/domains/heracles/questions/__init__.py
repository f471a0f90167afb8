"""Questions about any loaded graph: schema, templates, drawing, and the two solutions of each."""
