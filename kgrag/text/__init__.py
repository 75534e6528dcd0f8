"""The front end: words, numbers, times, places, organs, titles and terms of any text."""
