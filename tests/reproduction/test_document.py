"""Documents: the same content as a page of HTML and as Markdown."""

from __future__ import annotations

import base64
import re

import pytest
from matplotlib.figure import Figure

from neuralns.reproduction.document import Block, Bullets, Code, Document, Heading, Paragraph, Picture, Table


def test_blocks_become_html() -> None:
    assert Heading(2, "a").html() == "<h2>a</h2>"
    assert Paragraph("a").html() == "<p>a</p>"
    assert Paragraph("a", strong=True).html() == '<p class="strong">a</p>'
    assert Bullets(("a", "b")).html() == "<ul><li>a</li><li>b</li></ul>"
    assert Code("a b").html() == "<pre><code>a b</code></pre>"
    table = Table(("name", "x"), (("a", "1"), ("b", "2"))).html()
    assert '<th>name</th><th class="number">x</th>' in table
    assert '<tr><td>a</td><td class="number">1</td></tr>' in table
    assert table.index("<td>a</td>") < table.index("<td>b</td>")
    assert table.startswith('<div class="scroll">')


def test_blocks_become_markdown() -> None:
    blocks = (
        Heading(2, "a"), Paragraph("b"), Paragraph("c", strong=True), Bullets(("d", "e")), Code("f"),
        Table(("name", "x"), (("g", "1"),)), Picture("h", "what", Figure()),
    )  # fmt: skip
    assert Document("title", blocks).markdown() == (
        "# title\n\n## a\n\nb\n\n**c**\n\n- d\n- e\n\n```sh\nf\n```\n\n| name | x |\n| --- | ---: |\n| g | 1 |\n\n"
        "![what](figures/h.png)\n"
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda text: Heading(2, text),
        lambda text: Paragraph(text),
        lambda text: Paragraph(text, strong=True),
        lambda text: Bullets((text,)),
        lambda text: Code(text),
        lambda text: Table((text, text), ((text, text),)),
        lambda text: Picture("a", text, Figure()),
    ],
)
def test_markup_in_texts_is_shown_as_it_is(make: type[Block]) -> None:
    text = '<b> & "x" </b>'
    page = make(text).html()  # type: ignore[call-arg, arg-type]
    assert "<b>" not in page
    assert "&lt;b&gt; &amp;" in page
    page = Document(text, ()).html()
    assert page.count("&lt;b&gt; &amp;") == 2


def test_signs_of_markdown_are_shown_as_they_are() -> None:
    assert Paragraph(r"a *b* _c_ `d` [e] <f> \g").markdown() == r"a \*b\* \_c\_ \`d\` \[e\] \<f> \\g"
    assert Paragraph("|D|\n# no heading").markdown() == "|D| # no heading"
    assert Table(("|D|",), (("a|b",),)).markdown() == "| \\|D\\| |\n| --- |\n| a\\|b |"
    assert Code("a *b* <c>").markdown() == "```sh\na *b* <c>\n```"


def test_a_table_of_words_is_not_laid_out_as_one_of_numbers() -> None:
    table = Table(("a", "b"), (("1", "2"),), texts=2)
    assert table.markdown().splitlines()[1] == "| --- | --- |"
    assert 'class="wide"' not in table.html()
    assert 'class="wide"' in Table(("a", "b"), ()).html()


def test_a_page_holds_its_pictures() -> None:
    figure = Figure(figsize=(2, 1))
    document = Document("title", (Picture("one", "two lines", figure),))
    page = document.html()
    (found,) = re.findall(r'<img alt="two lines" src="data:image/svg\+xml;base64,([^"]+)">', page)
    assert "<svg" in base64.b64decode(found).decode()
    assert document.figures == {"one": figure}
    assert '<meta name="viewport"' in page
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">')
