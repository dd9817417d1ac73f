"""Linear models over relational features."""
