"""Networks and linear models, their files, and scoring."""
