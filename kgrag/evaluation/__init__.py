"""Measuring retrieval: query sets, run files, measures, experiments and reports."""
