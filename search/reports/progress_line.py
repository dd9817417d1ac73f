"""The progress of a search on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.live import Live
from rich.text import Text

from search.agents.result import SearchResult, SearchStatus
from search.agents.run import Counts


class ProgressLine(Live):
    """A line that disappears at the end; nothing where the console is no terminal.

    It has no thread of its own: a process with threads cannot be copied for a search.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )

    def show(self, progress: Counts | SearchResult) -> None:
        """Show counts or a result of the running search."""
        text = Text(describe_progress(progress), no_wrap=True, overflow="ellipsis")
        self.update(text, refresh=True)


def describe_progress(progress: Counts | SearchResult) -> str:
    """One line about a running search: e-states, the best plan until now, or the check that there is none."""
    if isinstance(progress, Counts):
        return f"searching: {progress.expanded:,} e-states expanded, {progress.distinct:,} reached"
    if progress.status is SearchStatus.UNSOLVABLE:
        return f"no plan: the reference has {progress.proof or 'checked nothing yet'}"
    if progress.plan_length is not None:
        return f"searching for a plan of fewer than {progress.plan_length} actions"
    return progress.verdict
