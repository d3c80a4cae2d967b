// See muhash_batch.h.
#include "crypto/muhash_batch.h"

#include "crypto/sha256_batch.h"

#include <utility>

namespace ibd {

MuHash3072 MuHashBatch::Take()
{
    Flush(m_inserted);
    Flush(m_removed);
    return std::exchange(m_hash, {});
}

void MuHashBatch::Add(Waiting& waiting, ByteSpan element)
{
    if (waiting.bytes.size() + element.size() > kMostBytes) Flush(waiting);
    Append(waiting.bytes, element);
    waiting.ends.push_back(waiting.bytes.size());
    if (waiting.ends.size() == kMostElements) Flush(waiting);
}

void MuHashBatch::Flush(Waiting& waiting)
{
    std::vector<HashMessage> messages;
    messages.reserve(waiting.ends.size());
    size_t begin = 0;
    for (const size_t end : waiting.ends) {
        messages.push_back({ByteSpan(waiting.bytes).subspan(begin, end - begin), {}, {}});
        begin = end;
    }
    std::vector<Hash32> hashes(messages.size());
    Sha256Many(messages, hashes.data());
    if (&waiting == &m_inserted) {
        m_hash.InsertHashed(hashes);
    } else {
        m_hash.RemoveHashed(hashes);
    }
    waiting.bytes.clear();
    waiting.ends.clear();
}

} // namespace ibd
