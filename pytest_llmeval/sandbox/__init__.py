"""Running programs that a model wrote: in a child without network, files or endless time."""
