// Psbt: a partially signed transaction (BIP174; version 2: BIP370; taproot: BIP371; MuSig2: BIP373)
// as plain fields. Maps are in the order in which they are written. A value type.
#pragma once

#include "script/sign.h"

namespace ibd {

inline constexpr uint32_t kPsbtVersion2 = 2; //!< the other one is 0

/** A key with its type byte that no BIP knows, and its value. */
using PsbtUnknown = std::map<Bytes, Bytes>;

/** A value of type 0xfc; the key, with its type byte, is the map's. */
struct PsbtProprietary {
    Bytes identifier;
    uint64_t subtype = 0;
    Bytes value;
};
using PsbtProprietaries = std::map<Bytes, PsbtProprietary>;

using PsbtKeyOrigins = std::map<Bytes, KeyOrigin>; //!< by public key, 33 or 65 bytes
using PsbtTapOrigins = std::map<XOnlyKey, TapKeyOrigin>;

/** BIP373: an aggregate key, and the hash of the leaf that it stands in; of the key path none. */
using MusigKey = std::pair<CompressedKey, std::optional<Hash32>>;
/** Of an aggregate key the keys that it is made of, in their order. */
using MusigParticipants = std::map<CompressedKey, std::vector<CompressedKey>>;
/** What each participant gave. */
template <typename Value>
using MusigShares = std::map<MusigKey, std::map<CompressedKey, Value>>;

inline constexpr size_t kMusigNonceSize = 66;

struct PsbtInput {
    TransactionRef non_witness_utxo; //!< the whole transaction that is spent from
    std::optional<MutableOutput> witness_utxo;
    std::map<Hash20, std::pair<Bytes, Bytes>> partial_signatures; //!< as SpendData has them
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

    // The transaction's; written here in version 2, in version 0 in the unsigned transaction.
    OutPoint prevout;
    std::optional<uint32_t> sequence;
    // Version 2 only.
    std::optional<uint32_t> time_lock;
    std::optional<uint32_t> height_lock;

    PsbtProprietaries proprietary;
    PsbtUnknown unknown;

    bool IsFinal() const { return !final_script_sig.empty() || !final_witness.empty(); }
    /** The output that is spent, if it is known. The transaction outdoes `witness_utxo`. */
    std::optional<MutableOutput> Spent() const;
};

struct PsbtOutput {
    Bytes redeem_script;
    Bytes witness_script;
    PsbtKeyOrigins key_origins;
    std::optional<XOnlyKey> taproot_internal_key;
    std::vector<TapLeaf> taproot_leaves; //!< a whole tree, or none
    PsbtTapOrigins taproot_origins;
    MusigParticipants musig_participants;

    /** The transaction's; written here in version 2, in version 0 in the unsigned transaction. */
    MutableOutput output;

    PsbtProprietaries proprietary;
    PsbtUnknown unknown;
};

/** An extended public key as BIP32 serializes it, with its version bytes. */
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
    std::optional<uint32_t> fallback_lock_time; //!< in version 0 the transaction's
    std::optional<uint8_t> modifiable;          //!< version 2
    std::map<KeyOrigin, std::set<SerializedXpub, XpubOrder>> xpubs;
    PsbtProprietaries proprietary;
    PsbtUnknown unknown;
    std::vector<PsbtInput> inputs;
    std::vector<PsbtOutput> outputs;

    /** Nothing known but the transaction; its scriptSigs and witnesses are left out. */
    static Psbt FromTransaction(const MutableTransaction& tx, uint32_t version);

    /** From the locks that the inputs ask for (BIP370); nothing where they exclude each other. */
    std::optional<uint32_t> LockTime() const;
    /** The transaction without signatures; nothing without a lock time. */
    std::optional<MutableTransaction> UnsignedTx() const;
    /** What Psbts about the same transaction have in common; nothing without a lock time. */
    std::optional<Txid> UniqueId() const;
};

} // namespace ibd
