// PlaceList: items in an array with stable indexes (places). A removed item's place is reused for a
// later item. One thread, or under the owner's mutex.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace ibd {

/** A free place holds T(), which the owner must be able to tell from an item. */
template <typename T>
class PlaceList {
public:
    /** Returns its place. */
    size_t Add(T item)
    {
        if (m_free.empty()) {
            m_items.push_back(std::move(item));
            return m_items.size() - 1;
        }
        const size_t at = m_free.back();
        m_free.pop_back();
        m_items[at] = std::move(item);
        return at;
    }
    /** Removes the item at a place; the place must not be free. */
    T Take(size_t at)
    {
        m_free.push_back(at);
        return std::exchange(m_items[at], T());
    }
    /** Number of items. */
    size_t Size() const { return m_items.size() - m_free.size(); }
    /** All places, including free ones. */
    std::span<const T> Places() const { return m_items; }

private:
    std::vector<T> m_items;
    std::vector<size_t> m_free; //!< places
};

} // namespace ibd
