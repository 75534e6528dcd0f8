"""Verification of answers: offline checks, and loops in which a model judges and revises."""
