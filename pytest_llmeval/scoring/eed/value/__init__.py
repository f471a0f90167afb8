"""Values of expressions, and equality by value."""
