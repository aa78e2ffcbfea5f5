"""The base of the models that people write in YAML, and the parser of one-key items.

A one-key item is, for example, `- outage: {on: venmo.*}`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import core_schema

from servers.kit.errors import (
    TYPES,
    InputError,
    Refused,
    UnknownName,
    explain,
    quoted,
    refused,
)

Positive = Annotated[int, Field(ge=1, strict=True)]
NonNegative = Annotated[int, Field(ge=0, strict=True)]


def _placing(data: Any, validate: Callable[[Any], Any]) -> Any:
    """Validate; an `InputError` becomes a problem at the place of the data in what holds it."""
    try:
        return validate(data)
    except InputError as wrong:
        raise Refused(wrong) from None


class Declared(BaseModel):
    """A frozen model read from YAML; the error for an unknown key suggests the nearest key."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        TYPES.add(cls.__name__)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_wrap_validator_function(_placing, handler(source))

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            aliases = {field.alias or name for name, field in cls.model_fields.items()}
            for key in data:
                if key not in aliases and key not in cls.model_fields:
                    raise UnknownName("key", str(key), aliases)
        return data


M = TypeVar("M", bound=Declared)


def kind_of(
    item: Any, kinds: Mapping[str, type[M]], what: str, example: str, where: str
) -> tuple[type[M], dict[str, Any]]:
    """Return the model that a one-key item `{kind: fields}` names, and its fields ({} for none).

    `what` is what the item declares, such as `fault`; `example` is such an item in YAML. Raises
    `InputError` with one line that begins with `where`.
    """
    if not isinstance(item, dict) or len(item) != 1:
        raise InputError(
            f"{where}: write a {what} as one key, its kind, e.g. `{example}`; got {quoted(item)}"
        )
    ((kind, fields),) = item.items()
    if kind not in kinds:
        raise UnknownName(f"{what} kind", str(kind), kinds, where)
    if not isinstance(fields, dict | None):
        raise InputError(f"{where}: {kind}: expected a mapping, got {quoted(fields)}")
    return kinds[kind], fields or {}


def validated(
    model: type[M], fields: Mapping[str, Any], where: str, context: Mapping[str, Any] | None = None
) -> M:
    """Return a declared model with these fields.

    Raises `InputError` with one line that begins with `where`.
    """
    try:
        return model.model_validate(fields, context=dict(context or {}))
    except ValidationError as wrong:
        raise refused(wrong, f"{where}: {explain(wrong, model)}") from None
    except InputError as wrong:  # from a validator that no declared model surrounds
        wrong.args = (f"{where}: {wrong}",)
        raise
