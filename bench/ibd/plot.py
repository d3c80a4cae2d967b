"""Draws the results of run.py as one SVG: throughput over time, and times as bars."""

import measure

WIDTH, HEIGHT, LEFT, TOP, PLOT_W, PLOT_H = 900, 620, 70, 40, 800, 260
COLOURS = {"booster1": "#1f77b4", "booster2": "#d62728", "floor1": "#7f7f7f", "floor2": "#b0b0b0",
           "join2": "#9467bd", "undo2": "#8c564b", "checked2": "#e377c2",
           "serial": "#2ca02c"}


def text(x, y, content, anchor="start", size=13):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-family="sans-serif">{content}</text>')


def line(x1, y1, x2, y2, colour="#888", dash=""):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-dasharray="{dash}"/>')


def rates(samples, window=5):
    """(time, bytes per second) from cumulated samples, averaged over `window` of them."""
    points = []
    for i in range(window, len(samples)):
        seconds = samples[i][0] - samples[i - window][0]
        if seconds > 0:
            points.append((samples[i][0], (samples[i][2] - samples[i - window][2]) / seconds))
    return points


def throughput(results):
    """GB/s of blocks folded over time, with the floor's mean as dashed lines."""
    curves = {n: rates(results[n]["samples"]) for n in ("booster1", "booster2")}
    floors = {n: results[n]["bytes"] / results[n]["seconds"] for n in ("floor1", "floor2")}
    end = max([results[n]["seconds"] for n in curves] + [0.1])
    top = 1.1 * max([r for c in curves.values() for _, r in c] + list(floors.values()))
    bottom = TOP + PLOT_H
    out = [text(LEFT, TOP - 15, "Blocks folded, GB/s over seconds (dashed: floor; falls to zero "
                                "while the chainstate is written)"),
           line(LEFT, bottom, LEFT + PLOT_W, bottom), line(LEFT, TOP, LEFT, bottom)]
    for i in range(5):
        y = bottom - PLOT_H * i / 4
        out += [text(LEFT - 6, y + 4, f"{top * i / 4 / 1e9:.2f}", "end", 11),
                text(LEFT + PLOT_W * i / 4, bottom + 16, f"{end * i / 4:.1f}", "middle", 11)]
    for name, value in floors.items():
        y = bottom - PLOT_H * value / top
        out.append(line(LEFT, y, LEFT + PLOT_W, y, COLOURS[name], "5 4"))
    for i, (name, points) in enumerate(curves.items()):
        path = " ".join(f"{LEFT + PLOT_W * t / end:.1f},{bottom - PLOT_H * r / top:.1f}"
                        for t, r in points)
        out += [f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" '
                f'stroke-width="1.8"/>',
                f'<text x="{LEFT + PLOT_W - 90}" y="{TOP + 14 + 16 * i}" font-size="12" '
                f'font-family="sans-serif" fill="{COLOURS[name]}">{name}</text>']
    return out


def bars(results, verdicts):
    """Seconds of each program, and the targets beside."""
    out, y, longest = [], TOP + PLOT_H + 60, max(r["seconds"] for r in results.values())
    for name, r in results.items():
        width = 330 * r["seconds"] / longest
        out += [text(LEFT - 6 + 50, y + 13, name, "end", 12),
                f'<rect x="{LEFT + 50}" y="{y}" width="{width:.1f}" height="16" '
                f'fill="{COLOURS[name]}"/>',
                text(LEFT + 56 + width, y + 13, f"{r['seconds']:.1f} s", "start", 12)]
        y += 26
    y = TOP + PLOT_H + 73
    for name, value, sign, target in verdicts:
        met = measure.holds(value, sign, target)
        sign = sign.replace("<", "&lt;").replace(">", "&gt;")
        out.append(text(530, y, f"{name}: {value:.2f} ({sign} {target:g}) "
                             f"{'ok' if met else 'missed'}", "start", 12))
        y += 22
    return out


def svg(results, verdicts):
    body = "\n".join(throughput(results) + bars(results, verdicts))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}">\n<rect width="100%" height="100%" fill="white"/>\n'
            f"{body}\n</svg>\n")


def comparison(title, rows):
    """Horizontal bars to scale, one for each (name, seconds, colour)."""
    longest = max(seconds for _, seconds, _ in rows)
    height = 44 + 38 * len(rows)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="820" height="{height}" '
           f'viewBox="0 0 820 {height}">',
           '<rect width="100%" height="100%" fill="white"/>', text(10, 22, title)]
    for i, (name, seconds, colour) in enumerate(rows):
        y = 38 + 38 * i
        out += [text(190, y + 19, name, "end"),
                f'<rect x="200" y="{y}" width="{520 * seconds / longest:.1f}" height="28" '
                f'fill="{colour}"/>',
                text(208 + 520 * seconds / longest, y + 19, f"{round(seconds, 1):g} s")]
    return "\n".join([*out, "</svg>", ""])


def gain(results):
    """Seconds of serial validation and of the booster."""
    return comparison("Seconds to rebuild the chainstate of 33 million outputs on two cores",
                      [("serial validation", results["serial"]["seconds"], COLOURS["serial"]),
                       ("IBD Booster", results["booster2"]["seconds"], COLOURS["booster2"])])
