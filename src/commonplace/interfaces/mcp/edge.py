"""The edge between the protocol and the memory: arguments taken as they stand, and every error told in one sentence."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Self, get_args

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import ToolAnnotations
from pydantic import ConfigDict, ValidationError, create_model

from commonplace.domain.errors import CommonplaceError


class Closed(ArgModelBase):
    """Arguments nobody knows are refused: a misspelt one must not be a silent default."""

    model_config = ConfigDict(extra="forbid")


class Arguments(FuncMetadata):
    def pre_parse_json(self, data: dict[str, Any]) -> dict[str, Any]:
        """Read JSON in a string only where no string is expected.

        The SDK reads it wherever something else than a string is allowed too, and would take a user whose id is "null"
        for the anonymous user.
        """
        fields = self.arg_model.model_fields.items()
        texts = {name for name, field in fields if str in (field.annotation, *get_args(field.annotation))}
        return data | super().pre_parse_json({name: value for name, value in data.items() if name not in texts})


class MemoryTool(Tool):
    @classmethod
    def of(cls, fn: Callable[..., Any], *, annotations: ToolAnnotations, hidden: Iterable[str]) -> Self:
        """Make a tool of a function. `hidden` arguments are not advertised."""
        tool = cls.from_function(fn, title=annotations.title, description=inspect.getdoc(fn), annotations=annotations)
        assert isinstance(tool, cls)
        known = tool.fn_metadata
        closed = create_model(f"{fn.__name__}Arguments", __base__=(Closed, known.arg_model))
        parameters = closed.model_json_schema(by_alias=True)
        for name in hidden:
            del parameters["properties"][name]
        arguments = Arguments(
            arg_model=closed,
            output_schema=known.output_schema,
            output_model=known.output_model,
            wrap_output=known.wrap_output,
        )
        return tool.model_copy(update={"fn_metadata": arguments, "parameters": parameters})

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if (said := told(error.__cause__)) is None:
                raise
            raise ToolError(said) from error.__cause__


def told(cause: BaseException | None) -> str | None:
    """Return what to tell the model of an error that it can do something about; None for a fault of ours."""
    match cause:
        case ValidationError():
            return "; ".join(_explained(cause))
        case CommonplaceError():
            return f"{type(cause).__name__}: {cause}"
    return None


def _explained(error: ValidationError) -> Iterable[str]:
    for problem in error.errors(include_url=False, include_context=False):
        name = ".".join(map(str, problem["loc"]))
        match problem["type"]:
            case "extra_forbidden":
                yield f"{name}: unknown argument"
            case "missing":
                yield f"{name}: missing"
            case _:
                expected = problem["msg"].replace("Input should be", "expected", 1)
                yield f"{name}={_shown(problem['input'])}: {expected}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
