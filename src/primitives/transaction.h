// Owning transactions. Transaction: immutable bytes with their view, shared between the pool, RPC
// and peers. MutableTransaction: plain fields, for building.
#pragma once

#include "primitives/serialize.h"
#include "primitives/tx_view.h"
#include "util/result.h"

#include <memory>
#include <vector>

namespace ibd {

class Transaction {
public:
    /** Parses exactly one transaction without surplus bytes. `allow_witness`: false: only the
     *  pre-BIP144 form is read. Rejects what Core rejects: truncation, counts past the end,
     *  superfluous witness record, unknown flag bits. */
    static Result<std::shared_ptr<const Transaction>> Parse(ByteSpan raw,
                                                            bool allow_witness = true);

    const TxView& View() const { return m_view; }
    const TxView* operator->() const { return &m_view; }
    const Txid& Id() const { return m_view.txid; }
    const Wtxid& WitnessId() const { return m_wtxid; }

    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

private:
    Transaction() = default;

    Bytes m_raw;
    std::vector<InputView> m_inputs;
    std::vector<OutputView> m_outputs;
    TxView m_view;
    Wtxid m_wtxid;
};

using TransactionRef = std::shared_ptr<const Transaction>;

struct MutableInput {
    OutPoint prevout;
    Bytes script_sig;
    uint32_t sequence = 0xffffffff;
    std::vector<Bytes> witness;
};

struct MutableOutput {
    Amount value = 0;
    Bytes script_pubkey;
};

struct MutableTransaction {
    uint32_t version = 2;
    std::vector<MutableInput> inputs;
    std::vector<MutableOutput> outputs;
    uint32_t lock_time = 0;

    static MutableTransaction FromView(const TxView& tx);
    bool HasWitness() const;
    /** Extended form if any input has a witness and `with_witness` is true. */
    Bytes Serialize(bool with_witness = true) const;
    Txid Id() const;
    /** The immutable form of the current fields. */
    TransactionRef Freeze() const;
};

} // namespace ibd
