"""The tests of SNIA's Solid State Storage Performance Test Specification (PTS), 2.0.x."""
