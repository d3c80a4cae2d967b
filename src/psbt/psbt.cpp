// See psbt.h.
#include "psbt/psbt.h"

#include <algorithm>

namespace ibd {

namespace {

/** The lock times that the inputs of a version 2 Psbt require. */
class RequiredLocks {
public:
    /** False: now neither a time nor a height is possible. */
    bool Add(const PsbtInput& input)
    {
        if (input.time_lock && !input.height_lock) m_height.possible = false;
        if (input.height_lock && !input.time_lock) m_time.possible = false;
        m_time.value = std::max(m_time.value, input.time_lock.value_or(0));
        m_height.value = std::max(m_height.value, input.height_lock.value_or(0));
        return m_time.possible || m_height.possible;
    }
    /** A height, if possible; 0 if no input requires one. */
    uint32_t Value() const
    {
        if (m_height.possible && m_height.value > 0) return m_height.value;
        return m_time.possible ? m_time.value : 0;
    }

private:
    struct Lock {
        bool possible = true;
        uint32_t value = 0;
    };
    Lock m_time;
    Lock m_height;
};

} // namespace

bool XpubOrder::operator()(const SerializedXpub& a, const SerializedXpub& b) const
{
    constexpr size_t kKeyAt = 45, kChainCodeAt = 13;
    const auto part = [](const SerializedXpub& xpub, size_t from, size_t to) {
        return AsChars(ByteSpan(xpub).subspan(from, to - from));
    };
    const int keys = part(a, kKeyAt, a.size()).compare(part(b, kKeyAt, b.size()));
    if (keys != 0) return keys < 0;
    return part(a, kChainCodeAt, kKeyAt) < part(b, kChainCodeAt, kKeyAt);
}

std::optional<MutableOutput> PsbtInput::Spent() const
{
    if (!non_witness_utxo) return witness_utxo;
    const TxView& tx = non_witness_utxo->View();
    if (prevout.vout >= tx.outputs.size() || tx.txid != prevout.txid) return std::nullopt;
    const OutputView& output = tx.outputs[prevout.vout];
    return MutableOutput{output.value, {output.script_pubkey.begin(), output.script_pubkey.end()}};
}

Psbt Psbt::FromTransaction(const MutableTransaction& tx, uint32_t version)
{
    Psbt out;
    out.version = version;
    out.tx_version = tx.version;
    out.fallback_lock_time = tx.lock_time;
    for (const MutableInput& input : tx.inputs) {
        PsbtInput& made = out.inputs.emplace_back();
        made.prevout = input.prevout;
        made.sequence = input.sequence;
    }
    for (const MutableOutput& output : tx.outputs) out.outputs.emplace_back().output = output;
    return out;
}

std::optional<uint32_t> Psbt::LockTime() const
{
    RequiredLocks locks;
    for (const PsbtInput& input : inputs) {
        if (!locks.Add(input)) return std::nullopt;
    }
    const uint32_t required = locks.Value();
    return required > 0 ? required : fallback_lock_time.value_or(0);
}

std::optional<MutableTransaction> Psbt::UnsignedTx() const
{
    const auto lock_time = LockTime();
    if (!lock_time) return std::nullopt;
    MutableTransaction tx;
    tx.version = tx_version;
    tx.lock_time = *lock_time;
    for (const PsbtInput& input : inputs) {
        MutableInput& made = tx.inputs.emplace_back();
        made.prevout = input.prevout;
        made.sequence = input.sequence.value_or(made.sequence);
    }
    for (const PsbtOutput& output : outputs) tx.outputs.push_back(output.output);
    return tx;
}

std::optional<Txid> Psbt::UniqueId() const
{
    auto tx = UnsignedTx();
    if (!tx) return std::nullopt;
    if (version == kPsbtVersion2) {
        for (MutableInput& input : tx->inputs) input.sequence = 0;
    }
    return tx->Id();
}

} // namespace ibd
