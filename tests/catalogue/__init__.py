"""Wrong and extreme inputs with the answers of epigym."""
