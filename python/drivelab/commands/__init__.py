"""The commands, one file for each group: arguments in, the laboratory's answer out."""
