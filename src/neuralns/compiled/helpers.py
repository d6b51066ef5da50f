"""Helpers: functions compiled for compiled callers alone, which build them in.

Numba gives each function two wrappers and machine code of its own, although a caller takes its LLVM code. That was a
third of the time to compile a search. A helper that Python calls, or that is called by its address, is compiled whole
then.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.compiler_machinery import register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering

making: list[bool] = []
"""Whether each of the functions being compiled, the one begun last at the end, is a helper."""

_ENVIRONMENT = "_ZN08NumbaEnv"
"""Names of the environments of functions begin so, in LLVM code."""


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """The LLVM code of a helper, optimised quickly: it is optimised again as a part of each caller."""

    def _optimize_final_module(self) -> None:
        codegen = self._codegen
        try:
            passes, builder = codegen._module_pass_manager(
                loop_vectorize=codegen._loopvect, slp_vectorize=False, opt=codegen._opt_level, cost="cheap"
            )
        except (AttributeError, TypeError, ValueError):  # another version of numba
            super()._optimize_final_module()
            return
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class Entry:
    """What stands for a helper where numba expects a function that Python can call."""


@register_pass(mutates_CFG=True, analysis_only=False)
class HelperLowering(NativeLowering):  # type: ignore[misc]
    """Make LLVM code of a function, and nothing else."""

    _name = "neuralns_helper_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = state.flags.no_compile = True
        super().run_pass(state)
        entry = Entry()
        state.targetctx.insert_user_function(entry, state["cr"].fndesc, [state.library])
        state["cr"] = state["cr"]._replace(cfunc=entry)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class WholeLowering(NativeLowering):  # type: ignore[misc]
    """Make machine code of a function that builds helpers in, and tell it of their environments."""

    _name = "neuralns_whole_lowering"

    def run_pass(self, state: Any) -> bool:
        super().run_pass(state)
        library = state.library
        for variable in library._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    library.codegen.set_env(variable.name, environment)
        return True


def is_making_one() -> bool:
    """Return whether what is being compiled is a helper."""
    return bool(making) and making[-1]


def is_helper(result: Any) -> bool:
    """Return whether something was compiled for compiled callers alone."""
    return isinstance(result.entry_point, Entry)


def parts_of(result: Any) -> tuple[Any, ...]:
    """Return the parts of a helper to keep on disk."""
    described = result.fndesc
    described.typemap = described.calltypes = None
    code = result.library.serialize_using_bitcode()
    return code, described, result.environment, result.signature, tuple(result._find_referenced_environments())


def rebuilt(context: Any, code: Any, described: Any, environment: Any, signature: Any, environments: Any) -> Any:
    """Return a helper put together from the parts that were kept."""
    name, _, code = code
    library = _Library(context.codegen(), name)
    library._final_module = binding.parse_bitcode(code)
    library._finalize_final_module()
    values = dict.fromkeys(CompileResult._fields)
    return CompileResult(
        **values
        | {
            "target_context": context, "typing_context": context.typing_context, "library": library,
            "environment": environment, "entry_point": Entry(), "fndesc": described, "signature": signature,
            "objectmode": False, "lifted": (), "reload_init": [], "referenced_envs": environments,
        }
    )  # fmt: skip
