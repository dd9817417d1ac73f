"""Files that appear complete or not at all, and files that carry their checksum."""
