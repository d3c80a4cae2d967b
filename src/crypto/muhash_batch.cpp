// See muhash_batch.h.
#include "crypto/muhash_batch.h"

#include "crypto/sha256_batch.h"

#include <utility>

namespace ibd {

void MuHashBatch::Waiting::Add(ByteSpan element)
{
    Append(m_bytes, element);
    m_ends.push_back(m_bytes.size());
}

std::vector<Hash32> MuHashBatch::Waiting::Take()
{
    std::vector<HashMessage> messages;
    messages.reserve(m_ends.size());
    size_t begin = 0;
    for (const size_t end : m_ends) {
        messages.push_back({ByteSpan(m_bytes).subspan(begin, end - begin), {}, {}});
        begin = end;
    }
    std::vector<Hash32> hashes(messages.size());
    Sha256Many(messages, hashes.data());
    m_bytes.clear();
    m_ends.clear();
    return hashes;
}

MuHash3072 MuHashBatch::Take()
{
    m_hash.InsertHashed(m_inserted.Take()).RemoveHashed(m_removed.Take());
    return std::exchange(m_hash, {});
}

} // namespace ibd
