"""The laboratory as a library: drives, jobs, results and sweeps for scripts and notebooks.

What is public stands in `drivelab` itself (`import drivelab as dl`); the modules here are where it
is made.
"""
