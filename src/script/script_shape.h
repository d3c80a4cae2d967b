// ScriptShape: scripts of a fixed form with one variable part, so that the form and the part give
// the script. Values.
#pragma once

#include "util/bytes.h"

#include <string_view>

namespace ibd {

struct ScriptShape {
    std::string_view before;
    size_t size; //!< of the variable part, bytes
    std::string_view behind;

    bool Matches(ByteSpan script) const
    {
        const std::string_view text = AsChars(script);
        return text.size() == before.size() + size + behind.size() && text.starts_with(before) &&
               text.ends_with(behind);
    }
    /** The variable part of a script that matches. */
    ByteSpan Part(ByteSpan script) const { return script.subspan(before.size(), size); }
    /** Makes `script` the script with this variable part. */
    void Make(ByteSpan part, Bytes& script) const
    {
        script.assign(before.begin(), before.end());
        Append(script, part);
        Append(script, AsBytes(behind));
    }
};

inline constexpr ScriptShape kPayToKeyHash{{"\x76\xa9\x14", 3}, 20, {"\x88\xac", 2}};
inline constexpr ScriptShape kPayToScriptHash{{"\xa9\x14", 2}, 20, {"\x87", 1}};
inline constexpr ScriptShape kPayToWitnessKeyHash{{"\x00\x14", 2}, 20, {}};
inline constexpr ScriptShape kPayToWitnessScriptHash{{"\x00\x20", 2}, 32, {}};
inline constexpr ScriptShape kPayToTaproot{{"\x51\x20", 2}, 32, {}};

} // namespace ibd
