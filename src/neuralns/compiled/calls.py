"""Compiled functions called by their addresses, so that what calls them is compiled once for all of them."""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import intrinsic

MOST_PARAMETERS = 8
"""Most numbers that a function may take beside its fixed arguments."""


@cache
def address_of(dispatcher: Any) -> int:
    """Return the address of a function compiled by `compile_for`; valid as long as the function lives."""
    (result,) = dispatcher.overloads.values()
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


def address_for(dispatcher: Any, signature: Any) -> int:
    """Return the address of a function that is compiled for a signature among others."""
    dispatcher.compile(signature)
    result = dispatcher.overloads[signature.args]
    address = int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))
    assert address != 0, "it was compiled whole"
    return address


def caller(signature: Any) -> Any:
    """Return a compiled function ``(address, (argument, ...))`` that calls a function of a signature."""

    @intrinsic
    def call(typing_context: Any, address: Any, arguments: Any) -> Any:
        def generate(context: Any, builder: Any, own: Any, values: Any) -> Any:
            given = _cast(context, builder, own.args[1], values[1], signature)
            return builder.call(_function(context, builder, values[0], signature), given)

        return signature.return_type(types.int64, arguments), generate

    return call


def caller_with_parameters(signature: Any) -> Any:
    """Return a compiled function ``(address, (argument, ...), parameters, row, count)`` for functions of no result.

    The function is given its fixed arguments, those of the signature, and ``count`` numbers more: the first ones of a
    row of a table.
    """

    @intrinsic
    def call(typing_context: Any, address: Any, arguments: Any, table: Any, row: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, own: Any, values: Any) -> Any:
            given = _cast(context, builder, own.args[1], values[1], signature)
            array = cgutils.create_struct_proxy(own.args[2])(context, builder, value=values[2])
            width = cgutils.unpack_tuple(builder, array.shape)[1]
            first = builder.gep(array.data, [builder.mul(values[3], width)])
            done = builder.append_basic_block("called")
            switch = builder.switch(values[4], done)
            for extra in range(MOST_PARAMETERS + 1):
                block = builder.append_basic_block(f"with_{extra}")
                switch.add_case(ir.Constant(ir.IntType(64), extra), block)
                with builder.goto_block(block):
                    more = [
                        builder.load(builder.gep(first, [ir.Constant(ir.IntType(64), column)]))
                        for column in range(extra)
                    ]
                    longer = types.void(*signature.args, *(types.float64,) * extra)
                    builder.call(_function(context, builder, values[0], longer), [*given, *more])
                    builder.branch(done)
            builder.position_at_end(done)
            return context.get_dummy_value()

        return types.void(types.int64, arguments, table, types.int64, types.int64), generate

    return call


def _cast(context: Any, builder: Any, given: Any, value: Any, signature: Any) -> list[Any]:
    parts = cgutils.unpack_tuple(builder, value)
    return [
        context.cast(builder, part, one, other) for part, one, other in zip(parts, given, signature.args, strict=True)
    ]


def _function(context: Any, builder: Any, address: Any, signature: Any) -> Any:
    arguments = [context.get_value_type(argument) for argument in signature.args]
    function_type = ir.FunctionType(context.get_value_type(signature.return_type), arguments)
    return builder.inttoptr(address, function_type.as_pointer())
