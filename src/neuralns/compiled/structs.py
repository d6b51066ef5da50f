"""Structs that Python lays out and compiled code takes by their bare address.

Numba's own structs count references, by atomic operations, whenever one is passed to a function and whenever an array
field is read; in functions of a few nanoseconds that is most of their time. Here a struct is a row of 64-bit words that
a Python object owns together with its arrays, and compiled code works on the address: passing it costs nothing, and
reading an array gives a plain view.

Whole numbers, floats and addresses take one word each, an array its address and its shape. Arrays never change their
place once a struct is made, so that compiled code may read their addresses once for many uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_cast,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.core.typing.templates import AttributeTemplate
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import as_dtype

whole = types.int64
number = types.float64
wholes = types.Array(types.int64, 1, "C")
numbers = types.Array(types.float64, 1, "C")
numbers32 = types.Array(types.float32, 1, "C")
number_table = types.Array(types.float64, 2, "C")

_WORD = ir.IntType(64)
_BYTES = ir.IntType(8).as_pointer()


class StructType(types.Type):  # type: ignore[misc]
    """Compiled type of a struct with given fields.

    Parameters
    ----------
    name
        What error messages call it.
    fields
        The type of each field: ``whole``, ``number``, an array type, or another `StructType`, whose address is kept.
    constants
        Fields that compiled code may read once for many uses: numbers that never change once the struct is made, and
        arrays, which never move.
    known
        Whole numbers that are known when code is compiled: the optimiser leaves out what they rule out.
    """

    def __init__(
        self,
        name: str,
        fields: Mapping[str, Any],
        constants: Iterable[str] = (),
        known: Mapping[str, int] | None = None,
    ) -> None:
        self.fields = dict(fields)
        self.constants = frozenset(constants)
        self.known = dict(known or {})
        self.offsets: dict[str, int] = {}
        self.dtypes: dict[str, Any] = {}
        self.words = 0
        for field, field_type in self.fields.items():
            self.offsets[field] = self.words
            self.words += 1
            if isinstance(field_type, types.Array):
                self.words += field_type.ndim
                self.dtypes[field] = as_dtype(field_type.dtype)
        told = (f"{field}: {each.key if isinstance(each, StructType) else each}" for field, each in self.fields.items())
        # Asked for at every call from Python.
        self._key = f"{name}({', '.join(told)}; {', '.join(sorted(self.constants))}; {sorted(self.known.items())})"
        super().__init__(name=name)

    def knowing(self, name: str, known: Mapping[str, int]) -> StructType:
        """Return the type of the same structs in code that is compiled for some numbers."""
        return StructType(name, self.fields, self.constants, known)

    @property
    def key(self) -> str:
        """What tells types apart."""
        return self._key


anything = StructType("neuralns.Anything", {})
"""A struct of which only the address matters: what passes it on need not be compiled for its type."""


class Struct:
    """A struct as compiled functions take it; it lives as long as this object does.

    >>> point = Struct(StructType("point", {"x": number, "ids": wholes}), x=1.5, ids=np.arange(3))
    >>> point.x, point.ids.tolist()
    (1.5, [0, 1, 2])
    >>> point.x = 2
    >>> point.x
    2.0
    """

    __slots__ = ("_floats", "_kept", "_words", "address", "type")
    _kept: dict[str, Any]

    def __init__(self, type: StructType, **values: Any) -> None:
        if type.fields.keys() != values.keys():
            wrong = ", ".join(sorted(type.fields.keys() ^ values.keys()))
            raise TypeError(f"{type.name}: {wrong} missing, or no field of it.")
        words, kept = [0] * max(1, type.words), {}
        for name, value in values.items():
            offset = type.offsets[name]
            if name in type.dtypes:
                kept[name] = value
                words[offset : offset + 1 + value.ndim] = (_address(type, name, value), *value.shape)
            elif isinstance(value, Struct):
                kept[name] = value
                words[offset] = value.address
            elif type.fields[name] is whole:
                words[offset] = int(value)
        content = np.array(words, np.int64)
        floats = content.view(np.float64)
        for name, value in values.items():
            if type.fields[name] is number:
                floats[type.offsets[name]] = value
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "_kept", kept)
        object.__setattr__(self, "_words", content)
        object.__setattr__(self, "_floats", floats)
        object.__setattr__(self, "address", content.ctypes.data)

    def __reduce__(self) -> str:
        raise TypeError(f"{self.type.name}: an address means nothing in another process.")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._kept:
            return self._kept[name]
        field_type = self.type.fields.get(name)
        if field_type is None:
            raise AttributeError(f"{self.type.name} has no field {name!r}")
        offset = self.type.offsets[name]
        return float(self._floats[offset]) if field_type is number else int(self._words[offset])

    def __setattr__(self, name: str, value: Any) -> None:
        field_type = self.type.fields.get(name)
        if field_type not in (whole, number):
            raise AttributeError(f"{self.type.name} has no number {name!r} to set")
        (self._floats if field_type is number else self._words)[self.type.offsets[name]] = value

    def twin(self, shared: Iterable[str] = ()) -> Struct:
        """Return a struct of its own with the same content; only the arrays named are ``shared``."""
        common = set(shared)
        values = {name: getattr(self, name) for name in self.type.fields}
        return Struct(
            self.type,
            **{
                name: value.copy() if isinstance(value, np.ndarray) and name not in common else value
                for name, value in values.items()
            },
        )


def _address(type: StructType, name: str, array: Any) -> int:
    """Return where an array is, if a field can hold it."""
    if array.dtype != type.dtypes[name] or array.ndim != type.fields[name].ndim or not array.flags.c_contiguous:
        raise TypeError(f"{type.name}: field {name!r} cannot hold {array.ndim}D {array.dtype}.")
    return int(array.__array_interface__["data"][0])


@typeof_impl.register(Struct)
def _typeof(struct: Struct, context: Any) -> StructType:
    return struct.type


@register_model(StructType)
class _StructModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, struct_type: Any) -> None:
        super().__init__(manager, struct_type, _BYTES)


@unbox(StructType)
def _unbox(struct_type: Any, struct: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(struct, "address")
    word = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.inttoptr(word, _BYTES), is_error=c.pyapi.c_api_error())


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = StructType

    def generic_resolve(self, struct_type: Any, attribute: str) -> Any:
        return struct_type.fields.get(attribute)


def _word_at(builder: Any, struct_type: StructType, pointer: Any, field: str, further: int = 0) -> Any:
    """Return the address of a field's word, or of one that follows it."""
    words = builder.bitcast(pointer, _WORD.as_pointer())
    return builder.gep(words, [ir.Constant(_WORD, struct_type.offsets[field] + further)], inbounds=True)


def _load(builder: Any, struct_type: StructType, field: str, pointer: Any) -> Any:
    """Load a word of a field; one that never changes the optimiser may keep over writes to other memory."""
    load = builder.load(pointer)
    if field in struct_type.constants:
        load.set_metadata("invariant.load", builder.module.add_metadata([]))
    return load


def _data(context: Any, builder: Any, struct_type: StructType, pointer: Any, field: str) -> Any:
    """Return the address of an array field's first entry."""
    entry = context.get_data_type(struct_type.fields[field].dtype)
    return builder.inttoptr(
        _load(builder, struct_type, field, _word_at(builder, struct_type, pointer, field)), entry.as_pointer()
    )


@lower_getattr_generic(StructType)
def _read(context: Any, builder: Any, struct_type: Any, pointer: Any, attribute: str) -> Any:
    field, word = struct_type.fields[attribute], _word_at(builder, struct_type, pointer, attribute)
    if attribute in struct_type.known:
        return context.get_constant(field, struct_type.known[attribute])
    if isinstance(field, types.Array):
        shape = [
            _load(builder, struct_type, attribute, _word_at(builder, struct_type, pointer, attribute, 1 + axis))
            for axis in range(field.ndim)
        ]
        size = ir.Constant(_WORD, context.get_abi_sizeof(context.get_data_type(field.dtype)))
        strides = [size]
        for extent in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], extent))
        array = make_array(field)(context, builder)
        data = _data(context, builder, struct_type, pointer, attribute)
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
        return array._getvalue()
    if isinstance(field, StructType):
        return builder.inttoptr(_load(builder, struct_type, attribute, word), _BYTES)
    return _load(builder, struct_type, attribute, builder.bitcast(word, context.get_value_type(field).as_pointer()))


@lower_setattr_generic(StructType)
def _write(context: Any, builder: Any, signature: Any, arguments: Any, attribute: str) -> None:
    struct_type, given = signature.args
    field = struct_type.fields[attribute]
    if field not in (whole, number) or attribute in struct_type.constants:
        raise TypeError(f"field {attribute!r} of {struct_type.name} never changes")
    value = context.cast(builder, arguments[1], given, field)
    word = _word_at(builder, struct_type, arguments[0], attribute)
    builder.store(value, builder.bitcast(word, context.get_value_type(field).as_pointer()))


@lower_cast(StructType, StructType)
def _take_for(context: Any, builder: Any, source: Any, target: Any, pointer: Any) -> Any:
    """Take a struct for one of another type with the same fields (see `StructType.knowing`)."""
    return pointer


def at_address(struct_type: StructType) -> Any:
    """Return a compiled function that takes the address of a struct for the struct."""

    @intrinsic
    def take(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], _BYTES)

        return struct_type(types.int64), generate

    return take


def entry_copier(struct_type: StructType, pairs: Iterable[tuple[str, str]]) -> Any:
    """Return a compiled function ``(struct, tail, head)``: ``target[head] = source[tail]`` for pairs of arrays."""
    chosen = tuple(pairs)

    @intrinsic
    def copy(typing_context: Any, struct: Any, tail: Any, head: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer, *indices = arguments
            tail, head = (
                context.cast(builder, index, given, types.uint64)
                for index, given in zip(indices, signature.args[1:], strict=True)
            )
            for source, target in chosen:
                value = builder.load(builder.gep(_data(context, builder, struct_type, pointer, source), [tail]))
                builder.store(value, builder.gep(_data(context, builder, struct_type, pointer, target), [head]))
            return context.get_dummy_value()

        return types.void(struct, tail, head), generate

    return copy


def field_copier(struct_type: StructType, fields: Iterable[str]) -> Any:
    """Return a compiled function ``(source, target)`` that copies fields, arrays of one shape entry by entry."""
    chosen = tuple(fields)

    @intrinsic
    def copy(typing_context: Any, source: Any, target: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            for name in chosen:
                field = struct_type.fields[name]
                if not isinstance(field, types.Array):
                    word = builder.load(_word_at(builder, struct_type, arguments[0], name))
                    builder.store(word, _word_at(builder, struct_type, arguments[1], name))
                    continue
                one, other = (_data(context, builder, struct_type, pointer, name) for pointer in arguments)
                count = ir.Constant(_WORD, 1)
                for axis in range(field.ndim):
                    extent = _load(
                        builder, struct_type, name, _word_at(builder, struct_type, arguments[0], name, 1 + axis)
                    )
                    count = builder.mul(count, extent)
                size = context.get_abi_sizeof(context.get_data_type(field.dtype))
                cgutils.raw_memcpy(builder, other, one, count, size)
            return context.get_dummy_value()

        return types.void(struct_type, struct_type), generate

    return copy
