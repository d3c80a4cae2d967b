// Psbt: a partially signed transaction (BIP174; version 2: BIP370; taproot: BIP371; MuSig2: BIP373)
// as plain fields. Maps are in the order of the encoding. A value type.
#pragma once

#include "keys/sign.h"

namespace ibd {

inline constexpr uint32_t kPsbtVersion2 = 2; //!< the other version is 0

/** Keys with a type byte that no BIP defines, and their values. */
using PsbtUnknown = std::map<Bytes, Bytes>;

/** A value of type 0xfc; its key, with the type byte, is the map's. */
struct PsbtProprietary {
    Bytes identifier;
    uint64_t subtype = 0;
    Bytes value;
};
using PsbtProprietaries = std::map<Bytes, PsbtProprietary>;

using PsbtKeyOrigins = std::map<Bytes, KeyOrigin>; //!< by public key, 33 or 65 bytes
using PsbtTapOrigins = std::map<XOnlyKey, TapKeyOrigin>;

/** BIP373: an aggregate key, and the hash of its leaf; nothing for the key path. */
using MusigKey = std::pair<CompressedKey, std::optional<Hash32>>;
/** The keys of which an aggregate key is made, in their order. */
using MusigParticipants = std::map<CompressedKey, std::vector<CompressedKey>>;
/** The contribution of each participant. */
template <typename Value>
using MusigShares = std::map<MusigKey, std::map<CompressedKey, Value>>;

inline constexpr size_t kMusigNonceSize = 66;

struct PsbtInput {
    TransactionRef non_witness_utxo; //!< the whole previous transaction
    std::optional<MutableOutput> witness_utxo;
    std::map<Hash20, std::pair<Bytes, Bytes>> partial_signatures; //!< as in SpendData
    std::optional<int32_t> sighash_type;
    Bytes redeem_script;
    Bytes witness_script;
    PsbtKeyOrigins key_origins;
    std::map<Hash20, Bytes> ripemd160_preimages;
    std::map<Hash32, Bytes> sha256_preimages;
    std::map<Hash20, Bytes> hash160_preimages;
    std::map<Hash32, Bytes> hash256_preimages;
    Bytes final_script_sig;
    std::vector<Bytes> final_witness;

    Bytes taproot_signature; //!< of the key path
    std::map<TapScriptKey, Bytes> taproot_script_signatures;
    TaprootSpends taproot;
    PsbtTapOrigins taproot_origins;
    MusigParticipants musig_participants;
    MusigShares<Bytes> musig_nonces;
    MusigShares<Hash32> musig_signatures;

    // Fields of the transaction: stored here in version 2, in the unsigned transaction in version
    // 0.
    OutPoint prevout;
    std::optional<uint32_t> sequence;
    // Version 2 only.
    std::optional<uint32_t> time_lock;
    std::optional<uint32_t> height_lock;

    PsbtProprietaries proprietary;
    PsbtUnknown unknown;

    bool IsFinal() const { return !final_script_sig.empty() || !final_witness.empty(); }
    /** The spent output, if known. The previous transaction has precedence over `witness_utxo`. */
    std::optional<MutableOutput> Spent() const;
};

struct PsbtOutput {
    Bytes redeem_script;
    Bytes witness_script;
    PsbtKeyOrigins key_origins;
    std::optional<XOnlyKey> taproot_internal_key;
    std::vector<TapLeaf> taproot_leaves; //!< a whole tree, or empty
    PsbtTapOrigins taproot_origins;
    MusigParticipants musig_participants;

    /** Part of the transaction: stored here in version 2, in the unsigned transaction in version 0.
     */
    MutableOutput output;

    PsbtProprietaries proprietary;
    PsbtUnknown unknown;
};

/** An extended public key in BIP32's serialization, with version bytes. */
using SerializedXpub = std::array<uint8_t, 78>;

/** By public key, then chain code. */
struct XpubOrder {
    bool operator()(const SerializedXpub& a, const SerializedXpub& b) const;
};

struct Psbt {
    // Bits of `modifiable`, BIP370.
    static constexpr uint8_t kInputsModifiable = 1U << 0;
    static constexpr uint8_t kOutputsModifiable = 1U << 1;
    static constexpr uint8_t kHasSighashSingle = 1U << 2;

    uint32_t version = kPsbtVersion2;
    uint32_t tx_version = 2;
    std::optional<uint32_t> fallback_lock_time; //!< in version 0 the transaction's lock time
    std::optional<uint8_t> modifiable;          //!< version 2
    std::map<KeyOrigin, std::set<SerializedXpub, XpubOrder>> xpubs;
    PsbtProprietaries proprietary;
    PsbtUnknown unknown;
    std::vector<PsbtInput> inputs;
    std::vector<PsbtOutput> outputs;

    /** A Psbt of the transaction alone, without its scriptSigs and witnesses. */
    static Psbt FromTransaction(const MutableTransaction& tx, uint32_t version);

    /** The lock time that the inputs require (BIP370); nothing if they exclude each other. */
    std::optional<uint32_t> LockTime() const;
    /** The transaction without signatures; nothing without a lock time. */
    std::optional<MutableTransaction> UnsignedTx() const;
    /** Equal for all Psbts of the same transaction; nothing without a lock time. */
    std::optional<Txid> UniqueId() const;
};

} // namespace ibd
