// ScriptBook: the scripts that generated coins are locked with, and how each is unlocked. Made
// once from a seed, then immutable and shared; any thread. A few hundred kB.
//
// Spendable templates exist in two forms. Unsigned: anyone can spend, yet valid under every
// consensus rule and about as long as real scripts - P2WSH, P2SH, P2SH-P2WSH, P2TR by script path,
// bare 0-of-1 multisig, bare scripts, the empty script, one of exactly 10,000 bytes. Signed: P2PK,
// P2PKH (both key forms), P2WPKH, P2SH-P2WPKH, 2-of-3 multisig in P2SH, P2WSH and bare, P2TR by key
// and by script. Keepers lock coins that are never spent, in all standard types with scripts not
// seen before.
#pragma once

#include "crypto/secp256k1.h"
#include "sim/rng.h"

#include <vector>

namespace ibd::sim {

struct LockTemplate {
    enum class Signing { kNone, kLegacy, kSegwitV0, kTaprootKey, kTaprootScript };

    Signing signing = Signing::kNone;
    Bytes script_pubkey;
    Bytes script_sig;            //!< as it stands; kLegacy builds its own
    std::vector<Bytes> stack;    //!< after the signatures: script pushes (kLegacy) or witness items
    bool multisig_dummy = false; //!< an empty element before the signatures
    Bytes code;                  //!< what signatures commit to: script code or taproot leaf
    std::vector<Hash32> secrets; //!< one signature each, in this order
    int sigops_cost = 0;         //!< of the output and of spending it, at least BIP141's
};

class ScriptBook {
public:
    ScriptBook(uint64_t seed, bool signed_spends);

    /** Draws a template that Spender can unlock. */
    uint16_t Draw(Rng& rng) const;
    const LockTemplate& At(uint16_t index) const { return m_templates[index]; }

    /** A fresh standard script for a coin that stays; adds its BIP141 cost to `sigops_cost`. */
    Bytes Keeper(Rng& rng, int& sigops_cost) const;

    const Signer& Keys() const { return m_signer; }

private:
    struct Group {
        unsigned weight; //!< share among all groups
        uint16_t first, count;
    };
    /** Adds `count` templates from `make(i)` that are drawn `weight` times of the sum. */
    template <typename Make>
    void AddGroup(unsigned weight, int count, Make make);
    void AddUnsigned();
    void AddSignedLegacy();
    void AddSignedWitness();
    Bytes Key(size_t i) const;
    LockTemplate TwoOfThree(LockTemplate::Signing signing, size_t i) const;

    Rng m_rng;
    Signer m_signer;
    std::vector<Hash32> m_secrets;
    std::vector<LockTemplate> m_templates;
    std::vector<Group> m_groups;
    unsigned m_total_weight = 0;
};

} // namespace ibd::sim
