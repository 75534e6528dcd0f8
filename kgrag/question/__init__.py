"""Analysis of questions by rules: intent, subject, time and place."""
