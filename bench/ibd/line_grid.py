#!/usr/bin/env python3
"""Syncs over a grid of simulated lines: their time against that which the lines allow.

Runs build/bin/ibd-line-grid in as many processes as there are cores, writes line-grid.csv and
line-grid.svg into --work, and prints the worst cases of each order and conduct. Simulated time: any
machine gives the same figures.
"""

import concurrent.futures
import csv
import io
import math
import os
import subprocess
from pathlib import Path

import measure
import plot

FIELDS = ("order", "rtt_ms", "mbit", "loss", "bad", "conduct", "seconds", "ideal", "ratio",
          "allowed", "dropped", "twice")
ORDERS = {"any": "in any order (booster)", "window": "with a window (serial engine)"}
COLOURS = {"honest": "#1f77b4", "slow": "#2ca02c", "silent": "#d62728", "stops": "#ff7f0e",
           "mixed": "#9467bd"}
WIDTH, HEIGHT, LEFT, TOP, PANEL_W, PANEL_H, GAP = 900, 400, 60, 60, 380, 260, 60
MOST, LEAST = 1.3, 0.1  # of the vertical axis


def run(program, processes, blocks):
    """Rows of the grid, in its order."""
    def part(first):
        done = subprocess.run([program, str(first), str(processes), str(blocks)], check=True,
                              text=True, capture_output=True)
        return list(csv.DictReader(io.StringIO(done.stdout), FIELDS))

    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        parts = list(pool.map(part, range(processes)))
    rows = []
    for i in range(max(map(len, parts))):
        rows += [rows_of[i] for rows_of in parts if i < len(rows_of)]
    return rows


def place(row, index):
    """Horizontal place: the speed of the lines, or beside them, spread by delay and number."""
    spread = (index * 37 % 100) / 100
    if row["mbit"] == "mixed":
        return 4 + (1 if row["rtt_ms"] == "mixed" else 0) + 0.1 + 0.8 * spread
    return math.log10(float(row["mbit"])) + 0.1 + 0.8 * spread


def panel(left, title, rows):
    bottom = TOP + PANEL_H

    def height(ratio):
        return bottom - PANEL_H * (min(max(ratio, LEAST), MOST) - LEAST) / (MOST - LEAST)

    out = [plot.text(left, TOP - 12, title), plot.line(left, bottom, left + PANEL_W, bottom),
           plot.line(left, TOP, left, bottom),
           plot.line(left, height(1), left + PANEL_W, height(1)),
           plot.line(left, height(1.1), left + PANEL_W, height(1.1), "#d62728", "5 4")]
    for ratio in (0.25, 0.5, 0.75, 1.0, 1.1):
        out.append(plot.text(left - 6, height(ratio) + 4, f"{ratio:g}", "end", 11))
    for i, name in enumerate(("1 Mbit/s", "10", "100", "1000", "Tor-like", "mixed")):
        out.append(plot.text(left + PANEL_W * (i + 0.5) / 6, bottom + 16, name, "middle", 11))
    for index, row in enumerate(rows):
        x = left + PANEL_W * place(row, index) / 6
        out.append(f'<circle cx="{x:.1f}" cy="{height(float(row["ratio"])):.1f}" r="2.4" '
                   f'fill="{COLOURS[row["conduct"]]}" fill-opacity="0.7"/>')
    return out


def draw(rows):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}"><rect width="100%" height="100%" fill="white"/>',
           plot.text(LEFT, 20, "Time of a sync / time that the honest lines need, by their speed; "
                               "eight peers, 20 to 600 ms; dashed: target")]
    for i, (order, title) in enumerate(ORDERS.items()):
        left = LEFT + i * (PANEL_W + GAP)
        out += panel(left, title, [row for row in rows if row["order"] == order])
    for i, (name, colour) in enumerate(COLOURS.items()):
        x = LEFT + 150 * i
        label = "all honest" if name == "honest" else f"some {name}"
        out += [f'<circle cx="{x}" cy="{HEIGHT - 26}" r="5" fill="{colour}"/>',
                plot.text(x + 10, HEIGHT - 22, label)]
    return "\n".join([*out, "</svg>", ""])


def report(rows):
    for order, title in ORDERS.items():
        print(f"{title}:")
        for conduct in COLOURS:
            some = [row for row in rows if row["order"] == order and row["conduct"] == conduct]
            worst = max(some, key=lambda row: float(row["seconds"]) / float(row["allowed"]))
            late = sum(float(row["seconds"]) > float(row["allowed"]) for row in some)
            beyond = sum(float(row["ratio"]) > 1.1 for row in some)
            dropped = sum(int(row["dropped"]) for row in some)
            print(f"  {conduct:7} {len(some):4} syncs, {beyond} above 1.1, {late} above what is "
                  f"allowed, {dropped} honest peers dropped; worst {worst['ratio']} "
                  f"({worst['rtt_ms']} ms, {worst['mbit']} Mbit/s, loss {worst['loss']}, "
                  f"{worst['bad']} bad)")


def main():
    parser = measure.paths(__doc__, "folder for the results")
    parser.add_argument("--blocks", type=int, default=20_000, help="most of a chain")
    parser.add_argument("--from-csv", type=Path, help="draw earlier results")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    if args.from_csv:
        rows = list(csv.DictReader(args.from_csv.open()))
    else:
        rows = run(args.build / "bin" / "ibd-line-grid", os.cpu_count() or 1, args.blocks)
        with (args.work / "line-grid.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
    (args.work / "line-grid.svg").write_text(draw(rows))
    report(rows)


if __name__ == "__main__":
    main()
