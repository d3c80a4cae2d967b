// Undo records and coins as the databases keep them: a decoded value encodes to bytes that decode
// to the same value. The first byte chooses which.
#include "storage/undo.h"

using namespace ibd;

namespace {

void FuzzUndo(ByteSpan input)
{
    const auto undo = BlockUndo::Decode(input);
    if (!undo) return;
    const auto again = BlockUndo::Decode(undo->Encode());
    CHECK(again.Ok());
    CHECK(*again == *undo);
}

void FuzzCoin(ByteSpan input)
{
    const auto coin = DecodeCoin(input);
    if (!coin) return;
    Bytes encoded;
    AppendCoin(encoded, *coin);
    const auto again = DecodeCoin(encoded);
    CHECK(again.Ok());
    CHECK(*again == *coin);
}

void FuzzKey(ByteSpan input)
{
    OutPoint outpoint;
    if (!ParseCoinKey(input, outpoint)) return;
    const CoinKey key(outpoint);
    CHECK(std::equal(input.begin(), input.end(), key.Span().begin(), key.Span().end()));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    const ByteSpan input(data + 1, size - 1);
    switch (data[0] % 3) {
    case 0: FuzzUndo(input); break;
    case 1: FuzzCoin(input); break;
    case 2: FuzzKey(input); break;
    }
    return 0;
}
