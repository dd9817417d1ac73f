"""Lists the commands of this room."""

from epigym.command.help import doors, listing

print(listing(doors("search"), "python -m "))
