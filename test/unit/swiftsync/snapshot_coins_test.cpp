// The proof of a UTXO snapshot: its coins by block are the hints of a fold. Right coins pass from
// any supply and through any failure of the disk; each wrong, missing or surplus coin is found, and
// its outpoint named.
#include "accepted.h"
#include "sync_setup.h"

#include "storage/coins_stats.h"
#include "support/fault_sample.h"
#include "support/testdata.h"
#include "swiftsync/snapshot_coins.h"
#include "swiftsync/snapshot_difference.h"

using namespace ibd;
using namespace ibd::test;

namespace {

using CoinList = std::vector<std::pair<OutPoint, Coin>>;

/** All coins at the tip, in the order of the database. */
CoinList CoinsOf(TestChain& chain)
{
    CoinList out;
    for (const auto& [key, value] : chain.Coins()) {
        Bytes whole = {CoinKey::kPrefix};
        Append(whole, key);
        OutPoint outpoint;
        REQUIRE(ParseCoinKey(whole, outpoint));
        out.emplace_back(outpoint, Must(DecodeCoin(value)));
    }
    return out;
}

/** A chain, a snapshot of its tip, and the work of its proof. */
class ProofSetup : public SyncSetup {
public:
    explicit ProofSetup(uint64_t seed) : SyncSetup(seed), coins(CoinsOf(Chain())) {}

    SnapshotIdentity Snapshot() const
    {
        CoinsStatsBuilder stats(CoinsHashKind::kSerialized3);
        for (const auto& [outpoint, coin] : coins) stats.Add(outpoint, coin);
        const HeaderNode& tip = m_chain.Tip();
        return {m_chain.Params().magic, uint32_t(tip.height), tip.hash, stats.Finish().hash};
    }
    Path Folder() const { return Booster() / "coins"; }
    FoldRules Rules()
    {
        return FoldRulesOf(Chain().Tip(), HintsCounting::kSpendable, Chain().Params().consensus);
    }
    Result<SnapshotCoinsMade> Make(Env& env, size_t memory = 1 << 16)
    {
        size_t next = 0;
        return SnapshotCoins::Make(
            env, Folder(), Snapshot(), memory,
            [&](OutPoint& outpoint, Coin& coin) -> Result<bool> {
                if (next == coins.size()) return false;
                std::tie(outpoint, coin) = coins[next++];
                return true;
            },
            stop);
    }
    Result<std::unique_ptr<SnapshotCoins>> Open(Env& env)
    {
        return SnapshotCoins::Open(env, Folder(), Snapshot(), Rules());
    }
    BoosterOptions ProofOptions(const SnapshotCoins& hints, unsigned threads = 1)
    {
        BoosterOptions options = Options(threads, 1 << 13);
        options.checkpoint_bytes = 3'000;
        options.remember_bad = false;
        options.proves = &hints;
        return options;
    }
    /** Like a start of the node: kept files are used. */
    Result<Verdict> Prove(Env& env, unsigned threads = 1)
    {
        IBD_ASSIGN_OR_RETURN(auto hints, Open(env));
        if (!hints) {
            IBD_ASSIGN_OR_RETURN(const SnapshotCoinsMade made, Make(env));
            REQUIRE(made == SnapshotCoinsMade::kDone);
            IBD_ASSIGN_OR_RETURN(hints, Open(env));
            REQUIRE(hints);
        }
        return SyncWith(env, *hints, ProofOptions(*hints, threads));
    }
    /** The verdict on wrong coins. */
    std::string Refutation()
    {
        const auto verdict = Prove(CleanEnv());
        REQUIRE(verdict);
        REQUIRE(verdict->kind == VerdictKind::kHintsWrong);
        return verdict->reason;
    }
    Found<std::string> Difference()
    {
        const auto hints = Must(Open(CleanEnv()));
        return FindSnapshotDifference({.base = Chain().Tip(),
                                       .coins = *hints,
                                       .rules = Rules(),
                                       .secret = TestRng()(),
                                       .read = [this](const HeaderNode& node) -> Result<Bytes> {
                                           const ByteSpan raw = Chain().Raw(uint32_t(node.height));
                                           return Bytes(raw.begin(), raw.end());
                                       },
                                       .stop = stop});
    }
    void RequireProven()
    {
        REQUIRE(Must(FindProofStanding(CleanEnv(), Booster(), Snapshot())) ==
                ProofStanding::kProven);
        REQUIRE_FALSE(std::filesystem::exists(Chainstate()));
    }
    /** Adds a coin that a block of the chain spends; false: there is none. */
    bool AddSpent()
    {
        std::map<OutPoint, Coin> made;
        BlockView block;
        for (uint32_t height = 1; height <= Chain().Height(); ++height) {
            Must(block.Parse(Chain().Raw(height)));
            for (const InputView& input : block.Inputs()) {
                const auto found = made.find(input.Prevout());
                if (found == made.end()) continue;
                spent = found->first;
                const auto place = std::ranges::find_if(coins, [this](const auto& coin) {
                    return std::ranges::lexicographical_compare(CoinKey(spent).Span(),
                                                                CoinKey(coin.first).Span());
                });
                coins.insert(place, *found);
                return true;
            }
            for (const TxView& tx : block.Txs()) {
                for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
                    const OutputView& output = tx.outputs[i];
                    if (IsUnspendable(output.script_pubkey)) continue;
                    Coin coin{output.value, ScriptBytes(), height, &tx == block.Txs().data()};
                    coin.script.Assign(output.script_pubkey);
                    made[{tx.txid, i}] = coin;
                }
            }
        }
        return false;
    }
    void Restart() { std::filesystem::remove_all(Booster()); }

    CoinList coins;
    OutPoint spent; //!< by AddSpent()
    std::atomic<bool> stop{false};

private:
    TestChain& m_chain = Chain();
};

std::string NameOf(const OutPoint& outpoint)
{
    return fmt::format("output {}:{}", outpoint.txid.ToHex(), outpoint.vout);
}

void RequireNames(const std::string& reason, const OutPoint& outpoint)
{
    INFO(reason);
    REQUIRE(reason.find(NameOf(outpoint)) != std::string::npos);
}

} // namespace

TEST_CASE("Snapshot: the coins of the tip are proven by the blocks in any order")
{
    for (int round = 0; round < 4; ++round) {
        const uint64_t seed = TestRng()();
        CAPTURE(seed);
        ProofSetup setup(seed);
        REQUIRE(setup.coins.size() > 20);
        for (const size_t memory : {size_t{1} << 10, size_t{1} << 20}) { // many runs, and one
            for (const unsigned threads : {1u, 3u}) {
                REQUIRE(Must(setup.Make(setup.CleanEnv(), memory)) == SnapshotCoinsMade::kDone);
                RequireAccepted(setup.Prove(setup.CleanEnv(), threads));
                setup.RequireProven();
                setup.Restart();
            }
        }
        REQUIRE(Must(setup.Make(setup.CleanEnv())) == SnapshotCoinsMade::kDone);
        const auto hints = Must(setup.Open(setup.CleanEnv()));
        CHECK(hints->Info().unspent == setup.coins.size());
        sim::LyingSupply strangers = setup.Strangers({.seed = seed});
        SyncEngine engine(setup.CleanEnv(), setup.Log(), setup.Chain().Params(),
                          setup.Chain().Tip(), setup.Blocks(), strangers, *hints,
                          setup.ProofOptions(*hints, 2));
        RequireAccepted(engine.Run());
        CHECK(strangers.Rejected() > 0);
        setup.RequireProven();
    }
}

TEST_CASE("Snapshot: each wrong coin refutes it and is named")
{
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    ProofSetup setup(seed);
    const CoinList right = setup.coins;
    const std::pair<const char*, void (*)(Coin&)> changes[] = {
        {"satoshis there", [](Coin& coin) { coin.value += 1; }},
        {"another script",
         [](Coin& coin) {
             Bytes longer(coin.script.data(), coin.script.data() + coin.script.size());
             longer.push_back(0x51);
             coin.script = longer;
         }},
        {"of the coinbase", [](Coin& coin) { coin.coinbase = !coin.coinbase; }},
        {"not there", [](Coin& coin) { coin.height = coin.height == 1 ? 2 : coin.height - 1; }},
    };
    for (const auto& [says, change] : changes) {
        for (const size_t at : {size_t{0}, right.size() / 2, right.size() - 1}) {
            setup.coins = right;
            change(setup.coins[at].second);
            const std::string reason = setup.Refutation();
            RequireNames(reason, right[at].first);
            CHECK(reason.find(says) != std::string::npos);
            CHECK(setup.Refutation() == reason); // at the next start too
            setup.Restart();
        }
    }
}

TEST_CASE("Snapshot: a missing coin, and coins that never were or are spent, are named")
{
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    ProofSetup setup(seed);
    const CoinList right = setup.coins;
    for (const size_t at : {size_t{0}, right.size() / 3, right.size() - 1}) {
        setup.coins = right;
        setup.coins.erase(setup.coins.begin() + ptrdiff_t(at));
        (void)setup.Refutation();
        const auto named = Must(setup.Difference());
        REQUIRE(named);
        RequireNames(*named, right[at].first);
        CHECK(named->find("the snapshot lacks it") != std::string::npos);
        setup.Restart();

        setup.coins = right;
        setup.coins[at].first.vout += 1'000;
        RequireNames(setup.Refutation(), setup.coins[at].first);
        setup.Restart();
        setup.coins = right;
        setup.coins[at].second.height = 0; // of no block that is folded
        (void)setup.Refutation();
        setup.Restart();
    }
    // The first in the order of the database.
    setup.coins = right;
    setup.coins.erase(setup.coins.begin() + 3, setup.coins.begin() + 9);
    (void)setup.Refutation();
    RequireNames(*Must(setup.Difference()), right[3].first);
    setup.Restart();
    // An output that is spent below the tip.
    setup.coins = right;
    REQUIRE(setup.AddSpent());
    (void)setup.Refutation();
    const auto named = Must(setup.Difference());
    REQUIRE(named);
    RequireNames(*named, setup.spent);
    CHECK(named->find("is spent at its block, but the snapshot has it") != std::string::npos);
}

TEST_CASE("Snapshot: coins with another hash are not taken")
{
    ProofSetup setup(3);
    const SnapshotIdentity right = setup.Snapshot();
    size_t next = 1; // the first is left out
    const auto made = SnapshotCoins::Make(
        setup.CleanEnv(), setup.Folder(), right, 1 << 16,
        [&](OutPoint& outpoint, Coin& coin) -> Result<bool> {
            if (next == setup.coins.size()) return false;
            std::tie(outpoint, coin) = setup.coins[next++];
            return true;
        },
        setup.stop);
    REQUIRE(Must(made) == SnapshotCoinsMade::kOtherCoins);
    CHECK_FALSE(Must(setup.Open(setup.CleanEnv())));
    setup.stop = true;
    CHECK(Must(setup.Make(setup.CleanEnv())) == SnapshotCoinsMade::kInterrupted);
    CHECK_FALSE(Must(setup.Open(setup.CleanEnv())));
}

TEST_CASE("Snapshot: a damaged file of its coins proves nothing")
{
    ProofSetup setup(4);
    REQUIRE(Must(setup.Make(setup.CleanEnv(), 1 << 20)) == SnapshotCoinsMade::kDone); // one run
    const auto hints = Must(setup.Open(setup.CleanEnv()));
    const Path path = RunPath(setup.Folder(), 0);
    Bytes file = Must(ReadWholeFile(setup.CleanEnv(), path));
    file[200] ^= 1; // in a page
    Overwrite(path, file);
    const auto verdict = setup.SyncWith(setup.CleanEnv(), *hints, setup.ProofOptions(*hints));
    REQUIRE(SystemFailed(verdict));
    CHECK(hints->IsDamaged());
    file.resize(file.size() - 1);
    Overwrite(path, file);
    CHECK_FALSE(Must(setup.Open(setup.CleanEnv())));
    RequireAccepted(setup.Prove(setup.CleanEnv())); // is made again
}

TEST_CASE("Snapshot: its proof survives the failure of any operation, and a power cut at any")
{
    ProofSetup setup(5);
    FaultEnv counting;
    RequireAccepted(setup.Prove(counting));
    REQUIRE(counting.Operations() > 40);
    for (const bool cut : {false, true}) {
        const FaultSample sample = SampleOfFaults(counting.Operations(), 60);
        for (uint64_t at = 1 + sample.first; at <= counting.Operations(); at += sample.step) {
            setup.Restart();
            INFO((cut ? "power cut at " : "failure of ") << at);
            FaultEnv env;
            if (cut) {
                env.CrashAt(at);
            } else {
                env.SetScript([at](const FaultEnv::Operation& now) { return now.number == at; });
            }
            const auto verdict = setup.Prove(env);
            REQUIRE((!verdict || verdict->kind == VerdictKind::kDone));
            if (!verdict) REQUIRE(SystemFailed(verdict));
            env.SetScript({});
            if (cut) env.LoseUnsynced();
            RequireAccepted(setup.Prove(setup.CleanEnv()));
            setup.RequireProven();
        }
    }
}
