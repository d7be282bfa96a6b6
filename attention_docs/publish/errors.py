"""What stops a build, and how it is told."""

import errno
import traceback
from pathlib import Path


class PublishError(Exception):
    """Something in the project cannot be published; the message says what and where."""


def told(error: Exception, root: Path) -> str:
    """Say what stops a build; of an error in the project's own code, name its file and line.

    Args:
        error: what was raised.
        root: the folder of the project.

    >>> try:
    ...     compile("1 +", "/project/docs/page.py", "exec")
    ... except SyntaxError as error:
    ...     print(told(error, Path("/project")))
    docs/page.py:1: SyntaxError: invalid syntax
    """
    # By its name, because the package is imported anew while a site is served.
    if type(error).__name__ == PublishError.__name__:
        return str(error)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk is full"
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        frames.append((error.filename or "", error.lineno))
    own = [(file, line) for file, line in frames if Path(file).is_relative_to(root)]
    places = [f"{Path(file).relative_to(root).as_posix()}:{line}: " for file, line in own]
    what = error.msg if isinstance(error, SyntaxError) else error
    return f"{places[-1] if places else ''}{type(error).__name__}: {what}"
