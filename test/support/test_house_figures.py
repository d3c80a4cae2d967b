"""What test/lint/house_figures.py counts."""

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
