"""A clock for compiled code that costs a few nanoseconds."""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.extending import intrinsic

HAS_COUNTER = platform.machine().lower() in ("x86_64", "amd64", "i686")
"""Whether the processor's cycle counter may be read; elsewhere ``ticks`` stands still."""


@intrinsic
def _count(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not HAS_COUNTER:
            return ir.Constant(ir.IntType(64), 0)
        counter = builder.module.declare_intrinsic("llvm.readcyclecounter", (), ir.FunctionType(ir.IntType(64), []))
        return builder.call(counter, [])

    return types.int64(), generate


ticks: Any = _count
"""Return a count that grows evenly with time; only differences mean anything."""
