"""The errors and warnings that neuralns raises on purpose: one sentence each, naming what is wrong and where."""


class NeuralnsError(Exception):
    """Base of all errors raised on purpose; the command line prints its sentence and exits with 2."""


class InputError(NeuralnsError, ValueError):
    """A file, name or value given by the user cannot be used."""


class OperatorError(NeuralnsError, ValueError):
    """An operator does not keep its contract; the sentence names the operator."""


class InputWarning(UserWarning):
    """Something given by the user cannot be honoured, or lies outside what it was made for, and the work goes on."""


def how_to_install(*extras: str) -> str:
    """Return the command that installs what an optional part needs; the package is on no index.

    >>> how_to_install("train", "plot")
    "pip install '.[train,plot]' in the project's folder"
    """
    return f"pip install '.[{','.join(extras)}]' in the project's folder"
