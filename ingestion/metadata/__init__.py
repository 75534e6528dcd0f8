"""What a document says of itself: title, number, issuers, dates, kind, region."""
