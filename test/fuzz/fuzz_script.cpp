// VerifyScript on arbitrary scripts, witnesses and flags. It must end, give the same answer twice,
// also through the cache of signatures, and a valid spend must stay valid when flags are removed.
#include "primitives/transaction.h"
#include "script/script.h"
#include "script/verify.h"
#include "sim/both_ways.h"
#include "util/check.h"

using namespace ibd;

namespace {

constexpr ScriptFlags kAllFlags = (1U << 21) - 1;

ScriptFlags Usable(ScriptFlags flags)
{
    flags &= kAllFlags;
    if (!(flags & kVerifyP2sh)) flags &= ~kVerifyWitness;
    if (!(flags & kVerifyWitness)) flags &= ~(kVerifyCleanStack | kVerifyTaproot);
    return flags;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    Reader reader(ByteSpan(data, size));
    const ScriptFlags flags = Usable(reader.U32());
    const ScriptFlags fewer = Usable(flags & reader.U32());
    MutableTransaction tx;
    tx.version = reader.U8();
    tx.lock_time = reader.U32();
    MutableInput input;
    input.prevout.vout = 0;
    input.sequence = reader.U32();
    const Amount value = reader.U32();
    const ByteSpan script_sig = reader.VarBytes();
    const ByteSpan script_pubkey = reader.VarBytes();
    input.script_sig.assign(script_sig.begin(), script_sig.end());
    while (reader.Ok() && reader.Remaining() > 0) {
        const ByteSpan item = reader.VarBytes();
        input.witness.emplace_back(item.begin(), item.end());
    }
    if (!reader.Ok()) return 0;
    tx.inputs = {input};
    tx.outputs = {{1, {OP_1}}};
    const TransactionRef frozen = tx.Freeze();
    const SpentOutput spent{value, script_pubkey};
    const TxHashes hashes(frozen->View(), {&spent, 1});
    const ScriptError error = VerifyInput(frozen->View(), 0, spent, hashes, flags);
    static SignatureCache cache(1 << 16, {});
    for (const bool keep : {true, true, false, false}) {
        CHECK(VerifyInput(frozen->View(), 0, spent, hashes, flags, {&cache, keep}) == error);
    }
    CHECK(sim::VerifyBothWays(frozen->View(), 0, spent, hashes, flags).plain == error);
    if (error == ScriptError::kOk) {
        CHECK(VerifyInput(frozen->View(), 0, spent, hashes, fewer) == ScriptError::kOk);
    }
    return 0;
}
