// Header presync with peers that are honest, have too little, change their chain or break a rule.
#include "net/peer/header_sync.h"

#include "consensus/pow.h"
#include "net/transport_support.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

constexpr int64_t kNow = 1'700'000'000;
constexpr PeerId kPeer = 3;

/** Regtest, with a short buffer, and bits that may not change in the first 2,015 blocks. */
ChainParams TestParams(int period, int buffer)
{
    ChainParams params = MakeChainParams(Network::kRegtest);
    params.consensus.pow_allow_min_difficulty_blocks = false;
    params.consensus.pow_target_timespan = 14 * 24 * 60 * 60;
    params.headers_sync_commitment_period = period;
    params.headers_sync_redownload_buffer = buffer;
    return params;
}

/** Headers on `parent` with the work they claim; `salt` makes chains that differ. */
std::vector<BlockHeader> MakeHeaders(const BlockHeader& parent, size_t count, uint8_t salt,
                                     const ConsensusParams& params)
{
    std::vector<BlockHeader> out;
    BlockHash prev = parent.Hash();
    uint32_t time = parent.time;
    for (size_t i = 0; i < count; ++i) {
        BlockHeader header;
        header.version = 4;
        header.prev_hash = prev;
        header.merkle_root.data()[0] = salt;
        header.time = time += 600;
        header.bits = parent.bits;
        while (!CheckProofOfWork(prev = header.Hash(), header.bits, params)) ++header.nonce;
        out.push_back(header);
    }
    return out;
}

/** A sync and the chain that a peer serves to it, in messages of `message` headers. */
class Session {
public:
    Session(const ChainParams& params, uint64_t work_in_headers, HeaderSyncSecrets secrets = {})
        : m_tree(params), m_logger(MakeNullLogger()),
          m_sync(params, *m_tree.Genesis(), MinimumWork(work_in_headers), kNow, secrets, kPeer,
                 *m_logger)
    {
        m_known[m_tree.Genesis()->hash] = 0;
    }

    /** Headers of `chain` (from height 1) behind the first that the locator names. */
    HeaderSync::Outcome Serve(const std::vector<BlockHeader>& chain, size_t message)
    {
        std::map<BlockHash, size_t> heights = m_known;
        for (size_t i = 0; i < chain.size(); ++i) heights[HashOf(chain, i)] = i + 1;
        size_t from = 0;
        for (const BlockHash& hash : m_sync.NextLocator()) {
            const auto found = heights.find(hash);
            if (found == heights.end()) continue;
            from = found->second;
            break;
        }
        const size_t count = std::min(message, chain.size() - from);
        REQUIRE(count > 0);
        return Give({chain.begin() + std::ptrdiff_t(from), count}, count == message);
    }

    HeaderSync::Outcome Give(std::span<const BlockHeader> headers, bool full)
    {
        const auto outcome = m_sync.Process(headers, HashHeaders(headers), full);
        ready.insert(ready.end(), outcome.ready.begin(), outcome.ready.end());
        most_memory = std::max(most_memory, m_sync.MemoryUsage());
        CHECK((outcome.ok || outcome.ready.empty()));
        CHECK((m_sync.CurrentPhase() == HeaderSync::Phase::kFinal) ==
              (!outcome.ok || !outcome.request_more));
        return outcome;
    }

    /** Serves until presync is over; whether it ended with enough work. */
    bool Presync(const std::vector<BlockHeader>& chain, size_t message)
    {
        while (m_sync.CurrentPhase() == HeaderSync::Phase::kPresync) Serve(chain, message);
        return m_sync.CurrentPhase() == HeaderSync::Phase::kRedownload;
    }

    HeaderSync& Sync() { return m_sync; }
    const HeaderNode& Genesis() const { return *m_tree.Genesis(); }

    std::vector<BlockHeader> ready;
    size_t most_memory = 0;

private:
    Arith256 MinimumWork(uint64_t headers) const
    {
        const HeaderNode& genesis = *m_tree.Genesis();
        return genesis.chain_work + BlockWork(genesis.bits) * Arith256(headers);
    }
    const BlockHash& HashOf(const std::vector<BlockHeader>& chain, size_t i)
    {
        auto& hashes = m_hashes[&chain];
        if (hashes.empty()) hashes = HashHeaders(chain);
        return hashes[i];
    }

    HeaderTree m_tree;
    std::unique_ptr<Logger> m_logger;
    HeaderSync m_sync;
    std::map<BlockHash, size_t> m_known;
    std::map<const void*, std::vector<BlockHash>> m_hashes;
};

using Chain = std::vector<BlockHeader>;

} // namespace

TEST_CASE("rules about the headers of a message", "[header_sync]")
{
    const ChainParams params = TestParams(10, 10);
    Chain headers = MakeHeaders(params.genesis.header, 40, 0, params.consensus);
    auto hashes = HashHeaders(headers);
    HeaderTree tree(params);
    for (size_t i = 0; i < headers.size(); ++i) {
        CHECK(hashes[i] == headers[i].Hash());
        REQUIRE(tree.Insert(headers[i], hashes[i]));
    }
    CHECK(tree.Genesis()->chain_work + ClaimedWork(headers) == tree.BestHeader()->chain_work);
    CHECK(AreContinuous(headers, hashes));
    CHECK(HaveProofOfWork(headers, hashes, params.consensus));
    headers[20].bits = 0x1d00ffff; // claims far more than it has
    CHECK(ClaimedWork(headers) > tree.BestHeader()->chain_work);
    CHECK_FALSE(HaveProofOfWork(headers, hashes, params.consensus));
    hashes = HashHeaders(headers);
    CHECK_FALSE(AreContinuous(headers, hashes));
    CHECK(AreContinuous({}, {}));
    CHECK(ClaimedWork({}) == Arith256());
}

TEST_CASE("an honest peer's headers come out once, in order, after its work is shown",
          "[header_sync]")
{
    const ChainParams params = TestParams(7, 120);
    const Chain chain = MakeHeaders(params.genesis.header, 1500, 0, params.consensus);
    for (uint32_t offset = 0; offset < 7; ++offset) {
        const size_t message = 20 + RandomBelow(200);
        const size_t work = 500 + RandomBelow(900);
        Session session(params, work, {offset, {TestRng()(), TestRng()()}});
        REQUIRE(session.Presync(chain, message));
        CHECK(session.ready.empty());
        CHECK(session.Sync().PresyncHeight() >= int64_t(work));
        CHECK(session.Sync().PresyncHeight() < int64_t(work + message));
        CHECK(session.Sync().PresyncTime() == chain[session.Sync().PresyncHeight() - 1].time);
        while (session.Sync().CurrentPhase() == HeaderSync::Phase::kRedownload) {
            REQUIRE(session.Serve(chain, message).ok);
        }
        // All up to the end of the message in which the work was complete.
        REQUIRE(session.ready.size() >= work);
        CHECK(session.ready.size() < work + message);
        CHECK(std::equal(session.ready.begin(), session.ready.end(), chain.begin()));
        CHECK(session.most_memory <= HeaderSync::MaxMemory(params, session.Genesis().time, kNow));
    }
}

TEST_CASE("a chain with too little work leaves nothing", "[header_sync]")
{
    const ChainParams params = TestParams(7, 120);
    const Chain chain = MakeHeaders(params.genesis.header, 450, 0, params.consensus);
    Session session(params, 451);
    CHECK_FALSE(session.Presync(chain, 100));
    CHECK(session.ready.empty());
    // The last message was full, so that there might be more: an honest peer answers with nothing.
    Session full(params, 451);
    for (int i = 0; i < 3; ++i) CHECK(full.Serve(chain, 150).request_more);
}

TEST_CASE("a peer whose chain grows is served by what it showed", "[header_sync]")
{
    const ChainParams params = TestParams(5, 50);
    const Chain chain = MakeHeaders(params.genesis.header, 400, 0, params.consensus);
    const Chain shorter(chain.begin(), chain.begin() + 300);
    Session session(params, 300);
    REQUIRE(session.Presync(shorter, 70));
    while (session.Sync().CurrentPhase() == HeaderSync::Phase::kRedownload) {
        REQUIRE(session.Serve(chain, 70).ok);
    }
    CHECK(session.ready.size() == 350);
}

TEST_CASE("a peer that gives another chain the second time gives nothing", "[header_sync]")
{
    // 40 secret bits lie in the buffer: one try in 2^40 would pass.
    const ChainParams params = TestParams(3, 120);
    const Chain chain = MakeHeaders(params.genesis.header, 600, 0, params.consensus);
    for (int round = 0; round < 30; ++round) {
        const size_t fork = RandomBelow(590);
        Chain other(chain.begin(), chain.begin() + std::ptrdiff_t(fork));
        const Chain branch = MakeHeaders(fork ? chain[fork - 1] : params.genesis.header, 640 - fork,
                                         1, params.consensus);
        other.insert(other.end(), branch.begin(), branch.end());
        Session session(params, 600, {uint32_t(RandomBelow(3)), {TestRng()(), TestRng()()}});
        REQUIRE(session.Presync(chain, 100));
        bool ok = true;
        while (session.Sync().CurrentPhase() == HeaderSync::Phase::kRedownload) {
            ok = session.Serve(other, 100).ok;
        }
        // If the fork is closer to the end than the commitment bits that would reveal it, the whole
        // chain still has enough work, and its headers may be stored.
        if (fork < 470) {
            CHECK_FALSE(ok);
            CHECK(session.ready.size() <= fork);
        }
        for (size_t i = 0; i < std::min(fork, session.ready.size()); ++i) {
            CHECK(session.ready[i] == chain[i]);
        }
    }
}

TEST_CASE("a peer that does not give again what it gave", "[header_sync]")
{
    const ChainParams params = TestParams(3, 60);
    const Chain chain = MakeHeaders(params.genesis.header, 300, 0, params.consensus);
    const Chain shorter(chain.begin(), chain.begin() + 250);
    Session session(params, 290);
    REQUIRE(session.Presync(chain, 100));
    HeaderSync::Outcome last;
    while (session.Sync().CurrentPhase() == HeaderSync::Phase::kRedownload) {
        last = session.Serve(shorter, 100);
    }
    CHECK(last.ok);
    CHECK_FALSE(last.request_more);
    CHECK(session.ready.size() == 250 - 60); // what so many bits stood behind
}

TEST_CASE("headers that break a rule end the sync", "[header_sync]")
{
    const ChainParams params = TestParams(3, 60);
    const Chain chain = MakeHeaders(params.genesis.header, 300, 0, params.consensus);
    const std::span<const BlockHeader> all(chain);
    {
        Session gap(params, 250);
        REQUIRE(gap.Give(all.first(100), true).ok);
        CHECK_FALSE(gap.Give(all.subspan(101, 100), true).ok);
    }
    {
        Session gap(params, 250);
        REQUIRE(gap.Presync(chain, 150));
        REQUIRE(gap.Give(all.first(100), true).ok);
        CHECK_FALSE(gap.Give(all.subspan(101, 100), true).ok);
        CHECK(gap.ready.size() == 40);
    }
    Chain harder = chain;
    harder[50].bits = 0x207ffffe; // never within a period of 2016 blocks
    {
        Session session(params, 250);
        CHECK_FALSE(session.Give(harder, true).ok);
    }
    {
        Session session(params, 250);
        REQUIRE(session.Presync(chain, 150));
        CHECK_FALSE(session.Give(harder, true).ok);
        CHECK(session.ready.empty());
    }
}

TEST_CASE("no chain is longer than time allows, and memory stays bounded", "[header_sync]")
{
    ChainParams params = TestParams(16, 60);
    params.consensus.pow_allow_min_difficulty_blocks = true;
    // Just after genesis: six blocks a second for the two hours that a clock may be off.
    const int64_t now = params.genesis.header.time;
    HeaderTree tree(params);
    const auto logger = MakeNullLogger();
    HeaderSync sync(params, *tree.Genesis(), Arith256(uint64_t{1} << 60), now, {}, kPeer, *logger);
    const size_t bound = HeaderSync::MaxMemory(params, now, now);
    Chain part = {params.genesis.header};
    size_t given = 0;
    for (bool ok = true; ok;) {
        part = MakeHeaders(part.back(), 2000, 0, params.consensus);
        ok = sync.Process(part, HashHeaders(part), true).ok;
        given += part.size();
        REQUIRE(sync.MemoryUsage() <= bound);
        REQUIRE(given <= 46'000);
    }
    CHECK(given > 43'200); // 6 * 7200 headers could be true
    CHECK(sync.CurrentPhase() == HeaderSync::Phase::kFinal);
    CHECK(sync.MemoryUsage() < sizeof(HeaderSync) + 1000);
    const ChainParams mainnet = MakeChainParams(Network::kMain);
    CHECK(HeaderSync::MaxMemory(mainnet, mainnet.genesis.header.time, 1'760'000'000) < 3'000'000);
}

TEST_CASE("secrets of presync are below the period", "[header_sync]")
{
    const auto env = MakePosixEnv();
    const ChainParams params = TestParams(7, 60);
    for (int i = 0; i < 100; ++i) CHECK(RandomHeaderSyncSecrets(*env, params).offset < 7);
}

} // namespace ibd
