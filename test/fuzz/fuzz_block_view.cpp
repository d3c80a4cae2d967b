// BlockView::Parse against the slow reference parser: same verdict, same transactions, and an
// accepted block serializes back to the same bytes.
#include "primitives/block.h"
#include "primitives/reference_parser.h"
#include "primitives/transaction.h"

using namespace ibd;
using namespace ibd::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const ByteSpan input(data, size);
    static BlockView view; // reused, as a worker does
    const bool accepted = view.Parse(input).Ok();
    const auto reference = ReferenceParseBlock(input);
    CHECK(accepted == reference.has_value());
    if (!accepted) return 0;
    CHECK(view.Txs().size() == reference->txs.size());
    Bytes rebuilt(reference->header);
    Writer(rebuilt).CompactSize(view.Txs().size());
    for (size_t i = 0; i < view.Txs().size(); ++i) {
        const MutableTransaction tx = MutableTransaction::FromView(view.Txs()[i]);
        CHECK(SameTransaction(tx, reference->txs[i]));
        CHECK(tx.Id() == view.Txs()[i].txid);
        Append(rebuilt, tx.Serialize());
    }
    CHECK(rebuilt == Bytes(view.Raw().begin(), view.Raw().end()));
    CHECK(rebuilt.size() <= size && std::equal(rebuilt.begin(), rebuilt.end(), data));
    return 0;
}
