"""Progress with rate and time left: a bar on a terminal, lines every few seconds elsewhere."""

import sys
import time

try:
    from tqdm import tqdm
except ImportError:
    tqdm = None

LOG_SECONDS = 10


def _duration(seconds):
    seconds = int(seconds)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02} min"


class Progress:
    """Counts `unit`s up to `total`; `note` is extra text such as a second rate."""

    def __init__(self, label, total, unit, done=0):
        self.label, self.total, self.unit = label, total, unit
        self.start_done = self.done = done
        self.note = ""
        self.begun = self.last = time.monotonic()
        self.bar = None
        if tqdm and sys.stderr.isatty():
            self.bar = tqdm(total=total, initial=done, desc=label, unit=" " + unit,
                            unit_scale=total > 100_000, dynamic_ncols=True, file=sys.stderr)
        elif done:
            self._line(f"{label}: resuming at {done:,} of {total:,} {unit}")

    def add(self, count, note=""):
        self.done += count
        self.note = note
        if self.bar is not None:
            if note:
                self.bar.set_postfix_str(note, refresh=False)
            self.bar.update(count)
        elif time.monotonic() - self.last >= LOG_SECONDS:
            self.last = time.monotonic()
            self._line(self._status())

    def elapsed(self):
        return max(time.monotonic() - self.begun, 1e-9)

    def _status(self):
        rate = (self.done - self.start_done) / self.elapsed()
        left = _duration((self.total - self.done) / rate) if rate else "unknown"
        share = 100 * self.done / self.total if self.total else 100
        note = f", {self.note}" if self.note else ""
        return (f"{self.label}: {self.done:,} of {self.total:,} {self.unit} ({share:.1f} %), "
                f"{rate:,.0f}/s{note}, {left} left")

    def close(self):
        if self.bar is not None:
            self.bar.close()
            return
        count = self.done - self.start_done
        rate = count / self.elapsed()
        note = f", {self.note}" if self.note else ""
        self._line(f"{self.label}: {count:,} {self.unit} in {_duration(self.elapsed())} "
                   f"({rate:,.0f}/s{note})")

    @staticmethod
    def _line(text):
        print(text, file=sys.stderr, flush=True)
