"""A text with tables and pictures, written once and rendered as one self-contained HTML page or as Markdown."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from neuralns import plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = "figures"
"""The folder beside a Markdown text with its pictures."""
STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 0 auto; padding: 1rem; }
h1, h2, h3 { line-height: 1.25; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; } h3 { margin-top: 2rem; }
img { max-width: 100%; height: auto; } pre, .scroll { overflow-x: auto; } pre { background: #f4f4f4; padding: .6rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5rem 0 1rem; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #888; } .number { text-align: right; white-space: nowrap; }
table:not(.wide) { min-width: 40rem; }
table.wide td:first-child, table.wide th:first-child { position: sticky; left: 0; background: #fff; }
.strong { background: #fff3cd; border-left: .4rem solid #b8860b; padding: .6rem; font-weight: bold; }
""".strip()


@dataclass(frozen=True)
class Heading:
    """A heading; the title of the document has level 1."""

    level: int
    text: str

    def html(self) -> str:
        return f"<h{self.level}>{escape(self.text)}</h{self.level}>"

    def markdown(self) -> str:
        return f"{'#' * self.level} {_plain(self.text)}"


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; a strong one catches the eye."""

    text: str
    strong: bool = False

    def html(self) -> str:
        return f'<p class="strong">{escape(self.text)}</p>' if self.strong else f"<p>{escape(self.text)}</p>"

    def markdown(self) -> str:
        return f"**{_plain(self.text)}**" if self.strong else _plain(self.text)


@dataclass(frozen=True)
class Bullets:
    """Short statements."""

    items: tuple[str, ...]

    def html(self) -> str:
        return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in self.items) + "</ul>"

    def markdown(self) -> str:
        return "\n".join(f"- {_plain(item)}" for item in self.items)


@dataclass(frozen=True)
class Code:
    """Commands."""

    text: str

    def html(self) -> str:
        return f"<pre><code>{escape(self.text)}</code></pre>"

    def markdown(self) -> str:
        return f"```sh\n{self.text}\n```"


@dataclass(frozen=True)
class Table:
    """A table whose first ``texts`` columns are words and whose others are numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1

    def html(self) -> str:
        lines = [self._line("th", self.head), *(self._line("td", row) for row in self.rows)]
        attribute = ' class="wide"' if self.texts == 1 else ""
        body = "".join(f"<tr>{line}</tr>\n" for line in lines[1:])
        return (
            f'<div class="scroll"><table{attribute}>\n<thead><tr>{lines[0]}</tr></thead>\n'
            f"<tbody>\n{body}</tbody></table></div>"
        )

    def _line(self, tag: str, cells: tuple[str, ...]) -> str:
        attributes = ["" if column < self.texts else ' class="number"' for column in range(len(cells))]
        return "".join(
            f"<{tag}{attribute}>{escape(cell)}</{tag}>" for attribute, cell in zip(attributes, cells, strict=True)
        )

    def markdown(self) -> str:
        rule = ["---" if column < self.texts else "---:" for column in range(len(self.head))]
        cells = [[_plain(cell).replace("|", r"\|") for cell in row] for row in (self.head, *self.rows)]
        return "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], rule, *cells[1:]))


@dataclass(frozen=True)
class Picture:
    """A figure and what it shows, in words."""

    name: str
    text: str
    figure: Figure

    def html(self) -> str:
        content = b64encode(plot.to_svg(self.figure).encode()).decode()
        return f'<p><img alt="{escape(self.text)}" src="data:image/svg+xml;base64,{content}"></p>'

    def markdown(self) -> str:
        return f"![{_plain(self.text)}]({FIGURES}/{self.name}.png)"


Block = Heading | Paragraph | Bullets | Code | Table | Picture


@dataclass(frozen=True)
class Document:
    """A title and what follows it."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures by name; the Markdown text expects each as ``figures/NAME.png`` beside it."""
        return {block.name: block.figure for block in self.blocks if isinstance(block, Picture)}

    def html(self) -> str:
        """Return a page that needs nothing else."""
        body = "\n".join(block.html() for block in (Heading(1, self.title), *self.blocks))
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
        )

    def markdown(self) -> str:
        """Return the same as Markdown."""
        return "\n\n".join(block.markdown() for block in (Heading(1, self.title), *self.blocks)) + "\n"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"([\\`*_<\[\]])", r"\\\1", " ".join(text.split()))
