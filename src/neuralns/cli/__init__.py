"""The command line: one file for each command, all thin."""

import sys


def main() -> None:
    """Run the command line; an error raised on purpose becomes one sentence and exit code 2."""
    from neuralns.cli.app import app
    from neuralns.errors import NeuralnsError

    try:
        app()
    except NeuralnsError as error:
        # Names and values taken from files can break lines.
        print(f"neuralns: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output, such as head, has left.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        print(f"neuralns: output cannot be written ({error.strerror or error}).", file=sys.stderr)
        sys.exit(2)
