// The stack of the script interpreter. An item has its bytes inside if it is short, else it refers
// to bytes of a script or a witness: operations make no long items. Items are plain memory, so
// OP_ROLL moves a full stack by one memmove, and nothing is allocated for an item.
#pragma once

#include "util/bytes.h"
#include "util/check.h"

#include <cstring>
#include <type_traits>
#include <vector>

namespace ibd {

class StackItem {
public:
    static constexpr size_t kInline = 32; //!< bytes; the longest result of an operation is a hash

    /** The empty item. */
    StackItem() = default;
    /** Bytes longer than kInline are not copied and must outlive the item and its copies. */
    static StackItem Of(ByteSpan bytes)
    {
        StackItem item;
        item.m_size = static_cast<uint32_t>(bytes.size());
        if (item.IsInline()) {
            if (!bytes.empty()) std::memcpy(item.m_inline, bytes.data(), bytes.size());
        } else {
            const uint8_t* const data = bytes.data();
            std::memcpy(item.m_inline, &data, sizeof data);
        }
        return item;
    }
    /** A copy of at most kInline bytes, which may end before the item. */
    static StackItem CopyOf(ByteSpan bytes)
    {
        CHECK(bytes.size() <= kInline);
        return Of(bytes);
    }

    size_t size() const { return m_size; }
    bool empty() const { return m_size == 0; }
    const uint8_t* data() const
    {
        if (IsInline()) return m_inline;
        const uint8_t* data;
        std::memcpy(&data, m_inline, sizeof data);
        return data;
    }
    /** Valid until the item is changed or moved. */
    operator ByteSpan() const { return {data(), size()}; }

private:
    bool IsInline() const { return m_size <= kInline; }

    uint32_t m_size = 0;
    uint8_t m_inline[kInline]; //!< the bytes, or a pointer to them if there are more
};

static_assert(std::is_trivially_copyable_v<StackItem>);

/** The last item is the top. */
using ScriptStack = std::vector<StackItem>;

} // namespace ibd
