"""Parsing of questions: what is asked for, about what, where and when."""
