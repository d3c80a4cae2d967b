// See transaction.h.
#include "primitives/transaction.h"

#include "crypto/sha256_batch.h"
#include "primitives/tx_parser.h"

#include <algorithm>
#include <limits>

namespace ibd {

Result<TransactionRef> Transaction::Parse(ByteSpan raw, bool allow_witness)
{
    if (raw.size() > std::numeric_limits<uint32_t>::max()) return BadData("transaction too large");
    std::shared_ptr<Transaction> tx(new Transaction);
    tx->m_raw.assign(raw.begin(), raw.end());
    Reader reader(tx->m_raw);
    if (const char* reason =
            ParseTx(reader, allow_witness, tx->m_inputs, tx->m_outputs, tx->m_view)) {
        return BadData("offset {}: {}", reader.Position(), reason);
    }
    if (!reader.AtEnd()) {
        return BadData("offset {}: bytes after the transaction", reader.Position());
    }
    tx->m_view.inputs = tx->m_inputs;
    tx->m_view.outputs = tx->m_outputs;
    const TxidPreimage preimage = GetTxidPreimage(tx->m_view);
    Sha256 hasher;
    for (const ByteSpan part : preimage.parts) hasher.Write(part);
    tx->m_view.txid = Txid(Sha256Of(hasher.Finalize()));
    tx->m_wtxid = tx->m_view.WitnessHash();
    return TransactionRef(std::move(tx));
}

MutableTransaction MutableTransaction::FromView(const TxView& tx)
{
    MutableTransaction out;
    out.version = tx.version;
    out.lock_time = tx.lock_time;
    out.inputs.reserve(tx.inputs.size());
    for (const InputView& view : tx.inputs) {
        MutableInput& input = out.inputs.emplace_back();
        input.prevout = view.Prevout();
        input.script_sig.assign(view.script_sig.begin(), view.script_sig.end());
        input.sequence = view.sequence;
        input.witness.reserve(view.witness_items);
        ForEachWitnessItem(
            view, [&](ByteSpan item) { input.witness.emplace_back(item.begin(), item.end()); });
    }
    out.outputs.reserve(tx.outputs.size());
    for (const OutputView& view : tx.outputs) {
        out.outputs.push_back({view.value, {view.script_pubkey.begin(), view.script_pubkey.end()}});
    }
    return out;
}

bool MutableTransaction::HasWitness() const
{
    return std::any_of(inputs.begin(), inputs.end(),
                       [](const MutableInput& input) { return !input.witness.empty(); });
}

Bytes MutableTransaction::Serialize(bool with_witness) const
{
    const bool extended = with_witness && HasWitness();
    Bytes out;
    Writer writer(out);
    writer.U32(version);
    if (extended) writer.U16(0x0100); // marker 00, flag 01
    writer.CompactSize(inputs.size());
    for (const MutableInput& input : inputs) {
        writer.Hash(input.prevout.txid);
        writer.U32(input.prevout.vout);
        writer.VarBytes(input.script_sig);
        writer.U32(input.sequence);
    }
    writer.CompactSize(outputs.size());
    for (const MutableOutput& output : outputs) {
        writer.I64(output.value);
        writer.VarBytes(output.script_pubkey);
    }
    if (extended) {
        for (const MutableInput& input : inputs) {
            writer.CompactSize(input.witness.size());
            for (const Bytes& item : input.witness) writer.VarBytes(item);
        }
    }
    writer.U32(lock_time);
    return out;
}

Txid MutableTransaction::Id() const { return Txid(Sha256d(Serialize(false))); }

TransactionRef MutableTransaction::Freeze() const
{
    // Without witness the plain form is unambiguous even without inputs.
    return Transaction::Parse(Serialize(), HasWitness()).Value();
}

} // namespace ibd
