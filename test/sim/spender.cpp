// See spender.h.
#include "sim/spender.h"

#include "script/script.h"
#include "util/check.h"

namespace ibd::sim {

namespace {

using Signing = LockTemplate::Signing;

/** Mostly ALL, as on mainnet. */
uint8_t DrawHashType(Rng& rng, bool taproot)
{
    const uint64_t kind = rng.Below(20);
    if (kind < 14) return taproot ? kSighashDefault : kSighashAll;
    const uint8_t base = static_cast<uint8_t>(kSighashAll + kind % 3);
    return kind < 17 ? base : base | kSighashAnyoneCanPay;
}

class Unlocker {
public:
    Unlocker(MutableTransaction& tx, const std::vector<CoinToUnlock>& coins, const ScriptBook& book,
             Rng& rng)
        : m_tx(tx), m_coins(coins), m_book(book), m_rng(rng)
    {
        for (const CoinToUnlock& coin : coins) {
            m_spent.push_back({coin.value, book.At(coin.script).script_pubkey});
        }
    }

    void Unlock(size_t i)
    {
        const LockTemplate& script = m_book.At(m_coins[i].script);
        std::vector<Bytes> stack;
        if (script.multisig_dummy) stack.emplace_back();
        for (const Hash32& secret : script.secrets) stack.push_back(Sign(i, script, secret));
        stack.insert(stack.end(), script.stack.begin(), script.stack.end());
        MutableInput& input = m_tx.inputs[i];
        input.script_sig = script.script_sig;
        if (script.signing == Signing::kLegacy) {
            for (const Bytes& item : stack) AppendPush(input.script_sig, item);
        } else {
            input.witness = std::move(stack);
        }
    }

private:
    Bytes Sign(size_t i, const LockTemplate& script, const Hash32& secret)
    {
        const bool taproot =
            script.signing == Signing::kTaprootKey || script.signing == Signing::kTaprootScript;
        uint8_t type = DrawHashType(m_rng, taproot);
        if (taproot && (type & 3) == kSighashSingle && i >= m_tx.outputs.size()) type = kSighashAll;
        if (!taproot) {
            const Hash32 hash = script.signing == Signing::kLegacy
                                    ? LegacySighash(m_tx, i, script.code, type)
                                    : SegwitV0Sighash(m_tx, i, script.code, m_coins[i].value, type);
            Bytes signature = m_book.Keys().SignEcdsa(secret, hash);
            signature.push_back(type);
            return signature;
        }
        const Hash32 hash = TaprootSighash(m_tx, i, m_spent, script.code, type);
        const SchnorrSignature schnorr = m_book.Keys().SignSchnorr(secret, hash);
        Bytes signature(schnorr.begin(), schnorr.end());
        if (type != kSighashDefault) signature.push_back(type);
        return signature;
    }

    MutableTransaction& m_tx;
    const std::vector<CoinToUnlock>& m_coins;
    const ScriptBook& m_book;
    Rng& m_rng;
    std::vector<Prevout> m_spent;
};

} // namespace

void UnlockInputs(MutableTransaction& tx, const std::vector<CoinToUnlock>& coins,
                  const ScriptBook& book, Rng& rng)
{
    CHECK(tx.inputs.size() == coins.size());
    Unlocker unlocker(tx, coins, book, rng);
    for (size_t i = 0; i < coins.size(); ++i) unlocker.Unlock(i);
}

} // namespace ibd::sim
