"""The error that stops a build, and one-line messages for any error."""

import traceback
from pathlib import Path


class PublishError(Exception):
    """Something in the project cannot be published; the message names its location."""


def format_error(error: Exception, root: Path) -> str:
    """Return an error in one line, with file and line if the project's code raised it.

    Args:
        error: the exception.
        root: the folder of the project.

    >>> try:
    ...     compile("1 +", "/project/docs/page.py", "exec")
    ... except SyntaxError as error:
    ...     print(format_error(error, Path("/project")))
    docs/page.py:1: SyntaxError: invalid syntax
    """
    # Not isinstance: a preview imports the package again for each build, with a new PublishError.
    if type(error).__name__ == PublishError.__name__:
        return str(error)
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        frames.append((error.filename or "", error.lineno))
    project_frames = [(file, line) for file, line in frames if Path(file).is_relative_to(root)]
    location = ""
    if project_frames:
        file, line = project_frames[-1]
        location = f"{Path(file).relative_to(root).as_posix()}:{line}: "
    message = error.msg if isinstance(error, SyntaxError) else error
    return f"{location}{type(error).__name__}: {message}"
