"""What a Word file says besides its letters: parts, headings, fields, formulas, symbols, notes."""
