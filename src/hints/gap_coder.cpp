// See gap_coder.h.
#include "hints/gap_coder.h"

#include "hints/gaps.h"
#include "util/check.h"
#include "util/endian.h"

namespace ibd {

namespace {

constexpr uint64_t kLeastState = uint64_t{1} << 31; //!< states are from here to 2^63
constexpr size_t kStateBytes = 8;
constexpr size_t kWordBytes = 4;

/** Calls visit(context, number) for each coded number of a group, in order. */
template <typename Visitor>
void ForEachNumber(const GroupHints& group, Visitor visit)
{
    GapHistory history;
    for (size_t i = 0; i < group.ends.size(); ++i) {
        const std::span<const uint32_t> block = group.Block(i);
        const auto count = static_cast<uint32_t>(block.size());
        visit(history.OfCount(), count);
        history.AddCount(count);
        ForEachGap(block, [&](uint32_t gap) {
            visit(history.OfGap(), gap);
            history.AddGap(gap);
        });
    }
}

} // namespace

void CountGaps(const GroupHints& group, GapCounts& counts)
{
    ForEachNumber(group, [&](uint32_t context, uint32_t number) {
        ++counts[context][GapBucket::Of(number).bucket];
    });
}

// The decoder runs forwards, so the encoder runs backwards: last number first.
Bytes EncodeGroup(const GroupHints& group, const GapModel& model)
{
    struct Number {
        uint32_t context;
        uint32_t value;
    };
    std::vector<Number> numbers;
    numbers.reserve(group.ends.size() + group.unspent.size());
    ForEachNumber(group, [&](uint32_t c, uint32_t value) { numbers.push_back({c, value}); });
    std::vector<uint32_t> words;
    uint64_t state = kLeastState;
    for (size_t i = numbers.size(); i-- > 0;) {
        const GapBucket b = GapBucket::Of(numbers[i].value);
        const GapModel::Table& table = model.TableOf(numbers[i].context);
        const uint64_t frequency = table[b.bucket];
        CHECK(frequency > 0);
        uint64_t start = 0;
        for (size_t s = 0; s < b.bucket; ++s) start += table[s];
        if (state >= frequency << (63 - GapModel::kScaleBits - b.extra_bits)) {
            words.push_back(static_cast<uint32_t>(state));
            state >>= 32;
        }
        state = state << b.extra_bits | (numbers[i].value - GapBucket::First(b.bucket));
        state = state / frequency << GapModel::kScaleBits | (state % frequency + start);
    }
    Bytes out(kStateBytes + words.size() * kWordBytes);
    WriteLE64(out.data(), state);
    uint8_t* to = out.data() + kStateBytes;
    for (size_t i = words.size(); i-- > 0; to += kWordBytes) WriteLE32(to, words[i]);
    return out;
}

GapDecoder::GapDecoder(const GapModel& model) : m_tables(GapHistory::kContexts)
{
    for (size_t c = 0; c < m_tables.size(); ++c) {
        const GapModel::Table& table = model.TableOf(c);
        uint32_t slot = 0;
        for (size_t s = 0; s < table.size(); ++s) {
            m_tables[c].buckets[s] = {table[s], static_cast<uint16_t>(slot)};
            for (uint32_t i = 0; i < table[s]; ++i) {
                m_tables[c].bucket_of[slot++] = static_cast<uint8_t>(s);
            }
        }
        CHECK(slot == GapModel::kScale);
    }
}

/** The decoder's state over a group's bytes. Reads zeros past the end. */
class GapDecoder::State {
public:
    explicit State(ByteSpan group)
        : m_state(ReadLE64(group.data())), m_next(group.data() + kStateBytes),
          m_end(group.data() + group.size())
    {
    }

    uint32_t Take(const Table& table)
    {
        const uint64_t slot = m_state % GapModel::kScale;
        uint32_t value = table.bucket_of[slot];
        const Table::Bucket bucket = table.buckets[value];
        uint64_t state = bucket.frequency * (m_state >> GapModel::kScaleBits) + slot - bucket.start;
        if (value >= GapBucket::kExact) { // a well-predicted branch is faster than shifts by zero
            const unsigned extra = GapBucket::ExtraBits(value);
            value = GapBucket::First(value) + static_cast<uint32_t>(state & ((1u << extra) - 1));
            state >>= extra;
        }
        if (state < kLeastState) state = state << 32 | NextWord();
        m_state = state;
        return value;
    }

    bool AtEnd() const { return m_state == kLeastState && m_next == m_end && !m_overrun; }

private:
    uint32_t NextWord()
    {
        if (m_next == m_end) {
            m_overrun = true;
            return 0;
        }
        const uint32_t word = ReadLE32(m_next);
        m_next += kWordBytes;
        return word;
    }

    uint64_t m_state;
    const uint8_t* m_next;
    const uint8_t* const m_end;
    bool m_overrun = false;
};

const char* GapDecoder::Decode(ByteSpan group, uint32_t blocks, uint32_t unspent, uint32_t limit,
                               GroupHints& out) const
{
    if (group.size() < kStateBytes || group.size() % kWordBytes) return "a group is cut off";
    State state(group);
    GapHistory history;
    out.ends.resize(blocks);
    out.unspent.resize(unspent);
    uint32_t* to = out.unspent.data();
    uint32_t left = unspent;
    for (uint32_t b = 0; b < blocks; ++b) {
        const uint32_t count = state.Take(m_tables[history.OfCount()]);
        if (count > left) return "more unspent outputs than the index says";
        history.AddCount(count);
        left -= count;
        uint64_t next = 0;
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t gap = state.Take(m_tables[history.OfGap()]);
            history.AddGap(gap);
            next += gap;
            *to++ = static_cast<uint32_t>(next++);
        }
        if (next > limit) return "a run of zeros reaches past a block's outputs";
        out.ends[b] = unspent - left;
    }
    if (left) return "fewer unspent outputs than the index says";
    return state.AtEnd() ? nullptr : "a group does not end as it must";
}

} // namespace ibd
