// Wrong hints, bad blocks, failing disks: a clear verdict or error, never a wrong chainstate.
#include "accepted.h"
#include "hints/record_codec.h"
#include "primitives/serialize.h"
#include "swiftsync/terminal.h"
#include "sync_setup.h"

#include "support/testdata.h"
#include "swiftsync/checkpoint.h"

#include <algorithm>
#include <fstream>
#include <mutex>

#include <sys/resource.h>

using namespace ibd;
using namespace ibd::test;
using Catch::Contains;

namespace {

/** Refused or failed, with a reason, and no chainstate was made. */
void RequireNothingPublished(SyncSetup& setup, const Result<Verdict>& verdict)
{
    if (verdict) {
        INFO(verdict->reason);
        REQUIRE(verdict->kind == VerdictKind::kHintsWrong);
        REQUIRE_FALSE(verdict->reason.empty());
    } else {
        REQUIRE_FALSE(verdict.Message().empty());
    }
    REQUIRE_FALSE(std::filesystem::exists(setup.Chainstate()));
    REQUIRE_FALSE(std::filesystem::exists(setup.Chainstate().string() + ".ibdbooster"));
}

/** A revision of the indexed file that is no longer written. */
Bytes IndexedFile(const TestChain& chain, HintsFormat format)
{
    const uint32_t factor = format == HintsFormat::kIndexedRuns ? 2 : 1; // runs: kind 0
    Bytes file;
    Bytes records;
    Writer writer(file);
    writer.Raw(AsBytes("UTXO"));
    writer.U8(0);
    writer.U32(chain.Height());
    for (uint32_t h = 1; h <= chain.Height(); ++h) {
        writer.U32(h * factor);
        writer.U64(9 + 12 * chain.Height() + records.size());
        const auto says = chain.HintsOf(h, CountingOf(format));
        IndexedCodec(format).Put(says.outputs, says.unspent, records);
    }
    Append(file, records);
    return file;
}

/** The chain's hints in the place of the setup's; their bytes. */
Bytes WriteAs(SyncSetup& setup, HintsFormat format)
{
    const TestChain& chain = setup.Chain();
    if (format == HintsFormat::kIndexedCompact || format == HintsFormat::kIndexedDeltas ||
        format == HintsFormat::kIndexedRuns) {
        Overwrite(setup.HintsPath(), IndexedFile(chain, format));
        return IndexedFile(chain, format);
    }
    const HintsTarget target{format, chain.Params().magic, chain.Height()};
    const auto writer = Must(StartHintsFile(setup.CleanEnv(), setup.HintsPath(), target));
    if (FirstHeight(format) == 0) Must(writer->Add(0, 1, {}));
    for (uint32_t h = 1; h <= chain.Height(); ++h) {
        const auto says = chain.HintsOf(h, CountingOf(format));
        Must(writer->Add(h, says.outputs, says.unspent));
    }
    Must(writer->Finish(chain.Tip().hash));
    return Must(ReadWholeFile(setup.CleanEnv(), setup.HintsPath()));
}

/** All that a file says. */
using Said = std::vector<std::pair<std::optional<uint32_t>, std::vector<uint32_t>>>;

Said ReadAll(const Hints& hints)
{
    Said out;
    BlockHints block;
    for (uint32_t h = 1; h <= hints.Info().terminal_height; ++h) {
        Must(hints.Read(h, block));
        out.emplace_back(block.outputs, block.unspent);
    }
    return out;
}

/** Whether the bit may be turned without any harm. */
bool MeansNothing(HintsFormat format, const Bytes& file, size_t bit)
{
    const size_t byte = bit / 8;
    if (format == HintsFormat::kBtcd) {
        // gzip: the text flag, time, level and system bytes do not matter, and the deflate stream
        // before checksum and length may compress the same bytes differently.
        return (byte == 3 && bit % 8 == 0) || (byte >= 4 && byte + 8 < file.size());
    }
    // Bits and runs of a block without unspent outputs are the same: none.
    const size_t records = 9 + 12 * size_t{ReadLE32(file.data() + 5)};
    const bool kind = byte >= 9 && byte < records && (byte - 9) % 12 == 0 && bit % 8 == 0;
    if (format != HintsFormat::kIndexedRuns || !kind) return false;
    return file[ReadLE64(file.data() + byte + 4)] == 0;
}

} // namespace

// The containers' flips are refused when they are opened (test/unit/hints), swifthints are never
// folded.
TEST_CASE("Wrong hints: every single-bit flip of a small file without checksums")
{
    const HintsFormat format =
        GENERATE(HintsFormat::kBitmap, HintsFormat::kIndexed, HintsFormat::kIndexedCompact,
                 HintsFormat::kIndexedDeltas, HintsFormat::kIndexedRuns, HintsFormat::kBip456,
                 HintsFormat::kBip456Core, HintsFormat::kBip456Crate, HintsFormat::kBtcd,
                 HintsFormat::kGaps);
    SyncSetup setup(99, {.blocks = 22, .txs_per_block = 8});
    Bytes file = WriteAs(setup, format);
    const Said right = ReadAll(*Must(OpenHints(setup.CleanEnv(), setup.HintsPath(), format)));
    const BoosterOptions options = setup.Options();
    size_t refused = 0;
    size_t judged = 0;
    for (size_t bit = 0; bit < file.size() * 8; ++bit) {
        file[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        Overwrite(setup.HintsPath(), file);
        file[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        CAPTURE(NameOf(format), bit / 8, bit % 8);
        const auto hints = OpenHints(setup.CleanEnv(), setup.HintsPath(), format);
        if (!hints) {
            ++refused;
            REQUIRE_THAT(hints.Message(), Contains(", offset "));
        } else if (ReadAll(**hints) == right) {
            REQUIRE(MeansNothing(format, file, bit));
        } else {
            ++judged;
            const auto verdict = setup.SyncWith(setup.CleanEnv(), **hints, options);
            // Makers of files that count all outputs disagree on overwritten coinbases, so those
            // bits mean nothing.
            if (verdict && verdict->kind == VerdictKind::kDone) {
                REQUIRE(CountingOf(format) == HintsCounting::kAll);
                setup.RequireRight();
                setup.Reset();
            } else {
                RequireNothingPublished(setup, verdict);
            }
        }
    }
    CAPTURE(NameOf(format), refused, judged);
    REQUIRE(refused > 100);
    REQUIRE((judged > 10 || format == HintsFormat::kBtcd)); // whose contents have a checksum
}

TEST_CASE("Wrong hints: 1,000 random well-formed ones")
{
    SyncSetup setup(TestRng()(), {.blocks = 60});
    auto& chain = setup.Chain();
    auto& rng = TestRng();
    for (int i = 0; i < 1000; ++i) {
        // Turn around 1 to 4 outputs; with 2 or more often one each way, so that counts match.
        std::vector<TestOutput*> turned;
        const size_t changes = 1 + rng() % 4;
        while (turned.size() < changes) {
            auto& outputs = chain.Outputs(1 + static_cast<uint32_t>(rng() % chain.Height()));
            TestOutput& output = outputs[rng() % outputs.size()];
            if (!output.spendable || output.overwritten) continue;
            if (std::find(turned.begin(), turned.end(), &output) != turned.end()) continue;
            output.unspent = !output.unspent;
            turned.push_back(&output);
        }
        const bool bitmap = rng() % 2;
        chain.WriteHints(setup.CleanEnv(), setup.HintsPath(),
                         bitmap ? HintsCounting::kAll : HintsCounting::kSpendable);
        BoosterOptions options = setup.Options(1 + static_cast<unsigned>(rng() % 2), 1 << 14);
        options.aggregate = rng() % 8 ? AggregateKind::kSha256 : AggregateKind::kMuHash;
        const auto verdict = setup.Sync(setup.CleanEnv(), options);
        REQUIRE(verdict.Ok());
        RequireNothingPublished(setup, verdict);
        for (TestOutput* output : turned) output->unspent = !output->unspent;
    }
}

TEST_CASE("Hints that do not fit a block are remembered, right ones of the same chain still work")
{
    SyncSetup setup(3);
    auto& outputs = setup.Chain().Outputs(15);
    outputs.push_back(outputs[0]); // one that the block has not
    setup.Chain().WriteHints(setup.CleanEnv(), setup.HintsPath(), HintsCounting::kAll);
    const auto first = Must(setup.Sync(setup.CleanEnv(), setup.Options()));
    REQUIRE(first.kind == VerdictKind::kHintsWrong);
    REQUIRE_FALSE(first.suspect);
    FaultEnv env;
    uint64_t blocks_read = 0;
    env.SetScript([&](const FaultEnv::Operation& op) {
        blocks_read += op.path.filename().string().starts_with("blk");
        return false;
    });
    const auto second = Must(setup.Sync(env, setup.Options()));
    REQUIRE(second.kind == VerdictKind::kHintsWrong);
    REQUIRE_THAT(second.reason, Contains("failed in an earlier sync: ") && Contains(first.reason));
    REQUIRE(blocks_read == 0);
    outputs.pop_back();
    setup.Chain().WriteHints(setup.CleanEnv(), setup.HintsPath(), HintsCounting::kAll);
    REQUIRE(Must(setup.Sync(env, setup.Options())).kind == VerdictKind::kDone);
    setup.RequireRight();
}

TEST_CASE("Hints that do not fit a block and are not to be remembered are tried anew each time")
{
    SyncSetup setup(3);
    auto& outputs = setup.Chain().Outputs(15);
    outputs.push_back(outputs[0]);
    setup.Chain().WriteHints(setup.CleanEnv(), setup.HintsPath(), HintsCounting::kAll);
    BoosterOptions options = setup.Options();
    options.remember_bad = false;
    const auto first = Must(setup.Sync(setup.CleanEnv(), options));
    REQUIRE(first.kind == VerdictKind::kHintsWrong);
    REQUIRE_FALSE(std::filesystem::exists(setup.Booster() / "badhints.txt"));
    REQUIRE(Must(setup.Sync(setup.CleanEnv(), setup.Options())).reason == first.reason);
    REQUIRE(std::filesystem::exists(setup.Booster() / "badhints.txt"));
    REQUIRE(Must(setup.Sync(setup.CleanEnv(), options)).reason == first.reason);
}

TEST_CASE("Hints that lead to a wrong whole are suspect, as a block may be at fault")
{
    SyncSetup setup(3);
    auto& outputs = setup.Chain().Outputs(15);
    outputs[0].unspent = !outputs[0].unspent;
    setup.Chain().WriteHints(setup.CleanEnv(), setup.HintsPath(), HintsCounting::kSpendable);
    const auto first = Must(setup.Sync(setup.CleanEnv(), setup.Options()));
    REQUIRE(first.kind == VerdictKind::kHintsWrong);
    REQUIRE(first.suspect);
    REQUIRE_FALSE(std::filesystem::exists(setup.Booster() / "badhints.txt"));
    REQUIRE(Must(setup.Sync(setup.CleanEnv(), setup.Options())).reason == first.reason);
    outputs[0].unspent = !outputs[0].unspent;
    setup.Chain().WriteHints(setup.CleanEnv(), setup.HintsPath(), HintsCounting::kSpendable);
    REQUIRE(Must(setup.Sync(setup.CleanEnv(), setup.Options())).kind == VerdictKind::kDone);
    setup.RequireRight();
}

TEST_CASE("Hints of another network, above the tip, off the chain are refused in one line")
{
    SyncSetup setup(4);
    HintsInfo info = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()))->Info();
    const auto refusal = [&](const HintsInfo& changed) {
        const auto node = CheckTerminalBlock(changed, setup.Chain().Tree(), setup.Chain().Params());
        REQUIRE_FALSE(node.Ok());
        REQUIRE(node.Message().find('\n') == std::string::npos);
        return node.Message();
    };
    REQUIRE(CheckTerminalBlock(info, setup.Chain().Tree(), setup.Chain().Params()).Ok());
    HintsInfo other = info;
    (*other.network_magic)[0] ^= 1;
    REQUIRE_THAT(refusal(other), Contains("another network"));
    other = info;
    ++other.terminal_height;
    REQUIRE_THAT(refusal(other), Contains("above the best header"));
    other = info;
    other.terminal_hash->data()[3] ^= 1;
    REQUIRE_THAT(refusal(other), Contains("the best header chain has"));
}

TEST_CASE("An output that is spent before its block makes it stops the run, in spite of a zero sum")
{
    for (const bool wrong : {false, true}) {
        SyncSetup setup(6, {.chained_at = 30, .spent_before_made = wrong});
        for (const unsigned threads : {1u, 2u}) {
            const auto verdict = Must(setup.Sync(setup.CleanEnv(), setup.Options(threads)));
            if (!wrong) {
                REQUIRE(verdict.kind == VerdictKind::kDone);
                setup.RequireRight();
                setup.Reset();
                continue;
            }
            REQUIRE(verdict.kind == VerdictKind::kBlockInvalid);
            REQUIRE(verdict.height == 30);
            REQUIRE_THAT(verdict.reason, Contains("bad-txns-inputs-missingorspent"));
            REQUIRE_FALSE(std::filesystem::exists(setup.Chainstate()));
        }
    }
}

TEST_CASE("A damaged block is no invalid one: an error that names it, and what is done stays")
{
    SyncSetup setup(5);
    const HeaderNode& node = *setup.Chain().Tip().Ancestor(33);
    const auto count = setup.Chain().Raw(33)[BlockHeader::kSize];
    // A byte of the header, the number of transactions made 0, somewhere in the coinbase.
    for (const auto& [offset, mask] : {std::pair<size_t, uint8_t>{10, 1}, {80, count}, {120, 4}}) {
        for (const unsigned threads : {1u, 2u}) {
            CAPTURE(offset, threads);
            ChangeStored(setup, node, offset, mask);
            BoosterOptions options = setup.Options(threads);
            options.checkpoint_bytes = 2'000;
            const auto refused = setup.Sync(setup.CleanEnv(), options);
            REQUIRE_FALSE(refused.Ok());
            for (const std::string& part :
                 {setup.Blocks().BlockPath(node.file).string(), node.hash.ToHex(),
                  fmt::format("offset {}", node.data_pos), std::string("height 33"),
                  std::string("-reindex")}) {
                REQUIRE_THAT(refused.Message(), Contains(part));
            }
            REQUIRE_FALSE(std::filesystem::exists(setup.Chainstate()));
            const auto kept = Must(LoadCheckpoint(setup.CleanEnv(), setup.Booster()));
            REQUIRE(kept);
            ChangeStored(setup, node, offset, mask);
            const auto hints = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()));
            SyncEngine engine(setup.CleanEnv(), setup.Log(), setup.Chain().Params(),
                              setup.Chain().Tip(), setup.Blocks(), *hints, options);
            RequireAccepted(engine.Run());
            REQUIRE(engine.Progress().resumed_blocks == kept->folded.Count());
            setup.RequireRight();
            setup.Reset();
        }
    }
}

TEST_CASE("A block that was damaged on its way from the disk is read again")
{
    RequireReadAgain<SyncSetup>();
}

TEST_CASE("A block that breaks a rule and has its right hash stops the run with its height")
{
    SyncSetup setup(5);
    // Blocks below do not begin with their height.
    setup.Chain().Params().consensus.bip34_height = 33;
    for (const unsigned threads : {1u, 2u}) {
        const auto verdict = Must(setup.Sync(setup.CleanEnv(), setup.Options(threads)));
        REQUIRE(verdict.kind == VerdictKind::kBlockInvalid);
        REQUIRE(verdict.height >= 33);
        const HeaderNode* node = setup.Chain().Tip().Ancestor(verdict.height);
        REQUIRE_THAT(verdict.reason, Contains(node->hash.ToHex()) && Contains("bad-cb-height"));
        REQUIRE_FALSE(std::filesystem::exists(setup.Chainstate()));
    }
}

TEST_CASE("Missing blocks and files are named")
{
    SyncSetup setup(6);
    HeaderNode* node = setup.Chain().Tree().BestHeader()->Ancestor(12);
    node->status &= ~uint32_t{kHaveData};
    const auto absent = setup.Sync(setup.CleanEnv(), setup.Options());
    REQUIRE_FALSE(absent.Ok());
    REQUIRE_THAT(absent.Message(), Contains("height 12") && Contains(node->hash.ToHex()));
    node->status |= kHaveData;
    const Path path = setup.Blocks().BlockPath(node->file);
    std::filesystem::rename(path, path.string() + ".away");
    const auto gone = setup.Sync(setup.CleanEnv(), setup.Options(2));
    REQUIRE_FALSE(gone.Ok());
    REQUIRE_THAT(gone.Message(), Contains(path.string()) && Contains("height"));
    std::filesystem::rename(path.string() + ".away", path);
    REQUIRE(Must(setup.Sync(setup.CleanEnv(), setup.Options())).kind == VerdictKind::kDone);
    setup.RequireRight();
}

TEST_CASE("A disk that fails at any single operation: an error, and the next run is right")
{
    SyncSetup setup(8, {.blocks = 30, .txs_per_block = 4});
    BoosterOptions options = setup.Options(1, 1 << 13);
    options.checkpoint_bytes = 3'000;
    FaultEnv counting;
    Must(setup.Sync(counting, options));
    setup.Reset();
    for (uint64_t n = 0; n < counting.Operations(); ++n) {
        options.threads = n % 3 ? 1 : 2;
        options.background = options.threads > 1;
        FaultEnv env;
        env.SetScript([n](const FaultEnv::Operation& op) { return op.number == n; });
        CAPTURE(n);
        const auto verdict = setup.Sync(env, options);
        if (verdict) {
            REQUIRE(verdict->kind == VerdictKind::kDone); // more threads, fewer operations
        } else {
            REQUIRE_THAT(verdict.Message(), Contains("injected fault"));
            env.SetScript(nullptr);
            REQUIRE(Must(setup.Sync(env, options)).kind == VerdictKind::kDone);
        }
        const CoinMap found = ReadChainstate(setup.Chainstate(), setup.Chain().Tip().hash);
        REQUIRE(found == setup.Chain().Coins());
        setup.Reset();
    }
}

TEST_CASE("A block file that ends early: height and reason, nothing published")
{
    SyncSetup setup(12);
    const HeaderNode& node = *setup.Chain().Tip().Ancestor(33);
    const Path path = setup.Blocks().BlockPath(node.file);
    const Bytes whole = Must(ReadWholeFile(setup.CleanEnv(), path));
    for (const unsigned threads : {1u, 2u}) {
        std::filesystem::resize_file(path, node.data_pos + 100);
        const auto verdict = setup.Sync(setup.CleanEnv(), setup.Options(threads));
        REQUIRE_FALSE(verdict.Ok());
        REQUIRE_THAT(verdict.Message(),
                     Contains("blk") && Contains("cut off") && Contains("at height"));
        REQUIRE_FALSE(std::filesystem::exists(setup.Chainstate()));
        Overwrite(path, whole);
        REQUIRE(Must(setup.Sync(setup.CleanEnv(), setup.Options(threads))).kind ==
                VerdictKind::kDone);
        setup.RequireRight();
        setup.Reset();
    }
}

TEST_CASE("A run that ends early is found and the run starts over from the blocks")
{
    SyncSetup setup(13);
    FaultEnv env;
    int left = 1;
    env.CutReads([&](const Path& path) {
        return path.filename().string().starts_with("run") && left-- > 0;
    });
    REQUIRE(Must(setup.Sync(env, setup.Options())).kind == VerdictKind::kDone);
    REQUIRE(left <= 0);
    setup.RequireRight();
}

TEST_CASE("Hints changed in place while in use: an error that names the file, no verdict on them")
{
    for (const auto counting : {HintsCounting::kSpendable, HintsCounting::kAll}) {
        SyncSetup setup(14, {}, counting);
        const Path path = setup.HintsPath();
        const Bytes good = Must(ReadWholeFile(setup.CleanEnv(), path));
        const auto changed_to = [&](ByteSpan bytes) {
            const auto hints = Must(OpenHints(setup.CleanEnv(), path));
            Overwrite(path, bytes);
            auto verdict = setup.SyncWith(setup.CleanEnv(), *hints, setup.Options());
            Overwrite(path, good);
            REQUIRE_FALSE(verdict.Ok());
            REQUIRE(verdict.GetError().kind == Error::Kind::kSystem);
            REQUIRE_THAT(verdict.Message(), Contains(path.string()) && Contains("while in use"));
            REQUIRE_FALSE(std::filesystem::exists(setup.Chainstate()));
        };
        CAPTURE(int(counting));
        changed_to({});
        changed_to(ByteSpan(good).first(good.size() / 2));
        Bytes other = good;
        // The records; the index was read when the file was opened.
        for (size_t i = good.size() * 3 / 5; i < good.size() * 4 / 5; ++i) other[i] = 0xff;
        changed_to(other);
        SyncSetup stranger(15, {.blocks = 90}, counting);
        changed_to(Must(ReadWholeFile(setup.CleanEnv(), stranger.HintsPath())));
        REQUIRE(Must(setup.Sync(setup.CleanEnv(), setup.Options())).kind == VerdictKind::kDone);
        setup.RequireRight();
    }
}

TEST_CASE("Reading hints fails: the disk's error, and the next run is right")
{
    SyncSetup setup(16);
    FaultEnv env;
    const auto hints = Must(OpenHints(env, setup.HintsPath()));
    env.SetScript([&](const FaultEnv::Operation& op) { return op.path == setup.HintsPath(); });
    const auto verdict = setup.SyncWith(env, *hints, setup.Options());
    REQUIRE_FALSE(verdict.Ok());
    REQUIRE_THAT(verdict.Message(), Contains("injected fault"));
    REQUIRE_FALSE(std::filesystem::exists(setup.Chainstate()));
    env.SetScript(nullptr);
    REQUIRE(Must(setup.Sync(env, setup.Options())).kind == VerdictKind::kDone);
    setup.RequireRight();
}

TEST_CASE("At no moment is more than an interval of bytes folded and not durable")
{
    SyncSetup setup(17, {.blocks = 400, .txs_per_block = 4});
    uint64_t largest = 0;
    uint64_t all = 0;
    for (uint32_t h = 1; h <= setup.Chain().Height(); ++h) {
        largest = std::max<uint64_t>(largest, setup.Chain().Raw(h).size());
        all += setup.Chain().Raw(h).size();
    }
    for (const unsigned threads : {1u, 2u, 3u}) {
        BoosterOptions options = setup.Options(threads);
        options.checkpoint_bytes = all / 8;
        const auto hints = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()));
        FaultEnv env;
        SyncEngine engine(env, setup.Log(), setup.Chain().Params(), setup.Chain().Tip(),
                          setup.Blocks(), *hints, options);
        std::mutex mutex;
        uint64_t most = 0;
        uint64_t checkpoints = 0;
        // Each checkpoint is looked at just before it takes effect: until then all may be lost.
        env.SetScript([&](const FaultEnv::Operation& op) {
            const bool whole = op.kind == "rename" && op.path.filename() == "checkpoint.dat.new";
            const bool added = op.kind == "write" && op.path.filename() == "checkpoint.log";
            if (!whole && !added) return false;
            const auto kept = Must(LoadCheckpoint(setup.CleanEnv(), setup.Booster()));
            const uint64_t folded = engine.Progress().bytes;
            const std::lock_guard lock(mutex);
            ++checkpoints;
            if (kept) most = std::max(most, folded - kept->totals.bytes);
            return false;
        });
        REQUIRE(Must(engine.Run()).kind == VerdictKind::kDone);
        setup.RequireRight();
        CAPTURE(threads, all, largest, most, checkpoints);
        REQUIRE(checkpoints > 4);
        // An epoch ends with the block that fills it.
        REQUIRE(most <= options.checkpoint_bytes + 2 * threads * largest);
        REQUIRE(most > options.checkpoint_bytes / 4);
        setup.Reset();
    }
}

TEST_CASE("Bit rot in a run is found and the run starts over from the blocks")
{
    SyncSetup setup(9);
    BoosterOptions options = setup.Options(1, 1 << 13);
    options.checkpoint_bytes = 3'000;
    SECTION("once: the second try succeeds")
    {
        FaultEnv env;
        int left = 1;
        env.CorruptReads([&](const Path& path) {
            return path.filename().string().starts_with("run") && left-- > 0;
        });
        REQUIRE(Must(setup.Sync(env, options)).kind == VerdictKind::kDone);
        setup.RequireRight();
    }
    SECTION("always: an error, nothing is published")
    {
        FaultEnv env;
        env.CorruptReads(
            [&](const Path& path) { return path.filename().string().starts_with("run"); });
        const auto verdict = setup.Sync(env, options);
        REQUIRE_FALSE(verdict.Ok());
        REQUIRE_THAT(verdict.Message(), Contains("does not keep written data"));
        REQUIRE_FALSE(std::filesystem::exists(setup.Chainstate()));
    }
}

TEST_CASE("Hints that make more coins than were ever mined are refuted long before the end")
{
    for (const bool all : {false, true}) {
        SyncSetup setup(20, {.blocks = 300, .txs_per_block = 30},
                        all ? HintsCounting::kAll : HintsCounting::kSpendable);
        auto& chain = setup.Chain();
        for (uint32_t h = 1; h <= chain.Height(); ++h) {
            for (TestOutput& output : chain.Outputs(h)) {
                output.unspent = output.spendable && !output.overwritten;
            }
        }
        chain.WriteHints(setup.CleanEnv(), setup.HintsPath(),
                         all ? HintsCounting::kAll : HintsCounting::kSpendable);
        chain.Params().consensus.subsidy_halving_interval = 2; // so that little was ever mined
        BoosterOptions options = setup.Options();
        options.checkpoint_bytes = 10'000;
        const auto hints = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()));
        FaultEnv env;
        int runs = 0;
        env.SetScript([&](const FaultEnv::Operation& op) { // a disk with room for some runs only
            runs += op.kind == "create" && op.path.filename().string().starts_with("run");
            return runs > 12;
        });
        SyncEngine engine(env, setup.Log(), chain.Params(), chain.Tip(), setup.Blocks(), *hints,
                          options);
        const auto verdict = engine.Run();
        if (!verdict) FAIL(verdict.Message());
        REQUIRE(verdict->kind == VerdictKind::kHintsWrong);
        REQUIRE_THAT(verdict->reason, Contains("worth") && Contains("ever mined"));
        REQUIRE(engine.Progress().blocks < chain.Height() / 2);
        REQUIRE_FALSE(std::filesystem::exists(setup.Chainstate()));
        REQUIRE_FALSE(std::filesystem::exists(RunPath(setup.Booster(), 0)));
    }
}

TEST_CASE("A second run in the same directory is refused and leaves the first alone")
{
    SyncSetup setup(12);
    BoosterOptions options = setup.Options();
    Must(setup.CleanEnv().CreateDirectories(options.directory));
    {
        const auto held = Must(LockBooster(setup.CleanEnv(), options.directory));
        const auto refused = setup.Sync(setup.CleanEnv(), options);
        REQUIRE_FALSE(refused.Ok());
        REQUIRE_THAT(refused.Message(),
                     Contains("-ibdboosterdir") && Contains(options.directory.string()));
    }
    REQUIRE(Must(setup.Sync(setup.CleanEnv(), options)).kind == VerdictKind::kDone);
    setup.RequireRight();
}

namespace {

/** Lets the process open `count` files and no more, as long as it lives. */
class FileLimit {
public:
    explicit FileLimit(rlim_t count)
    {
        REQUIRE(getrlimit(RLIMIT_NOFILE, &m_before) == 0);
        const rlimit low = {count, m_before.rlim_max};
        REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
    }
    ~FileLimit() { (void)setrlimit(RLIMIT_NOFILE, &m_before); }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;

private:
    rlimit m_before{};
};

} // namespace

TEST_CASE("More runs than a process may open files")
{
    SyncSetup setup(13, {.blocks = 700, .txs_per_block = 2});
    const FileLimit limit(100);
    for (const unsigned threads : {1u, 2u}) {
        for (const size_t at_once : {128u, 10'000u}) {
            BoosterOptions options = setup.Options(threads);
            options.checkpoint_bytes = 1; // a run for each block
            options.min_range_bytes = 20'000;
            options.min_merged_runs = at_once;
            CAPTURE(threads, at_once);
            const auto verdict = setup.Sync(setup.CleanEnv(), options);
            INFO((verdict ? verdict->reason : verdict.Message()));
            REQUIRE(verdict.Ok());
            REQUIRE(verdict->kind == VerdictKind::kDone);
            setup.RequireRight();
            setup.Reset();
        }
    }
}
