"""The command line: one file for each command, all thin."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

from neuralns.errors import InputWarning, NeuralnsError

TERMINATED = 128 + signal.SIGTERM
"""Exit code of a command that SIGTERM has ended."""


def main() -> None:
    """Run the command line; an error raised on purpose becomes one sentence and exit code 2."""
    terminated: list[int] = []
    try:
        with _sigterm_as_ctrl_c(terminated):
            _run()
    except (KeyboardInterrupt, SystemExit) as end:
        if terminated:
            if isinstance(end, KeyboardInterrupt):
                _say("stopped by SIGTERM.")
            sys.exit(TERMINATED)
        if isinstance(end, SystemExit):
            raise
        # Searches and trainings answer it themselves; this one came before or after their work.
        _say("stopped by SIGINT.")
        sys.exit(130)


@contextmanager
def _sigterm_as_ctrl_c(seen: list[int]) -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does, keeping what it has done, and note it; a second one ends it at once."""
    main_thread = threading.current_thread() is threading.main_thread()
    if not main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        # What a parent has it ignore stays ignored.
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        seen.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _run() -> None:
    try:
        from neuralns.cli.app import app
        from neuralns.cli.printing import take_any_text

        take_any_text()
        try:
            with _plain_warnings():
                app()
        finally:
            sys.stdout.flush()
    except NeuralnsError as error:
        _say(error)
        sys.exit(2)
    except MemoryError:
        _say("the memory of this machine is not enough; take fewer customers, operators without history, or workers.")
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output, such as head, has left.
        _drop_output()
        sys.exit(0)
    except OSError as error:
        _drop_output()
        print(f"neuralns: output cannot be written ({error.strerror or error}).", file=sys.stderr)
        sys.exit(2)


def _say(sentence: object) -> None:
    from neuralns.cli.printing import clean

    # Names and values taken from files can break lines.
    print(f"neuralns: {clean(' '.join(str(sentence).split()))}", file=sys.stderr)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Let every `InputWarning` be one sentence, said once; all other warnings are shown as before."""
    show = warnings.showwarning
    said: set[str] = set()

    def show_plainly(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, InputWarning):
            show(message, category, filename, lineno, file, line)
        elif str(message) not in said:
            said.add(str(message))
            _say(message)

    warnings.showwarning = show_plainly
    try:
        yield
    finally:
        warnings.showwarning = show


def _drop_output() -> None:
    """Let what is still buffered for stdout go nowhere, or Python tries once more to write it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
