"""Tables and pictures of trainings."""
