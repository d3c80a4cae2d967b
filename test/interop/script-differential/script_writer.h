// Writes random scripts that mostly get far: it tracks how deep the stack is, and asks for
// signatures by placeholders that are replaced once it is known what they sign.
#pragma once

#include "random.h"

#include "crypto/secp256k1.h"
#include "script/sighash.h"

#include <map>
#include <vector>

namespace ibd::differential {

/** Some key pairs, made once. */
class Keys {
public:
    Keys();

    struct Pair {
        Hash32 secret;
        CompressedKey compressed;
        UncompressedKey uncompressed;
        XOnlyKey x_only;
    };
    const Pair& Any(Random& random) const { return m_pairs[random.Below(m_pairs.size())]; }
    /** The secret behind any form of a public key; null if unknown. */
    const Pair* Find(ByteSpan public_key) const;
    const Signer& Signing() const { return m_signer; }

private:
    Signer m_signer;
    std::vector<Pair> m_pairs;
    std::map<Bytes, size_t> m_by_x;
};

/** A script and the items that it wants on the stack first; the last is the top. */
struct WrittenScript {
    Bytes script;
    std::vector<Bytes> items;
};

class ScriptWriter {
public:
    ScriptWriter(Random& random, const Keys& keys, SigVersion version, uint32_t lock_time,
                 uint32_t sequence)
        : m_random(random), m_keys(keys), m_version(version), m_lock_time(lock_time),
          m_sequence(sequence)
    {
    }

    /** A script of several pieces that is likely to leave one true item. */
    WrittenScript Write();

    /** A public key in some form, rarely not one. */
    Bytes PublicKey();

    static constexpr size_t kPlaceholderSize = 9;
    /** Nine random bytes that begin with 0xf5: stands for a signature. */
    Bytes Placeholder();
    static bool IsPlaceholder(ByteSpan item)
    {
        return item.size() == kPlaceholderSize && item[0] == 0xf5;
    }

private:
    void Piece(int nesting);
    void Signature(bool with_verify);
    void Multisig();
    void SigAdd();
    void LockTime();
    void HashLock();
    void Branch(int nesting);
    void Computation(size_t operations);
    void StackOperation();
    void PushSomething();
    void AnyByte();
    void Limits();
    void GiveSignature();
    void Finish();
    void Op(uint8_t op) { m_out.script.push_back(op); }
    void Push(ByteSpan data);
    void PushNumber(int64_t number);

    Random& m_random;
    const Keys& m_keys;
    const SigVersion m_version;
    const uint32_t m_lock_time;
    const uint32_t m_sequence;
    WrittenScript m_out;
    std::vector<Bytes> m_signatures;  //!< in the order of use; wait on the altstack
    size_t m_depth = 0;               //!< estimate
    bool m_inline_signatures = false; //!< in the script itself (before BIP141 only)
};

} // namespace ibd::differential
