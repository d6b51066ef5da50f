"""The command line: one file for each command, all thin."""

import os
import sys


def main() -> None:
    """Run the command line; an error raised on purpose becomes one sentence and exit code 2."""
    from neuralns.cli.app import app
    from neuralns.errors import NeuralnsError

    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except NeuralnsError as error:
        # Names and values taken from files can break lines.
        print(f"neuralns: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output, such as head, has left.
        _drop_output()
        sys.exit(0)
    except OSError as error:
        _drop_output()
        print(f"neuralns: output cannot be written ({error.strerror or error}).", file=sys.stderr)
        sys.exit(2)


def _drop_output() -> None:
    """Let what is still buffered for stdout go nowhere, or Python tries once more to write it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
