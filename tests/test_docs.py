"""Every code block of the README, the docs and the notebooks runs."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest

from commands import invoke
from neuralns.experiments import ablation
from neuralns.operators.portfolio import MODERN

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def shortened(text: str) -> str:
    """The same code with shorter runs."""
    text = re.sub(r"MaxTime\(\d+\)", "MaxTime(0.2)", text)
    text = re.sub(r"--seeds \d+", "--seeds 1", text)
    text = re.sub(r" --steps \d+", "", text)
    text = re.sub(r" --tours \d+", " --tours 16", text)
    text = re.sub(r"^(neuralns train .*)--seeds 1(.*)$", r"\1--seeds 2\2", text, flags=re.MULTILINE)
    text = re.sub(r"^(neuralns train (?!.*--controller).*)$", r"\1 --steps 40", text, flags=re.MULTILINE)
    text = re.sub(r"--minutes \d+", "--minutes 0.1", text)
    text = re.sub(r"steps=\d+, tours=\d+, validate_every=\d+", "steps=40, tours=16, validate_every=20", text)
    text = re.sub(
        r'"steps": \d+, "tours": \d+, "validate_every": \d+', '"steps": 40, "tours": 16, "validate_every": 20', text
    )
    text = re.sub(r"^(neuralns reproduce (?!.*--quick).*)$", r"\1 --quick", text, flags=re.MULTILINE)
    text = re.sub(r"^(neuralns tune .*)$", r"\1 --minutes 0.05 --candidates 4", text, flags=re.MULTILINE)
    text = re.sub(r"^(neuralns evaluate .*)$", r"\1 --episodes 8", text, flags=re.MULTILINE)
    return re.sub(r"--time \d+", "--time 0.2", text)


@pytest.mark.filterwarnings("default::neuralns.errors.InputWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ablation, "MODERN_CANDIDATES", (*MODERN, "shaw"))
    for name, table in re.findall(
        r'^```(?:csv|json|toml) title="([^"/]+)"\n(.*?)^```', page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    ):
        (tmp_path / name).write_text(table, encoding="utf-8")
    program = ""
    for block in blocks(page, "python"):
        if name := re.match(r"# (\w+\.py)\n", block):
            (tmp_path / name[1]).write_text(block, encoding="utf-8")
        else:
            program += shortened(block) + "\n"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # The file that the pages call my.vrp.
    invoke("generate", "my.vrp", "--customers", 30)
    for line in shortened("\n".join(blocks(page, "sh"))).splitlines():
        words = shlex.split(line, comments=True)
        if words[:2] == ["neuralns", "reproduce"] and not Path("results-quick").exists():
            # Its jobs are done once for all tests.
            shutil.copytree(request.getfixturevalue("whole"), "results-quick")
        if words and words[0] == "neuralns":
            outcome = invoke(*words[1:])
            assert outcome.code == 0, f"{line}: {outcome.stderr}"
        elif words:
            assert words[0] == "make", f"{line}: neither neuralns nor make"
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_and_hold_no_outputs(path: Path, tmp_path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells)
    program = "\n".join("".join(cell["source"]) for cell in cells)
    program = re.sub(r"^%.*$", "", shortened(program), flags=re.MULTILINE)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_there_are_three_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["ten-minutes", "train-a-policy", "your-own-alns"]


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in (*(ROOT / "docs").rglob("*.md"), *NOTEBOOKS):
        assert f": {path.relative_to(ROOT / 'docs')}\n" in menu, path


# --- What pages show of the code, and say of it. ----------------------------------------------------------------------

RULES = ROOT / "docs" / "add-a-variant.md"


def excerpts() -> list[tuple[Path, str, str]]:
    """Code in pages that names the file it is taken from."""
    pattern = re.compile(r'^```\w+ title="([^"]+/[^"]+)"\n(.*?)^```', re.DOTALL | re.MULTILINE)
    return [(page, *found) for page in PAGES for found in pattern.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("page", "name", "excerpt"), excerpts(), ids=lambda value: getattr(value, "name", None))
def test_excerpts_are_found_in_their_files(page: Path, name: str, excerpt: str) -> None:
    text = "\n" + (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".json"):
        # Long lines are folded.
        text, excerpt = ("".join(each.split()) for each in (text, excerpt))
        assert excerpt in text
        return
    begin = 0
    for part in re.split(r"^ *# \.\.\.\n", excerpt, flags=re.MULTILINE):
        assert "\n" + part in text[begin:], f"{page.name}: not in {name}, or not in this order:\n{part}"
        begin += text[begin:].index("\n" + part) + len(part)


def section_of(page: Path, heading: str) -> str:
    """What stands under a heading of a page, up to the next one."""
    (found,) = re.findall(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return str(found)


def files_that_say(pattern: str, *folders: str) -> set[str]:
    """Files in folders of the repository in which something is found."""
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".json")]
    return {
        str(path.relative_to(ROOT))
        for path in paths
        if path != Path(__file__) and re.search(pattern, path.read_text(encoding="utf-8"))
    }


def test_the_page_about_rules_lists_all_files_that_the_longest_ride_touched() -> None:
    listed = re.findall(r"^\| `(.+?)` \|", section_of(RULES, "The files that it touched"), re.MULTILINE)
    speak = r"max_ride|[Ll]ongest[_ ]ride|\b(?:rides|RIDES|ridden|ride_start)\b"
    assert len(listed) == len(set(listed))
    assert set(listed) == files_that_say(speak, "src/neuralns", "tests")


def test_the_page_about_rules_lists_all_places_that_know_prices() -> None:
    rows = re.findall(r"^\| `(.+?)` \| (`.+?`) \|", section_of(RULES, "A rule with a price"), re.MULTILINE)
    for name, cell in rows:
        text = (ROOT / "src" / "neuralns" / name).read_text(encoding="utf-8")
        for known in re.findall(r"`(\w+)`", cell):
            assert re.search(rf"\b{known}\b", text), f"{known} in {name}"
    price = r"\b(?:load|late|duration|distance|stops)_price\b|\btotal_violations\b|\bPRICES\b"
    found = files_that_say(price, "src/neuralns") - {"src/neuralns/routes/rules/__init__.py"}
    assert found <= {f"src/neuralns/{name}" for name, _ in rows}


def prose_of(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_pages_name_are_there(page: Path) -> None:
    files = [path.as_posix() for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    for name in re.findall(r"`([a-z_/]+/[a-z_]+\.py)`", prose_of(page)):
        assert any(path.endswith(f"/{name}") for path in files), name
    for name in re.findall(r"`(neuralns\.[a-z_.]+\w)[`(]", prose_of(page)):
        resolve_name(name)


def anchors_of(page: Path) -> set[str]:
    """What links may lead to on a page, as the site names its headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", prose_of(page), re.MULTILINE):
        text = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower()
        found.add(re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", text).strip()))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_headings_lead_somewhere(page: Path) -> None:
    for name, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", prose_of(page)):
        target = page.parent / name if name else page
        if target.suffix == ".md" and target.is_relative_to(ROOT):
            assert anchor in anchors_of(target), f"{name}#{anchor}"
