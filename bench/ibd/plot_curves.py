"""Draws curves over time as one SVG."""

import plot

WIDTH, HEIGHT, LEFT, TOP, PLOT_W, PLOT_H = 900, 380, 70, 40, 720, 280
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")


def draw(title, curves, levels=None):
    """`curves`: name -> [(seconds, value)]. `levels`: name -> value, drawn as dashed lines."""
    levels = levels or {}
    points = [point for curve in curves.values() for point in curve]
    end = max([seconds for seconds, _ in points] + [0.1])
    top = max([value for _, value in points] + list(levels.values()) + [1e-9]) * 1.05
    bottom = TOP + PLOT_H

    def height_of(value):
        return bottom - PLOT_H * value / top

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}"><rect width="100%" height="100%" fill="white"/>',
           plot.text(LEFT, TOP - 15, title),
           plot.line(LEFT, bottom, LEFT + PLOT_W, bottom), plot.line(LEFT, TOP, LEFT, bottom)]
    for i in range(5):
        out += [plot.text(LEFT - 6, height_of(top * i / 4) + 4, f"{top * i / 4:.3g}", "end", 11),
                plot.text(LEFT + PLOT_W * i / 4, bottom + 16, f"{end * i / 4:.1f}", "middle", 11)]
    for name, value in levels.items():
        y = height_of(value)
        out += [plot.line(LEFT, y, LEFT + PLOT_W, y, dash="5 4"),
                plot.text(LEFT + PLOT_W + 4, y + 4, name, size=11)]
    for i, (name, curve) in enumerate(curves.items()):
        places = [(LEFT + PLOT_W * seconds / end, height_of(value)) for seconds, value in curve]
        if not places:
            continue
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out += [f'<polyline points="{path}" fill="none" stroke="{COLOURS[i % len(COLOURS)]}" '
                f'stroke-width="1.8"/>',
                plot.text(places[-1][0] + 4, places[-1][1] + 4, name, size=11)]
    return "\n".join([*out, "</svg>", ""])
