"""Figures for papers, drawn by matplotlib (extra ``figures``)."""
