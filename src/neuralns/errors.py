"""The errors and warnings that neuralns raises on purpose: one sentence each, naming what is wrong and where."""


class NeuralnsError(Exception):
    """Base of all errors raised on purpose; the command line prints its sentence and exits with 2."""


class InputError(NeuralnsError, ValueError):
    """A file, name or value given by the user cannot be used."""


class AdvisedError(InputError):
    """An input that cannot be used as it is, but with an option of the command line.

    Attributes
    ----------
    fault, advice
        What is wrong, and which options help; together the sentence. The server has options of its own.
    keys
        What to go on without, where that is the advice.
    """

    def __init__(self, fault: str, advice: str, keys: tuple[str, ...] = ()) -> None:
        super().__init__(fault, advice, keys)
        self.fault, self.advice, self.keys = fault, advice, keys

    def __str__(self) -> str:
        return f"{self.fault}; {self.advice}."


class OperatorError(NeuralnsError, ValueError):
    """An operator does not keep its contract; the sentence names the operator."""


class GivenUpError(OperatorError):
    """A function of the user's own gave no answer or failed, and the work ended before its time.

    Attributes
    ----------
    who, how
        The function, as sentences name it (``operator 'mine'``), and what its exception said; None if there was none,
        because it never returned.
    """

    def __init__(self, who: str, how: str | None = None) -> None:
        super().__init__(who, how)
        self.who, self.how = who, how

    @property
    def reason(self) -> str:
        """The same in a few words."""
        return f"{self.who} ({'no answer' if self.how is None else 'failed'})"

    def __str__(self) -> str:
        what = "gave no answer (an endless loop?)" if self.how is None else f"failed ({self.how})"
        return f"{self.who} {what} and was given up."

    def but(self, rest: str) -> str:
        """Return the sentence with what becomes of the work."""
        return f"{str(self).rstrip('.')}; {rest}."


class InputWarning(UserWarning):
    """Something given by the user cannot be honoured, or lies outside what it was made for, and the work goes on."""


def how_to_install(*extras: str) -> str:
    """Return the command that installs what an optional part needs; the package is on no index.

    >>> how_to_install("train", "plot")
    "pip install '.[train,plot]' in the project's folder"
    """
    return f"pip install '.[{','.join(extras)}]' in the project's folder"
