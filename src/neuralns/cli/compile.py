"""``neuralns compile``: compile everything in advance."""

from typing import Annotated

import typer

from neuralns.cli.printing import plain_console


def compile(
    own: Annotated[
        list[str] | None, typer.Option("--operators", metavar="FILE.py", help="Compile those of your own file too.")
    ] = None,
) -> None:
    """Compile everything in advance, for every variant: for images of containers, and before a demonstration.

    The compiled code lies beside the package, or in the folder that NUMBA_CACHE_DIR names. It is used again wherever
    the sources, Python, numba and the processor are the same, whatever the path.

    Examples:

        neuralns compile

        neuralns compile --operators my_operators.py
    """
    from time import perf_counter

    from neuralns.compiled.caching import CompilationCount
    from neuralns.compiled.kept import home
    from neuralns.experiments.compiling import works
    from neuralns.operators.registry import load_operators

    for path in own or []:
        load_operators(path)
    console = plain_console(soft_wrap=True)
    with CompilationCount() as compilations:
        for name, work in works():
            begin, before = perf_counter(), compilations.count
            work()
            done = (compilations.count - before) // 2
            console.print(
                f"{name}: {f'{done} functions compiled' if done else 'there'}, {perf_counter() - begin:.1f} s"
            )
    console.print(f"compiled code is {home()}")
