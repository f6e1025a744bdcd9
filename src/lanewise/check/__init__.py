"""Checking models against each other: case files, generators, sweeps, fuzzing."""
