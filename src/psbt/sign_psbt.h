// Updater, signer, finalizer and extractor of PSBTs (BIP174, BIP371): what keys and scripts at hand
// add to inputs and outputs. Signing is that of script/sign.h. One thread.
#pragma once

#include "psbt/psbt.h"

namespace ibd {

/** What came of signing an input. */
enum class PsbtSignResult {
    kComplete,
    kIncomplete,
    kNoOutput,        //!< what it spends is not known
    kSighashMismatch, //!< the input, or a signature in it, has another hash type
};

struct PsbtSignOptions {
    std::optional<int32_t> sighash_type; //!< without: the default of the output's kind
    bool finalize = true;                //!< fill in the final script and witness if it is complete
};

/** The transaction of a Psbt and the outputs that it spends, as they were when this was made: what
 *  signatures sign. Signing does not change them. */
class PsbtTx {
public:
    /** Nothing where the inputs' lock times exclude each other. */
    static std::unique_ptr<const PsbtTx> Of(const Psbt& psbt);

    const TxView& View() const { return m_tx->View(); }
    const TxHashes& Hashes() const { return m_hashes; }
    /** Hashes that know no outputs, so that taproot signatures cannot be checked. */
    const TxHashes& BlindHashes() const { return m_blind_hashes; }

private:
    PsbtTx(TransactionRef tx, std::vector<std::optional<MutableOutput>> spent);

    const TransactionRef m_tx;
    const std::vector<std::optional<MutableOutput>> m_outputs;
    const std::vector<SpentOutput> m_spent; //!< into m_outputs; empty if one is not known
    const TxHashes m_hashes;
    const TxHashes m_blind_hashes;
};

/** How to sign: with secrets, or with dummies of the usual size. */
enum class PsbtSignatures { kTrue, kDummy };

/** Updates input `index` of the Psbt with what the ring knows and signs it with its secrets. With
 *  `told`: what was found wanting is added there. */
PsbtSignResult SignPsbtInput(Psbt& psbt, size_t index, const PsbtTx& tx, const KeyRing& keys,
                             const PsbtSignOptions& options,
                             PsbtSignatures signatures = PsbtSignatures::kTrue,
                             SpendData* told = nullptr);

/** Adds what the ring knows of output `index`. */
void UpdatePsbtOutput(Psbt& psbt, size_t index, const KeyRing& keys);

/** Drops whole transactions that are spent from where all inputs are taproot's: their signatures
 *  commit to the outputs. */
void DropNeedlessTransactions(Psbt& psbt);

/** Whether the final script and witness of the input are there and right. */
bool IsFinalAndValid(const PsbtInput& input, size_t index, const PsbtTx& tx,
                     const TxHashes& hashes);

/** Makes final what can be; true if that is all. */
bool FinalizePsbt(Psbt& psbt);
/** Likewise, and the signed transaction if it is. */
std::optional<MutableTransaction> FinalizeAndExtract(Psbt& psbt);

} // namespace ibd
