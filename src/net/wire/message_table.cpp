// See message_table.h.
#include "net/wire/message_table.h"

#include <algorithm>

namespace ibd {

namespace {

template <typename Matches>
const MessageRow* FindRow(const Matches& matches)
{
    const auto found = std::find_if(kMessageRows.begin(), kMessageRows.end(), matches);
    return found == kMessageRows.end() ? nullptr : &*found;
}

} // namespace

const MessageRow* FindMessage(std::string_view type)
{
    return FindRow([&](const MessageRow& row) { return row.type == type; });
}

const MessageRow* FindMessage(uint8_t short_id)
{
    if (short_id == 0) return nullptr;
    return FindRow([&](const MessageRow& row) { return row.short_id == short_id; });
}

bool IsCoreMessage(std::string_view type)
{
    const MessageRow* const row = FindMessage(type);
    return row && row < kMessageRows.data() + kCoreMessages;
}

} // namespace ibd
