// Desk: a pool on top of a short chain of headers, for the tests of verdicts and of submission.
#pragma once

#include "kit.h"
#include "mempool/reorganise.h"
#include "mempool/upkeep.h"

namespace ibd::test {

inline constexpr int kTipHeight = 200;
inline constexpr Amount kValue = 1'000'000;
inline constexpr Amount kFee = 10'000;

inline const ChainParams& Regtest()
{
    static const ChainParams params = MakeChainParams(Network::kRegtest);
    return params;
}

/** Headers in a row, ten minutes apart, and a pool on top. */
class Desk : public TipCoins {
public:
    explicit Desk(PolicyOptions policy = {}, PoolLimits limits = {})
        : pool(limits), rules(Regtest().consensus, policy, &m_caches), door(rules, pool, *this),
          m_headers(kTipHeight + 1)
    {
        for (int i = 0; i <= kTipHeight; ++i) {
            m_headers[i].height = i;
            m_headers[i].time = static_cast<uint32_t>(kFirstTime + 600 * i);
            m_headers[i].hash.data()[0] = static_cast<uint8_t>(i);
            m_headers[i].prev = i > 0 ? &m_headers[i - 1] : nullptr;
        }
    }

    OutPoint AddCoin(Bytes script = kTrueHash, Amount value = kValue, uint32_t height = 1,
                     bool coinbase = false)
    {
        const OutPoint name = Name(m_made++);
        Coin coin;
        coin.value = value;
        coin.script = ScriptBytes(script);
        coin.height = height;
        coin.coinbase = coinbase;
        coins.coins[name] = coin;
        return name;
    }
    /** "" if it would be taken. */
    std::string Test(const MutableTransaction& tx)
    {
        return ReasonOf(Must(door.Test(tx.Freeze(), kFirstTime)).violation);
    }
    std::string Accept(const MutableTransaction& tx, int64_t now = kFirstTime)
    {
        const SubmitOptions options{.arrival = {.now = now, .time = now}};
        return ReasonOf(Must(door.Submit(tx.Freeze(), options)).verdict.violation);
    }
    /** The verdict on the package, or else on its first refused transaction. */
    std::string TestPackage(const std::vector<MutableTransaction>& txs)
    {
        std::vector<TransactionRef> package;
        for (const MutableTransaction& tx : txs) package.push_back(tx.Freeze());
        const PackageVerdict verdict = Must(door.TestPackage(package, kFirstTime));
        if (verdict.violation) return verdict.violation->reason;
        for (const auto& [id, one] : verdict.txs) {
            if (one.violation) return one.violation->reason;
        }
        CHECK(verdict.txs.size() == txs.size());
        return "";
    }
    /** With the tip of At() or Below(). */
    void Reorganise(const DisconnectedTxs& disconnected)
    {
        const HeaderNode& tip = is_below ? Below().tip : At().tip;
        pool.gate.Close();
        Must(ibd::Reorganise(rules, disconnected, tip, *this, pool, kFirstTime));
        pool.gate.Open();
    }
    static std::string ReasonOf(const RuleResult& violation)
    {
        return violation ? violation->reason : "";
    }
    size_t Size()
    {
        const Lock lock(pool.mutex);
        return pool.Size();
    }
    CoinsAtTip At() const { return {m_headers.back(), coins, is_current}; }
    Result<> With(const Use& use) const override
    {
        if (before_use) std::exchange(before_use, {})();
        return use(is_below ? Below() : At());
    }
    /** Calls the function at the n-th use of the coins from now, before it. */
    void AtUse(int n, std::function<void()> change)
    {
        if (n > 1) {
            change = [this, n, change = std::move(change)] { AtUse(n - 1, change); };
        }
        before_use = std::move(change);
    }
    void GiveDelta(const MutableTransaction& tx, Amount delta)
    {
        const Lock lock(pool.mutex);
        Prioritise(pool, tx.Id(), delta);
    }
    Amount DeltaInPool(const MutableTransaction& tx)
    {
        const Lock lock(pool.mutex);
        const PoolTx* const found = pool.Find(tx.Id());
        REQUIRE(found);
        return found->delta;
    }
    bool is_below = false;
    bool is_current = false;
    mutable std::function<void()> before_use; //!< called once
    /** One block below the tip. */
    CoinsAtTip Below() const { return {m_headers[kTipHeight - 1], coins}; }
    /** A transaction that would be taken. */
    MutableTransaction Good() { return Spending({AddCoin()}, {kValue - kFee}); }
    /** The same, spending a coin of this script so. */
    MutableTransaction Spend(const Bytes& script, const Bytes& script_sig,
                             std::vector<Bytes> witness = {})
    {
        MutableTransaction tx = Spending({AddCoin(script)}, {kValue - kFee});
        tx.inputs[0].script_sig = script_sig;
        tx.inputs[0].witness = std::move(witness);
        return tx;
    }

    static constexpr int64_t kFirstTime = 1'600'000'000;
    MapCoins coins;
    TxPool pool;

private:
    VerificationCaches m_caches{1 << 20, CacheSalt{}};

public:
    TxAcceptance rules;
    TxSubmission door;

private:
    std::vector<HeaderNode> m_headers;
    uint32_t m_made = 0;
};

} // namespace ibd::test
