"""Scorers and assertions; sldp, pddl, eed and judge are cores that can be imported alone."""
