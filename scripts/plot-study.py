#!/usr/bin/env python3
"""Draws the first player's score of every ruleset in a study as an SVG file.

    scripts/plot-study.py docs/studies/full

Reads DIR/balance.csv and writes DIR/first-player.svg: for each ruleset the score at the largest budget with its
confidence interval, the highest score first. Needs the Python standard library only.
"""

import csv
import sys
from pathlib import Path
from xml.sax.saxutils import escape

# One neutral background serves light and dark pages.
BACKGROUND, TEXT, FAINT, GRID = "#f6f6f3", "#1f2328", "#57606a", "#d3d6da"
COLOURS = {
    "first": "#b3541e",
    "second": "#6f42c1",
    "balanced": "#1f6f54",
    "even_with_this_player": "#8a7a2f",
    "unresolved": "#57606a",
}
MEANINGS = {
    "first": "first player ahead",
    "second": "second player ahead",
    "balanced": "balanced",
    "even_with_this_player": "even, but not shown to be balanced",
    "unresolved": "unresolved",
}

# Above this fraction of draws a score near 50 says little; the circle is left empty.
MOSTLY_DRAWN = 0.9

LEFT, RIGHT, TOP, ROW, BOTTOM = 230, 210, 76, 20, 52
WIDTH = 900


def rows_at_largest_budget(path):
    """Returns the rows of the first family's largest budget, the highest score first, and that budget's agent.

    A family is what players that differ in their budget have in common; greedy and random have none.
    """
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    family = [row for row in rows if row["family"] == rows[0]["family"]]
    largest = max(family, key=lambda row: int(row["budget"] or 0))["agent"]
    rows = [row for row in rows if row["agent"] == largest]
    return sorted(rows, key=lambda row: (-float(row["score"]), row["ruleset"])), largest


def draw(rows, agent):
    """Returns the SVG text."""
    points = [100 * float(row[key]) for row in rows for key in ("lower", "upper")]
    low, high = min(40, 10 * int(min(points) // 10)), max(60, 10 * int(-(-max(points) // 10)))
    bottom = TOP + ROW * len(rows)
    height = bottom + BOTTOM

    def x(score):
        return LEFT + (WIDTH - LEFT - RIGHT) * (score - low) / (high - low)

    parts = []

    def line(x1, y1, x2, y2, colour, width, extra=""):
        parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{extra}/>'
        )

    def text(at, y, words, colour=TEXT, anchor="start", size=13, extra=""):
        parts.append(
            f'<text x="{at:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size}" text-anchor="{anchor}"{extra}>'
            f"{escape(words)}</text>"
        )

    parts.append(f'<rect width="{WIDTH}" height="{height}" fill="{BACKGROUND}"/>')
    text(16, 26, f"First player's score at equal strength, {agent}", size=16, extra=' font-weight="bold"')
    at = 16
    for verdict in [verdict for verdict in MEANINGS if any(row["verdict"] == verdict for row in rows)]:
        parts.append(f'<circle cx="{at + 5}" cy="46" r="5" fill="{COLOURS[verdict]}"/>')
        text(at + 15, 50, MEANINGS[verdict], FAINT)
        at += 35 + 7 * len(MEANINGS[verdict])
    parts.append(f'<circle cx="{at + 5}" cy="46" r="4.5" fill="{BACKGROUND}" stroke="{FAINT}" stroke-width="2"/>')
    text(at + 15, 50, f"more than {100 * MOSTLY_DRAWN:.0f} % of the games drawn", FAINT)
    text(WIDTH - 78, TOP - 8, "score [95 % interval]", FAINT, "end", 12)
    text(WIDTH - 16, TOP - 8, "drawn", FAINT, "end", 12)
    for score in range(low, high + 1, 5):
        line(x(score), TOP, x(score), bottom, GRID, 1)
        if score % 10 == 0:
            text(x(score), bottom + 18, str(score), FAINT, "middle", 12)
    line(x(50), TOP, x(50), bottom, FAINT, 1.5, ' stroke-dasharray="4 3"')
    for index, row in enumerate(rows):
        y = TOP + ROW * (index + 0.5)
        score, lower, upper = (100 * float(row[key]) for key in ("score", "lower", "upper"))
        drawn = (int(row["rule_draws"]) + int(row["truncated"])) / int(row["games"])
        colour = COLOURS[row["verdict"]]
        text(LEFT - 12, y + 4.5, row["ruleset"], anchor="end")
        line(x(lower), y, x(upper), y, colour, 3)
        fill = BACKGROUND if drawn > MOSTLY_DRAWN else colour
        parts.append(
            f'<circle cx="{x(score):.1f}" cy="{y:.1f}" r="4.5" fill="{fill}" stroke="{colour}" stroke-width="2"/>'
        )
        text(WIDTH - 78, y + 4.5, f"{score:.1f} [{lower:.1f}, {upper:.1f}]", anchor="end", size=12)
        text(WIDTH - 16, y + 4.5, f"{100 * drawn:.1f} %", anchor="end", size=12)
    text((x(low) + x(high)) / 2, bottom + 38, "points of 100; a draw counts one half", FAINT, "middle", 12)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" role="img">\n'
        f"<title>First player's score of {len(rows)} rulesets, {escape(agent)} against itself</title>\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: scripts/plot-study.py DIR")
    folder = Path(sys.argv[1])
    rows, agent = rows_at_largest_budget(folder / "balance.csv")
    target = folder / "first-player.svg"
    target.write_text(draw(rows, agent), encoding="utf-8")
    print(f"wrote {target}: {len(rows)} rulesets")


if __name__ == "__main__":
    main()
