// Solving output scripts: which signatures, keys and scripts an input must carry, as far as they
// are at hand. Of the well-known shapes, and of taproot's leaves those of pk() and multi_a(); no
// miniscript. One thread.
#pragma once

#include "primitives/transaction.h"
#include "script/key_ring.h"
#include "script/standard.h"
#include "script/verify.h"

namespace ibd {

/** What nodes ask of transactions before they pass them on: every rule but that input scripts only
 *  push. */
inline constexpr ScriptFlags kStandardVerifyFlags =
    ((kVerifyDiscourageUpgradablePubkeyType << 1) - 1) & ~kVerifySigPushOnly;

/** A key and where it comes from. */
using KeyWithOrigin = std::pair<Bytes, KeyOrigin>;
/** The leaves that a taproot key signs for, and where it comes from. */
using TapKeyOrigin = std::pair<std::set<Hash32>, KeyOrigin>;
/** A key in a leaf, by the leaf's hash. */
using TapScriptKey = std::pair<XOnlyKey, Hash32>;

/** What is known of how an output is spent, and what was found wanting. */
struct SpendData {
    bool complete = false;   //!< script_sig and witness spend it
    bool by_witness = false; //!< the output, or its redeem script, is a witness program
    Bytes script_sig;
    std::vector<Bytes> witness;
    Bytes redeem_script;
    Bytes witness_script;
    std::map<Hash20, std::pair<Bytes, Bytes>> signatures; //!< key and signature, by the key's hash
    std::map<Hash20, KeyWithOrigin> origins;              //!< of keys, by the key's hash
    TaprootSpends taproot;
    std::vector<TapLeaf> taproot_leaves; //!< the whole tree, if it is known
    Bytes taproot_signature;             //!< of the key path
    std::map<TapScriptKey, Bytes> taproot_script_signatures;
    std::map<XOnlyKey, TapKeyOrigin> taproot_origins;

    std::vector<Hash20> missing_keys; //!< public keys of which the hash alone is known
    std::vector<Hash20> missing_signatures;
    std::optional<Hash20> missing_redeem_script;
    std::optional<Hash32> missing_witness_script;

    /** Adds what `other` knows of the same output. */
    void Merge(SpendData other);
};

/** What a Schnorr signature is for: a leaf; or the key path, by the output's key itself or, with a
 *  root (empty where there is no tree), by the internal key that it is tweaked from. */
struct SchnorrUse {
    std::optional<Hash32> leaf;
    std::optional<Bytes> merkle_root;
};

/** Makes signatures of one input. */
class SignatureMaker {
public:
    virtual ~SignatureMaker() = default;
    virtual const SignatureChecker& Checker() const = 0;
    /** With hash type at the end; nothing without the secret. `key`: Hash160 of the public key. */
    virtual std::optional<Bytes> Ecdsa(const Hash20& key, ByteSpan script_code,
                                       SigVersion version) const = 0;
    /** Likewise. */
    virtual std::optional<Bytes> Schnorr(const XOnlyKey& key, const SchnorrUse& use) const = 0;
};

/** Signs with the secrets of a ring. Everything given must outlive it. */
class TxSignatureMaker final : public SignatureMaker {
public:
    /** `hash_type`: kSigHashDefault stands for ALL where there is no default. */
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

/** Makes signatures of the usual size that are worth nothing, and believes in them: for those who
 *  only want to know what is missing, or the size. */
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

/** Makes no signatures and knows of no transaction: for those who only want to know which keys and
 *  scripts belong to an output. */
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

/** Fills in what spends `script_pubkey`, from what `data` and the ring know and the maker can sign;
 *  says whether it is complete. What is complete already stays as it is. */
bool Solve(ByteSpan script_pubkey, const KeyRing& keys, const SignatureMaker& maker,
           SpendData& data);

/** The part of Solve() for a taproot output: the witness, if it is complete. */
std::optional<std::vector<Bytes>> SolveTaproot(const XOnlyKey& output, const KeyRing& keys,
                                               const SignatureMaker& maker, SpendData& data);

/** What an input that may be signed in part tells. */
SpendData ExtractSpend(const TxView& tx, size_t input, const SpentOutput& spent);

/** Signs what can be signed; what of an input is wrong or wanting is told in Core's words by its
 *  number. `spent`: the output of each input, nothing where that is not known. */
std::map<size_t, std::string>
SignTransaction(MutableTransaction& tx, const KeyRing& keys,
                const std::vector<std::optional<MutableOutput>>& spent, uint8_t hash_type);

/** "ALL|ANYONECANPAY" and the like; nothing for what is none. */
std::optional<uint8_t> ParseSigHashName(std::string_view name);

} // namespace ibd
