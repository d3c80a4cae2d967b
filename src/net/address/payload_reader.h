// PayloadReader: a Reader that keeps the reason of its failure, in the words of Bitcoin Core's log.
// Owned by one decoder.
#pragma once

#include "primitives/serialize.h"
#include "util/result.h"

#include <string>

namespace ibd {

class PayloadReader : public Reader {
public:
    using Reader::Reader;

    /** Fails with a reason; the first one is kept. */
    void Refuse(std::string reason)
    {
        if (Ok()) m_reason = std::move(reason);
        Fail();
    }
    /** A CompactSize and that many characters; at most `limit`. */
    std::string LimitedString(size_t limit)
    {
        const uint64_t size = CompactSize();
        if (size > limit) Refuse("String length limit exceeded");
        return std::string(AsChars(Span(Ok() ? size : 0)));
    }
    /** Whether the failure came from Refuse(). */
    bool HasReason() const { return !m_reason.empty(); }
    /** The error of a failure. */
    Error GetError() const { return BadData("{}", HasReason() ? m_reason : Fault()); }

private:
    std::string m_reason;
};

} // namespace ibd
