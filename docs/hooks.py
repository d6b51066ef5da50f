"""What the site takes from the code and from ``results/``: the command line's reference, the report and its figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer
from mkdocs.structure.files import File, Files

from neuralns.cli.app import app

ROOT = Path(__file__).parents[1]


def on_files(files: Files, config: Any) -> Files:
    """Add the results, which lie beside the docs, to the site."""
    for path in sorted((ROOT / "results").rglob("*")):
        if path.suffix in (".png", ".svg", ".csv", ".html", ".md"):
            name = str(path.relative_to(ROOT))
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Fill in the commands; in the site the results lie inside the docs, not beside them."""
    if page.file.src_uri == "reference/cli.md":
        return f"{markdown}\n{commands()}"
    return re.sub(r"\]\(\.\./results/", "](results/", markdown)


def commands() -> str:
    """Return the reference of all commands, as Markdown."""
    root: Any = typer.main.get_command(app)
    parts = []
    for name, command in root.commands.items():
        inner = getattr(command, "commands", None)
        parts += [_describe(f"{name} {part}", entry) for part, entry in inner.items()] if inner else []
        parts += [] if inner else [_describe(name, command)]
    return "\n".join(parts)


def _describe(name: str, command: Any) -> str:
    context = command.context_class(command, info_name=f"neuralns {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    text, _, examples = (command.help or "").partition("Examples:")
    lines = [f"## neuralns {name}", "", text.strip(), "", "```text", f"neuralns {name} {usage}", "```", ""]
    shown = [line.strip() for line in examples.splitlines() if line.strip()]
    if shown:
        lines += ["```sh", *shown, "```", ""]
    lines += ["| | |", "|---|---|"]
    for parameter in command.params:
        if parameter.name == "help":
            continue
        names = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
        metavar = parameter.metavar or parameter.name.upper()
        if parameter.param_type_name == "argument":
            names = f"`{metavar}`"
        elif not getattr(parameter, "is_flag", False):
            names += f" `{metavar}`"
        lines.append(f"| {names} | {_cell(getattr(parameter, 'help', None) or '')}{_default(parameter)} |")
    return "\n".join([*lines, ""])


def _default(parameter: Any) -> str:
    value = parameter.default
    if value is None or value is False or parameter.required or callable(value) or "default" in _help(parameter):
        return ""
    return f" Default: `{_cell(str(value))}`."


def _help(parameter: Any) -> str:
    return str(getattr(parameter, "help", None) or "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
