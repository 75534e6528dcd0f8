"""Evaluation of retrieval and answers: gold, runs, measures, judges, reports."""
