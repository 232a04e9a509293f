#!/usr/bin/env python3
"""Draws one small learning curve for each ruleset, and those of the mean and the lowest score, as an SVG file.

    scripts/plot-curves.py OUT.svg X=MATCHES.json X=MATCHES.json ...

X is the place of a network on the horizontal axis, in millions of samples. MATCHES.json is what
`latrunculi match NETWORK OPPONENT --ruleset A,B,... --json` printed for it; all files have the same rulesets, opponent and
simulations. Also prints the scores as a table in Markdown. Needs the Python standard library only.
"""

import json
import sys
from pathlib import Path
from xml.sax.saxutils import escape

# One neutral background serves light and dark pages.
BACKGROUND, TEXT, FAINT, GRID, CURVE, WHOLE = "#f6f6f3", "#1f2328", "#57606a", "#d3d6da", "#1f6f54", "#b3541e"

COLUMNS, WIDTH, HEIGHT, GAP, LEFT, TOP = 5, 196, 104, 16, 34, 66


def read(argument):
    """Returns the place of a network, its matches by ruleset, and the mean over them."""
    place, _, path = argument.partition("=")
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    return float(place), {match["ruleset"]: match for match in found["matches"]}, found["mean"]


def of_match(match):
    """Returns a score with its interval, in points of 100."""
    return [100 * value for value in (match["score"], match["interval"]["lower"], match["interval"]["upper"])]


def panel(parts, index, title, curve, span, colour):
    """Draws a curve of places and scores with their intervals into the panel of a number."""
    left = LEFT + (index % COLUMNS) * (WIDTH + GAP)
    top = TOP + (index // COLUMNS) * (HEIGHT + 40)

    def at(place, score):
        return left + 6 + (WIDTH - 12) * place / span, top + HEIGHT * (1 - score / 100)

    def text(x, y, words, fill, anchor="start", size=11):
        parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" font-size="{size}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    for score in (0, 50, 100):
        y = at(0, score)[1]
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + WIDTH}" y2="{y:.1f}" stroke="{GRID}"/>')
        if index % COLUMNS == 0:
            text(left - 4, y + 4, str(score), FAINT, "end", 10)
    text(left, top - 5, title, TEXT)
    text(left + WIDTH, top - 5, f"{curve[-1][1]:.0f}", colour, "end", 12)
    points = " ".join("{:.1f},{:.1f}".format(*at(place, score)) for place, score, _, _ in curve)
    parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    for place, score, lower, upper in curve:
        (x, y), (_, low), (_, high) = at(place, score), at(place, lower), at(place, upper)
        parts.append(f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" stroke="{colour}" opacity="0.5"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{colour}"/>')


def draw(networks):
    """Returns the SVG text."""
    rulesets = list(networks[0][1])
    span = networks[-1][0]
    first = networks[0][1][rulesets[0]]
    # The names of agents end with what computed them, in brackets.
    agent, opponent = (name.split(" [")[0] for name in first["agents"])
    simulations = agent.rpartition("sims=")[2]
    curves = {name: [(place, *of_match(found[name])) for place, found, _ in networks] for name in rulesets}
    lowest = [min((curves[name][number] for name in rulesets), key=lambda point: point[1]) for number in range(len(networks))]
    mean = [(place, *of_match(whole)) for place, _, whole in networks]
    parts = []
    for index, (name, curve) in enumerate(curves.items()):
        panel(parts, index, name, curve, span, CURVE)
    panel(parts, len(curves), f"mean of {len(curves)}", mean, span, WHOLE)
    panel(parts, len(curves) + 1, "lowest of these", lowest, span, WHOLE)
    rows = -(-(len(curves) + 2) // COLUMNS)
    width, height = LEFT + COLUMNS * (WIDTH + GAP), TOP + rows * (HEIGHT + 40) + 6
    title = f"Score against {opponent} with {simulations} simulations, by samples played"
    head = (
        f'<rect width="{width}" height="{height}" fill="{BACKGROUND}"/>'
        f'<text x="16" y="24" fill="{TEXT}" font-size="16" font-weight="bold">{escape(title)}</text>'
        f'<text x="16" y="42" fill="{FAINT}" font-size="12">points of 100 with 95 % intervals; each curve from 0 to '
        f"{span:g} million samples; at the right the last score</text>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" role="img">\n'
        f"<title>{escape(title)}</title>\n{head}\n" + "\n".join(parts) + "\n</svg>\n"
    )


def table(networks):
    """Returns the scores as a table in Markdown, one row for each ruleset."""
    lines = ["| ruleset | " + " | ".join(f"{place:g} M" for place, _, _ in networks) + " |", "|---" * (len(networks) + 1) + "|"]
    for name in networks[0][1]:
        scores = (f"{of_match(found[name])[0]:.1f}" for _, found, _ in networks)
        lines.append(f"| `{name}` | " + " | ".join(scores) + " |")
    whole = ("{:.1f} [{:.1f}, {:.1f}]".format(*of_match(mean)) for _, _, mean in networks)
    lines.append(f"| mean of {len(networks[0][1])} | " + " | ".join(whole) + " |")
    return "\n".join(lines)


def main():
    if len(sys.argv) < 4 or not all("=" in argument for argument in sys.argv[2:]):
        sys.exit("usage: scripts/plot-curves.py OUT.svg X=MATCHES.json X=MATCHES.json ...")
    networks = sorted((read(argument) for argument in sys.argv[2:]), key=lambda network: network[0])
    if any(list(found) != list(networks[0][1]) for _, found, _ in networks):
        sys.exit("the files are of different rulesets")
    Path(sys.argv[1]).write_text(draw(networks), encoding="utf-8")
    print(table(networks))


if __name__ == "__main__":
    main()
