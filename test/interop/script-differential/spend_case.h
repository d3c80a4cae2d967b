// One script verification as both engines get it, and our answer.
#pragma once

#include "primitives/transaction.h"
#include "script/verify.h"

#include <string>

namespace ibd::differential {

struct SpendCase {
    MutableTransaction tx;
    std::vector<MutableOutput> spent; //!< one for each input
    size_t index = 0;
    ScriptFlags flags = 0;
    const char* kind = ""; //!< for the statistics
};

/** The line of the oracle's verify-scripts (test/interop/README.md), without its end. */
std::string ToLine(const SpendCase& spend);

/** Our verdict in the oracle's words. `raw`: the serialized transaction. */
std::string OurVerdict(ByteSpan raw, std::span<const MutableOutput> spent, size_t index,
                       ScriptFlags flags);
std::string OurVerdict(const SpendCase& spend);

/** Answers one line of the protocol; "BAD_LINE" for a line that this program does not write. */
std::string AnswerLine(const std::string& line);

} // namespace ibd::differential
