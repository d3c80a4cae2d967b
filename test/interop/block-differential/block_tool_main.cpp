// ibd-block-tool: one half of the block differential (test/interop/block_differential.py).
//
//   ibd-block-tool make --seed N --count N      blocks in hex, one a line, good and mutated
//   ibd-block-tool connect --datadir DIR [--signaturelanes 1|check]
//                                               reads such lines; answers as kernel-oracle connect
//
// Scripts run with the caches of signatures and scripts, as near the tip. With --signaturelanes
// they run with signatures in batches, as below the assumed-valid block.
#include "block_mutator.h"

#include "crypto/signature_batch.h"
#include "sim/chain.h"
#include "util/hex.h"
#include "validation/chain_stack.h"
#include "validation/script_threads.h"
#include "validation/verify_chain.h"

#include <charconv>
#include <cstdio>
#include <deque>
#include <iostream>
#include <map>

namespace ibd::interop {

namespace {

constexpr int kMatureBlocks = 112; //!< good ones before the first mutation

/** Gives out the stream of blocks. */
class Stream {
public:
    Stream(const ChainParams& params, uint64_t seed, size_t count)
        : m_mutator(params, seed), m_rng(seed ^ 0x5eed), m_count(count),
          m_chain(params, Options(seed, count))
    {
        m_memory.now = MakePosixEnv()->UnixTime();
    }

    void Run()
    {
        for (int i = 0; i < kMatureBlocks; ++i) Good();
        while (m_given < m_count) {
            if (m_rng.Below(5) == 0) SideBranch();
            m_past.push_back(m_chain);
            if (m_past.size() > 4) m_past.pop_front();
            const sim::SimBlock next = sim::Chain(m_chain).Next();
            // Few: once one is valid and the tip, the others of its height are only stored.
            const uint64_t mutations = m_rng.Below(12);
            for (uint64_t i = 0; i < mutations && m_given < m_count; ++i) {
                Give(m_mutator.Mutate(next.bytes, m_memory));
            }
            Good();
        }
    }

private:
    static sim::ChainOptions Options(uint64_t seed, size_t count)
    {
        sim::ChainOptions options;
        options.seed = seed;
        options.blocks = kMatureBlocks + static_cast<int>(count / 4) + 100;
        options.outputs_per_block = 14;
        options.signed_spends = true;
        return options;
    }

    void Give(const Bytes& block)
    {
        if (block.empty()) return; // an empty line is no block to the oracle
        std::cout << ToHex(block) << '\n';
        ++m_given;
        BlockView view;
        if (!view.Parse(block) || view.Txs().empty()) return;
        m_memory.hashes.push_back(view.Hash());
        const auto remember = [](auto& list, const auto& item) {
            list.push_back(item);
            if (list.size() > 300) list.erase(list.begin());
        };
        remember(m_memory.coinbases, OutPoint{view.Txs()[0].txid, 0});
        for (const TxView& tx : view.Txs().subspan(1)) {
            remember(m_memory.txs, MutableTransaction::FromView(tx));
            for (const InputView& input : tx.inputs) remember(m_memory.spent, input.Prevout());
        }
    }

    void Good() { Give(m_chain.Next().bytes); }

    /** A branch from a few blocks back that would overtake, whose blocks may be mutated. */
    void SideBranch()
    {
        if (m_past.empty()) return;
        sim::Chain side = m_past[m_rng.Below(m_past.size())];
        side.Reseed(m_rng.Next());
        const int length = m_chain.Height() - side.Height() + m_rng.Between(0, 3);
        BlockHash parent = side.TipHash();
        for (int i = 0; i < length; ++i) {
            Bytes block = m_mutator.OnParent(side.Next().bytes, parent);
            if (m_rng.Below(6) == 0) block = m_mutator.Mutate(block, m_memory);
            Give(block);
            if (block.size() < BlockHeader::kSize) return;
            parent = BlockHeader::FromBytes(block.data()).Hash();
        }
    }

    BlockMutator m_mutator;
    sim::Rng m_rng;
    const size_t m_count;
    sim::Chain m_chain;
    std::deque<sim::Chain> m_past;
    MutatorMemory m_memory;
    size_t m_given = 0;
};

const char* ClassName(RuleViolation::Kind kind)
{
    using Kind = RuleViolation::Kind;
    switch (kind) {
    case Kind::kConsensus: return "BLOCK_CONSENSUS";
    case Kind::kInvalidHeader: return "BLOCK_INVALID_HEADER";
    case Kind::kMutated: return "BLOCK_MUTATED";
    case Kind::kMissingPrev: return "BLOCK_MISSING_PREV";
    case Kind::kInvalidPrev: return "BLOCK_INVALID_PREV";
    case Kind::kCachedInvalid: return "BLOCK_CACHED_INVALID";
    case Kind::kTimeFuture: return "BLOCK_TIME_FUTURE";
    case Kind::kHeaderLowWork: return "BLOCK_HEADER_LOW_WORK";
    default: return "BLOCK_RESULT_UNSET"; // kinds of transactions: a bug
    }
}

class Verdicts final : public ChainObserver {
public:
    void BlockChecked(const BlockHash& hash, const RuleResult& verdict) override
    {
        if (verdict) broken.emplace(hash, *verdict);
    }
    std::map<BlockHash, RuleViolation> broken;
};

/** Threads that verify signatures of all blocks in batches, not only of those below a known block.
 */
class BatchedScripts final : public ScriptChecker {
public:
    explicit BatchedScripts(LanesMode mode) : m_threads(1, mode) { m_threads.Batch(true); }
    void Begin(ScriptFlags flags) override { m_threads.Begin(flags); }
    void Add(const TxView& tx, std::span<const Coin> spent) override { m_threads.Add(tx, spent); }
    RuleResult Finish() override
    {
        RuleResult verdict = m_threads.Finish();
        const ScriptThreads::BatchWork work = m_threads.Work();
        m_proven += work.proven;
        m_wasted += work.wasted;
        return verdict;
    }
    /** Whether batches were verified, and some of them held an invalid signature. */
    bool BothKinds() const { return m_proven > 0 && m_wasted > 0; }

private:
    ScriptThreads m_threads;
    size_t m_proven = 0;
    uint64_t m_wasted = 0;
};

/** The engine over a data directory, answering line by line. */
class Judge {
public:
    /** `lanes`: kOff: with caches. */
    Judge(const ChainParams& params, const Path& base, LanesMode lanes)
        : m_lanes(lanes), m_caches(kCacheBytes, {1}), m_cached(1), m_batched(lanes)
    {
        m_dir = Take(DataDir::Open(*m_env, {base, {}, params.sub_folder}));
        m_cached.SetCaches(&m_caches);
        ChainStackOptions options;
        options.manager = NearTheTip();
        options.checker = &m_cached;
        if (m_lanes != LanesMode::kOff) options.checker = &m_batched;
        options.observer = &m_verdicts;
        m_stack = Take(OpenChain(*m_env, *m_log, params, *m_dir, options, m_stop));
        m_chain = &m_stack->Chain();
        Take(m_chain->ActivateBestChain());
    }

    std::string Answer(const std::string& line)
    {
        const auto raw = FromHex(line);
        BlockView view;
        if (!raw) return "undecodable - - - - -";
        if (const auto parsed = view.Parse(*raw); !parsed) {
            return "undecodable - - - - " + parsed.Message();
        }
        m_verdicts.broken.clear();
        const BlockOutcome outcome = Take(m_chain->ProcessBlock(*raw));
        const HeaderNode& tip = *m_chain->Tip();
        const auto broken = m_verdicts.broken.find(view.Hash());
        const bool invalid = outcome.violation || broken != m_verdicts.broken.end();
        std::string verdict = "stored", why = "- -";
        if (invalid) {
            const RuleViolation& violation =
                broken == m_verdicts.broken.end() ? *outcome.violation : broken->second;
            verdict = "invalid";
            why = std::string(ClassName(violation.kind)) + " " + violation.ToString();
        } else if (!outcome.is_new) {
            verdict = "duplicate";
        } else if (tip.hash == view.Hash()) {
            verdict = "connected";
        }
        return fmt::format("{} {} {} {} {}", verdict, view.Hash().ToHex(), tip.height,
                           tip.hash.ToHex(), why);
    }

    void Finish()
    {
        Take(m_chain->Flush(FlushMode::kAlways));
        if (!Take(VerifyChain(*m_chain, 4, 0)).sound) Fail("what was stored does not verify");
        const uint64_t hits =
            m_caches.signatures.Entries().Hits() + m_caches.scripts.Entries().Hits();
        if (m_lanes == LanesMode::kOff && hits == 0) Fail("the caches were never used");
        if (m_lanes != LanesMode::kOff && !m_batched.BothKinds()) Fail("no batches of both kinds");
        fmt::print("tip {} {}\n", m_chain->Tip()->height, m_chain->Tip()->hash.ToHex());
    }

private:
    static constexpr size_t kCacheBytes = 4 << 20;

    /** Options with which the caches of signatures and scripts are filled. */
    static ChainManagerOptions NearTheTip()
    {
        ChainManagerOptions options;
        options.max_tip_age = int64_t{100} * 365 * 24 * 60 * 60;
        return options;
    }
    [[noreturn]] static void Fail(const std::string& why)
    {
        fmt::print(stderr, "error {}\n", why);
        std::exit(1);
    }
    template <typename T>
    static T Take(Result<T> result)
    {
        if (!result) Fail(result.Message());
        return std::move(result).Value();
    }
    static void Take(const Result<>& result)
    {
        if (!result) Fail(result.Message());
    }

    std::atomic<bool> m_stop{false};
    std::unique_ptr<Env> m_env = MakePosixEnv();
    std::unique_ptr<Logger> m_log = MakeNullLogger();
    std::unique_ptr<DataDir> m_dir;
    const LanesMode m_lanes;
    VerificationCaches m_caches;
    ScriptThreads m_cached;
    BatchedScripts m_batched;
    Verdicts m_verdicts;
    std::unique_ptr<ChainStack> m_stack;
    ChainManager* m_chain = nullptr; //!< the stack's
};

std::string_view TextOption(int argc, char** argv, std::string_view name)
{
    std::string_view value;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (argv[i] == name) value = argv[i + 1];
    }
    return value;
}

uint64_t NumberOption(int argc, char** argv, std::string_view name, uint64_t value)
{
    const std::string_view text = TextOption(argc, argv, name);
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::optional<LanesMode> LanesOption(int argc, char** argv)
{
    const std::string_view text = TextOption(argc, argv, "--signaturelanes");
    if (text.empty()) return LanesMode::kOff;
    if (text == "1") return LanesMode::kOn;
    if (text == "check") return LanesMode::kCheck;
    return std::nullopt;
}

} // namespace

int Main(int argc, char** argv)
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const std::string_view command = argc > 1 ? argv[1] : "";
    if (command == "make") {
        Stream stream(params, NumberOption(argc, argv, "--seed", 1),
                      NumberOption(argc, argv, "--count", 500));
        stream.Run();
        return 0;
    }
    const std::string_view datadir = TextOption(argc, argv, "--datadir");
    const auto lanes = LanesOption(argc, argv);
    if (command == "connect" && !datadir.empty() && lanes) {
        Judge judge(params, datadir, *lanes);
        for (std::string line; std::getline(std::cin, line);) {
            std::cout << judge.Answer(line) << std::endl;
        }
        judge.Finish();
        return 0;
    }
    fmt::print(stderr, "usage: ibd-block-tool make [--seed N] [--count N]\n"
                       "       ibd-block-tool connect --datadir DIR [--signaturelanes 1|check]\n");
    return 2;
}

} // namespace ibd::interop

int main(int argc, char** argv) { return ibd::interop::Main(argc, argv); }
