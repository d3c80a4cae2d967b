// Cost of parsing a block in place, per transaction: the walk over the bytes with the ids, the
// witness ids, and serialization from plain fields. Usage: bench_primitives [--once]
#include "bench_support.h"
#include "primitives/block.h"
#include "primitives/transaction.h"
#include "typical_block.h"

namespace ibd::bench {

namespace {

void Run(int argc, char** argv)
{
    const Runner runner(argc, argv);
    const sim::BlockDraft draft = TypicalBlock();
    const std::vector<MutableTransaction>& txs = draft.txs;
    const Bytes block = draft.ToBytes();
    BlockView view;
    runner.Run("BlockView::Parse, per transaction", kTransactions,
               [&] { CHECK(view.Parse(block).Ok()); });
    std::vector<Wtxid> ids;
    runner.Run("ComputeWitnessHashes, per transaction", kTransactions,
               [&] { ComputeWitnessHashes(view, ids); });
    runner.Run("MutableTransaction::FromView, per transaction", kTransactions, [&] {
        for (const TxView& tx : view.Txs()) Keep(MutableTransaction::FromView(tx));
    });
    runner.Run("MutableTransaction::Serialize, per transaction", kTransactions, [&] {
        for (const MutableTransaction& tx : txs) Keep(tx.Serialize());
    });
    std::printf("block of %zu bytes, %zu transactions\n", block.size(), kTransactions);
}

} // namespace

} // namespace ibd::bench

int main(int argc, char** argv) { ibd::bench::Run(argc, argv); }
