// PoolFeed: keeps the transaction pool in step with the chain. Confirmed transactions leave it;
// after a reorganisation transactions of disconnected blocks return if they are still valid
// (mempool/reorganise.h), after invalidateblock only those of the last ten. During a reorganisation
// the pool's gate is closed. Owned by the node. Called on the thread that changes the chain.
// Memory: kMostReturned bytes of transactions during a reorganisation; above it the youngest and
// their descendants are dropped.
#pragma once

#include "mempool/reorganise.h"
#include "validation/chain_manager.h"

#include <deque>

namespace ibd {

class PoolFeed final : public ChainObserver {
public:
    static constexpr size_t kMostReturned = 20'000'000;
    /** Transactions of the last ten blocks return after `invalidateblock`, as in Core. */
    static constexpr int kMostSteps = 10;

    /** All arguments outlive it. While `chain` is null the pool is empty. `fatal` receives disk
     *  errors while coins are read. */
    PoolFeed(TxPool& pool, const TxAcceptance& acceptance, const std::atomic<ChainManager*>& chain,
             const TipCoins& coins, Env& env, std::function<void(const Error&)> fatal)
        : m_pool(pool), m_acceptance(acceptance), m_chain(chain), m_coins(coins), m_env(env),
          m_fatal(std::move(fatal))
    {
    }

    void BlockConnected(const HeaderNode& node, const BlockView& block) override;
    void BlockDisconnected(const HeaderNode& node, const BlockView& block) override;
    void TipLeft() override { m_pool.gate.Close(); }
    void SteppedBack(const HeaderNode& node, int blocks) override;
    void TipReached(const HeaderNode* node) override;

private:
    void Follow(const HeaderNode* node);
    void Reorganise(const HeaderNode& node);

    TxPool& m_pool;
    const TxAcceptance& m_acceptance;
    const std::atomic<ChainManager*>& m_chain;
    const TipCoins& m_coins;
    Env& m_env;
    const std::function<void(const Error&)> m_fatal;
    bool m_disconnected = false;           //!< a block was disconnected since the old tip
    int32_t m_fork_height = 0;             //!< of the last block that was not disconnected
    std::deque<TransactionRef> m_returned; //!< in the order of their blocks
    size_t m_bytes = 0;                    //!< of m_returned
    std::map<Txid, size_t> m_open;         //!< of disconnected blocks, in no block since; with
                                           //!< the numbers of their outputs
};

} // namespace ibd
