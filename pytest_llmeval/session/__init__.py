"""Options to settings, a run, its conclusion; knows no pytest, so the command line uses it too."""
