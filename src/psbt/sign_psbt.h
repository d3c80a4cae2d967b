// Updater, signer, finalizer and extractor of PSBTs (BIP174, BIP371): add the data of available
// keys and scripts to inputs and outputs. Signs by script/sign.h. One thread.
#pragma once

#include "psbt/psbt.h"

namespace ibd {

/** Result of signing an input. */
enum class PsbtSignResult {
    kComplete,
    kIncomplete,
    kNoOutput,        //!< the spent output is unknown
    kSighashMismatch, //!< the input, or one of its signatures, has another hash type
};

struct PsbtSignOptions {
    std::optional<int32_t> sighash_type; //!< nothing: the default for the output
    bool finalize = true;                //!< if complete, fill in the final script and witness
};

/** The transaction of a Psbt and its spent outputs at the time of construction: the data that
 *  signatures commit to. Signing does not change them. */
class PsbtTx {
public:
    /** Nothing: the inputs' lock times exclude each other. */
    static std::unique_ptr<const PsbtTx> Of(const Psbt& psbt);

    const TxView& View() const { return m_tx->View(); }
    const TxHashes& Hashes() const { return m_hashes; }
    /** Hashes made without the spent outputs, with which taproot signatures cannot be checked. */
    const TxHashes& BlindHashes() const { return m_blind_hashes; }

private:
    PsbtTx(TransactionRef tx, std::vector<std::optional<MutableOutput>> spent);

    const TransactionRef m_tx;
    const std::vector<std::optional<MutableOutput>> m_outputs;
    const std::vector<SpentOutput> m_spent; //!< refer to m_outputs; empty if one is unknown
    const TxHashes m_hashes;
    const TxHashes m_blind_hashes;
};

/** Whether to sign with secrets, or with dummies of the usual size. */
enum class PsbtSignatures { kTrue, kDummy };

/** Updates input `index` of the Psbt with the ring's data and signs it with the ring's secrets.
 *  `missing`: if not null, receives the missing items. */
PsbtSignResult SignPsbtInput(Psbt& psbt, size_t index, const PsbtTx& tx, const KeyRing& keys,
                             const PsbtSignOptions& options,
                             PsbtSignatures signatures = PsbtSignatures::kTrue,
                             SpendData* missing = nullptr);

/** Adds the ring's data about output `index`. */
void UpdatePsbtOutput(Psbt& psbt, size_t index, const KeyRing& keys);

/** Removes whole previous transactions if all inputs are taproot: their signatures commit to the
 *  outputs. */
void DropNeedlessTransactions(Psbt& psbt);

/** Whether the input has its final script and witness, and they are valid. */
bool IsFinalAndValid(const PsbtInput& input, size_t index, const PsbtTx& tx,
                     const TxHashes& hashes);

/** Finalizes all inputs that can be; true: the Psbt is final. */
bool FinalizePsbt(Psbt& psbt);
/** Finalizes, and returns the signed transaction if the Psbt is final. */
std::optional<MutableTransaction> FinalizeAndExtract(Psbt& psbt);

} // namespace ibd
