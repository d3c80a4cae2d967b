"""Draws how far runs were at each moment: as text for a terminal and as SVG."""

# By run, the slowest first. The colours are distinct with red-green colour blindness, too.
COLOURS = ("#111111", "#8c8c8c", "#1f77b4", "#2ca02c")
MARKS = "x*+o"
HEIGHT, LEFT, TOP, PLOT_W, PLOT_H = 320, 60, 44, 620, 230
LEGEND = LEFT + PLOT_W + 12
CHARACTER = 0.62  # of the font's size: the largest width of a character of a sans-serif font, about


def share_at(curve, second):
    """Per cent done at that moment; the last known if nothing is newer."""
    done = 0.0
    for when, share in curve:
        if when > second:
            break
        done = share
    return done


def text(runs, columns=60, rows=10):
    """Lines of a chart. `runs`: name -> [(second, per cent)], in time order, ending at 100."""
    end = max(curve[-1][0] for curve in runs.values())
    grid = [[" "] * columns for _ in range(rows)]
    for mark, curve in zip(MARKS, runs.values()):
        for column in range(columns):
            second = end * (column + 1) / columns
            if second - end / columns > curve[-1][0]:
                break
            row = min(rows - 1, int(share_at(curve, second) / 100 * rows))
            grid[rows - 1 - row][column] = mark
    lines = [f"{100 - 100 * i // rows:>5} % |" + "".join(row) for i, row in enumerate(grid)]
    lines.append("        +" + "-" * columns)
    lines.append(f"         0 s{end:>{columns - 3}.1f} s")
    for mark, (name, curve) in zip(MARKS, runs.items()):
        lines.append(f"         {mark} {name}: done after {curve[-1][0]:.1f} s")
    return lines


def width(content, size):
    """Width of a text, pixels."""
    return CHARACTER * size * len(content)


def _label(x, y, content, anchor="start", size=13):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-family="sans-serif">{content}</text>')


def svg(title, runs):
    """The same as a picture."""
    end = max(curve[-1][0] for curve in runs.values())
    bottom = TOP + PLOT_H
    wide = round(max(LEFT + width(title, 15), LEGEND + max(width(name, 13) for name in runs))) + 12
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{HEIGHT}" '
           f'viewBox="0 0 {wide} {HEIGHT}">',
           '<rect width="100%" height="100%" fill="white"/>', _label(LEFT, 24, title, size=15),
           f'<path d="M{LEFT},{TOP} V{bottom} H{LEFT + PLOT_W}" fill="none" stroke="#888"/>']
    for i in range(5):
        y = bottom - PLOT_H * i / 4
        out += [_label(LEFT - 6, y + 4, f"{25 * i} %", "end", 11),
                _label(LEFT + PLOT_W * i / 4, bottom + 18, f"{end * i / 4:.1f} s", "middle", 11)]
    for i, (colour, (name, curve)) in enumerate(zip(COLOURS, runs.items())):
        points = " ".join(f"{LEFT + PLOT_W * s / end:.1f},{bottom - PLOT_H * p / 100:.1f}"
                          for s, p in [(0, 0), *curve])
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" '
                   'stroke-width="2.5"/>')
        out.append(f'<text x="{LEGEND}" y="{TOP + 16 + 36 * i}" font-size="13" '
                   f'font-family="sans-serif" fill="{colour}">{name}</text>')
        out.append(_label(LEGEND, TOP + 32 + 36 * i, f"{curve[-1][0]:.1f} s"))
    return "\n".join([*out, "</svg>", ""])
