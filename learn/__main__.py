"""Lists the commands of this room."""

from epigym.cli.help import doors, listing

print(listing(doors("learn"), "python -m "))
