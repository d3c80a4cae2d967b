// PartitionJoin: joins one partition of the spilled records: finds the outputs that were never
// spent, and events that cannot occur in a valid chain. For both kinds of record, like HotTable.
// One for each thread; memory as given, and a page.
#pragma once

#include "join/join_record.h"
#include "join/spill_file.h"

#include <optional>

namespace ibd {

template <typename Record>
class PartitionJoin {
public:
    /** Receives each output that was created and not spent. */
    using Unspent = std::function<void(const Record&)>;
    /** Receives each output that was created and spent, with its spend. */
    using Paired = std::function<void(const Record& made, const Record& spent)>;

    /** `memory_bytes`: for the records that are joined at once. `paired`: may be empty. If
     *  FirstProblem() is set, the pairs passed to `paired` are meaningless. */
    PartitionJoin(const SpillReader& spills, size_t memory_bytes, Paired paired = {})
        : m_spills(spills), m_most(std::max(kMinRecords, memory_bytes / sizeof(Record))),
          m_paired(std::move(paired))
    {
    }

    /** Joins a partition. A partition too large for the memory is read several times, one part each
     *  time. Bad data: a spill is damaged. */
    Result<> Run(uint32_t partition, const Unspent& unspent);

    /** The lowest event in the chain, over all calls, that cannot occur in a valid chain. */
    const std::optional<JoinRecord>& FirstProblem() const { return m_problem; }
    /** Whether an outpoint has more events than fit in memory, which cannot occur in a valid chain.
     *  It was not joined, and FirstProblem() need not be the lowest. */
    bool IsCrowded() const { return m_crowded; }

    static constexpr size_t kMinRecords = 1024;
    /** A part with this many times its share of records cannot occur by chance, and an attacker
     *  cannot cause it without the key of the names. */
    static constexpr size_t kMostCrowded = 2;

private:
    /** Records joined at once: they and their table fit into a core's cache. */
    static constexpr size_t kChunkRecords = 8192;

    uint64_t Records(uint32_t partition) const;
    unsigned PartBits(uint32_t partition) const;
    void MakeRoom(size_t records);
    Result<> Load(uint32_t partition, unsigned part_bits, uint64_t part);
    void CountParts(std::span<const Record> records, unsigned part_bits);
    void Divide(std::span<Record> records, int shift, const Unspent& unspent);
    void JoinChunk(std::span<const Record> records, const Unspent& unspent);
    void SettleOdd(std::span<const Record> records, const Unspent& unspent);
    void Settle(std::span<const Record> records, std::span<const uint32_t> events,
                const Unspent& unspent);
    void TellPair(const Record& a, const Record& b) const;
    void Note(const JoinRecord& event);

    const SpillReader& m_spills;
    const size_t m_most;
    const Paired m_paired;
    std::optional<JoinRecord> m_problem;
    bool m_crowded = false;
    std::vector<uint32_t> m_sizes;           //!< records of each part of a partition
    size_t m_count = 0;                      //!< of records to be joined now
    std::unique_ptr<Record[]> m_records;     //!< uninitialised memory
    size_t m_capacity = 0;
    Bytes m_page;
    // These belong to the current chunk.
    enum class Fate : uint8_t { kAlone, kMet, kOdd, kSecond };
    std::vector<uint32_t> m_slots;    //!< place of a record + 1, 0: free
    std::vector<Fate> m_fates;        //!< by position of a record
    std::vector<uint32_t> m_partners; //!< by position: for the first record of a name, its second;
                                      //!< for others, the first
    std::vector<uint32_t> m_odd;      //!< positions of records whose outpoint has events other than
                                      //!< one pair
};

} // namespace ibd
