// Spills: written records are read, by partition; damage of any byte is detected.
#include "join/spill_series.h"

#include "sim/fault_env.h"
#include "support/aborts.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "support/testdata.h"
#include "util/hex.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr uint32_t kPartitions = 8;
const SpillOwner kOwner{Uint256(Sha256Of(AsBytes("join"))), kPartitions};

using Pages = std::map<uint32_t, std::vector<Bytes>>; //!< by partition

/** Writes a spill of some pages, and adds them to `all`. */
SpillInfo WriteSome(Env& env, const Path& directory, uint32_t number, size_t pages, Pages& all)
{
    auto& rng = TestRng();
    const auto writer = Must(SpillWriter::Create(env, directory, number, kOwner));
    for (size_t i = 0; i < pages; ++i) {
        const auto partition = static_cast<uint32_t>(rng.Below(kPartitions - 1)); // one is empty
        const size_t most = rng.Chance(1, 10) ? SpillWriter::kMaxPageBytes : 100;
        all[partition].push_back(RandomBytes(1 + rng.Below(most)));
        REQUIRE(writer->Add(partition, all[partition].back()));
    }
    WrittenSpill written = Must(writer->Finish());
    Must(written.file->Sync());
    return written.info;
}

Result<Pages> ReadAll(Env& env, const Path& directory, std::span<const SpillInfo> spills,
                      const SpillOwner& owner = kOwner)
{
    IBD_ASSIGN_OR_RETURN(const SpillReader reader,
                         SpillReader::Open(env, directory, spills, owner));
    Pages found;
    Bytes buffer;
    for (uint32_t p = 0; p < kPartitions; ++p) {
        uint64_t bytes = 0;
        IBD_RETURN_IF_ERROR(reader.Read(p, buffer, [&](ByteSpan records) {
            found[p].emplace_back(records.begin(), records.end());
            bytes += records.size();
        }));
        REQUIRE(bytes == reader.Bytes(p));
    }
    return found;
}

} // namespace

TEST_CASE("A spill gives the pages of each partition in the order in which they came", "[spill]")
{
    TempDir dir(MemoryFolder());
    FaultEnv env;
    Pages all;
    std::vector<SpillInfo> spills;
    for (const size_t pages : {0, 1, 40, 3}) {
        spills.push_back(
            WriteSome(env, dir.Get(), static_cast<uint32_t>(spills.size()), pages, all));
    }
    CHECK(Must(ReadAll(env, dir.Get(), spills)) == all);
}

TEST_CASE("A spill that is kept is begun to be synced early, one in passing is not synced",
          "[spill]")
{
    const auto use = GENERATE(SpillUse::kKept, SpillUse::kPassing);
    TempDir dir(MemoryFolder());
    FaultEnv env;
    std::map<std::string, int> syncs;
    env.SetScript([&](const FaultEnv::Operation& operation) {
        if (operation.kind.find("sync") != std::string::npos) ++syncs[operation.kind];
        return false;
    });
    SpillSeries series(env, dir.Get(), 0, kOwner, use);
    Pages pages;
    for (size_t i = 0; i < 200; ++i) { // more than a stretch that is synced at once
        pages[1].push_back(RandomBytes(SpillWriter::kMaxPageBytes));
        REQUIRE(series.Add(1, pages[1].back()));
    }
    const auto spills = Must(series.Finish());
    CHECK(syncs.empty() == (use == SpillUse::kPassing));
    CHECK((syncs["startsync"] > 0) == (use == SpillUse::kKept));
    CHECK(Must(ReadAll(env, dir.Get(), spills)) == pages);
}

TEST_CASE("Every byte of a spill that changes is noticed", "[spill]")
{
    TempDir dir(MemoryFolder());
    FaultEnv env;
    Pages all;
    auto& rng = TestRng();
    const auto writer = Must(SpillWriter::Create(env, dir.Get(), 3, kOwner));
    for (uint32_t i = 0; i < 5; ++i) REQUIRE(writer->Add(i % 3, RandomBytes(30)));
    const SpillInfo spill = Must(writer->Finish()).info;
    const std::array spills = {spill};
    const Path path = SpillPath(dir.Get(), 3);
    const Bytes whole = Must(ReadWholeFile(env, path));
    REQUIRE(ReadAll(env, dir.Get(), spills).Ok());
    const auto replace = [&](const Bytes& bytes) {
        std::ofstream(path, std::ios::binary | std::ios::trunc)
            .write(AsChars(bytes).data(), static_cast<std::streamsize>(bytes.size()));
    };
    for (size_t i = 0; i < whole.size(); ++i) {
        Bytes changed = whole;
        changed[i] ^= static_cast<uint8_t>(1 << rng.Below(8));
        replace(changed);
        CAPTURE(i, whole.size());
        const auto found = ReadAll(env, dir.Get(), spills);
        REQUIRE_FALSE(found.Ok());
        REQUIRE(found.GetError().kind == Error::Kind::kBadData);
    }
    for (const size_t size : {size_t{0}, size_t{50}, whole.size() - 1}) {
        replace({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
        REQUIRE_FALSE(ReadAll(env, dir.Get(), spills).Ok());
    }
    replace(whole);
    CHECK(ReadAll(env, dir.Get(), spills).Ok());
    CHECK_FALSE(ReadAll(env, dir.Get(), spills, {Uint256(), kPartitions}).Ok());
    std::filesystem::remove(path);
    const auto gone = ReadAll(env, dir.Get(), spills);
    REQUIRE_FALSE(gone.Ok());
    CHECK(gone.GetError().kind == Error::Kind::kBadData);
}

TEST_CASE("A disk that fails while a spill is written is reported at its end", "[spill]")
{
    TempDir dir(MemoryFolder());
    FaultEnv env;
    const auto writer = Must(SpillWriter::Create(env, dir.Get(), 0, kOwner));
    env.SetScript([](const FaultEnv::Operation& op) { return op.kind == "write"; });
    for (int i = 0; i < 40; ++i) (void)writer->Add(0, Bytes(SpillWriter::kMaxPageBytes, 1));
    CHECK_FALSE(writer->Add(0, Bytes(1, 1)));
    const auto end = writer->Finish();
    REQUIRE_FALSE(end.Ok());
    CHECK(end.GetError().kind == Error::Kind::kSystem);
}

TEST_CASE("Records that several threads add to a spill are kept, or an error is returned",
          "[spill]")
{
    for (const uint64_t fails_at : {0, 1, 3, 7}) {
        TempDir dir(MemoryFolder());
        FaultEnv env;
        std::atomic<uint64_t> writes = 0;
        env.SetScript([&](const FaultEnv::Operation& operation) {
            return operation.kind == "write" && ++writes == fails_at;
        });
        std::map<uint32_t, std::vector<Bytes>> pages;
        for (uint32_t thread = 0; thread < 4; ++thread) {
            for (int i = 0; i < 40; ++i) {
                const size_t size = 1 + TestRng().Below(SpillWriter::kMaxPageBytes);
                pages[thread].push_back(RandomBytes(size));
            }
        }
        const auto writer = Must(SpillWriter::Create(env, dir.Get(), 0, kOwner));
        const auto add = [&](uint32_t thread) {
            for (const Bytes& page : pages[thread]) {
                if (!writer->Add(thread, page)) return;
                if (thread != 0) writer->WriteGathered();
            }
        };
        std::vector<std::thread> threads;
        for (uint32_t thread = 0; thread < 4; ++thread) threads.emplace_back(add, thread);
        for (std::thread& thread : threads) thread.join();
        const auto written = writer->Finish();
        REQUIRE(written.Ok() == (fails_at == 0));
        REQUIRE_FALSE(writer->Finish().Ok());
        REQUIRE_FALSE(writer->Add(0, pages[0].front()));
        if (written) CHECK(Must(ReadAll(env, dir.Get(), std::array{written->info})) == pages);
    }
}

TEST_CASE("Records that several threads add to a series are kept, or an error is returned",
          "[spill]")
{
    constexpr uint32_t kThreads = 4;
    constexpr size_t kPages = 60, kMostPages = 7; // of a thread, and of a spill
    const std::array fails = {"", "create", "write", "sync"};
    for (const std::string kind : fails) {
        for (const uint64_t at : {1, 3, 9}) {
            CAPTURE(kind, at);
            TempDir dir(MemoryFolder());
            FaultEnv env;
            std::atomic<uint64_t> operations = 0;
            env.SetScript([&](const FaultEnv::Operation& operation) {
                return operation.kind == kind && ++operations == at;
            });
            SpillSeries series(env, dir.Get(), 5, kOwner, SpillUse::kKept, kMostPages);
            Pages pages;
            for (uint32_t thread = 0; thread < kThreads; ++thread) {
                for (size_t i = 0; i < kPages; ++i) {
                    const size_t size = 1 + TestRng().Below(SpillWriter::kMaxPageBytes);
                    pages[thread].push_back(RandomBytes(size));
                }
            }
            const auto add = [&](uint32_t thread) {
                for (const Bytes& page : pages[thread]) {
                    if (!series.Add(thread, page)) return;
                }
            };
            std::vector<std::thread> threads;
            for (uint32_t thread = 0; thread < kThreads; ++thread)
                threads.emplace_back(add, thread);
            for (std::thread& thread : threads) thread.join();
            const auto spills = series.Finish();
            REQUIRE(spills.Ok() == kind.empty());
            REQUIRE_FALSE(series.Finish().Ok());
            REQUIRE_FALSE(series.Add(0, pages[0].front()));
            if (!spills) {
                CHECK(spills.GetError().kind == Error::Kind::kSystem);
                continue;
            }
            REQUIRE(spills->size() >= kThreads * kPages / kMostPages);
            std::set<uint32_t> numbers;
            for (const SpillInfo& spill : *spills) numbers.insert(spill.number);
            REQUIRE(numbers.size() == spills->size());
            REQUIRE(*numbers.begin() == 5);
            REQUIRE(*numbers.rbegin() == 4 + spills->size());
            Pages found = Must(ReadAll(env, dir.Get(), *spills));
            for (auto& [thread, list] : found) {
                std::sort(list.begin(), list.end());
                std::sort(pages[thread].begin(), pages[thread].end());
            }
            REQUIRE(found == pages);
        }
    }
}

TEST_CASE("The worked example of doc/formats/spill.md", "[spill]")
{
    TempDir dir(MemoryFolder());
    FaultEnv env;
    const auto writer = Must(SpillWriter::Create(env, dir.Get(), 3, {Uint256(), 64}));
    REQUIRE(writer->Add(5, AsBytes("abc")));
    REQUIRE(writer->Add(1, AsBytes("x")));
    Must(writer->Finish());
    CHECK(ToHex(Must(ReadWholeFile(env, SpillPath(dir.Get(), 3)))) ==
          "6962647370696c01030000004000000000000000000000000000000000000000"
          "00000000000000000000000000000000"
          "050000000300000023121f48616263"
          "010000000100000007b5f3b278"
          "01000000010000003f0000000000000005000000030000003000000000000000"
          "4c0000000000000002000000000000008c00000000000000b928ec745bf4910c");
}

TEST_CASE("A page that could not be read back is not taken", "[spill]")
{
    TempDir dir(MemoryFolder());
    FaultEnv env;
    const auto writer = Must(SpillWriter::Create(env, dir.Get(), 0, kOwner));
    const auto add = [&](uint32_t partition, size_t bytes) {
        (void)writer->Add(partition, Bytes(bytes));
    };
    CHECK_FALSE(Aborts([&] { add(kPartitions - 1, SpillWriter::kMaxPageBytes); }));
    CHECK(Aborts([&] { add(kPartitions, 1); }));
    CHECK(Aborts([&] { add(0, 0); }));
    CHECK(Aborts([&] { add(0, SpillWriter::kMaxPageBytes + 1); }));
}
