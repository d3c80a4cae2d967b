"""Draws what each peer of a sync brought over time, as one SVG."""

import plot

WIDTH, HEIGHT, LEFT, TOP, PLOT_W, PLOT_H = 900, 380, 70, 40, 760, 280
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")


def draw(samples):
    """`samples`: (seconds, {peer: bytes so far})."""
    peers = sorted({peer for _, sizes in samples for peer in sizes})
    end = max([seconds for seconds, _ in samples] + [0.1])
    top = max([size for _, sizes in samples for size in sizes.values()] + [1])
    bottom = TOP + PLOT_H
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}"><rect width="100%" height="100%" fill="white"/>',
           plot.text(LEFT, TOP - 15, "MB received over seconds, by peer"),
           plot.line(LEFT, bottom, LEFT + PLOT_W, bottom), plot.line(LEFT, TOP, LEFT, bottom)]
    for i in range(5):
        out += [plot.text(LEFT - 6, bottom - PLOT_H * i / 4 + 4, f"{top * i / 4e6:.0f}", "end", 11),
                plot.text(LEFT + PLOT_W * i / 4, bottom + 16, f"{end * i / 4:.1f}", "middle", 11)]
    for i, peer in enumerate(peers):
        colour = COLOURS[i % len(COLOURS)]
        points = [(LEFT + PLOT_W * seconds / end, bottom - PLOT_H * sizes[peer] / top)
                  for seconds, sizes in samples if peer in sizes]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        out += [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>',
                plot.text(points[-1][0] + 4, points[-1][1] + 4, f"peer {i + 1}", size=11)]
    return "\n".join([*out, "</svg>", ""])
