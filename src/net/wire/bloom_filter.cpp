// See bloom_filter.h.
#include "net/wire/bloom_filter.h"

#include "script/standard.h"

#include <bit>

namespace ibd {

namespace {

constexpr uint32_t kSeedStep = 0xfba4c795; //!< difference of seeds between hash functions
// Insertion of matching outputs: the low bits of the flags.
constexpr uint8_t kUpdateMask = 3;
constexpr uint8_t kUpdateAll = 1;
constexpr uint8_t kUpdateKeysOnly = 2; //!< only outputs that pay to a key or multisig

/** Whether a script pushes data in the filter. */
bool PushesMatch(const BloomFilter& filter, ByteSpan script)
{
    ScriptIterator it(script);
    while (it.Next()) {
        if (!it.Data().empty() && filter.Contains(it.Data())) return true;
    }
    return false;
}

Bytes KeyOf(const Txid& txid, uint32_t index)
{
    Bytes out;
    Writer writer(out);
    writer.Hash(txid);
    writer.U32(index);
    return out;
}

} // namespace

uint32_t MurmurHash3(uint32_t seed, ByteSpan data)
{
    const auto mixed = [](uint32_t block) {
        return std::rotl(block * 0xcc9e2d51U, 15) * 0x1b873593U;
    };
    uint32_t hash = seed;
    size_t at = 0;
    for (; at + 4 <= data.size(); at += 4) {
        hash = std::rotl(hash ^ mixed(ReadLE32(data.data() + at)), 13) * 5 + 0xe6546b64U;
    }
    uint32_t rest = 0;
    for (size_t i = data.size(); i > at; --i) rest = rest << 8 | data[i - 1];
    hash ^= mixed(rest) ^ static_cast<uint32_t>(data.size());
    hash = (hash ^ hash >> 16) * 0x85ebca6bU;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35U;
    return hash ^ hash >> 16;
}

uint32_t BloomFilter::BitOf(uint32_t function, ByteSpan element) const
{
    const auto bits = static_cast<uint32_t>(m_filter.data.size() * 8);
    return MurmurHash3(function * kSeedStep + m_filter.tweak, element) % bits;
}

void BloomFilter::Insert(ByteSpan element)
{
    if (m_filter.data.empty()) return;
    for (uint32_t i = 0; i < m_filter.hash_count; ++i) {
        const uint32_t bit = BitOf(i, element);
        m_filter.data[bit / 8] |= static_cast<uint8_t>(1 << bit % 8);
    }
}

bool BloomFilter::Contains(ByteSpan element) const
{
    if (m_filter.data.empty()) return true;
    for (uint32_t i = 0; i < m_filter.hash_count; ++i) {
        const uint32_t bit = BitOf(i, element);
        if (!(m_filter.data[bit / 8] >> bit % 8 & 1)) return false;
    }
    return true;
}

bool BloomFilter::Match(const TxView& tx)
{
    if (m_filter.data.empty()) return true;
    bool found = Contains({tx.txid.data(), Txid::size()});
    // Tests all outputs, since matching ones are inserted.
    for (uint32_t i = 0; i < tx.outputs.size(); ++i) found |= MatchOutput(tx, i);
    if (found) return true;
    for (const InputView& input : tx.inputs) {
        constexpr size_t kOutPointSize = 36;
        if (Contains({input.prevout_bytes, kOutPointSize})) return true;
        if (PushesMatch(*this, input.script_sig)) return true;
    }
    return false;
}

bool BloomFilter::MatchOutput(const TxView& tx, uint32_t index)
{
    const ByteSpan script = tx.outputs[index].script_pubkey;
    if (!PushesMatch(*this, script)) return false;
    bool insert = (m_filter.flags & kUpdateMask) == kUpdateAll;
    if ((m_filter.flags & kUpdateMask) == kUpdateKeysOnly) {
        const ScriptKind kind = ClassifyScript(script).kind;
        insert = kind == ScriptKind::kPubkey || kind == ScriptKind::kMultisig;
    }
    if (insert) Insert(KeyOf(tx.txid, index));
    return true;
}

} // namespace ibd
