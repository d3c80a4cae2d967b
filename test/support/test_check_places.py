"""Which places test/lint/check_places.py refuses."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))

import check_places  # noqa: E402 (needs the path above)


class Places(unittest.TestCase):
    CASES = [  # a line of each kind
        "const int fd = ::open(path.c_str(), O_RDONLY);", "std::ifstream file(path);",
        "env.Rename(part, path);", "std::filesystem::rename(a, b);",
        "IBD_RETURN_IF_ERROR(m_env.RemoveAll(folder));", "const pid_t child = fork();",
        "std::system(line.c_str());", "popen(line, mode);", "sigaction(SIGUSR1, &action, nullptr);"]
    OTHERS = ["open(m_pairs);", "// ::open(path, flags)", "const SharedLock open(m_gate);",
              "m_requests.RemoveAll(node, now);", 'Warning("system({}) returned {}", line, n);']

    def check(self, line, path):
        return list(check_places.offences({path: line}, check_places.RULES))

    def test_a_new_place_is_refused(self):
        for line in self.CASES:
            bad = [text for text in self.check(line, "rpc/new.cpp") if "rpc/new.cpp:1" in text]
            self.assertEqual(len(bad), 1, line)

    def test_others_are_not(self):
        for line in self.OTHERS:
            bad = [text for text in self.check(line, "rpc/new.cpp") if "rpc/new.cpp" in text]
            self.assertEqual(bad, [], line)

    def test_a_place_that_is_gone_leaves_the_list(self):
        rules = [("renames: may it?", "Rename", {"a.cpp", "b.cpp"})]
        self.assertEqual(list(check_places.offences({"a.cpp": "Rename"}, rules)),
                         ["src/b.cpp: is in a list without need (renames)"])
