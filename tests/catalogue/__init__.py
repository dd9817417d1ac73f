"""Wrong and extreme inputs, and what epigym answers."""
