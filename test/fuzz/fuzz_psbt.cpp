// DecodePsbt and EncodePsbt: a decoded PSBT survives a round trip, and every role works on any that
// can be decoded. The first byte chooses the role.
#include "psbt/analyze.h"
#include "psbt/codec.h"
#include "psbt/combine.h"
#include "psbt/sign_psbt.h"
#include "util/check.h"

using namespace ibd;

namespace {

/** A final input is written without the fields that it no longer needs; after that it is stable. */
Bytes Settled(const Bytes& encoded)
{
    const auto again = DecodePsbt(encoded);
    CHECK(again.Ok());
    return EncodePsbt(*again);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    const auto decoded = DecodePsbt(ByteSpan(data + 1, size - 1));
    if (!decoded.Ok()) return 0;
    const Bytes encoded = EncodePsbt(*decoded);
    CHECK(Settled(encoded) == encoded);

    Psbt psbt = *decoded;
    switch (data[0] % 4) {
    case 0:
        CHECK(CombinePsbt(psbt, *decoded) == psbt.UniqueId().has_value());
        CHECK(EncodePsbt(psbt) == encoded);
        break;
    case 1: AnalyzePsbt(psbt); break;
    case 2:
        if (const auto tx = FinalizeAndExtract(psbt))
            CHECK(tx->inputs.size() == psbt.inputs.size());
        break;
    default:
        for (size_t i = 0; i < psbt.outputs.size(); ++i) UpdatePsbtOutput(psbt, i, {});
        DropNeedlessTransactions(psbt);
        break;
    }
    const Bytes worked_on = EncodePsbt(psbt);
    CHECK(Settled(worked_on) == worked_on);
    return 0;
}
