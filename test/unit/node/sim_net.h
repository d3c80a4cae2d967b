// A node of a test and its peers on a simulated network, and the BlockFetcher over it: all on one
// thread, from one seed.
#pragma once

#include "booster/booster_session.h"
#include "node/chain_for_peers.h"

#include "booster/booster_machine.h"
#include "sim/block_draft.h"
#include "sim/network.h"

#include "support/catch.h"
#include "support/kept_log.h"

namespace ibd::test {

inline constexpr int kBlocks = 200;
inline constexpr int kTail = 2100; //!< more than two weeks of blocks
inline constexpr int kPeers = 20;
inline constexpr int64_t kStart = 1'700'000'000;           //!< seconds since 1970
inline constexpr sim::LinkQuality kPrompt = {500, 50'000}; //!< answers first, but slow
inline constexpr int64_t kLongest = 3600 * kSecond;        //!< of simulated time, for any sync

/** Made once: what differs from seed to seed is the network. */
inline const World& TheWorld()
{
    static const World world(1, kBlocks, kTail);
    return world;
}
inline const sim::ServedChain& Served(bool tail)
{
    static sim::ServedChain all(TheWorld().params, TheWorld().blocks);
    static sim::ServedChain some(TheWorld().params,
                                 std::span(TheWorld().blocks).first(kBlocks + 1));
    return tail ? all : some;
}

/** Our node and its peers. */
class Net {
public:
    Net(ChainManager& chain, sim::Rng rng, bool tail, int peers = kPeers)
        : m_rng(rng), m_view(ViewOf(chain)),
          us(m_network, {TheWorld().params, m_view, m_view, m_view}, Options(tail), m_rng())
    {
        while (int(m_hosts.size()) < peers) AddPeer(tail);
        m_network.Tick(us, kSecond / 10);
        ReplaceLost(tail, peers);
    }
    static ChainForPeers ViewOf(ChainManager& chain)
    {
        ChainForPeers view;
        view.Attach(chain);
        return view;
    }
    static std::string Address(int peer) { return fmt::format("8.8.{}.1:8333", peer); }

    void AddPeer(bool tail)
    {
        auto& served = const_cast<sim::ServedChain&>(Served(tail));
        const int peer = int(m_hosts.size());
        m_hosts.push_back(std::make_unique<sim::Host>(
            m_network, sim::Host::World{TheWorld().params, served, served, served}, PeerOptions(),
            m_rng()));
        Play(peer);
        m_network.Connect(us, *m_hosts.back(), ConnectionKind::kOutboundFullRelay, Address(peer),
                          LiesInHeaders(peer) ? kPrompt : Quality());
        m_network.Tick(*m_hosts.back(), 5 * kSecond);
    }
    /** As a node's connections do: another peer for each that is gone. */
    void ReplaceLost(bool tail, int peers)
    {
        m_network.At(m_network.Now() + 2 * kSecond, [this, tail, peers] {
            for (int there = int(us.Peers().Count()); there < peers; ++there) {
                AddPeer(tail);
                ++replaced;
            }
            ReplaceLost(tail, peers);
        });
    }

    /** They are the first to answer, so that they are asked for headers. */
    static bool LiesInHeaders(int peer) { return peer >= 6 && peer < 9; }

    /** The first peers play parts, the others are honest, fast or slow. */
    void Play(int peer)
    {
        sim::Host& host = *m_hosts.back();
        if (peer < 3) {
            host.tamper = [this, peer](OutgoingMessage& message) {
                if (message.type == PackedMessage::kType) return CutBatch(message.payload);
                return message.type != BlockMessage::kType || Lie(peer, message.payload);
            };
        } else if (peer < 5) {
            m_network.At(DuringTheSync(), [&host] { host.Die(); });
        } else if (peer == 5) {
            m_network.At(DuringTheSync(),
                         [&host] { host.tamper = [](OutgoingMessage&) { return false; }; });
        } else if (LiesInHeaders(peer)) {
            host.tamper = [this, peer](OutgoingMessage& message) {
                if (message.type == HeadersMessage::kType) LieInHeaders(peer, message.payload);
                return true;
            };
        }
    }
    int64_t DuringTheSync() { return m_network.Now() + int64_t(m_rng.Below(5 * kSecond)); }
    sim::LinkQuality Quality()
    {
        const auto latency = static_cast<int64_t>(1'000 + m_rng.Below(300'000));
        const int64_t most[] = {2'000, 20'000, 200'000, 10'000'000};
        return {latency, most[m_rng.Below(4)]};
    }
    bool Lie(int peer, Bytes& payload)
    {
        if (m_rng.Chance(1, 2)) return true;
        const uint64_t lie = m_rng.Below(4);
        // Bytes that are no message do not count as a lie: a peer is disconnected only for many of
        // them.
        if (lie < 3) liars.insert(peer);
        sim::BlockDraft draft = sim::BlockDraft::Of(payload);
        switch (lie) {
        case 0: draft.Coinbase().inputs[0].witness = {Bytes(32, 7)}; break;
        case 1: draft.txs.push_back(draft.txs.back()); break;
        case 2: draft.Coinbase().outputs[0].value += 1; break;
        default: payload.resize(payload.size() - 1); return true;
        }
        payload = draft.ToBytes();
        return true;
    }
    /** A batch that is cut off, or none: no lie, as it costs the peer its place alone. */
    bool CutBatch(Bytes& payload)
    {
        if (m_rng.Chance(1, 2)) payload.resize(m_rng.Below(payload.size()));
        return m_rng.Chance(3, 4);
    }
    /** Some header that does not follow from the one before. A list of one may do, elsewhere. */
    void LieInHeaders(int peer, Bytes& payload)
    {
        constexpr size_t kEntry = BlockHeader::kSize + 1; // with its count of transactions, 0
        const size_t count = payload.size() / kEntry;
        if (count < 2 || m_rng.Chance(1, 2)) return;
        const size_t first = payload.size() - count * kEntry;
        payload[first + m_rng.Below(count - 1) * kEntry + 40] ^= 1; // in its merkle root
        header_liars.insert(peer);
    }
    void CheckPunished() const
    {
        for (int peer = 0; peer < int(m_hosts.size()); ++peer) {
            INFO("peer " << peer);
            // A false block that is received late is dropped unread.
            if (!liars.contains(peer) && !header_liars.contains(peer)) {
                CHECK_FALSE(IsDiscouraged(peer));
            }
        }
    }
    bool IsDiscouraged(int peer) const
    {
        return us.discouraged.contains(Endpoint::Parse(Address(peer), 8333)->address.ToString());
    }
    size_t CaughtInHeaders() const
    {
        return static_cast<size_t>(std::count_if(header_liars.begin(), header_liars.end(),
                                                 [&](int peer) { return IsDiscouraged(peer); }));
    }
    bool HasHeaders() const { return m_view.BestHeader().height == kBlocks + kTail; }
    sim::Network& Sim() { return m_network; }

    std::set<int> liars;        //!< that have lied about blocks
    std::set<int> header_liars; //!< or about headers
    size_t replaced = 0;

private:
    static PeerOptions Options(bool tail)
    {
        PeerOptions options;
        options.services = kNodeWitness;
        // With this headers are looked at before they are stored.
        if (tail) options.minimum_work = Arith256(uint64_t{2} * (kBlocks + kTail - 50));
        return options;
    }

    sim::Rng m_rng;
    ChainForPeers m_view;
    sim::Network m_network{kStart};

public:
    sim::Host us;

private:
    std::vector<std::unique_ptr<sim::Host>> m_hosts;
};

/** The network runs while the booster is idle, on the booster's thread. */
class SteppedFetcher : public BlockFetcher {
public:
    explicit SteppedFetcher(Net& net) : m_net(net) {}

    void Fetch(DownloadGoal& goal, BlockSink& sink) override
    {
        m_supply = dynamic_cast<PeerBlockSupply*>(&goal);
        REQUIRE(m_supply);
        m_net.us.Peers().DownloadInto(goal, sink);
        Wake();
    }
    void StopFetching() override { m_net.us.Peers().StopDownload(); }
    void Wake() override
    {
        m_net.us.WorkSoon();
        for (const int64_t now = m_net.Sim().Now(); m_net.Sim().Now() == now;) Step();
        while (m_supply->QueuedBytes() == 0 && m_supply->NextMissing(0)) Step();
    }
    /** Asked while it waits for headers. */
    size_t PeerCount() const override
    {
        while (!m_supply && !m_net.HasHeaders()) Step();
        return m_net.us.Peers().Count();
    }

    HeaderAnswers AskForLastHeaders() override { return m_net.us.Peers().AskForLastHeaders(); }

protected:
    void Step() const
    {
        REQUIRE(m_net.Sim().Step());
        REQUIRE(m_net.Sim().Now() < kStart * kSecond + kLongest);
    }
    bool Fetches() const { return m_supply != nullptr; }

private:
    Net& m_net;
    PeerBlockSupply* m_supply = nullptr;
};

inline BoosterOptions OneThread(const Machine& machine)
{
    BoosterOptions options = machine.Options(1);
    options.background = false;
    return options;
}

inline Result<> GiveHints(BoosterSession& booster, const Path& hints = TheWorld().dir / "hints")
{
    return booster.OpenHints({hints, {}, {}});
}

inline SessionHooks WithPeers(BlockFetcher& fetcher)
{
    return {.start_fetcher = [&](ChainManager&) { return &fetcher; }};
}

/** Kills at any operation of a run: the first machine of a test runs undisturbed and counts the
 *  operations. */
class Deaths {
public:
    explicit Deaths(sim::Rng& rng) : m_rng(rng) {}

    /** Calls `run(env, start)` of a machine again and again, the first times with a kill, until one
     *  ends well. None may fail otherwise. */
    template <typename Run> void DieUntilDone(Machine& machine, Run run)
    {
        const int most = m_operations > 0 ? 5 : 0;
        for (int start = 0;; ++start) {
            CAPTURE(start);
            FaultEnv env(m_rng());
            env.CrashAt(start < most ? m_rng.Below(m_operations) : UINT64_MAX);
            const Result<> done = run(env, start);
            machine.Close();
            m_operations = std::max(m_operations, env.Operations());
            if (done && !env.Crashed()) return;
            INFO((done ? "a death that was reported as success" : done.Message()));
            REQUIRE(env.Crashed());
            ++m_count;
            env.LoseUnsynced();
        }
    }
    int Count() const { return m_count; }

private:
    sim::Rng& m_rng;
    uint64_t m_operations = 0; //!< of the longest run
    int m_count = 0;
};

/** A start of `booster` on the machine, which is open, with peers, to its end. */
inline Result<> SyncWithPeers(Machine& machine, BoosterSession& booster, sim::Rng& rng)
{
    Net net(machine.Chain(), sim::Rng(rng()), true);
    SteppedFetcher fetcher(net);
    booster.Attach(machine.Chain(), WithPeers(fetcher));
    IBD_ASSIGN_OR_RETURN(const VerdictKind end, booster.Run());
    CHECK(end == VerdictKind::kDone);
    return {};
}

/** Empty machines, some with stored blocks, finish a sync by `own` with peers, despite kills at any
 *  operation, and even if block files and index are lost in between, as in a -reindex of files that
 *  lost blocks. `prepare(booster)` is called first. */
template <typename Prepare, typename Look>
void SyncDespiteDeaths(const Path& dir, const OwnHintsOptions& own, Prepare prepare, Look look,
                       bool full_validation = false)
{
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    sim::Rng rng(seed);
    const auto log = MakeNullLogger();
    Deaths deaths(rng);
    for (int round = 0; round < 15; ++round) {
        CAPTURE(round);
        Machine machine(TheWorld(), dir / fmt::format("{}", round));
        const auto run = [&](FaultEnv& env, int start) -> Result<> {
            BoosterOptions options = OneThread(machine);
            options.full_validation = full_validation;
            BoosterSession booster(env, *log, TheWorld().params, {.booster = options, .own = own});
            const bool loses = start > 0 && rng.Chance(1, 3);
            if (loses) machine.LoseBlocks();
            const bool stores = start == 0 ? round % 2 == 1 : loses;
            IBD_RETURN_IF_ERROR(machine.Open(env, stores));
            if (stores) IBD_RETURN_IF_ERROR(machine.StoreSome(rng));
            IBD_RETURN_IF_ERROR(prepare(booster));
            return SyncWithPeers(machine, booster, rng);
        };
        deaths.DieUntilDone(machine, run);
        machine.RequireRight();
        look(machine);
    }
    CHECK(deaths.Count() > 0);
}

} // namespace ibd::test
