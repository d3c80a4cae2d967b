"""The counts of test/lint/house_figures.py."""

import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lint"))

import house_figures  # noqa: E402 (needs the path above)

HEADER = """
class A final : public B {
public:
    explicit A(int x) : m_x(x) {}
    ~A() override { Stop(); }
    A(const A&) = delete;
    int Get() const { return m_x; } // void Comment();
    bool operator==(const A&) const = default;
    std::function<void(int)> Maker(std::map<int, std::pair<int, int>> m);
    template <typename T>
    static T Make(T value) { if (value) return f(value); return {}; }

private:
    struct Inner {
        void Call();
        int data = 0;
    };
    using Call = std::function<void(int)>;
    std::function<void(int)> m_call;
    int m_x IBD_GUARDED_BY(m_mutex) = f(1);
    friend class C;
    friend void Free(A&);
};
enum class Kind { kOne };
"""


class Classes(unittest.TestCase):
    def test_methods_are_counted(self):
        self.assertEqual(dict(house_figures.classes(HEADER)), {"A": 7, "Inner": 1})
        nested = "class A::B final : C {\npublic:\n    void D();\n};\n"
        self.assertEqual(dict(house_figures.classes(nested)), {"A::B": 1})

    def test_bounds_are_those_of_the_module(self):
        lines = {"node": house_figures.MAX_NODE_LINES}
        sizes = [(71, "validation", "A"), (70, "validation", "B"), (41, "net", "C"),
                 (41, "booster", "D"), (40, "net", "E")]
        self.assertEqual(list(house_figures.offences(lines, sizes, [])),
                         ["validation: A has 71 methods, more than 70",
                          "net: C has 41 methods, more than 40",
                          "booster: D has 41 methods, more than 40"])
        lines["node"] += 1
        self.assertEqual(len(list(house_figures.offences(lines, [], ["a.h: friend class B;"]))), 2)


class Names(unittest.TestCase):
    def test_a_name_stands_for_one_type(self):
        headers = [("a.h", "namespace ibd {\nusing Id = int;\nclass Topic : A {\n};\n}\n"),
                   ("b.h", "namespace ibd {\nusing Id = int;\nclass Topic;\n"
                    "class Topic::B {\n};\nenum class Kind { kOne };\n}\n"),
                   ("c.h", "namespace ibd::c {\nstruct Topic {\n};\nusing Id = long;\n}\n")]
        self.assertEqual(house_figures.names_of_two(headers), {})
        headers.append(("d.h", "namespace ibd {\nusing Topic = Row<int>;\n"
                        "using Id = long;\nenum Kind { kOne };\n}\n"))
        self.assertEqual(house_figures.names_of_two(headers),
                         {"ibd::Topic": ["a.h", "d.h"], "ibd::Id": ["b.h", "d.h"],
                          "ibd::Kind": ["b.h", "d.h"]})
