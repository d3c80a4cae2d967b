// See lax_der.h. The rules are those by which consensus has always parsed signatures.
#include "crypto/lax_der.h"

#include <algorithm>

namespace ibd {

namespace {

/** Walks the bytes of a signature; each step returns whether enough bytes were left. */
class DerReader {
public:
    explicit DerReader(ByteSpan bytes) : m_rest(bytes) {}

    bool Byte(uint8_t& out)
    {
        if (m_rest.empty()) return false;
        out = m_rest.front();
        m_rest = m_rest.subspan(1);
        return true;
    }

    bool Tag(uint8_t want)
    {
        uint8_t tag;
        return Byte(tag) && tag == want;
    }

    bool Take(size_t n, ByteSpan& out)
    {
        if (n > m_rest.size()) return false;
        out = m_rest.first(n);
        m_rest = m_rest.subspan(n);
        return true;
    }

    /** Skips the length of the sequence: its bytes must exist, its value is ignored. */
    bool SkipLength()
    {
        uint8_t first;
        ByteSpan ignored;
        if (!Byte(first)) return false;
        return (first & 0x80) == 0 || Take(first & 0x7f, ignored);
    }

    /** A length in short form, or in long form with at most three significant bytes. */
    bool Length(size_t& out)
    {
        uint8_t first;
        if (!Byte(first)) return false;
        out = first;
        if ((first & 0x80) == 0) return true;
        ByteSpan digits;
        if (!Take(first & 0x7f, digits)) return false;
        while (!digits.empty() && digits.front() == 0) digits = digits.subspan(1);
        if (digits.size() >= 4) return false;
        out = 0;
        for (const uint8_t digit : digits) out = out << 8 | digit;
        return true;
    }

    /** An integer taken as unsigned, without its leading zeros. */
    bool Integer(ByteSpan& out)
    {
        size_t size;
        if (!Tag(0x02) || !Length(size) || !Take(size, out)) return false;
        while (!out.empty() && out.front() == 0) out = out.subspan(1);
        return true;
    }

private:
    ByteSpan m_rest;
};

} // namespace

bool SplitLaxDer(ByteSpan signature, CompactSignature& out)
{
    DerReader reader(signature);
    ByteSpan r, s;
    if (!reader.Tag(0x30) || !reader.SkipLength()) return false;
    if (!reader.Integer(r) || !reader.Integer(s)) return false;
    out.fill(0);
    if (r.size() > 32 || s.size() > 32) return true;
    std::ranges::copy(r, out.begin() + static_cast<ptrdiff_t>(32 - r.size()));
    std::ranges::copy(s, out.begin() + static_cast<ptrdiff_t>(64 - s.size()));
    return true;
}

} // namespace ibd
