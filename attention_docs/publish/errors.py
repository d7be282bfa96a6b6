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
    message: object = error
    frames = traceback.extract_tb(error.__traceback__)
    lines = [(frame.filename, frame.lineno) for frame in frames]
    if isinstance(error, SyntaxError):
        message = error.msg  # str(error) would repeat the file and the line
        # The file with the error was never executed, so the traceback lacks it.
        lines.append((error.filename or "", error.lineno))
    location = ""
    for file, line in lines:
        if Path(file).is_relative_to(root):  # the innermost of the project is the last
            location = f"{Path(file).relative_to(root).as_posix()}:{line}: "
    return f"{location}{type(error).__name__}: {message}"
