// See host_port.h.
#include "util/host_port.h"
#include "util/strings.h"

namespace ibd {

std::optional<HostPort> SplitHostPort(std::string_view text)
{
    HostPort out;
    const size_t colon = text.rfind(':');
    if (colon != std::string_view::npos) {
        const std::string_view before = text.substr(0, colon);
        const bool bracketed = before.starts_with('[') && before.ends_with(']');
        if (bracketed || before.find(':') == std::string_view::npos) {
            const auto port = ParseInteger<uint16_t>(text.substr(colon + 1));
            if (!port || *port == 0) return std::nullopt;
            out.port = port;
            text = before;
        }
    }
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    out.host = text;
    return out;
}

Error InvalidPort(const std::string& option, const std::string& value)
{
    return BadData("Invalid port specified in {}: '{}'", option, value);
}

} // namespace ibd
