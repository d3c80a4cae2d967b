// Signature hashes: what a signature in an input signs - original (before BIP143), BIP143 and
// BIP341. TxHashes keeps the parts that all inputs of a transaction share. Immutable once made; any
// thread.
#pragma once

#include "crypto/sha256.h"
#include "primitives/tx_view.h"
#include "script/coin.h"

#include <optional>
#include <span>

namespace ibd {

// Hash type byte at the end of a signature.
inline constexpr uint8_t kSigHashDefault = 0; //!< BIP341: as ALL, byte left out
inline constexpr uint8_t kSigHashAll = 1;
inline constexpr uint8_t kSigHashNone = 2;
inline constexpr uint8_t kSigHashSingle = 3;
inline constexpr uint8_t kSigHashAnyoneCanPay = 0x80;

/** Rules under which a script runs. */
enum class SigVersion {
    kBase,      //!< bare and P2SH
    kWitnessV0, //!< BIP141
    kTaproot,   //!< BIP341 key path
    kTapscript, //!< BIP342
};

/** An output that is being spent, as signatures commit to it. */
struct SpentOutput {
    Amount value = 0;
    ByteSpan script_pubkey;
};

/** Hashes over all inputs and outputs, made once for a transaction (BIP143, BIP341). */
struct TxHashes {
    /** `spent`: one output for each input, or empty when unknown - then taproot signatures cannot
     *  be checked. */
    TxHashes(const TxView& tx, std::span<const SpentOutput> spent);

    bool have_spent = false;
    // Single SHA-256, as BIP341 uses them; BIP143 hashes the first three once more.
    Hash32 prevouts{};
    Hash32 sequences{};
    Hash32 outputs{};
    Hash32 amounts{};
    Hash32 scripts{};
    // Double SHA-256, BIP143.
    Hash32 prevouts_twice{};
    Hash32 sequences_twice{};
    Hash32 outputs_twice{};
};

/** The original algorithm. `script_code` is hashed without its OP_CODESEPARATORs. */
Hash32 LegacySigHash(const TxView& tx, size_t input, ByteSpan script_code, uint32_t hash_type);

/** BIP143. */
Hash32 WitnessV0SigHash(const TxView& tx, size_t input, ByteSpan script_code, Amount value,
                        uint32_t hash_type, const TxHashes& hashes);

/** What a taproot signature commits to besides the transaction. */
struct TaprootContext {
    bool tapscript = false;               //!< script path
    Hash32 leaf_hash{};                   //!< script path only
    uint32_t code_separator = 0xffffffff; //!< index of the last one executed
    std::optional<Hash32> annex_hash;
};

/** BIP341. `spent` is this input's. Nothing for an undefined hash type, SIGHASH_SINGLE without a
 *  matching output, or hashes made without the spent outputs. */
std::optional<Hash32> TaprootSigHash(const TxView& tx, size_t input, const SpentOutput& spent,
                                     uint8_t hash_type, const TxHashes& hashes,
                                     const TaprootContext& context);

} // namespace ibd
