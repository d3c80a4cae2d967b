// Work under the pool's mutex. Choosing the 70 transactions to announce to a peer, by the number of
// waiting ones: from the best of WaitingTxs, and, as a reference, by sorting all that wait.
// Removing the transactions of a block of 4 MWU, which holds the chain's state lock, too: from a
// pool of 200,000, by the remaining part of their clusters. Usage: bench_node [--once]
#include "bench_support.h"
#include "mempool/upkeep.h"
#include "net/peer/tx_announcer.h"
#include "net/peer/waiting_txs.h"
#include "node/pool_for_peers.h"

#include <algorithm>
#include <random>

namespace ibd::bench {

namespace {

constexpr size_t kMost = TxAnnouncer::kAtOnce;
constexpr uint32_t kChain = 4;      //!< transactions of a cluster
constexpr uint32_t kFull = 200'000; //!< transactions of a full pool
constexpr uint32_t kOfBlock = 10'000;

/** Nothing is submitted. */
class NoCoins final : public TipCoins {
public:
    Result<> With(const Use&) const override { return BadData("there are no coins"); }
};

/** A pool of chains, with random fees. */
class Scene {
public:
    explicit Scene(uint32_t count, uint32_t chain = kChain)
    {
        std::mt19937_64 rng(1);
        OutPoint spent;
        for (uint32_t i = 0; i < count; ++i) {
            if (i % chain == 0) {
                spent = {Txid(), 0};
                std::memcpy(spent.txid.data(), &i, sizeof i);
                spent.txid.data()[31] = 1;
            }
            MutableTransaction made;
            made.version = i;
            made.inputs.push_back({spent, {}, 0, {}});
            made.outputs.push_back({1'000, Bytes(22, 1)});
            PoolTx tx;
            tx.tx = made.Freeze();
            tx.vsize = 100;
            tx.weight = 400;
            tx.fee = static_cast<Amount>(100 + rng() % 10'000);
            spent = {tx.Id(), 0};
            txs.push_back(tx);
            ids.push_back(tx.tx->WitnessId());
            Add(i);
        }
    }
    void Add(uint32_t n)
    {
        const Lock lock(pool.mutex);
        AddTx(pool, PoolTx(txs[n]));
    }

    std::vector<PoolTx> txs; //!< as they come in
    std::vector<Wtxid> ids;
    TxPool pool{{}};
    std::unique_ptr<Env> env = MakePosixEnv();
    const ConsensusParams params;
    TxAcceptance rules{params, {}, nullptr};
    NoCoins coins;
    TxSubmission door{rules, pool, coins};
    TxIntake intake{door, pool, *env};
    const PoolForPeers peers{pool, {}, intake, *env};
};

/** The plain way. */
void SortAll(const PeerPool& pool, std::set<Wtxid>& waiting)
{
    const std::vector<Wtxid> ids(waiting.begin(), waiting.end());
    waiting.clear();
    size_t left = kMost;
    for (const PeerPool::Entry& entry : pool.InMiningOrder(ids)) {
        if (left == 0) {
            waiting.insert(entry.tx->WitnessId());
        } else {
            --left;
            Keep(entry);
        }
    }
}

void BenchTrickle(const Runner& runner, uint32_t count)
{
    Scene scene(count);
    const PoolForPeers& peers = scene.peers;
    WaitingTxs waiting;
    for (const PeerPool::Entry& entry : peers.InMiningOrder(scene.ids)) {
        waiting.Add(entry.tx->WitnessId(), entry.mining_rate);
    }
    std::vector<PeerPool::Entry> told;
    runner.Run(fmt::format("trickle: {} wait, the best", count).c_str(), 1, [&] {
        told.clear();
        waiting.Announce(peers, kMost, [&](const PeerPool::Entry& entry) {
            told.push_back(entry);
            return true;
        });
        for (const auto& entry : told) waiting.Come(entry.tx->WitnessId(), entry.mining_rate);
    });
    CHECK(told.size() == std::min<size_t>(kMost, count));
    const std::set<Wtxid> all(scene.ids.begin(), scene.ids.end());
    std::set<Wtxid> sorted = all;
    runner.Run(fmt::format("trickle: {} wait, all sorted", count).c_str(), 1, [&] {
        SortAll(peers, sorted);
        for (const auto& entry : told) sorted.insert(entry.tx->WitnessId());
    });
}

/** The first `mined` of chains from all over the pool, up to the weight of a block. */
std::vector<uint32_t> MinedOf(uint32_t chain, uint32_t mined)
{
    std::vector<uint32_t> starts(kFull / chain), out;
    for (uint32_t i = 0; i < starts.size(); ++i) starts[i] = i * chain;
    std::shuffle(starts.begin(), starts.end(), std::mt19937_64(2));
    for (uint32_t at = 0; out.size() < kOfBlock; ++at) {
        for (uint32_t i = 0; i < mined; ++i) out.push_back(starts[at] + i);
    }
    return out;
}

void BenchBlock(uint32_t chain, uint32_t mined, int rounds)
{
    Scene scene(kFull, chain);
    const std::vector<uint32_t> numbers = MinedOf(chain, mined);
    Bytes raw(BlockHeader::kSize);
    Writer writer(raw);
    writer.CompactSize(numbers.size());
    for (const uint32_t n : numbers) writer.Raw(scene.txs[n].tx->View().raw);
    BlockView block;
    CHECK(block.Parse(raw).Ok());
    double best = 0;
    for (int round = 0; round < rounds; ++round) {
        const double start = Runner::CpuNs();
        {
            const Lock lock(scene.pool.mutex);
            Confirm(scene.pool, block, 1, 0);
            CHECK(scene.pool.Size() == kFull - numbers.size());
        }
        const double spent = Runner::CpuNs() - start;
        if (round == 0 || spent < best) best = spent;
        for (const uint32_t n : numbers) scene.Add(n);
    }
    std::printf("block: %2u of each chain of %2u in the pool, per tx %8.1f ns, all %6.2f ms\n",
                mined, chain, best / double(numbers.size()), best / 1e6);
}

} // namespace

} // namespace ibd::bench

int main(int argc, char** argv)
{
    const ibd::bench::Runner runner(argc, argv);
    for (const uint32_t count : {70, 1'000, 10'000, 100'000}) {
        ibd::bench::BenchTrickle(runner, count);
    }
    const int rounds = runner.Once() ? 1 : 5;
    ibd::bench::BenchBlock(1, 1, rounds);
    ibd::bench::BenchBlock(4, 4, rounds);
    ibd::bench::BenchBlock(4, 2, rounds);
    ibd::bench::BenchBlock(64, 32, rounds);
}
