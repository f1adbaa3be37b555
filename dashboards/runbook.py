"""The runbook as a page, with an anchor for each alert: where the rules' `runbook_url` leads, as Prometheus itself serves it."""

import html
import re
from itertools import groupby

__all__ = ["page"]

_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:48em;margin:2em auto;padding:0 1em;color:#202226;background:#fff}"
    "code{background:#eee}:target{background:#fff3c4}"
)
_HEADING, _ITEM = re.compile(r"(#+) (.*)"), re.compile(r"(?:(\d+)\.|-) (.*)")


def page(markdown: str) -> str:
    """The page of a text in the little of Markdown that the runbook has: headings, paragraphs, lists, links, code and emphasis.

    >>> print(page("# A\\n\\n## Of b\\n\\nDo `c`,\\nor [see](#a).\\n\\n1. one\\n   more\\n2. two\\n").split("<body>")[1])
    <BLANKLINE>
    <h1 id="a">A</h1>
    <h2 id="of-b">Of b</h2>
    <p>Do <code>c</code>, or <a href="#a">see</a>.</p>
    <ol><li>one more</li><li>two</li></ol>
    </body></html>
    <BLANKLINE>
    """
    blocks = [
        _block(list(lines)) for some, lines in groupby(markdown.splitlines(), key=bool) if some
    ]
    head = f'<meta charset="utf-8"><title>stream-rank: runbook</title><style>{_STYLE}</style>'
    body = "\n".join(blocks)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _block(lines: list[str]) -> str:
    heading = _HEADING.fullmatch(lines[0])
    if heading is not None:
        level, text = len(heading[1]), heading[2]
        anchor = text.lower().replace(" ", "-")
        return f'<h{level} id="{anchor}">{_inline(text)}</h{level}>'
    first = _ITEM.fullmatch(lines[0])
    if first is None:
        return f"<p>{_inline(' '.join(lines))}</p>"
    items: list[str] = []
    for line in lines:
        item = _ITEM.fullmatch(line)
        if item is not None:
            items.append(item[2])
        else:
            items[-1] += f" {line.strip()}"
    kind = "ol" if first[1] else "ul"
    return f"<{kind}>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</{kind}>"


def _inline(text: str) -> str:
    parts = re.split(r"(`[^`]*`)", text)  # in code nothing else is meant
    return "".join(
        f"<code>{html.escape(part[1:-1])}</code>" if part.startswith("`") else _marked(part)
        for part in parts
    )


def _marked(text: str) -> str:
    text = html.escape(text, quote=False)
    text = re.sub(r"\[([^\]]*)\]\(([^)]*)\)", r'<a href="\2">\1</a>', text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    return re.sub(r"\*([^*]+)\*", r"<i>\1</i>", text)
