// The work of a booster's worker on one block, the part of the check of the order of spending
// within it, and checksums of pages and blocks. Usage: bench_swiftsync [--once]
#include "bench_support.h"
#include "consensus/block_check.h"
#include "storage/crc32c.h"
#include "swiftsync/aggregate.h"
#include "swiftsync/fold.h"
#include "swiftsync/spend_order.h"
#include "typical_block.h"

namespace ibd::bench {

namespace {

/** All but reading the block and its hints and writing the coins. */
class Worker {
public:
    Worker()
    {
        m_hints.outputs = 2 * kTransactions - 1;
        for (uint32_t i = 0; i < *m_hints.outputs; i += 20) m_hints.unspent.push_back(i);
    }
    void Fold(ByteSpan block)
    {
        CHECK(m_view.Parse(block).Ok());
        const BlockCheckOptions options{.check_pow = false, .check_merkle_root = true};
        CHECK(!CheckBlock(m_view, m_params.consensus, options));
        CHECK(ibd::Fold(m_view, 1, m_hints, {}, m_delta).Ok());
        m_sum->AddCreated(m_delta.created.data(), m_delta.created.size());
        m_sum->AddSpent(m_delta.spent.data(), m_delta.spent.size());
    }
    void CheckOrder() { CHECK(!m_order.Check(m_view.Txs())); }

private:
    const ChainParams m_params = MakeChainParams(Network::kRegtest);
    BlockView m_view;
    BlockHints m_hints;
    BlockDelta m_delta;
    SpendOrder m_order{0x9e3779b97f4a7c15};
    std::unique_ptr<Aggregate> m_sum = MakeAggregate(AggregateKind::kSha256, {});
};

void Run(int argc, char** argv)
{
    const Runner runner(argc, argv);
    const Bytes block = TypicalBlock().ToBytes();
    Worker worker;
    worker.Fold(block);
    runner.Run("parse, check, fold, sum: per transaction", kTransactions,
               [&] { worker.Fold(block); });
    runner.Run("order of spending alone: per transaction", kTransactions,
               [&] { worker.CheckOrder(); });
    runner.Run("both: per transaction", kTransactions, [&] {
        worker.Fold(block);
        worker.CheckOrder();
    });
    std::printf("block of %zu bytes, %zu transactions\n", block.size(), kTransactions);
    for (const size_t kib : {8, 1024}) {
        const Bytes data(kib << 10, 0x5a);
        for (const Crc32cWay& way : Crc32cWays()) {
            const std::string name = "CRC-32C by " + std::string(way.name) + ", of " +
                                     std::to_string(kib) + " KiB: a KiB";
            runner.Run(name.c_str(), static_cast<double>(kib), [&] { Keep(way.compute(data, 0)); });
        }
    }
}

} // namespace

} // namespace ibd::bench

int main(int argc, char** argv) { ibd::bench::Run(argc, argv); }
