"""Measuring answers: asked, scored without a model, judged by one, compared with others."""
