"""Extraction of metadata: title, number, issuers, dates, kind, region."""
