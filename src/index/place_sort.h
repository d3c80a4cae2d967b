// PlaceSort: sorts the records of an index that maps a random-looking name (a txid, a hash) to the
// transaction in which it was found. Takes the blocks in any order, on any number of threads.
// Records are written to pages on disk, partitioned by the first bits of the name; then each part
// is sorted and written as tables of the database. Owned by IndexBuild. Memory: as given. A record
// on disk has the name, the height of the block and the offset of the transaction, big-endian, so
// that comparing bytes gives the order of the keys.
#pragma once

#include "index/tx_position.h"
#include "join/fixed_collector.h"
#include "join/spill_series.h"
#include "storage/table_writer.h"

#include <algorithm>
#include <bit>

namespace ibd {

struct PlaceSortOptions {
    Path folder; //!< exists, and is empty
    size_t threads = 1;
    unsigned part_bits = 0; //!< 2^part_bits parts, at most HeightRanges::kMost
    size_t read_memory = 0; //!< bytes, of all threads together, while blocks are taken
    size_t part_memory = 0; //!< bytes, of each thread, while parts are written
};

/** The part of PlaceSort that does not depend on the type of records. */
class PlaceSort {
public:
    virtual ~PlaceSort() = default;

    /** Adds the records of a block. `worker`: below PlaceSortOptions::threads; each number is used
     *  by one thread. False: writing has failed, and EndTaking() returns the error. */
    virtual bool Take(size_t worker, const BlockView& block, uint32_t height) = 0;
    /** After the last Take(). */
    virtual Result<> EndTaking() = 0;
    virtual uint32_t Parts() const = 0;
    /** Bytes of a part's records. */
    virtual uint64_t PartBytes(uint32_t part) const = 0;
    /** Adds the records of a part to `out`, in order; any thread. `places`: file positions of the
     *  blocks, by height. Bad data: a page is damaged. */
    virtual Result<> Write(uint32_t part, std::span<const FilePos> places, TableWriter& out) = 0;
};

/** A record on disk: the first bytes are the name. */
template <size_t kName>
struct PlaceRecord {
    static constexpr size_t kHeightBytes = 4, kOffsetBytes = 3; // a block has at most 4,000,000
    static constexpr size_t kBytes = kName + kHeightBytes + kOffsetBytes;

    uint8_t bytes[kBytes];

    ByteSpan Name() const { return ByteSpan(bytes, kName); }
    uint64_t Prefix() const { return ReadBE64(bytes); }
    uint32_t Height() const { return ReadBE32(bytes + kName); }
    uint32_t Offset() const { return ReadBE32(bytes + kBytes - 4) & 0xffffff; }
    bool SameName(const PlaceRecord& other) const
    {
        return std::memcmp(bytes, other.bytes, kName) == 0;
    }
    bool operator<(const PlaceRecord& other) const
    {
        if (Prefix() != other.Prefix()) return Prefix() < other.Prefix();
        return std::memcmp(bytes, other.bytes, kBytes) < 0;
    }
    static void Write(uint8_t* to, const uint8_t* name, uint32_t height, uint32_t offset)
    {
        std::memcpy(to, name, kName);
        WriteBE32(to + kBytes - 4, offset); // its first byte is zero, and is overwritten
        WriteBE32(to + kName, height);
    }
};

/** Sorts records whose names are equal in the first `skip` bits and random in the others. In place:
 *  one pass by the next bits swaps each record into a bucket of some ten (American flag sort).
 *  Names chosen by an attacker can only enlarge some buckets, which are sorted in n log n. */
template <size_t kName>
void SortPlaces(std::span<PlaceRecord<kName>> records, unsigned skip)
{
    constexpr unsigned kMostBits = 16;
    const auto width = static_cast<unsigned>(std::bit_width(records.size() / 8));
    const unsigned bits = std::min(std::min(width, kMostBits), 63 - skip);
    if (bits == 0) return std::sort(records.begin(), records.end());
    const auto bucket_of = [&](const PlaceRecord<kName>& record) {
        return static_cast<size_t>((record.Prefix() << skip) >> (64 - bits));
    };
    std::vector<uint32_t> next(size_t{1} << bits), ends(size_t{1} << bits);
    for (const auto& record : records) ++ends[bucket_of(record)];
    for (uint32_t total = 0, i = 0; i < ends.size(); ++i) {
        next[i] = total;
        total += ends[i];
        ends[i] = total;
    }
    size_t begin = 0;
    for (size_t bucket = 0; bucket < ends.size(); ++bucket) {
        while (next[bucket] < ends[bucket]) {
            PlaceRecord<kName>& here = records[next[bucket]];
            const size_t target = bucket_of(here);
            if (target != bucket) std::swap(here, records[next[target]]);
            ++next[target];
        }
        std::sort(records.begin() + static_cast<ptrdiff_t>(begin),
                  records.begin() + ends[bucket]);
        begin = ends[bucket];
    }
}

/** `Names`: a copyable value with
 *  * kBytes: of a name,
 *  * ForEach(block, visit): calls visit(name, offset) for each record of a block, where `name` are
 *    kBytes bytes and `offset` is TxPosition::offset,
 *  * Add(out, records, places): adds the entries of all records of one name, ascending, to a
 *    TableWriter. */
template <typename Names>
class PlaceSortOf final : public PlaceSort {
public:
    PlaceSortOf(Env& env, Names names, PlaceSortOptions options)
        : m_env(env), m_names(std::move(names)), m_options(std::move(options)),
          m_owner{.join_id = {}, .partitions = Parts()},
          m_spills(env, m_options.folder, 0, m_owner, SpillUse::kPassing)
    {
        const size_t memory = m_options.read_memory / m_options.threads;
        for (size_t i = 0; i < m_options.threads; ++i) {
            m_collectors.push_back(std::make_unique<Collector>(Parts(), memory));
            m_collectors.back()->SetSink(&m_spills);
        }
    }

    bool Take(size_t worker, const BlockView& block, uint32_t height) override
    {
        Collector& collector = *m_collectors[worker];
        bool ok = true;
        m_names.ForEach(block, [&](const uint8_t* name, uint32_t offset) {
            Record::Write(collector.Room(), name, height, offset);
            ok = collector.Close(PartOf(ReadBE64(name))) && ok;
        });
        return ok;
    }

    Result<> EndTaking() override
    {
        for (const auto& collector : m_collectors) (void)collector->Flush(); // Finish() tells
        m_collectors.clear();
        IBD_ASSIGN_OR_RETURN(const auto spills, m_spills.Finish());
        IBD_ASSIGN_OR_RETURN(m_pages, SpillReader::Open(m_env, m_options.folder, spills, m_owner));
        return {};
    }

    uint32_t Parts() const override { return uint32_t{1} << m_options.part_bits; }
    uint64_t PartBytes(uint32_t part) const override { return m_pages.Bytes(part); }

    Result<> Write(uint32_t part, std::span<const FilePos> places, TableWriter& out) override
    {
        // A part that does not fit into memory is read several times, once for each range of its
        // names.
        const uint64_t fit = std::max<uint64_t>(1, PartBytes(part) / m_options.part_memory);
        const unsigned pass_bits =
            std::min(static_cast<unsigned>(std::bit_width(fit - 1)), kMostPassBits);
        std::vector<Record> records;
        for (uint32_t pass = 0; pass < uint32_t{1} << pass_bits; ++pass) {
            IBD_RETURN_IF_ERROR(Read(part, pass_bits, pass, records));
            SortPlaces<Names::kBytes>(records, m_options.part_bits + pass_bits);
            IBD_RETURN_IF_ERROR(Add(records, places, out));
        }
        return {};
    }

private:
    using Record = PlaceRecord<Names::kBytes>;
    using Collector = FixedCollector<Record::kBytes>;
    static constexpr unsigned kMostPassBits = 10;
    static constexpr size_t kSurplus = 1024; //!< number of records that a pass may have above the
                                             //!< average

    uint32_t PartOf(uint64_t prefix) const
    {
        const unsigned bits = m_options.part_bits;
        return bits == 0 ? 0 : static_cast<uint32_t>(prefix >> (64 - bits));
    }

    /** Reads the records of a part whose next bits are `pass`. */
    Result<> Read(uint32_t part, unsigned pass_bits, uint32_t pass, std::vector<Record>& out) const
    {
        out.clear();
        out.reserve(((PartBytes(part) / Record::kBytes) >> pass_bits) + kSurplus);
        Bytes buffer;
        return m_pages.Read(part, buffer, [&](ByteSpan page) {
            CHECK(page.size() % Record::kBytes == 0);
            const size_t count = page.size() / Record::kBytes;
            if (pass_bits == 0) {
                out.resize(out.size() + count);
                std::memcpy(out.data() + out.size() - count, page.data(), page.size());
                return;
            }
            for (size_t i = 0; i < count; ++i) {
                Record record;
                std::memcpy(record.bytes, page.data() + i * Record::kBytes, Record::kBytes);
                const uint64_t rest = record.Prefix() << m_options.part_bits;
                if (rest >> (64 - pass_bits) == pass) out.push_back(record);
            }
        });
    }

    Result<> Add(std::span<const Record> records, std::span<const FilePos> places,
                 TableWriter& out) const
    {
        for (size_t begin = 0, end = 0; begin < records.size(); begin = end) {
            for (end = begin + 1; end < records.size(); ++end) {
                if (!records[end].SameName(records[begin])) break;
            }
            IBD_RETURN_IF_ERROR(m_names.Add(out, records.subspan(begin, end - begin), places));
        }
        return {};
    }

    Env& m_env;
    const Names m_names;
    const PlaceSortOptions m_options;
    const SpillOwner m_owner;
    SpillSeries m_spills;
    std::vector<std::unique_ptr<Collector>> m_collectors;
    SpillReader m_pages;
};

/** The position of a record's transaction. */
template <typename Record>
TxPosition PositionOf(const Record& record, std::span<const FilePos> places)
{
    return {places[record.Height()], record.Offset()};
}

} // namespace ibd
