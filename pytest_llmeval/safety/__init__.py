"""What stands before hostile files and texts: regular files only, printable text, no keys in it."""
