// ChainTipCoins: the chain's coins for TxSubmission. Owned by the node; any thread.
#pragma once

#include "crypto/random_key.h"
#include "mempool/tx_submission.h"
#include "storage/recent_coins.h"
#include "validation/chain_manager.h"

namespace ibd {

class ChainTipCoins final : public TipCoins {
public:
    /** The chain is null until it is loaded; both outlive all calls. */
    ChainTipCoins(const std::atomic<ChainManager*>& chain, Env& env)
        : m_chain(chain), m_env(env), m_recent(RandomKey(env))
    {
    }

    Result<> With(const Use& use) const override
    {
        const ChainManager* const chain = m_chain;
        if (chain == nullptr || chain->Tip() == nullptr) {
            return SystemError("The chain is not loaded yet");
        }
        const CoinsGuard coins = chain->HoldCoins();
        const RecentCoinsReader reader(m_recent, coins.Cache(), coins.Tip().hash);
        return use({coins.Tip(), reader, IsCurrent(*chain, coins.Tip())});
    }

private:
    static constexpr int64_t kMaxTipAge = 3 * 60 * 60; //!< seconds

    bool IsCurrent(const ChainManager& chain, const HeaderNode& tip) const
    {
        return !chain.IsInitialBlockDownload() && tip.time >= m_env.UnixTime() - kMaxTipAge &&
               tip.height >= chain.Read().Tree().BestHeader()->height - 1;
    }

    const std::atomic<ChainManager*>& m_chain;
    Env& m_env;
    mutable RecentCoins m_recent;
};

} // namespace ibd
