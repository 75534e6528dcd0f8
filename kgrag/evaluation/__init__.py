"""Evaluation of retrieval and of answers: gold, runs, measures, judges, reports."""
