// The join of a partition against a plain map of events; the table against the records that it was
// given.
#include "join/hot_table.h"
#include "records.h"
#include "sim/fault_env.h"
#include "support/must.h"
#include "support/temp_dir.h"

#include <algorithm>

using namespace ibd;
using namespace ibd::test;

namespace {

const SpillOwner kOwner{Uint256(), 1};

/** Random outputs: most are made and spent once, `odd` in a thousand have any events. */
std::vector<JoinRecord> RandomRecords(size_t outputs, uint64_t odd, uint64_t low_bits)
{
    auto& rng = TestRng();
    const uint64_t upper_half = ~uint64_t{0} << 32;
    const uint64_t mask = low_bits == 32 ? ~uint64_t{0} : upper_half << 16 | ((1 << low_bits) - 1);
    std::vector<JoinRecord> records;
    for (size_t i = 0; i < outputs; ++i) {
        const OutpointName key{rng() & mask, rng()};
        const uint64_t height = rng.Below(1'000);
        if (rng.Chance(odd, 1'000)) {
            std::set<uint64_t> heights;
            for (uint64_t n = 1 + rng.Below(4); heights.size() < n;) heights.insert(rng.Below(50));
            for (const uint64_t h : heights) {
                const auto kind = static_cast<JoinKind>(1 + rng.Below(3));
                records.push_back(MakeEvent(key, kind, h, i));
            }
            continue;
        }
        records.push_back(MakeEvent(key, JoinKind::kCreated, height, i));
        if (rng.Chance(9, 10)) {
            records.push_back(MakeEvent(key, JoinKind::kSpent, height + rng.Below(50), i));
        }
    }
    std::shuffle(records.begin(), records.end(), rng);
    return records;
}

SpillReader Spill(Env& env, const Path& directory, std::span<const JoinRecord> records)
{
    const auto writer = Must(SpillWriter::Create(env, directory, 0, kOwner));
    for (size_t at = 0; at < records.size(); at += 100) {
        const auto page = records.subspan(at, std::min<size_t>(100, records.size() - at));
        REQUIRE(writer->Add(
            0, {reinterpret_cast<const uint8_t*>(page.data()), page.size() * sizeof(JoinRecord)}));
    }
    const std::array infos = {Must(writer->Finish()).info};
    return Must(SpillReader::Open(env, directory, infos, kOwner));
}

} // namespace

TEST_CASE("A partition's join is that of a plain map", "[join]")
{
    for (int round = 0; round < 30; ++round) {
        auto& rng = TestRng();
        const size_t outputs = rng.Below(20'000);
        const uint64_t odd = rng.Below(3) * 20;
        const uint64_t low_bits = rng.Chance(1, 3) ? 2 : 32; // few digits: large chunks
        const size_t memory = rng.Chance(1, 2) ? 1 : size_t{1} << 30;
        CAPTURE(round, outputs, odd, low_bits, memory);
        const auto records = RandomRecords(outputs, odd, low_bits);
        Lives lives;
        for (const JoinRecord& record : records) AddTo(lives, record);
        const Judgement right = Judge(lives);
        TempDir dir(MemoryFolder());
        FaultEnv env;
        const SpillReader spills = Spill(env, dir.Get(), records);
        PartitionJoin<JoinRecord> join(spills, memory);
        std::multiset<uint64_t> unspent;
        Must(join.Run(0, [&](const JoinRecord& r) { unspent.insert(r.Event()); }));
        REQUIRE(std::vector(unspent.begin(), unspent.end()) ==
                std::vector(right.unspent.begin(), right.unspent.end()));
        REQUIRE_FALSE(join.IsCrowded());
        REQUIRE(join.FirstProblem().has_value() == right.problem.has_value());
        if (right.problem) REQUIRE(join.FirstProblem()->Event() == *right.problem);
    }
}

TEST_CASE("An outpoint with more events than there is room for is not joined", "[join]")
{
    auto records = RandomRecords(20'000, 0, 32);
    const OutpointName key{TestRng()(), TestRng()()};
    constexpr size_t kEvents =
        (PartitionJoin<JoinRecord>::kMostCrowded + 1) * PartitionJoin<JoinRecord>::kMinRecords;
    for (size_t i = 0; i < kEvents; ++i) records.push_back(MakeEvent(key, JoinKind::kSpent, 7, i));
    std::shuffle(records.begin(), records.end(), TestRng());
    TempDir dir(MemoryFolder());
    FaultEnv env;
    const SpillReader spills = Spill(env, dir.Get(), records);
    PartitionJoin<JoinRecord> cramped(spills, 1);
    Must(cramped.Run(0, [](const JoinRecord&) {}));
    CHECK(cramped.IsCrowded());
    PartitionJoin<JoinRecord> roomy(spills, records.size() * sizeof(JoinRecord));
    Must(roomy.Run(0, [](const JoinRecord&) {}));
    CHECK_FALSE(roomy.IsCrowded());
    REQUIRE(roomy.FirstProblem());
    CHECK(roomy.FirstProblem()->Height() == 7);
}

TEST_CASE("What the table does not spill are pairs that may meet", "[join]")
{
    for (int round = 0; round < 30; ++round) {
        auto& rng = TestRng();
        const auto records = RandomRecords(3'000, rng.Below(2) * 20, 32);
        const bool meet = rng.Chance(4, 5);
        const unsigned bits = 6 + static_cast<unsigned>(rng.Below(4));
        const TableShape shape =
            TableShape::Fit(rng.Below(2 << 20), bits, HotTable<JoinRecord>::kBucketBytes);
        CAPTURE(round, meet, bits, shape.buckets, shape.page_bytes);
        TempDir dir(MemoryFolder());
        FaultEnv env;
        const SpillOwner owner{Uint256(), shape.Partitions()};
        const auto writer = Must(SpillWriter::Create(env, dir.Get(), 0, owner));
        HotTable<JoinRecord> table(shape, meet);
        table.SetWriter(writer.get());
        ShardedRecords<JoinRecord> block;
        block.Reset(records.size());
        for (const JoinRecord& record : records) {
            block.Add(record);
            if (rng.Chance(1, 50)) {
                REQUIRE(table.Take(block));
                block.Reset(records.size());
            }
        }
        REQUIRE(table.Take(block));
        REQUIRE(table.Flush());
        const std::array infos = {Must(writer->Finish()).info};
        const SpillReader spills = Must(SpillReader::Open(env, dir.Get(), infos, owner));
        std::map<std::pair<uint64_t, uint64_t>, std::multiset<uint64_t>> left;
        for (const JoinRecord& r : records) left[{r.name, r.NameRest()}].insert(r.Event());
        uint64_t spilled = 0;
        Bytes page;
        for (uint32_t p = 0; p < shape.Partitions(); ++p) {
            Must(spills.Read(p, page, [&](ByteSpan bytes) {
                for (size_t at = 0; at < bytes.size(); at += sizeof(JoinRecord)) {
                    JoinRecord r;
                    std::memcpy(&r, bytes.data() + at, sizeof(r));
                    REQUIRE(r.name >> (64 - bits) == p);
                    auto& events = left[{r.name, r.NameRest()}];
                    const auto found = events.find(r.Event());
                    REQUIRE(found != events.end());
                    events.erase(found);
                    ++spilled;
                }
            }));
        }
        REQUIRE(spilled + 2 * table.Met() == records.size());
        REQUIRE(table.Met() * 10 >= (meet && shape.buckets > 10 ? spilled : 0));
        for (const auto& [key, events] : left) {
            int balance = 0;
            for (const uint64_t event : events) { // ascending: none is spent before it is made
                const JoinKind kind = JoinRecord{0, event}.Kind();
                REQUIRE(kind != JoinKind::kCoinbaseId);
                balance += kind == JoinKind::kCreated ? 1 : -1;
                REQUIRE(balance >= 0);
            }
            REQUIRE(balance == 0);
        }
    }
}

TEST_CASE("A table is shaped by the memory it is given", "[join]")
{
    CHECK(TableShape::PartitionBits(0, 1 << 20) == TableShape::kMinPartitionBits);
    CHECK(TableShape::PartitionBits(uint64_t{1} << 30, 1 << 20) == 11);
    CHECK(TableShape::PartitionBits(~uint64_t{0}, 1) == TableShape::kMaxPartitionBits);
    for (const size_t memory : {size_t{4} << 20, size_t{96} << 20, size_t{1} << 30}) {
        for (unsigned bits = 6; bits <= 12; ++bits) {
            const TableShape shape =
                TableShape::Fit(memory, bits, HotTable<JoinRecord>::kBucketBytes);
            const size_t pages = shape.Partitions() * shape.page_bytes;
            const size_t table =
                shape.buckets * TableShape::kShards * HotTable<JoinRecord>::kBucketBytes;
            CAPTURE(memory, bits);
            const size_t least = (8 << 10) * shape.Partitions(); // of pages
            CHECK(pages + table <= memory + (1 << 20) + least);
            CHECK(table >= memory * 45 / 100);
            CHECK(pages + table >= memory * 9 / 10);
            CHECK(shape.page_bytes <= SpillWriter::kMaxPageBytes);
        }
    }
}
