"""Numba's compiler for the package: numbers of a struct that are known, and helpers.

Branches that known numbers rule out are not compiled at all.

Numba leaves out branches on constants before it looks at types, so that what they would call is not compiled either.
Here fields of a function's arguments that are known (see `StructType`) become such constants.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions, get_definition, guard
from numba.core.typed_passes import NativeLowering
from numba.core.untyped_passes import IRProcessing

from neuralns.compiled import helpers
from neuralns.compiled.structs import StructType


@register_pass(mutates_CFG=False, analysis_only=False)
class _KnownFields(FunctionPass):  # type: ignore[misc]
    """Put the numbers that are known of struct arguments in place of reading them."""

    _name = "neuralns_known_fields"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        known = {
            index: numba_type.known for index, numba_type in enumerate(state.args) if isinstance(numba_type, StructType)
        }
        if not any(known.values()):
            return False
        function = state.func_ir
        function._definitions = build_definitions(function.blocks)
        for block in function.blocks.values():
            for statement in block.find_insts(ir.Assign):
                value = statement.value
                if isinstance(value, ir.Expr) and value.op == "getattr":
                    source = guard(get_definition, function, value.value)
                    numbers = known.get(source.index, {}) if isinstance(source, ir.Arg) else {}
                    if value.attr in numbers:
                        statement.value = ir.Const(numbers[value.attr], loc=statement.loc)
        function._definitions = build_definitions(function.blocks)
        return True


class Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, with known fields as constants, and less to make of helpers."""

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(_KnownFields, IRProcessing)
        lowering = helpers.HelperLowering if helpers.is_making_one() else helpers.WholeLowering
        pipeline.passes = [(lowering if made is NativeLowering else made, said) for made, said in pipeline.passes]
        pipeline.finalize()
        return [pipeline]
