// Transaction::Parse against the slow reference parser, in both forms. The first byte chooses
// whether a witness is allowed.
#include "primitives/reference_parser.h"
#include "primitives/transaction.h"

using namespace ibd;
using namespace ibd::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    const bool allow_witness = data[0] & 1;
    const ByteSpan input(data + 1, size - 1);
    const auto parsed = Transaction::Parse(input, allow_witness);
    const auto reference = ReferenceParseTx(input, allow_witness);
    CHECK(parsed.Ok() == reference.has_value());
    if (!parsed.Ok()) return 0;
    const MutableTransaction tx = MutableTransaction::FromView((*parsed)->View());
    CHECK(SameTransaction(tx, *reference));
    CHECK(tx.Id() == (*parsed)->Id());
    CHECK(tx.Serialize() == Bytes(input.begin(), input.end()));
    CHECK((*parsed)->View().stripped_size == tx.Serialize(false).size());
    return 0;
}
