"""Trainings in which parts of the head are held or given, and random initial weights."""
