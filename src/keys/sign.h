// Solves output scripts: the signatures, keys and scripts that an input must carry, from the
// available ones. Supports the standard templates, and miniscript in P2WSH and in taproot leaves.
// One thread.
#pragma once

#include "keys/key_ring.h"
#include "keys/miniscript/satisfy.h"
#include "primitives/transaction.h"
#include "script/standard.h"
#include "script/verify.h"

namespace ibd {

/** The rules for relaying transactions, except that input scripts must only push. */
inline constexpr ScriptFlags kStandardVerifyFlags =
    ((kVerifyDiscourageUpgradablePubkeyType << 1) - 1) & ~kVerifySigPushOnly;

/** A key with its origin. */
using KeyWithOrigin = std::pair<Bytes, KeyOrigin>;
/** The leaves that a taproot key signs for, and its origin. */
using TapKeyOrigin = std::pair<std::set<Hash32>, KeyOrigin>;
/** A key in a leaf, by the leaf's hash. */
using TapScriptKey = std::pair<XOnlyKey, Hash32>;

/** Preimages by their hash. */
struct Preimages {
    std::map<Hash20, Bytes> ripemd160;
    std::map<Hash32, Bytes> sha256;
    std::map<Hash20, Bytes> hash160;
    std::map<Hash32, Bytes> hash256;

    /** `function`: as in miniscript::WitnessSource. */
    std::optional<Bytes> Find(miniscript::Fragment function, ByteSpan hash) const;
};

/** Known data for spending an output, and the missing items. */
struct SpendData {
    bool complete = false;   //!< script_sig and witness are complete
    bool by_witness = false; //!< the output, or its redeem script, is a witness program
    Bytes script_sig;
    std::vector<Bytes> witness;
    Bytes redeem_script;
    Bytes witness_script;
    std::map<Hash20, std::pair<Bytes, Bytes>> signatures; //!< key and signature, by the key's hash
    std::map<Hash20, KeyWithOrigin> origins;              //!< of keys, by the key's hash
    TaprootSpends taproot;
    std::vector<TapLeaf> taproot_leaves; //!< the whole tree, if known
    Bytes taproot_signature;             //!< of the key path
    std::map<TapScriptKey, Bytes> taproot_script_signatures;
    std::map<XOnlyKey, TapKeyOrigin> taproot_origins;
    Preimages preimages;

    std::vector<Hash20> missing_keys; //!< public keys known only by hash
    std::vector<Hash20> missing_signatures;
    std::optional<Hash20> missing_redeem_script;
    std::optional<Hash32> missing_witness_script;

    /** The public key with this Hash160, of the input or of `keys`; null: unknown. */
    const Bytes* FindPublicKey(const KeyRing& keys, const Hash20& hash) const;
    /** Adds the data of `other` about the same output. */
    void Merge(SpendData other);
    /** Runs `script_pubkey` on script_sig and witness, with the flags of policy. */
    ScriptError Verify(ByteSpan script_pubkey, const SignatureChecker& checker) const;
};

/** The target of a Schnorr signature. With `leaf`: this leaf. With `merkle_root` (empty without a
 *  tree): the key path, by the internal key, which is tweaked. With neither: the key path, by the
 *  output's key. */
struct SchnorrUse {
    std::optional<Hash32> leaf;
    std::optional<Bytes> merkle_root;
};

/** Makes signatures of one input. */
class SignatureMaker {
public:
    virtual ~SignatureMaker() = default;
    virtual const SignatureChecker& Checker() const = 0;
    /** With the hash type at the end; nothing without the secret. `key`: Hash160 of the public key.
     */
    virtual std::optional<Bytes> Ecdsa(const Hash20& key, ByteSpan script_code,
                                       SigVersion version) const = 0;
    /** With the hash type if it is not the default; nothing without the secret. */
    virtual std::optional<Bytes> Schnorr(const XOnlyKey& key, const SchnorrUse& use) const = 0;
};

/** Signs with the secrets of a ring. All arguments must outlive it. */
class TxSignatureMaker final : public SignatureMaker {
public:
    /** `hash_type`: kSigHashDefault means ALL where there is no default. */
    TxSignatureMaker(const TxView& tx, size_t input, const SpentOutput& spent,
                     const TxHashes& hashes, uint8_t hash_type, const KeyRing& keys)
        : m_tx(tx), m_input(input), m_spent(spent), m_hashes(hashes), m_hash_type(hash_type),
          m_keys(keys), m_checker(tx, input, spent, hashes)
    {
    }
    const SignatureChecker& Checker() const override { return m_checker; }
    std::optional<Bytes> Ecdsa(const Hash20& key, ByteSpan script_code,
                               SigVersion version) const override;
    std::optional<Bytes> Schnorr(const XOnlyKey& key, const SchnorrUse& use) const override;

private:
    const TxView& m_tx;
    const size_t m_input;
    const SpentOutput m_spent;
    const TxHashes& m_hashes;
    const uint8_t m_hash_type;
    const KeyRing& m_keys;
    const TxSignatureChecker m_checker;
};

/** Makes dummy signatures of the usual size and accepts them, to find missing items or the size. */
class DummySignatureMaker final : public SignatureMaker {
public:
    DummySignatureMaker();
    ~DummySignatureMaker() override;
    const SignatureChecker& Checker() const override { return *m_checker; }
    std::optional<Bytes> Ecdsa(const Hash20& key, ByteSpan script_code,
                               SigVersion version) const override;
    std::optional<Bytes> Schnorr(const XOnlyKey& key, const SchnorrUse& use) const override;

private:
    std::unique_ptr<SignatureChecker> m_checker;
};

/** Makes no signatures and needs no transaction, to find the keys and scripts of an output. */
class NoSignatureMaker final : public SignatureMaker {
public:
    const SignatureChecker& Checker() const override;
    std::optional<Bytes> Ecdsa(const Hash20&, ByteSpan, SigVersion) const override
    {
        return std::nullopt;
    }
    std::optional<Bytes> Schnorr(const XOnlyKey&, const SchnorrUse&) const override
    {
        return std::nullopt;
    }
};

/** Answers a miniscript's questions from the data and the transaction; signatures are left to a
 *  subclass. */
class InputSource : public miniscript::WitnessSource {
public:
    InputSource(const SignatureMaker& maker, const SpendData& data) : m_maker(maker), m_data(data)
    {
    }
    std::optional<Bytes> FindPreimage(miniscript::Fragment function, ByteSpan hash) const override
    {
        return m_data.preimages.Find(function, hash);
    }
    bool IsOlder(uint32_t lock) const override;
    bool IsAfter(uint32_t lock) const override;

private:
    const SignatureMaker& m_maker;
    const SpendData& m_data;
};

/** Fills in the data that spends `script_pubkey`, from `data`, the ring and the maker. Returns
 *  whether it is complete; complete data stays unchanged. */
bool Solve(ByteSpan script_pubkey, const KeyRing& keys, const SignatureMaker& maker,
           SpendData& data);

/** The part of Solve() for a taproot output: the complete witness, or nothing. */
std::optional<std::vector<Bytes>> SolveTaproot(const XOnlyKey& output, const KeyRing& keys,
                                               const SignatureMaker& maker, SpendData& data);

/** Extracts the data of an input, which may be signed in part. */
SpendData ExtractSpend(const TxView& tx, size_t input, const SpentOutput& spent);

/** Signs all inputs as far as possible. Returns, by input number and in Core's words, the problems
 *  of those that are not complete. `spent`: the output of each input; nothing if unknown. */
std::map<size_t, std::string>
SignTransaction(MutableTransaction& tx, const KeyRing& keys,
                const std::vector<std::optional<MutableOutput>>& spent, uint8_t hash_type);

/** Parses "ALL|ANYONECANPAY" and the like; nothing for invalid text. */
std::optional<uint8_t> ParseSigHashName(std::string_view name);

} // namespace ibd
