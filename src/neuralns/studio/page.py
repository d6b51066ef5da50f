"""The page and its files, and a page that lists what the server offers; nothing of them comes from elsewhere."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, Response
from fastapi.staticfiles import StaticFiles

STATIC = Path(__file__).parent / "static"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
code, pre { font-family: ui-monospace, monospace } pre { overflow: auto; padding: .5rem; background: #8882 }
h2 { margin-top: 2rem; font-size: 1.1rem } :root { color-scheme: light dark }
"""


def add_to(app: FastAPI) -> None:
    """Add the page to an application."""

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html", headers={"Cache-Control": "no-cache"})

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(listing(app.openapi()))

    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False))


def listing(schema: dict[str, Any]) -> str:
    """Return a page of all that a server of this OpenAPI schema offers."""
    parts = []
    for path, methods in schema["paths"].items():
        for method, facts in methods.items():
            parts.append(f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(facts['summary'])}</p>")
            given = [
                f"<li><code>{escape(each['name'])}</code> ({each['in']}{', required' if each.get('required') else ''})"
                for each in facts.get("parameters", ())
            ]
            parts.append(f"<ul>{''.join(given)}</ul>" if given else "")
            body = facts.get("requestBody", {}).get("content", {}).get("application/json")
            if body is not None:
                whole = _whole(body, schema["components"]["schemas"])
                parts.append(f"<pre>{escape(json.dumps(whole, indent=2))}</pre>")
    version = escape(schema["info"]["version"])
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>neuralns: the service</title><style>{STYLE}</style><h1>neuralns {version}</h1>"
        f"<p>All that this server offers; for programs, the same as <a href=/openapi.json>openapi.json</a>.</p>"
        f"{''.join(parts)}"
    )


def _whole(part: Any, named: dict[str, Any]) -> Any:
    """Return a part of a schema with those parts in it that it names."""
    if isinstance(part, dict):
        if "$ref" in part:
            return _whole(named[part["$ref"].rpartition("/")[2]], named)
        return {key: _whole(value, named) for key, value in part.items()}
    return [_whole(each, named) for each in part] if isinstance(part, list) else part
