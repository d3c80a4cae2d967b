// See tx_decode.h.
#include "rpc/tx_decode.h"

#include "script/script.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

/** Whether all scripts have complete operations and valid lengths, as in real transactions. */
bool LooksSane(const TxView& tx)
{
    const auto sane = [](ByteSpan script) {
        return script.size() <= kMaxScriptSize && HasValidOperations(script);
    };
    const bool inputs_sane =
        tx.IsCoinbase() || std::all_of(tx.inputs.begin(), tx.inputs.end(),
                                       [&](const InputView& i) { return sane(i.script_sig); });
    return inputs_sane && std::all_of(tx.outputs.begin(), tx.outputs.end(), [&](const auto& o) {
               return o.script_pubkey.empty() || o.script_pubkey[0] == OP_RETURN ||
                      sane(o.script_pubkey);
           });
}

} // namespace

bool HasValidOperations(ByteSpan script)
{
    ScriptIterator it(script);
    while (it.Next()) {
        if (it.Op() > kMaxOpcode || it.Data().size() > kMaxScriptElementSize) return false;
    }
    return !it.Failed();
}

TransactionRef DecodeTx(const std::string& hex, std::optional<bool> is_witness)
{
    const auto raw = FromHex(hex);
    if (!raw) return nullptr;
    const auto parse = [&](bool witness) -> TransactionRef {
        auto tx = Transaction::Parse(*raw, witness);
        return tx.Ok() ? *tx : nullptr;
    };
    TransactionRef extended = is_witness.value_or(true) ? parse(true) : nullptr;
    if (extended && LooksSane(extended->View())) return extended;
    TransactionRef legacy = !is_witness.value_or(false) ? parse(false) : nullptr;
    if (legacy && LooksSane(legacy->View())) return legacy;
    return extended ? extended : legacy;
}

} // namespace ibd
