// CoinBuffer: coins in the form of run records, collected until they are sorted and written. Fixed
// capacity; one thread. Record: u16 length of the value, u8 length of the
// encoded vout, txid, VARINT(vout), chainstate value (doc/formats/runs.md).
#pragma once

#include "swiftsync/fold.h"

#include <span>

namespace ibd {

/** A record in place. Key() is the chainstate key without its first byte. */
class CoinRecord {
public:
    static constexpr size_t kHeaderSize = 3;
    static constexpr size_t kMinSize = kHeaderSize + 32 + 1;

    explicit CoinRecord(const uint8_t* at) : m_at(at) {}

    /** First 8 bytes of the txid as a number with the same order as the bytes. */
    uint64_t Prefix() const { return ReadBE64(m_at + kHeaderSize); }
    ByteSpan Key() const { return {m_at + kHeaderSize, KeySize()}; }
    ByteSpan Value() const { return {m_at + kHeaderSize + KeySize(), ValueSize()}; }
    ByteSpan Whole() const { return {m_at, Size()}; }
    size_t KeySize() const { return size_t{32} + m_at[2]; }
    size_t ValueSize() const { return ReadLE16(m_at); }
    size_t Size() const { return kHeaderSize + KeySize() + ValueSize(); }
    /** Prefetches the start of the record. */
    void Prefetch() const { __builtin_prefetch(m_at); }

    /** Whether a whole well-formed record is in the `size` bytes at `at`. */
    static bool Fits(const uint8_t* at, size_t size)
    {
        return size >= kMinSize && at[2] >= 1 && at[2] <= 5 && CoinRecord(at).Size() <= size;
    }
    /** Order of the chainstate; 0: same outpoint. */
    friend int Compare(const CoinRecord& a, const CoinRecord& b)
    {
        // The encoding of vout is prefix-free, so comparing the shorter length decides.
        return std::memcmp(a.m_at + kHeaderSize, b.m_at + kHeaderSize,
                           std::min(a.KeySize(), b.KeySize()));
    }

private:
    const uint8_t* m_at;
};

class CoinBuffer {
public:
    /** `capacity`: bytes for records and for sorting them. */
    explicit CoinBuffer(size_t capacity);

    /** Appends the coins of a block. False: there is no space, and none are appended. An empty
     *  buffer accepts any block; it grows once if necessary, to at most 8 MiB. */
    bool Add(const BlockDelta& delta, uint32_t height);
    /** Appends a record: 32 bytes and an output index as its key, and its value of at most 65,535
     *  bytes. False: there is no space. An empty buffer accepts any record. */
    bool Add(ByteSpan id, uint32_t vout, ByteSpan value);

    size_t Count() const { return m_entries.size(); }
    bool Empty() const { return m_entries.empty(); }

    /** Sorts and returns the records in chainstate order, as offsets into the buffer. */
    class Entry {
    public:
        uint64_t prefix;
        uint64_t offset;
    };
    std::span<const Entry> Sort();
    CoinRecord RecordAt(const Entry& entry) const
    {
        return CoinRecord(m_bytes.data() + entry.offset);
    }

    void Clear();

private:
    bool HasRoom(size_t bytes, size_t entries) const;
    template <typename AppendValue>
    void Append(ByteSpan id, uint32_t vout, AppendValue append_value);
    void SortBucket(Entry* begin, Entry* end);

    const size_t m_max_bytes;   //!< of records: two thirds of the capacity
    const size_t m_max_entries; //!< two arrays of entries take the rest
    Bytes m_bytes;
    std::vector<Entry> m_entries;
    std::vector<Entry> m_sorted;
};

/** The outpoint of a record. */
OutPoint OutPointOf(const CoinRecord& record);

} // namespace ibd
