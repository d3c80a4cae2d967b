// TxIntake: its bound, the order of verdicts and its end. PoolForPeers: the peers' view of the
// pool.
#include "mempool/kit.h"
#include "mempool/upkeep.h"
#include "net/seeded_env.h"
#include "node/pool_for_peers.h"

#include <semaphore>

#include "support/catch.h"

namespace ibd::test {

namespace {

constexpr int kTipHeight = 200;
constexpr int64_t kTime = 1'600'000'000;
constexpr Amount kValue = 1'000'000;
constexpr Amount kFee = 10'000;
constexpr size_t kMiB = 1 << 20;

/** A pool on a row of headers, and the door to it, which can be held shut. */
class Scene final : public TipCoins {
public:
    explicit Scene(std::chrono::milliseconds most_pause = PeerPool::kMostPause)
        : m_headers(kTipHeight + 1), m_most_pause(most_pause)
    {
        for (int i = 0; i <= kTipHeight; ++i) {
            m_headers[i].height = i;
            m_headers[i].time = static_cast<uint32_t>(kTime + 600 * i);
            m_headers[i].prev = i > 0 ? &m_headers[i - 1] : nullptr;
        }
    }
    ~Scene() override { intake.Stop(); }

    Result<> With(const Use& use) const override
    {
        if (is_shut) {
            reached.release();
            opened.acquire();
        }
        if (broken) return SystemError("the disk is gone");
        return use({m_headers.back(), m_coins});
    }
    /** Waits for `count` answers. */
    std::vector<TxAnswer> Answers(size_t count)
    {
        std::vector<TxAnswer> out;
        while (out.size() < count) {
            news.acquire();
            for (TxAnswer& answer : intake.TakeAnswers()) out.push_back(std::move(answer));
        }
        return out;
    }
    void Start()
    {
        intake.Start([this] { news.release(); }, [this](const Error& error) { fatal = error; });
    }
    /** Starts with the door shut and waits until the check of the first offer stands at it. */
    void StartShut(std::vector<TxOffer> offers)
    {
        is_shut = true;
        Start();
        for (TxOffer& offer : offers) intake.Put(std::move(offer));
        reached.acquire();
    }
    void OpenDoor()
    {
        is_shut = false;
        opened.release();
    }
    TransactionRef Good(Amount fee = kFee)
    {
        const OutPoint name = Name(m_made++);
        m_coins.coins[name] = {};
        m_coins.coins[name].value = kValue;
        m_coins.coins[name].script = ScriptBytes(kTrueHash);
        m_coins.coins[name].height = 1;
        return Spending({name}, {kValue - fee}).Freeze();
    }
    /** A transaction of about this size; it breaks the rules. */
    TransactionRef Large(size_t bytes)
    {
        MutableTransaction tx = Spending({Name(m_made++)}, {1'000});
        tx.outputs[0].script_pubkey.resize(bytes);
        return tx.Freeze();
    }
    void Submit(const TransactionRef& tx, bool own = false)
    {
        const SubmitOptions options{.arrival = {.now = kTime, .time = kTime, .own = own}};
        REQUIRE_FALSE(Must(door.Submit(tx, options)).verdict.violation);
    }
    std::vector<TransactionRef> Listed() const
    {
        std::vector<TransactionRef> out;
        peers.ForEachTransaction(
            [&](std::span<const Wtxid> ids, std::span<const TransactionRef> txs) {
                REQUIRE(ids.size() == txs.size());
                for (size_t i = 0; i < txs.size(); ++i) {
                    if (!txs[i]) continue;
                    CHECK(txs[i]->WitnessId() == ids[i]);
                    out.push_back(txs[i]);
                }
                return true;
            });
        return out;
    }

    std::atomic<bool> is_shut = false;
    std::atomic<bool> broken = false;
    mutable std::counting_semaphore<> reached{0}; //!< a check has reached the closed door
    mutable std::counting_semaphore<> opened{0};
    std::counting_semaphore<> news{0};
    std::optional<Error> fatal;

private:
    const ChainParams m_params = MakeChainParams(Network::kRegtest);
    std::vector<HeaderNode> m_headers;
    MapCoins m_coins;
    VerificationCaches m_caches{1 << 20, CacheSalt{}};
    uint32_t m_made = 0;
    SeededEnv m_env{1};
    const std::chrono::milliseconds m_most_pause;

public:
    TxPool pool{{}};
    TxAcceptance rules{m_params.consensus, {}, &m_caches};
    TxSubmission door{rules, pool, *this};
    TxIntake intake{door, pool, m_env, m_most_pause};
    PoolForPeers peers{pool, {}, intake, m_env};
};

} // namespace

TEST_CASE("the intake takes 16 MiB, with those under check, or one larger offer", "[tx_intake]")
{
    Scene scene;
    CHECK(scene.intake.HasRoom(TxIntake::kMaxBytes + 1));
    scene.StartShut({{.peer = 0, .txs = {scene.Good()}}});
    CHECK_FALSE(scene.intake.HasRoom(TxIntake::kMaxBytes));
    for (PeerId peer = 1; peer <= 3; ++peer) {
        REQUIRE(scene.intake.HasRoom(5 * kMiB - 1'000));
        scene.intake.Put({.peer = peer, .txs = {scene.Large(5 * kMiB - 1'000)}});
    }
    // Long offers leave a place for short ones.
    CHECK_FALSE(scene.intake.HasRoom(TxIntake::kShortOffer + 1));
    CHECK(scene.intake.HasRoom(TxIntake::kShortOffer));
    CHECK(scene.intake.TakeAnswers().empty());

    scene.OpenDoor();
    const std::vector<TxAnswer> answers = scene.Answers(4);
    CHECK(scene.intake.HasRoom(TxIntake::kMaxBytes + 1));
    // The verdicts come in the order of the checks; equal offers of peers in that of arrival.
    REQUIRE(answers.size() == 4);
    for (PeerId peer = 0; peer < 4; ++peer) {
        const TxAnswer& answer = answers[static_cast<size_t>(peer)];
        CHECK(answer.offer.peer == peer);
        CHECK(answer.txs[0]->violation.has_value() == (peer > 0));
    }
    CHECK(answers[0].txs[0]->pool_size == 1);
    CHECK_FALSE(scene.fatal);
}

TEST_CASE("a pause begins after the check under way, and ends by itself", "[tx_intake]")
{
    Scene scene;
    scene.StartShut({{.peer = 0, .txs = {scene.Good()}}});
    const auto begin = std::chrono::steady_clock::now();
    scene.intake.Pause();
    scene.OpenDoor();
    CHECK(scene.Answers(1).size() == 1);
    scene.intake.Put({.peer = 1, .txs = {scene.Good()}});
    CHECK(scene.Answers(1).size() == 1);
    CHECK(std::chrono::steady_clock::now() - begin >= PeerPool::kMostPause);
    CHECK_FALSE(scene.fatal);
}

TEST_CASE("a pause ends before its time if it is told to", "[tx_intake]")
{
    Scene scene(std::chrono::hours(1));
    scene.Start();
    scene.intake.Pause();
    scene.intake.Put({.peer = 2, .txs = {scene.Good()}});
    CHECK(scene.intake.TakeAnswers().empty());
    scene.intake.Resume();
    CHECK(scene.Answers(1).size() == 1);
    CHECK_FALSE(scene.fatal);
}

TEST_CASE("the verdicts on small transactions are reported together", "[tx_intake]")
{
    Scene scene;
    constexpr PeerId kSmall = 5;
    std::vector<TxOffer> offers;
    for (PeerId peer = 0; peer < kSmall; ++peer) {
        offers.push_back({.peer = peer, .txs = {scene.Good()}});
    }
    offers.push_back({.peer = kSmall, .txs = {scene.Large(2 * TxIntake::kSmallOffer)}});
    offers.push_back({.peer = kSmall + 1, .txs = {scene.Good()}}); // goes before it
    scene.StartShut(std::move(offers));
    scene.OpenDoor();
    size_t reports = 0;
    for (size_t answers = 0; answers < kSmall + 2; ++reports) {
        scene.news.acquire();
        answers += scene.intake.TakeAnswers().size();
    }
    scene.intake.Stop();
    while (scene.news.try_acquire()) ++reports;
    CHECK(reports == 2); // before the large one, and at the end
}

TEST_CASE("the end of the intake drops what waits", "[tx_intake]")
{
    Scene scene;
    scene.StartShut({{.peer = 1, .txs = {scene.Good()}}, {.peer = 2, .txs = {scene.Good()}}});
    std::thread stopper([&] { scene.intake.Stop(); });
    scene.OpenDoor();
    stopper.join();
    // No further verdict follows; the second offer may have been checked before the end.
    const size_t verdicts = scene.intake.TakeAnswers().size();
    CHECK(verdicts >= 1);
    CHECK(scene.Listed().size() == verdicts);
}

TEST_CASE("a broken disk ends the node, and is no verdict", "[tx_intake]")
{
    Scene scene;
    scene.broken = true;
    scene.Start();
    scene.intake.Put({.peer = 1, .txs = {scene.Good()}});
    scene.news.acquire();
    REQUIRE(scene.fatal);
    const std::vector<TxAnswer> answers = scene.intake.TakeAnswers();
    REQUIRE(answers.size() == 1);
    CHECK_FALSE(answers[0].txs[0]);
}

TEST_CASE("a parent below the least rate comes in with its child by the intake", "[tx_intake]")
{
    Scene scene;
    scene.Start();
    const TransactionRef parent = scene.Good(0);
    const TransactionRef child = Spending({{parent->Id(), 0}}, {kValue - kFee}).Freeze();
    scene.intake.Put({.peer = 1, .txs = {parent}});
    scene.intake.Put({.peer = 1, .txs = {parent, child}});
    const std::vector<TxAnswer> answers = scene.Answers(2);
    REQUIRE(answers.size() == 2);
    REQUIRE(answers[0].txs[0]->violation);
    CHECK(answers[0].txs[0]->violation->kind == RuleViolation::Kind::kReconsiderable);
    CHECK_FALSE(answers[1].violation);
    for (const auto& verdict : answers[1].txs) CHECK_FALSE(verdict->violation);
    CHECK(scene.Listed().size() == 2);
}

TEST_CASE("a package's verdict has the transactions that it replaced", "[tx_intake]")
{
    Scene scene;
    scene.Start();
    const TransactionRef old = scene.Good();
    scene.Submit(old);
    MutableTransaction cheap = MutableTransaction::FromView(old->View());
    cheap.outputs[0].value += kFee; // it pays nothing
    const TransactionRef parent = cheap.Freeze();
    const TransactionRef child = Spending({{parent->Id(), 0}}, {kValue - 10 * kFee}).Freeze();
    scene.intake.Put({.peer = 1, .txs = {parent, child}});
    scene.news.acquire();
    const std::vector<TxAnswer> answers = scene.intake.TakeAnswers();
    REQUIRE(answers.size() == 1);
    REQUIRE_FALSE(answers[0].violation);
    std::vector<TransactionRef> replaced;
    for (const auto& verdict : answers[0].txs) {
        replaced.insert(replaced.end(), verdict->replaced.begin(), verdict->replaced.end());
    }
    CHECK(replaced == std::vector{old});
}

TEST_CASE("peers find transactions of the pool by both ids, parents first", "[pool_for_peers]")
{
    Scene scene;
    const TransactionRef parent = scene.Good(1'000);
    const TransactionRef child = Spending({{parent->Id(), 0}}, {kValue - 900'000}).Freeze();
    const TransactionRef cheap = scene.Good(1'500);
    const TransactionRef absent = scene.Good();
    const uint64_t before = scene.peers.Sequence();
    for (const TransactionRef& tx : {parent, cheap, child}) scene.Submit(tx);
    CHECK(scene.peers.Sequence() == before + 3);
    for (const bool is_wtxid : {false, true}) {
        const Uint256& id = is_wtxid ? Uint256(child->WitnessId()) : Uint256(child->Id());
        CHECK(scene.peers.Has({id, is_wtxid}));
        const auto entry = scene.peers.Find({id, is_wtxid});
        REQUIRE(entry);
        CHECK(entry->tx == child);
        CHECK(entry->fee == 900'000 - 1'000);
    }
    CHECK_FALSE(scene.peers.Find({absent->Id(), false}));
    const std::vector<Wtxid> ids{cheap->WitnessId(), child->WitnessId(), absent->WitnessId(),
                                 parent->WitnessId()};
    std::vector<TransactionRef> order;
    for (const auto& entry : scene.peers.InMiningOrder(ids)) order.push_back(entry.tx);
    CHECK(order == std::vector{parent, child, cheap});
    // Parent and child are mined together, at one rate.
    const auto first = scene.peers.Find({parent->Id(), false});
    const auto second = scene.peers.Find({child->Id(), false});
    CHECK(first->mining_rate == second->mining_rate);
    CHECK(first->mining_rate > scene.peers.Find({cheap->Id(), false})->mining_rate);
    CHECK_FALSE(first->has_parents);
    CHECK(second->has_parents);
    const auto ancestors = scene.peers.AncestorsOf(child->WitnessId());
    REQUIRE(ancestors.size() == 1);
    CHECK(ancestors[0].tx == parent);
    CHECK(scene.peers.AncestorsOf(parent->WitnessId()).empty());
    CHECK(scene.peers.AncestorsOf(absent->WitnessId()).empty());
    order.clear();
    for (const auto& entry : scene.peers.All()) order.push_back(entry.tx);
    CHECK(order == std::vector{parent, child, cheap});
}

TEST_CASE("the list for compact blocks follows the pool", "[pool_for_peers]")
{
    Scene scene;
    std::vector<TransactionRef> txs;
    for (int i = 0; i < 600; ++i) txs.push_back(scene.Good());
    for (const TransactionRef& tx : txs) scene.Submit(tx);
    std::set<TransactionRef> expected(txs.begin(), txs.end());
    const auto listed = [&] {
        const std::vector<TransactionRef> all = scene.Listed();
        return std::set<TransactionRef>(all.begin(), all.end());
    };
    CHECK(listed() == expected);
    CHECK(scene.Listed().size() == txs.size());
    for (size_t i = 0; i < txs.size(); i += 3) {
        const Lock lock(scene.pool.mutex);
        RemoveWithDescendants(scene.pool, txs[i]->Id(), RemovalReason::kExpiry);
        expected.erase(txs[i]);
    }
    CHECK(listed() == expected);
    size_t visited = 0;
    scene.peers.ForEachTransaction([&](std::span<const Wtxid>, std::span<const TransactionRef>) {
        return ++visited < 2;
    });
    CHECK(visited == 2);
}

TEST_CASE("a part of the pool is visited in the order of mining", "[pool_for_peers]")
{
    Scene scene;
    std::vector<TransactionRef> txs;
    for (int i = 0; i < 600; ++i) txs.push_back(scene.Good(1'000 + i * 7 % 600 * 10));
    for (const TransactionRef& tx : txs) scene.Submit(tx);
    const auto visited = [&](size_t count, size_t visits) {
        std::vector<Wtxid> out;
        scene.peers.ForEachToMine(
            count, [&](std::span<const Wtxid> ids, std::span<const TransactionRef> of) {
                REQUIRE(ids.size() == of.size());
                for (size_t i = 0; i < ids.size(); ++i) CHECK(of[i]->WitnessId() == ids[i]);
                out.insert(out.end(), ids.begin(), ids.end());
                return --visits > 0;
            });
        return out;
    };
    std::vector<Wtxid> all;
    for (const TransactionRef& tx : txs) all.push_back(tx->WitnessId());
    std::vector<Wtxid> sorted;
    for (const auto& entry : scene.peers.InMiningOrder(all)) {
        sorted.push_back(entry.tx->WitnessId());
    }
    CHECK(visited(10'000, SIZE_MAX) == sorted);
    for (const size_t count : {1, 255, 256, 300}) {
        CHECK(visited(count, SIZE_MAX) == std::vector(sorted.begin(), sorted.begin() + count));
    }
    const std::vector<Wtxid> first = visited(10'000, 1);
    CHECK(first.size() < sorted.size());
    CHECK(std::equal(first.begin(), first.end(), sorted.begin()));
    // It does not wait for the pool.
    std::vector<Wtxid> meanwhile;
    {
        const Lock lock(scene.pool.mutex);
        std::thread([&] { meanwhile = visited(10'000, SIZE_MAX); }).join();
    }
    CHECK(meanwhile.empty());
}

TEST_CASE("a user's transaction is announced again until a peer has fetched it", "[pool_for_peers]")
{
    Scene scene;
    const TransactionRef own = scene.Good();
    const TransactionRef other = scene.Good();
    scene.Submit(own, /*own=*/true);
    scene.Submit(other);
    REQUIRE(scene.peers.Unbroadcast().size() == 1);
    CHECK(scene.peers.Unbroadcast()[0].tx == own);
    scene.peers.SetBroadcast(own->Id());
    CHECK(scene.peers.Unbroadcast().empty());
}

} // namespace ibd::test
