"""Reading LaTeX as physicists and mathematicians write it."""
