"""The error that stops a build, and one-line messages for any error."""

import traceback
from pathlib import Path


class PublishError(Exception):
    """Something in the project cannot be published; the message names its location."""


def format_error(error: Exception, root: Path) -> str:
    """Return an error in one line, with file and line if it passed through the project's code.

    >>> try:
    ...     compile("1 +", "/project/docs/page.py", "exec")
    ... except SyntaxError as error:
    ...     print(format_error(error, Path("/project")))
    docs/page.py:1: SyntaxError: invalid syntax
    """
    # Not isinstance: a preview imports the package again for each build, with a new PublishError.
    if type(error).__name__ == PublishError.__name__:
        return str(error)
    # str(error) of a syntax error would repeat the file and the line.
    message = error.msg if isinstance(error, SyntaxError) else error
    return f"{location_in_project(error, root)}{type(error).__name__}: {message}"


def location_in_project(error: Exception, root: Path) -> str:
    """Return the innermost line of the project's code in a traceback as `file:line: `, if any."""
    lines = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        # The file with the error was never executed, so the traceback lacks it.
        lines.append((error.filename or "", error.lineno))
    for file, line in reversed(lines):
        if Path(file).is_relative_to(root):
            return f"{Path(file).relative_to(root).as_posix()}:{line}: "
    return ""
