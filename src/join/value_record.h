// The records that a join of values spills by the height of the spending block: coins that its
// inputs spend, and the block's account (block_account.h) in pieces. A 64-bit number holds the
// place in the chain of the input, or of the piece by its number (JoinRecord::Place), a bit that
// distinguishes the two, and 22 more bits. For a coin 8 bytes follow; for a piece its bytes, whose
// number is in the 22 bits. Pure functions. Format: doc/formats/spill.md.
#pragma once

#include "join/fixed_collector.h"
#include "join/height_ranges.h"
#include "join/join_record.h"
#include "join/made_coin.h"
#include "join/range_collector.h"

namespace ibd {

/** A coin that an input spends, and the height of the block that made it. */
struct ValueRecord {
    uint64_t spent_at = 0; //!< JoinRecord::Place
    uint32_t height = 0;
    MadeCoin coin;

    static constexpr size_t kHeadBytes = 8, kCoinBytes = 16;
    static constexpr size_t kMostPieceBytes = PageSink::kMaxPageBytes - kHeadBytes;

    static uint64_t Head(uint64_t place, bool piece, uint64_t rest)
    {
        return place | uint64_t{piece} << JoinRecord::kPlaceBits | rest << kRestShift;
    }
    static bool IsPiece(const uint8_t* record)
    {
        return (ReadLE64(record) >> JoinRecord::kPlaceBits & 1) != 0;
    }
    /** See RecordSize. */
    static size_t SizeOf(ByteSpan bytes)
    {
        if (bytes.size() < kHeadBytes) return 0;
        const size_t size = IsPiece(bytes.data())
                                ? kHeadBytes + (ReadLE64(bytes.data()) >> kRestShift)
                                : kCoinBytes;
        return size <= bytes.size() ? size : 0;
    }
    static ValueRecord At(const uint8_t* record)
    {
        const uint64_t head = ReadLE64(record), rest = ReadLE64(record + kHeadBytes);
        return {head & JoinRecord::kPlaceMask,
                static_cast<uint32_t>(head >> kRestShift | rest >> kCoinBits << kRestBits),
                MadeCoin::Of(rest & ((uint64_t{1} << kCoinBits) - 1))};
    }
    void Write(uint8_t* record) const
    {
        WriteLE64(record, Head(spent_at, false, height & ((1 << kRestBits) - 1)));
        WriteLE64(record + kHeadBytes, coin.Number() | uint64_t{height >> kRestBits} << kCoinBits);
    }

private:
    static constexpr int kRestShift = JoinRecord::kPlaceBits + 1;
    static constexpr int kRestBits = 64 - kRestShift;
    static constexpr int kCoinBits = 54;
    static_assert(JoinRecord::kHeightBits - kRestBits <= 64 - kCoinBits);
};

/** Gathers them as pages by range of the spending height. One for each thread. */
class ValueCollector final : public MetSink<ValuedRecord> {
public:
    /** `ranges` must outlive it. */
    ValueCollector(const HeightRanges& ranges, size_t capacity)
        : m_ranges(ranges), m_coins(ranges.Count(), capacity / 2),
          m_pieces(ranges.Count(), capacity / 2)
    {
    }

    void SetSink(PageSink* sink)
    {
        m_coins.SetSink(sink);
        m_pieces.SetSink(sink);
    }
    /** False: the sink has failed. */
    bool Met(const ValuedRecord& made, const JoinRecord& spent) override
    {
        return AddCoin({spent.Place(), made.Height(), MadeCoin::Of(made.coin)});
    }
    bool AddCoin(const ValueRecord& coin)
    {
        coin.Write(m_coins.Room());
        return m_coins.Close(m_ranges.Of(JoinRecord::HeightOf(coin.spent_at)));
    }
    /** Adds a piece; `bytes`: at most kMostPieceBytes. False: the sink has failed. */
    bool AddPiece(uint32_t height, uint32_t number, ByteSpan bytes)
    {
        uint8_t* const room = m_pieces.Room();
        WriteLE64(room, ValueRecord::Head(JoinRecord::PlaceOf(height, number), true, bytes.size()));
        uint8_t* const end = std::copy(bytes.begin(), bytes.end(), room + ValueRecord::kHeadBytes);
        return m_pieces.Close(m_ranges.Of(height), end);
    }
    bool Flush()
    {
        const bool written = m_coins.Flush();
        return m_pieces.Flush() && written;
    }

private:
    const HeightRanges& m_ranges;
    FixedCollector<ValueRecord::kCoinBytes> m_coins;
    RangeCollector m_pieces;
};

} // namespace ibd
