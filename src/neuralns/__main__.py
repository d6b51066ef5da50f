"""The command, as ``python -m neuralns``."""

from neuralns.cli import main

if __name__ == "__main__":
    main()
