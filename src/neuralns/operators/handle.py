"""Compiled access to a struct of arrays by its bare address, without counting references.

Numba's ``structref`` counts references, by atomic operations, whenever a struct is passed to a function and whenever
an array field is read; in functions of a few nanoseconds that is most of their time. Here the struct and its arrays
belong to an owner that Python keeps (`Handle`), and compiled code works on the address: passing it costs nothing, and
reading an array gives a plain view (pointer, shape, strides).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.core.typing.templates import AttributeTemplate
from numba.experimental import structref


@structref.register
class _Owner(types.StructRef):  # type: ignore[misc]
    """The struct itself: it holds the references to its arrays."""


class _OwnerProxy(structref.StructRefProxy):  # type: ignore[misc]
    """The struct as a Python object."""


structref.define_boxing(_Owner, _OwnerProxy)


class HandleType(types.Type):  # type: ignore[misc]
    """Compiled type of a handle: the address of a struct with given fields."""

    def __init__(self, name: str, fields: list[tuple[str, Any]]) -> None:
        self.owner = _Owner(fields)
        self.fields = dict(fields)
        super().__init__(name=name)


class Handle:
    """A struct as compiled functions take it; it lives as long as this object does."""

    __slots__ = ("_owner", "address", "kind")

    def __init__(self, kind: HandleType, owner: Any) -> None:
        self._owner = owner
        self.kind = kind
        self.address = _address(owner)


@typeof_impl.register(Handle)
def _typeof(handle: Handle, context: Any) -> HandleType:
    return handle.kind


@register_model(HandleType)
class _HandleModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(8).as_pointer())


@unbox(HandleType)
def _unbox(kind: Any, handle: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(handle, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, ir.IntType(8).as_pointer()), is_error=c.pyapi.c_api_error())


def _data(context: Any, builder: Any, kind: HandleType, pointer: Any) -> Any:
    payload = kind.owner.get_data_type()
    value_type = context.data_model_manager[payload].get_value_type()
    reference = builder.bitcast(pointer, value_type.as_pointer())
    return cgutils.create_struct_proxy(payload)(context, builder, ref=reference)


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = HandleType

    def generic_resolve(self, kind: Any, attribute: str) -> Any:
        return kind.fields.get(attribute)


@lower_getattr_generic(HandleType)
def _read(context: Any, builder: Any, kind: Any, pointer: Any, attribute: str) -> Any:
    value, field = getattr(_data(context, builder, kind, pointer), attribute), kind.fields[attribute]
    if isinstance(field, types.Array):
        view = cgutils.create_struct_proxy(field)(context, builder, value=value)
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()
    return value


@lower_setattr_generic(HandleType)
def _write(context: Any, builder: Any, signature: Any, arguments: Any, attribute: str) -> None:
    kind, given = signature.args
    field = kind.fields[attribute]
    data = _data(context, builder, kind, arguments[0])
    value = context.cast(builder, arguments[1], given, field)
    if isinstance(field, types.Array):
        context.nrt.incref(builder, field, value)
        context.nrt.decref(builder, field, getattr(data, attribute))
    setattr(data, attribute, value)


@intrinsic
def _address_of(typing_context: Any, owner: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        struct = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        return builder.ptrtoint(context.nrt.meminfo_data(builder, struct.meminfo), ir.IntType(64))

    return types.int64(owner), generate


@njit(cache=True)
def _address(owner):
    return _address_of(owner)  # type: ignore[call-arg]


def at_address(kind: HandleType) -> Any:
    """Return a compiled function that takes the address of a struct for the struct."""

    @intrinsic
    def take(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

        return kind(types.int64), generate

    return take
