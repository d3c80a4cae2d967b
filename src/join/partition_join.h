// PartitionJoin: joins one partition of the spilled records: what was made and never spent, and
// what cannot be. For either kind of record, as HotTable. One for each thread; memory as given, and
// a page.
#pragma once

#include "join/join_record.h"
#include "join/spill_file.h"

#include <optional>

namespace ibd {

template <typename Record>
class PartitionJoin {
public:
    /** Told of each output that was made and not spent. */
    using Unspent = std::function<void(const Record&)>;
    /** Told of each output that was made and spent, and by what. */
    using Paired = std::function<void(const Record& made, const Record& spent)>;

    /** `memory_bytes`: for the records that are joined at once. `paired`: may be empty. If there is
     *  a problem, what it is told means nothing. */
    PartitionJoin(const SpillReader& spills, size_t memory_bytes, Paired paired = {})
        : m_spills(spills), m_most(std::max(kMinRecords, memory_bytes / sizeof(Record))),
          m_paired(std::move(paired))
    {
    }

    /** Joins a partition. One that is too large is read several times, a part of it each time. Bad
     *  data: a spill is damaged. */
    Result<> Run(uint32_t partition, const Unspent& unspent);

    /** Of all calls, what comes first in the chain of what no chain of valid blocks has. */
    const std::optional<JoinRecord>& FirstProblem() const { return m_problem; }
    /** Some outpoint has more events than there is room for, as in no valid chain: it was not
     *  joined, and FirstProblem() need not be the first. */
    bool IsCrowded() const { return m_crowded; }

    static constexpr size_t kMinRecords = 1024;
    /** So many times the records that belong to a part never come together by chance: who makes
     *  them does not know the key of their names. */
    static constexpr size_t kMostCrowded = 2;

private:
    /** Joined at once: what fits into a core's cache with its table. */
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
    std::unique_ptr<Record[]> m_records;     //!< not filled with anything before
    size_t m_capacity = 0;
    Bytes m_page;
    // Of a chunk.
    enum class Fate : uint8_t { kAlone, kMet, kOdd, kSecond };
    std::vector<uint32_t> m_slots;    //!< place of a record + 1, 0: free
    std::vector<Fate> m_fates;        //!< by place
    std::vector<uint32_t> m_partners; //!< by place: the first's of its name, or of that another's
    std::vector<uint32_t> m_odd;      //!< places of outpoints with other events than a pair
};

} // namespace ibd
