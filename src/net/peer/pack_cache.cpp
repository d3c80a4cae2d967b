// See pack_cache.h.
#include "net/peer/pack_cache.h"

namespace ibd {

const Bytes* PackCache::Find(const BlockHash& first, size_t blocks)
{
    const auto place = m_places.find({first, blocks});
    if (place == m_places.end()) return nullptr;
    m_entries.splice(m_entries.begin(), m_entries, place->second);
    return &place->second->batch;
}

void PackCache::Keep(const BlockHash& first, size_t blocks, Bytes batch)
{
    const Key key{first, blocks};
    if (batch.size() > kMaxBytes || m_places.contains(key)) return;
    m_bytes += batch.size();
    m_entries.push_front({key, std::move(batch)});
    m_places[key] = m_entries.begin();
    while (m_bytes > kMaxBytes) {
        m_bytes -= m_entries.back().batch.size();
        m_places.erase(m_entries.back().key);
        m_entries.pop_back();
    }
}

} // namespace ibd
