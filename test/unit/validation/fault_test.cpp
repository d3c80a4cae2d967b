// The serial engine on a failing disk: if any single disk operation fails while blocks are
// connected and disconnected, the node reaches after a restart the same state as without the fault.
#include "fixture.h"
#include "sim/chain.h"
#include "sim/fault_env.h"
#include "support/fault_sample.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

namespace ibd::test {

namespace {

/** The compared state: everything that a node stores. */
struct Kept {
    BlockHash tip;
    CoinsDump coins;
    std::map<BlockHash, uint32_t>
        statuses;                    //!< of every header: how far checked, data, undo, failed
    std::map<BlockHash, Bytes> undo; //!< of every block that has some

    bool operator==(const Kept&) const = default;
};

/** Stores and manager as node/ has them, with every disk access through the faulty machine. */
class SerialNode {
public:
    /** `file_bytes`: of block files; some files, and undo data that grows in many steps. */
    SerialNode(FaultEnv& env, const ChainParams& params, const Path& base, size_t cache_bytes,
               uint32_t file_bytes = 64 << 10)
        : m_env(env), m_params(params), m_base(base), m_file_bytes(file_bytes)
    {
        m_options.cache_bytes = cache_bytes;
        m_options.hash_key = {1, 2};
    }

    Result<> Open()
    {
        const KvIoCheck check = [this](const char* kind, const Path& path) {
            return m_env.Step(kind, path);
        };
        IBD_ASSIGN_OR_RETURN(m_dir, DataDir::Open(m_env, {m_base, {}, m_params.sub_folder}));
        ChainStackOptions parts;
        parts.manager = m_options;
        parts.index.before_io = check;
        parts.blocks.max_file_size = m_file_bytes;
        parts.blocks.block_chunk = 16 << 10;
        parts.blocks.undo_chunk = 1 << 10;
        parts.coins.cache_bytes = 0; // coins come from the disk
        parts.coins.batch_bytes = 2000;
        parts.coins.before_io = check;
        parts.checker = &m_scripts;
        IBD_ASSIGN_OR_RETURN(m_stack,
                             OpenChain(m_env, *m_log, m_params, *m_dir, parts, m_interrupt));
        chain = &m_stack->Chain();
        return chain->ActivateBestChain();
    }

    Result<> Feed(const std::vector<Bytes>& blocks)
    {
        for (const Bytes& raw : blocks) {
            IBD_ASSIGN_OR_RETURN(const BlockOutcome outcome, chain->ProcessBlock(raw));
            REQUIRE(!outcome.violation);
        }
        return {};
    }

    void Die()
    {
        chain = nullptr;
        m_stack.reset();
    }
    /** Ends as node/ does after an error: writes what can be written. */
    void Close()
    {
        if (chain && chain->HasCoins()) (void)chain->Flush(FlushMode::kAlways);
        Die();
        m_dir.reset();
    }

    Kept Look()
    {
        Must(chain->Flush(FlushMode::kAlways));
        Kept kept;
        kept.tip = chain->Tip()->hash;
        CoinsCursor cursor = chain->CoinsDatabase().Cursor();
        REQUIRE(cursor.BestBlock() == kept.tip);
        for (; cursor.Valid(); cursor.Next()) {
            const ByteSpan value = cursor.RawValue();
            kept.coins.emplace(cursor.Key(), Bytes(value.begin(), value.end()));
        }
        Must(cursor.Status());
        for (size_t i = 0; i < chain->Read().Tree().Size(); ++i) {
            const HeaderNode& node = *chain->Read().Tree().NodeAt(i);
            kept.statuses[node.hash] = node.status;
            if (node.HasUndo()) kept.undo[node.hash] = Must(chain->ReadUndo(node)).Encode();
        }
        return kept;
    }

    ChainManager* chain = nullptr;

private:
    FaultEnv& m_env;
    const ChainParams& m_params;
    const Path m_base;
    const uint32_t m_file_bytes;
    ChainManagerOptions m_options;
    std::atomic<bool> m_interrupt{false};
    std::unique_ptr<Logger> m_log = MakeNullLogger();
    AcceptAllScripts m_scripts;
    std::unique_ptr<DataDir> m_dir;
    std::unique_ptr<ChainStack> m_stack;
};

/** A chain, a branch `a` on it and a better one `b`, whose blocks spend coins of all ages. */
struct Story {
    std::vector<Bytes> common, a, b;
    BlockHash left; //!< the second block of `b`, invalidated in the end

    Story(const ChainParams& params, uint64_t seed)
    {
        sim::ChainOptions options;
        options.seed = seed;
        options.blocks = 140;
        options.outputs_per_block = 30;
        sim::Chain chain(params, options);
        for (int i = 0; i < 125; ++i) common.push_back(chain.Next().bytes);
        sim::Chain other = chain;
        other.Reseed(seed + 1);
        for (int i = 0; i < 5; ++i) a.push_back(chain.Next().bytes);
        for (int i = 0; i < 7; ++i) {
            const sim::SimBlock block = other.Next();
            b.push_back(block.bytes);
            if (i == 1) left = block.hash;
        }
    }

    /** From wherever the node is to the end: branch `b` comes and wins, and is given up for `a`. */
    Result<> Tell(SerialNode& node) const
    {
        IBD_RETURN_IF_ERROR(node.Feed(a));
        if (!node.chain->Read().Tree().Find(left) ||
            !node.chain->Read().Tree().Find(left)->Failed()) {
            IBD_RETURN_IF_ERROR(node.Feed(b));
            const HeaderNode* branch = node.chain->Read().Find(left);
            IBD_RETURN_IF_ERROR(node.chain->InvalidateBlock(*branch));
        }
        return node.chain->Flush(FlushMode::kAlways);
    }
};

/** Leaves the coins between the tip that was written and the one in memory. */
void WriteHalf(SerialNode& node)
{
    CoinsWriter writer = Must(node.chain->CoinsDatabase().StartWrite(node.chain->Tip()->hash));
    size_t changes = 0;
    node.chain->Coins().ForEachChange([&](const OutPoint&, const Coin*) { ++changes; });
    size_t left = changes / 2;
    REQUIRE(left > 20);
    node.chain->Coins().ForEachChange([&](const OutPoint& outpoint, const Coin* coin) {
        if (left == 0) return;
        --left;
        coin ? writer.Put(outpoint, *coin) : writer.Erase(outpoint);
    });
    Must(writer.Status());
}

/** The state of a directory before the faults begin. */
enum class Before {
    kAtCommon, //!< all written, branches unknown
    kHalfWay,  //!< a write from the end of `a` to the end of `b` was cut off
};

void Prepare(const Story& story, const ChainParams& params, const Path& base, Before before)
{
    FaultEnv env;
    SerialNode node(env, params, base, 64 << 20);
    std::filesystem::create_directories(base);
    Must(node.Open());
    Must(node.Feed(story.common));
    if (before == Before::kHalfWay) Must(node.Feed(story.a));
    Must(node.chain->Flush(FlushMode::kAlways));
    if (before == Before::kHalfWay) {
        Must(node.Feed(story.b));
        REQUIRE(node.chain->Tip()->height == 132);
        Must(node.chain->FlushIndex());
        WriteHalf(node);
    }
    node.Die();
}

struct Fault {
    uint64_t number = 0; //!< of the operation that fails; ~0: none
    std::string kind;    //!< of what failed, once it did
};

/** One life with a fault, one without; the final state. */
Kept LiveTwice(const Story& story, const ChainParams& params, const Path& base, size_t cache,
               uint64_t seed, Fault& fault, uint64_t* operations = nullptr)
{
    {
        FaultEnv env(seed);
        std::mutex mutex;
        env.SetScript([&](const FaultEnv::Operation& operation) {
            if (operation.number != fault.number) return false;
            const std::lock_guard lock(mutex);
            fault.kind = operation.kind;
            return true;
        });
        SerialNode node(env, params, base, cache);
        Result<> result = node.Open();
        if (result) result = story.Tell(node);
        if (!result) CHECK(result.GetError().kind == Error::Kind::kSystem);
        INFO((result ? std::string() : result.Message()));
        CHECK((result.Ok() || !fault.kind.empty()));
        node.Close();
        if (operations) *operations = env.Operations();
    }
    INFO("what failed was a " << fault.kind);
    FaultEnv env(seed);
    SerialNode node(env, params, base, 64 << 20);
    Must(node.Open());
    Must(story.Tell(node));
    CHECK(Must(VerifyChain(*node.chain, 4, 12)));
    Kept kept = node.Look();
    node.Close();
    return kept;
}

} // namespace

// The n-th operation fails, for n over a sample.
TEST_CASE("one failing operation of the disk costs a restart and nothing else")
{
    const Before before = GENERATE(Before::kAtCommon, Before::kHalfWay);
    const size_t cache = GENERATE(size_t{1}, size_t{64} << 20); // writes always, or in the end
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const uint64_t seed = TestRng()();
    INFO("seed " << seed);
    const Story story(params, seed);
    const TempDir dir;
    Prepare(story, params, dir.Get() / "base", before);
    const auto live = [&](Fault& fault, uint64_t* operations = nullptr) {
        const Path copy = dir.Get() / "copy";
        std::filesystem::remove_all(copy);
        std::filesystem::copy(dir.Get() / "base", copy, std::filesystem::copy_options::recursive);
        return LiveTwice(story, params, copy, cache, seed, fault, operations);
    };
    Fault none{~uint64_t{0}, {}};
    uint64_t operations = 0;
    const Kept wanted = live(none, &operations);
    REQUIRE(wanted.undo.size() == 125 + 5 + 7);

    constexpr uint64_t kSample = 60;
    const FaultSample sample = SampleOfFaults(operations, kSample);
    std::map<std::string, int> failed;
    for (uint64_t number = sample.first; number < operations; number += sample.step) {
        Fault fault{number, {}};
        INFO("operation " << number << " of " << operations);
        const Kept found = live(fault);
        INFO("it was a " << fault.kind);
        ++failed[fault.kind];
        REQUIRE(found.tip == wanted.tip);
        REQUIRE((found.coins == wanted.coins));
        REQUIRE((found.statuses == wanted.statuses));
        REQUIRE((found.undo == wanted.undo));
    }
    for (const auto& [kind, count] : failed) {
        std::cerr << "serial faults: " << (kind.empty() ? "none" : kind) << " " << count << "\n";
    }
}

/** A new file's name cannot be made durable, once, in the write of the index that is the first to
 *  name a block in that file; then the node writes what it can and stops. The next start must not
 *  put another block where that one lies. */
TEST_CASE("an index that could not be written is written whole the next time")
{
    constexpr uint32_t kSmallFiles = 8 << 10; // a few blocks each
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const uint64_t seed = TestRng()();
    INFO("seed " << seed);
    const Story story(params, seed);
    const auto feed = [&](SerialNode& node) -> Result<> {
        IBD_RETURN_IF_ERROR(node.Feed(story.common));
        return node.Feed(story.a);
    };
    const auto live = [&](const Path& base, FaultEnv& env) {
        SerialNode node(env, params, base, 1, kSmallFiles);
        Result<> result = node.Open();
        if (result) result = feed(node);
        if (!result) CHECK(result.GetError().kind == Error::Kind::kSystem);
        node.Close();
        return result.Ok();
    };
    uint64_t faults = 0;
    for (bool done = false; !done; ++faults) {
        const TempDir dir;
        uint64_t syncs = 0;
        FaultEnv env(seed);
        env.SetScript([&](const FaultEnv::Operation& operation) {
            return operation.kind == "syncdir" && syncs++ == faults;
        });
        done = live(dir.Get(), env) && syncs <= faults;
        INFO("fault " << faults << " of " << syncs);
        FaultEnv sound(seed);
        SerialNode node(sound, params, dir.Get(), 64 << 20, kSmallFiles);
        Must(node.Open());
        Must(feed(node));
        CHECK(Must(VerifyChain(*node.chain, 4, 0)));
        CHECK(node.chain->Tip()->height == 130);
        node.Close();
    }
    CHECK(faults > 8);
}

namespace {

/** Coins, and a read that fails. */
class FailingReader final : public CoinsReader {
public:
    Found<Coin> Read(const OutPoint& outpoint) const override
    {
        if (m_reads++ == fail_at) return SystemError("read failed");
        const auto it = coins.find(outpoint);
        return it == coins.end() ? std::nullopt : std::optional<Coin>(it->second);
    }
    bool IsInMemory(const OutPoint&) const override { return false; }
    std::map<OutPoint, Coin> coins;
    uint64_t fail_at = ~uint64_t{0};
    void Restart(uint64_t at)
    {
        m_reads = 0;
        fail_at = at;
    }
    uint64_t Reads() const { return m_reads; }

private:
    mutable uint64_t m_reads = 0;
};

} // namespace

/** Each read of a block's coins fails in turn; then the write of its undo data fails. The coins are
 *  as if the block had never been tried. */
TEST_CASE("an error anywhere in a block leaves the coins as they were")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const uint64_t seed = TestRng()();
    INFO("seed " << seed);
    const Story story(params, seed);
    HeaderTree tree(params);
    FailingReader reader;
    const auto all_of = [&](const CoinsCache& cache) {
        std::map<OutPoint, Coin> out = reader.coins;
        cache.ForEachChange([&](const OutPoint& outpoint, const Coin* coin) {
            out.erase(outpoint);
            if (coin) out.emplace(outpoint, *coin);
        });
        return out;
    };
    AcceptAllScripts scripts;
    uint64_t failures = 0;
    for (const Bytes& raw : story.common) {
        BlockView view;
        REQUIRE(view.Parse(raw));
        HeaderNode* node = nullptr;
        REQUIRE(!tree.Accept(view.Header(), view.Header().time, &node));
        BlockUndo undo;
        bool keep_fails = true;
        const KeepUndo keep = [&](const BlockUndo&) {
            return keep_fails ? Result<>(SystemError("no room")) : Result<>();
        };
        CoinsCache cache(reader, OutPointHasher({1, 2}));
        for (uint64_t at = 0; node->height > 100; ++at) {
            reader.Restart(at);
            CoinsCache fresh(reader, OutPointHasher({1, 2}));
            const auto verdict =
                ConnectBlock(view, *node, params, fresh, &scripts, undo, nullptr, keep);
            REQUIRE(!verdict); // the read failed, or at last the undo data had no room
            ++failures;
            REQUIRE((all_of(fresh) == reader.coins));
            if (reader.Reads() <= at) break;
        }
        reader.Restart(~uint64_t{0});
        keep_fails = false;
        REQUIRE(!Must(ConnectBlock(view, *node, params, cache, &scripts, undo, nullptr, keep)));
        // Disconnects over an overlay: writing it is refused, and the cache below is untouched.
        const auto after = all_of(cache);
        CoinsCache below(reader, OutPointHasher({1, 2}));
        std::map<OutPoint, Coin> connected = after;
        std::swap(reader.coins, connected);
        for (uint64_t at = 0; node->height > 100; ++at) {
            reader.Restart(at);
            CoinsCache overlay(below, OutPointHasher({1, 2}));
            const auto verdict = DisconnectBlock(view, *node, params, undo, overlay);
            if (verdict) {
                REQUIRE(*verdict == DisconnectVerdict::kClean);
                below.Take(overlay);
                break;
            }
            ++failures;
            REQUIRE((all_of(below) == after));
        }
        if (node->height > 100) REQUIRE((all_of(below) == connected));
        reader.coins = after;
    }
    CHECK(failures > 500);
}

TEST_CASE("coins in the middle of a block are not written, whatever became of it")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const Story story(params, TestRng()());
    class Throws final : public ScriptChecker {
    public:
        void Begin(ScriptFlags) override {}
        void Add(const TxView&, std::span<const Coin>) override { throw std::bad_alloc(); }
        RuleResult Finish() override { return std::nullopt; }
    };
    const TempDir dir;
    CoinsDump before;
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        for (const Bytes& raw : story.common) engine.Process(raw);
        before = engine.Dump();
        Throws throws;
        engine.chain->SetScriptChecker(&throws);
        bool thrown = false;
        for (const Bytes& raw : story.a) {
            try {
                engine.Process(raw);
            } catch (const std::bad_alloc&) {
                thrown = true;
                break;
            }
        }
        REQUIRE(thrown);
        CHECK(!engine.chain->Flush(FlushMode::kAlways));
    }
    Engine engine(params, dir.Get() / "data");
    engine.Attach();
    CHECK(engine.chain->Tip()->height == 125);
    CHECK((engine.Dump() == before));
    Must(engine.chain->ActivateBestChain());
    for (const Bytes& raw : story.a) engine.Process(raw);
    CHECK(engine.chain->Tip()->height == 130);
    CHECK(Must(VerifyChain(*engine.chain, 4, 0)));
}

} // namespace ibd::test
