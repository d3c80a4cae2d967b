// See line_grid.h.
#include "sim/line_grid.h"

#include "net/peer_support.h"
#include "sim/all_blocks.h"

#include <cmath>

namespace ibd::sim {

namespace {

using namespace test;

constexpr int64_t kMinute = 60; //!< seconds

const std::vector<Bytes>& LongChain()
{
    static const std::vector<Bytes> blocks = [] {
        const ChainParams params = RegtestParams();
        return ChainOfBodies(params, std::span(&params.genesis.raw, 1), kLongestChain);
    }();
    return blocks;
}

/** The time that the line spends on a block of that size. */
double SecondsOf(const LinkQuality& line, int64_t bytes)
{
    return double(bytes) / double(line.bytes_per_second) +
           double(line.stalls_ppm) / 1e6 * double(line.stall) / double(kSecond);
}

/** Blocks a second of all honest lines. */
double RateOf(const GridSync& sync)
{
    double rate = 0;
    for (const GridPeer& peer : sync.peers) {
        if (peer.conduct == Conduct::kHonest) rate += 1 / SecondsOf(peer.line, sync.block_bytes);
    }
    return rate;
}

double Ideal(const GridSync& sync)
{
    double rate = RateOf(sync);
    if (sync.window > 0) rate = std::min(rate, kSerialRate / double(sync.block_bytes));
    return double(sync.blocks) / rate;
}

/** The losses of a line, which brings its share of the blocks, delay the whole by that share. */
double Deviation(const GridSync& sync)
{
    const double all = RateOf(sync);
    double variance = 0;
    for (const GridPeer& peer : sync.peers) {
        if (peer.conduct != Conduct::kHonest) continue;
        const double share = 1 / SecondsOf(peer.line, sync.block_bytes) / all;
        const double losses = double(sync.blocks) * share * double(peer.line.stalls_ppm) / 1e6;
        const double delay = share * double(peer.line.stall) / double(kSecond);
        variance += losses * delay * delay;
    }
    return std::sqrt(variance);
}

class Simulation {
public:
    explicit Simulation(const GridSync& sync)
        : m_sync(sync), m_blocks(std::span(LongChain()).first(sync.blocks + 1)), m_rng(sync.seed),
          m_served(m_params, m_blocks), m_chain(m_params), m_all(m_chain, m_blocks, sync.window),
          m_network(int64_t{m_served.Tip().time} + kMinute),
          m_us(m_network, {m_params, m_chain, m_chain, m_chain}, PeerOptions(), m_rng())
    {
        m_network.weigh = [this](const OutgoingMessage& message) { return Weigh(message); };
        m_chain.downloading = true;
        AcceptHeadersOf(m_blocks, m_chain);
        m_us.Peers().DownloadInto(m_all, m_all);
        m_network.Tick(m_us, kSecond / 10);
        for (const GridPeer& peer : sync.peers) Add(peer);
    }

    GridOutcome Run()
    {
        GridOutcome out;
        out.ideal = Ideal(m_sync);
        out.deviation = Deviation(m_sync);
        const int64_t begin = m_network.Now();
        const double limit = 50 * out.ideal + 300;
        while (!m_all.Done()) {
            CHECK(m_network.Step());
            out.seconds = double(m_network.Now() - begin) / double(kSecond);
            CHECK(out.seconds < limit);
        }
        for (size_t i = 0; i < m_hosts.size(); ++i) {
            const bool there = m_hosts[i]->Peers().Count() > 0;
            if (m_sync.peers[i].conduct == Conduct::kHonest) out.dropped += !there;
        }
        out.duplicates = m_all.Duplicates();
        return out;
    }

private:
    size_t Weigh(const OutgoingMessage& message) const
    {
        if (message.type != BlockMessage::kType) return message.payload.size();
        const Uint256 hash = BlockHeader::FromBytes(message.payload.data()).Hash();
        uint64_t number = 0;
        std::memcpy(&number, hash.data(), sizeof(number));
        return 200 + size_t(number % uint64_t(2 * m_sync.block_bytes));
    }

    void Add(const GridPeer& peer)
    {
        Host& host = *m_hosts.emplace_back(
            std::make_unique<Host>(m_network, Host::World{m_params, m_served, m_served, m_served},
                                   PeerOptions(), m_rng()));
        if (peer.conduct == Conduct::kSilent) {
            host.tamper = [](const OutgoingMessage& message) {
                return message.type != BlockMessage::kType;
            };
        } else if (peer.conduct == Conduct::kStops) {
            const double most = Ideal(m_sync) * double(kSecond);
            const int64_t end = m_network.Now() + int64_t(m_rng.Below(uint64_t(most)));
            host.tamper = [this, end](const OutgoingMessage&) { return m_network.Now() < end; };
        }
        m_network.Connect(m_us, host, ConnectionKind::kOutboundFullRelay,
                          fmt::format("8.8.{}.1:8333", m_hosts.size()), peer.line);
        m_network.Tick(host, 5 * kSecond);
    }

    const GridSync& m_sync;
    const std::span<const Bytes> m_blocks;
    Rng m_rng;
    const ChainParams m_params = RegtestParams();
    ServedChain m_served;
    TestChain m_chain;
    AllBlocks m_all;
    Network m_network;
    Host m_us;
    std::vector<std::unique_ptr<Host>> m_hosts;
};

constexpr int kPeers = 8;
constexpr double kLeastSeconds = 120; //!< of the ideal, where the chain is long enough

LinkQuality LineOf(int64_t rtt_ms, double mbit, bool lossy)
{
    LinkQuality line{rtt_ms * 500, int64_t(mbit * 125'000)};
    if (lossy) {
        line.stalls_ppm = 10'000;
        line.stall = std::max<int64_t>(200'000, 2 * rtt_ms * 1000);
    }
    return line;
}

/** Of a network of relays: long and changing delays, speeds of one to eight Mbit/s, and pauses. */
LinkQuality TorLine(Rng& rng)
{
    LinkQuality line{rng.Between(150, 800) * 1000, rng.Between(1, 8) * 125'000};
    line.jitter = 700'000;
    line.stalls_ppm = 30'000;
    line.stall = 5'000'000;
    return line;
}

LinkQuality AnyLine(Rng& rng)
{
    constexpr int64_t kDelays[] = {20, 100, 300, 600};
    constexpr double kSpeeds[] = {1, 5, 20, 100, 1000};
    return LineOf(kDelays[rng.Below(4)], kSpeeds[rng.Below(5)], rng.Chance(1, 3));
}

class Grid {
public:
    Grid(uint64_t seed, size_t most) : m_rng(seed), m_most(most) {}

    std::vector<GridSync> Make()
    {
        for (const int32_t window : {0, int32_t{kDownloadWindow}}) {
            m_window = window;
            for (const int64_t rtt : {20, 100, 300, 600}) {
                for (const double mbit : {1., 10., 100., 1000.}) {
                    AddUniform(rtt, mbit, false);
                    AddUniform(rtt, mbit, true);
                }
            }
            for (int i = 0; i < 10; ++i) {
                std::vector<GridPeer> peers;
                for (int peer = 0; peer < kPeers; ++peer) peers.push_back({TorLine(m_rng)});
                Add("tor,mixed,yes,0,honest", std::move(peers));
            }
            for (int i = 0; i < 40; ++i) AddMixture();
        }
        return std::move(m_out);
    }

private:
    void AddUniform(int64_t rtt, double mbit, bool lossy)
    {
        const LinkQuality line = LineOf(rtt, mbit, lossy);
        LinkQuality slow = line;
        slow.bytes_per_second = std::max<int64_t>(line.bytes_per_second / 100, 60'000);
        const std::string where = fmt::format("{},{},{},", rtt, mbit, lossy ? "yes" : "no");
        Add(where + "0,honest", std::vector<GridPeer>(kPeers, {line}));
        for (const int bad : {1, 4, 7}) {
            const auto with = [&](const char* name, const GridPeer& peer) {
                std::vector<GridPeer> peers(kPeers, {line});
                std::fill_n(peers.begin(), bad, peer);
                Add(where + fmt::format("{},{}", bad, name), std::move(peers));
            };
            with("slow", {slow});
            with("silent", {line, Conduct::kSilent});
            with("stops", {line, Conduct::kStops});
        }
    }
    void AddMixture()
    {
        std::vector<GridPeer> peers;
        int bad = 0;
        for (int peer = 0; peer < kPeers; ++peer) {
            const bool honest = peer == 0 || m_rng.Chance(2, 3);
            const Conduct other = m_rng.Chance(1, 2) ? Conduct::kSilent : Conduct::kStops;
            peers.push_back({AnyLine(m_rng), honest ? Conduct::kHonest : other});
            bad += !honest;
        }
        Add(fmt::format("mixed,mixed,some,{},mixed", bad), std::move(peers));
    }
    void Add(const std::string& name, std::vector<GridPeer> peers)
    {
        GridSync sync;
        sync.name = (m_window > 0 ? "window," : "any,") + name;
        sync.peers = std::move(peers);
        sync.window = m_window;
        sync.seed = m_rng();
        sync.blocks = 1;
        const double wanted = kLeastSeconds / Ideal(sync);
        sync.blocks = std::clamp(size_t(wanted), std::min(size_t{1000}, m_most), m_most);
        m_out.push_back(std::move(sync));
    }

    Rng m_rng;
    const size_t m_most;
    int32_t m_window = 0;
    std::vector<GridSync> m_out;
};

} // namespace

std::vector<GridSync> LineGrid(uint64_t seed, size_t most) { return Grid(seed, most).Make(); }

GridOutcome RunGridSync(const GridSync& sync) { return Simulation(sync).Run(); }

double AllowedSeconds(const GridSync& sync, const GridOutcome& outcome)
{
    int64_t delay = 0;
    bool stops = false;
    for (const GridPeer& peer : sync.peers) {
        stops = stops || peer.conduct == Conduct::kStops;
        if (peer.conduct != Conduct::kHonest) continue;
        delay = std::max(delay, peer.line.latency + peer.line.jitter);
    }
    const int64_t ends = 10 * delay + (stops ? 2 : 1) * BlockDownloader::kHelpAfter;
    return 1.1 * (outcome.ideal + 3 * outcome.deviation) + double(ends) / double(kSecond);
}

} // namespace ibd::sim
