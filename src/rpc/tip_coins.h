// ChainTipCoins: the chain's coins for the door of the pool. Owned by the node; any thread.
#pragma once

#include "mempool/tx_submission.h"
#include "validation/chain_manager.h"

namespace ibd {

class ChainTipCoins final : public TipCoins {
public:
    /** The chain is null until it is loaded; it outlives all calls. */
    explicit ChainTipCoins(const std::atomic<ChainManager*>& chain) : m_chain(chain) {}

    Result<> With(const Use& use) const override
    {
        const ChainManager* const chain = m_chain;
        if (chain == nullptr || chain->Tip() == nullptr) {
            return SystemError("The chain is not loaded yet");
        }
        const CoinsGuard coins = chain->HoldCoins();
        return use({coins.Tip(), coins.Cache()});
    }

private:
    const std::atomic<ChainManager*>& m_chain;
};

} // namespace ibd
