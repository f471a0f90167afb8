"""Scorers and assertions; each of sldp, eed and judge is a core that can be imported alone."""
