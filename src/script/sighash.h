// Signature hashes, the messages that signatures sign: original (before BIP143), BIP143 and BIP341.
// TxHashes keeps the parts that all inputs of a transaction share, InputHashes those that all
// signatures of one input share.
#pragma once

#include "crypto/sha256.h"
#include "primitives/tx_view.h"
#include "script/coin.h"
#include "script/script_bytes.h"

#include <array>
#include <mutex>
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

/** A spent output, as signatures commit to it. */
struct SpentOutput {
    Amount value = 0;
    ByteSpan script_pubkey;
};

/** Hashes over all inputs and outputs of a transaction (BIP143, BIP341), each computed on first
 *  use: most transactions need few, and a block's spent scripts can take 244 MB. Any thread. */
class TxHashes {
public:
    /** Single SHA-256 for BIP341; hashed again for BIP143. */
    struct Own {
        Hash32 prevouts{};
        Hash32 sequences{};
        Hash32 outputs{};
        Hash32 prevouts_twice{};
        Hash32 sequences_twice{};
        Hash32 outputs_twice{};
    };
    /** Over the spent outputs; BIP341. */
    struct Spent {
        Hash32 amounts{};
        Hash32 scripts{};
    };

    /** `spent`: one output for each input, or empty if unknown; then taproot signatures cannot be
     *  checked. Both must outlive the object. */
    TxHashes(const TxView& tx, std::span<const SpentOutput> spent) : m_tx(tx), m_outputs(spent) {}

    bool HaveSpent() const;
    const Own& OfTx() const;
    /** Requires HaveSpent(). */
    const Spent& OfSpent() const;

private:
    const TxView& m_tx;
    const std::span<const SpentOutput> m_outputs;
    mutable std::once_flag m_own_made;
    mutable std::once_flag m_spent_made;
    mutable Own m_own;
    mutable Spent m_spent;
};

/** The common part of the signature hashes of one input: for each kind of hash type the hasher's
 *  state just before the type, with its script code. A script that checks a thousand signatures
 *  then hashes a large transaction once. Bounded: six kinds, one script code each. One thread. */
class InputHashes {
public:
    /** The hasher for that script code, or null. */
    const Sha256* Find(SigVersion version, uint32_t hash_type, ByteSpan script_code) const;
    void Keep(SigVersion version, uint32_t hash_type, ByteSpan script_code, const Sha256& hasher);
    /** Bytes that an original or BIP143 hash of that type would hash, or compare with the kept
     *  script code. At most; without the bytes of hashes that all inputs of `tx` share. */
    size_t BytesToHash(const TxView& tx, size_t input, SigVersion version, uint32_t hash_type,
                       ByteSpan script_code) const;
    /** SHA-256 of the output with the input's index (SIGHASH_SINGLE), which must exist. */
    const Hash32& OwnOutput(const TxView& tx, size_t input);

private:
    struct Entry {
        SigVersion version;
        ScriptBytes script_code;
        Sha256 hasher;
    };
    std::array<std::optional<Entry>, 6> m_entries;
    std::optional<Hash32> m_own_output;
};

// `kept`: the InputHashes of `input`, or null; the hash is the same.

/** The original algorithm. Hashes `script_code` without its OP_CODESEPARATORs. */
Hash32 LegacySigHash(const TxView& tx, size_t input, ByteSpan script_code, uint32_t hash_type,
                     InputHashes* kept = nullptr);

/** BIP143. */
Hash32 WitnessV0SigHash(const TxView& tx, size_t input, ByteSpan script_code, Amount value,
                        uint32_t hash_type, const TxHashes& hashes, InputHashes* kept = nullptr);

/** The data that a taproot signature commits to besides the transaction. */
struct TaprootContext {
    bool tapscript = false;               //!< script path
    Hash32 leaf_hash{};                   //!< script path only
    uint32_t code_separator = 0xffffffff; //!< index of the last one executed
    std::optional<Hash32> annex_hash;
};

/** BIP341. `spent`: the output of this input. Nothing: an undefined hash type, SIGHASH_SINGLE
 *  without a matching output, or hashes made without the spent outputs. */
std::optional<Hash32> TaprootSigHash(const TxView& tx, size_t input, const SpentOutput& spent,
                                     uint8_t hash_type, const TxHashes& hashes,
                                     const TaprootContext& context, InputHashes* kept = nullptr);

} // namespace ibd
