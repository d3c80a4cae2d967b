// Peers that delay a sync, singly or colluding, against one honest peer: a grid of strategies on a
// simulated network, from seeds. Time is the network's own. IBD_SIM_SEEDS=1000 runs a thousand
// mixtures; IBD_TEST_SEED=n begins with seed n.
#include "booster/booster_machine.h"
#include "net/peer_support.h"
#include "sim/all_blocks.h"
#include "sim/network.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

constexpr int64_t kLongest = 3600 * kSecond; //!< of simulated time, for any sync

/** Made once: what differs from seed to seed is the network. */
const World& TheWorld()
{
    static const World world(1, 100, 2200);
    return world;
}
sim::ServedChain& Served()
{
    static sim::ServedChain all(TheWorld().params, TheWorld().blocks);
    return all;
}

/** The behaviour of a peer when blocks and headers are requested from it. */
struct Strategy {
    const char* name;
    size_t honest_blocks; //!< that it gives at once before anything else
    int64_t gap = 0;      //!< microseconds between further ones; 0: there are none
    bool lies = false;    //!< the following blocks are wrong
    int64_t leaves = 0;   //!< it hangs up so long after it was called; 0: never
    int64_t header_gap = 0; //!< microseconds before each of its headers messages; kNever: none
};

constexpr Strategy kStrategies[] = {
    {"just under the time for help", 0, 1'900'000},
    {"just under a second", 0, 950'000},
    {"half a second", 0, 450'000},
    {"just under the time of silence", 0, 59'000'000},
    {"fast, then a block in 50 s", 700, 50'000'000},
    {"fast, then just under the time of silence", 300, 59'000'000},
    {"fast, then just under a second", 300, 990'000},
    {"fast, then two a second", 200, 490'000},
    {"a few, then nothing", 20, 0},
    {"nothing", 0, 0},
    {"many, then nothing", 500, 0},
    {"lies", 5, 1'000, true},
    {"lies at the end", 250, 1'000, true},
    {"comes and goes", 0, 0, false, 1'900'000},
    {"gives a little, comes and goes", 16, 0, false, 2'500'000},
    {"nothing, and no headers", 0, 0, false, 0, kNever},
    {"headers after a minute", 0, 1'000'000, false, 0, 60'000'000},
    {"comes and goes without headers", 0, 0, false, 1'900'000, kNever},
};

/** Seconds between the last block and now. The headers of an old chain are asked of one peer. */
constexpr int64_t kRecent = 60;
constexpr int64_t kOld = 10 * 24 * 60 * 60;

class Sync {
public:
    Sync(uint64_t seed, int64_t age, int32_t window = 0)
        : m_rng(seed), m_params(RegtestParams()), m_chain(m_params),
          m_all(m_chain, TheWorld().blocks, window),
          m_network(int64_t{TheWorld().Header(TheWorld().blocks.size() - 1).time} + age),
          m_us(m_network, {m_params, m_chain, m_chain, m_chain}, PeerOptions(), m_rng())
    {
        m_chain.downloading = true;
        sim::AcceptHeadersOf(TheWorld().blocks, m_chain);
        m_us.Peers().DownloadInto(m_all, m_all);
        m_network.Tick(m_us, kSecond / 10);
    }
    void AddHonest(const sim::LinkQuality& line) { Add(nullptr, line); }
    void AddHostile(const Strategy& strategy)
    {
        Add(&strategy, {1'000 + int64_t(m_rng.Below(100'000)), 300'000});
    }
    /** Seconds until all is there. */
    double Run()
    {
        const int64_t begin = m_network.Now();
        while (!m_all.Done()) {
            REQUIRE(m_network.Step());
            REQUIRE(m_network.Now() < begin + kLongest);
        }
        return double(m_network.Now() - begin) / double(kSecond);
    }
    void Wait(int64_t micros)
    {
        const int64_t until = m_network.Now() + micros;
        while (m_network.Now() < until && !m_all.Done()) REQUIRE(m_network.Step());
    }
    bool Done() const { return m_all.Done(); }
    size_t Duplicates() const { return m_all.Duplicates(); }
    sim::Rng& Chance() { return m_rng; }

private:
    struct Actor {
        std::unique_ptr<sim::Host> host;
        PeerId link = -1;
        size_t given = 0;
        int64_t next = 0;
        bool passing = false; //!< what is sent now was held back before
    };

    void Add(const Strategy* strategy, const sim::LinkQuality& line)
    {
        sim::ServedChain& served = Served();
        Actor& actor = *m_actors.emplace_back(std::make_unique<Actor>());
        actor.host = std::make_unique<sim::Host>(
            m_network, sim::Host::World{TheWorld().params, served, served, served}, PeerOptions(),
            m_rng());
        actor.link = PeerId(2 * m_actors.size() - 1); // the second of each pair of ends
        if (strategy) Play(actor, *strategy, line);
        const size_t number = m_actors.size();
        m_network.Connect(m_us, *actor.host, ConnectionKind::kOutboundFullRelay,
                          fmt::format("8.{}.{}.1:8333", 8 + number / 250, number % 250), line);
        m_network.Tick(*actor.host, 5 * kSecond);
    }
    void Play(Actor& actor, const Strategy& strategy, const sim::LinkQuality& line)
    {
        actor.host->tamper = [this, &actor, &strategy](OutgoingMessage& message) {
            if (message.type == HeadersMessage::kType && strategy.header_gap != 0 &&
                !actor.passing) {
                HoldBackHeaders(actor, strategy.header_gap, std::move(message));
                return false;
            }
            const bool blocks =
                message.type == BlockMessage::kType || message.type == PackedMessage::kType;
            if (!blocks || actor.passing) return true;
            if (actor.given++ < strategy.honest_blocks) return true;
            if (strategy.gap != 0) HoldBack(actor, strategy, std::move(message));
            return false;
        };
        if (strategy.leaves != 0) {
            m_network.At(m_network.Now() + strategy.leaves, [&actor] { actor.host->Die(); });
        }
        Replace(actor, strategy, line);
    }
    void HoldBack(Actor& actor, const Strategy& strategy, OutgoingMessage message)
    {
        if (strategy.lies) message.payload.back() ^= 1;
        actor.next = std::max(actor.next, m_network.Now()) + strategy.gap;
        SendAt(actor.next, actor, std::move(message));
    }
    void HoldBackHeaders(Actor& actor, int64_t gap, OutgoingMessage message)
    {
        if (gap != kNever) SendAt(m_network.Now() + gap, actor, std::move(message));
    }
    void SendAt(int64_t when, Actor& actor, OutgoingMessage message)
    {
        m_network.At(when, [&actor, m = std::move(message)] {
            actor.passing = true;
            actor.host->Send(actor.link, m);
            actor.passing = false;
        });
    }
    /** As many of them as there were, a second after one is gone. */
    void Replace(Actor& actor, const Strategy& strategy, const sim::LinkQuality& line)
    {
        m_network.At(m_network.Now() + kSecond, [this, &actor, &strategy, line] {
            if (m_actors.size() >= kMostActors) return;
            if (actor.host->Peers().Count() == 0) return Add(&strategy, line);
            Replace(actor, strategy, line);
        });
    }

    static constexpr size_t kMostActors = 600;

    sim::Rng m_rng;
    const ChainParams m_params;
    TestChain m_chain;
    sim::AllBlocks m_all;
    sim::Network m_network;
    sim::Host m_us;
    std::vector<std::unique_ptr<Actor>> m_actors;
};

constexpr sim::LinkQuality kLines[] = {
    {20'000, 20'000}, {20'000, 100'000}, {300'000, 100'000}, {50'000, 1'000'000}};

/** Seconds that the honest peer takes alone. */
double Alone(size_t line, int32_t window)
{
    static std::map<std::pair<size_t, int32_t>, double> known;
    const auto [entry, is_new] = known.try_emplace({line, window}, 0);
    if (is_new) {
        Sync sync(line, kRecent, window);
        sync.AddHonest(kLines[line]);
        entry->second = sync.Run();
    }
    return entry->second;
}

/** Hostile peers first, then an honest one: no later than 1.2 times its line and half a minute. */
void RequireInTime(uint64_t seed, const std::vector<const Strategy*>& hostile, int64_t until_honest,
                   size_t line, int64_t age, int32_t window)
{
    std::string names;
    for (const Strategy* one : hostile) names += std::string(one->name) + "; ";
    CAPTURE(seed, names, until_honest, line, age, window);
    Sync sync(seed, age, window);
    for (const Strategy* one : hostile) sync.AddHostile(*one);
    sync.Wait(until_honest);
    if (sync.Done()) return;
    sync.AddHonest(kLines[line]);
    const double seconds = sync.Run();
    CHECK(seconds <= 1.2 * Alone(line, window) + 30);
}

} // namespace

TEST_CASE("each strategy by one to nine peers in league holds a sync up no longer than it may",
          "[network]")
{
    const bool all = std::getenv("IBD_SIM_SEEDS") != nullptr;
    const uint64_t seed = TestRng()();
    size_t turn = TestRng().Below(3); // of a short run: each count and each time with a strategy
    bool old = false;
    int32_t window = 0; // any order, or as the serial engine
    for (const Strategy& strategy : kStrategies) {
        for (const size_t count : {1, 2, 9}) {
            for (const int64_t until_honest : {int64_t{0}, 3 * kSecond, 40 * kSecond}) {
                old = !old; // each strategy meets both with each time or each count
                window = kDownloadWindow - window;
                if (!all && turn++ % 3 != 0) continue;
                RequireInTime(seed, std::vector(count, &strategy), until_honest, count % 4,
                              old ? kOld : kRecent, window);
            }
            ++turn;
        }
    }
}

TEST_CASE("no mixture of strategies holds a sync up longer than it may", "[network]")
{
    const char* const text = std::getenv("IBD_SIM_SEEDS");
    const uint64_t seeds = text ? std::strtoul(text, nullptr, 10) : 40;
    const uint64_t first = TestRng()();
    for (uint64_t seed = first; seed < first + seeds; ++seed) {
        sim::Rng rng(seed);
        std::vector<const Strategy*> hostile(1 + rng.Below(9));
        for (const Strategy*& one : hostile) one = &kStrategies[rng.Below(std::size(kStrategies))];
        RequireInTime(seed, hostile, int64_t(rng.Below(60 * kSecond)), rng.Below(std::size(kLines)),
                      rng.Chance(1, 2) ? kOld : kRecent, rng.Chance(1, 2) ? kDownloadWindow : 0);
    }
}

TEST_CASE("honest peers bring few blocks twice, and only at the end", "[network]")
{
    constexpr int kPeers = 8;
    // At the end each open request may be made of a second peer. A fifth of them is twice what
    // was measured; the length of the chain does not count.
    constexpr size_t kMostOpen = kPeers * BlockDownloader::kMaxInFlight;
    constexpr size_t kMostTwice = kMostOpen / 5;
    const uint64_t first = TestRng()();
    for (uint64_t seed = first; seed < first + 20; ++seed) {
        CAPTURE(seed);
        Sync sync(seed, kRecent);
        for (int peer = 0; peer < kPeers; ++peer) {
            const auto speed = int64_t(20'000) << sync.Chance().Below(6);
            sync.AddHonest({1'000 + int64_t(sync.Chance().Below(200'000)), speed});
        }
        sync.Run();
        CHECK(sync.Duplicates() <= kMostTwice);
    }
}

} // namespace ibd::test
