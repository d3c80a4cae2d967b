// See feerate.h.
#include "mempool/feerate.h"

namespace ibd {

namespace {

/** A diagram, walked from its left end. */
class Curve {
public:
    explicit Curve(std::span<const FeeSize> chunks) : m_chunks(chunks) {}

    bool AtEnd() const { return m_next == m_chunks.size(); }
    /** A sum over many clusters; the fees may need more than 64 bits. */
    struct Point {
        Int128 fee = 0;
        Int128 size = 0;
    };
    /** The end of the current segment. */
    Point NextPoint() const
    {
        const FeeSize& next = m_chunks[m_next];
        return {m_at.fee + next.fee, m_at.size + next.size};
    }
    void Step()
    {
        m_at = NextPoint();
        ++m_next;
    }
    /** Compares a point with the current segment at its size. The curve is level after its end. */
    std::strong_ordering Compare(const Point& point) const
    {
        const FeeSize level{0, 1};
        const FeeSize& segment = AtEnd() ? level : m_chunks[m_next];
        return (point.fee - m_at.fee) * segment.size <=> (point.size - m_at.size) * segment.fee;
    }

private:
    const std::span<const FeeSize> m_chunks;
    size_t m_next = 0;
    Point m_at; //!< the start of the current segment
};

} // namespace

std::partial_ordering CompareDiagrams(std::span<const FeeSize> a, std::span<const FeeSize> b)
{
    Curve left(a), right(b);
    bool above = false, below = false;
    // Comparing at the ends of segments suffices: between them both curves are straight.
    while (!left.AtEnd() || !right.AtEnd()) {
        const bool use_left =
            right.AtEnd() || (!left.AtEnd() && left.NextPoint().size <= right.NextPoint().size);
        Curve& stepped = use_left ? left : right;
        const auto order = (use_left ? right : left).Compare(stepped.NextPoint());
        above |= order == (use_left ? std::strong_ordering::greater : std::strong_ordering::less);
        below |= order == (use_left ? std::strong_ordering::less : std::strong_ordering::greater);
        stepped.Step();
    }
    if (above && below) return std::partial_ordering::unordered;
    if (above) return std::partial_ordering::greater;
    return below ? std::partial_ordering::less : std::partial_ordering::equivalent;
}

} // namespace ibd
