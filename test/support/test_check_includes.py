"""Which includes test/lint/check_includes.py refuses inside a module."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lint"))

import check_includes  # noqa: E402 (needs the path above)


class Circles(unittest.TestCase):
    def circles(self, files):
        """Those of a module `m` of these files, each with the files that it includes."""
        with tempfile.TemporaryDirectory() as folder:
            for name, targets in files.items():
                path = Path(folder, "src/m", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f'#include "{target}"\n' for target in targets))
            return list(check_includes.circles("m", Path(folder)))

    def test_folders_in_order(self):
        self.assertEqual(self.circles({"top.h": ["m/b/x.h", "m/a/x.h"], "b/x.h": ["m/a/x.h"],
                                       "a/x.h": ["util/x.h"], "a/x.cpp": ["m/a/x.h"]}), [])

    def test_files_in_a_circle(self):
        found = self.circles({"a/x.h": ["m/a/y.h"], "a/y.h": [], "a/y.cpp": ["m/a/x.h"]})
        self.assertEqual(found, ["src/m: a/x, a/y include each other in a circle"])

    def test_folders_in_a_circle(self):
        # No file of these reaches itself: only the folders do.
        found = self.circles({"a/x.h": ["m/b/x.h"], "b/x.h": [], "b/y.cpp": ["m/c/x.h"],
                              "c/x.h": ["m/a/y.h"], "a/y.h": []})
        self.assertEqual(found, ["src/m: the folders a, b, c include each other in a circle"])

    def test_a_folder_that_includes_the_top(self):
        found = self.circles({"top.h": ["m/a/x.h"], "a/x.h": [], "a/y.h": ["m/base.h"],
                              "base.h": []})
        self.assertEqual(found, ["src/m: the folders ., a include each other in a circle"])
