// PoolFeed: keeps the pool of transactions in step with the chain. What a block confirms leaves it;
// what was in a block that is none of the chain any more comes back, if it still holds, and so does
// all that was there. Owned by the node. Called under the chain's state lock, on the thread that
// changes the chain. Memory: kMostReturned bytes of transactions during a reorganisation; those
// that are too many are forgotten, the youngest first. Time: a reorganisation checks the whole pool
// anew.
#pragma once

#include "mempool/tx_acceptance.h"
#include "validation/chain_manager.h"

#include <deque>

namespace ibd {

class PoolFeed final : public ChainObserver {
public:
    static constexpr size_t kMostReturned = 20'000'000;

    /** All outlive it. While `chain` is null the pool is empty. `fatal` is told of a disk that
     * fails while coins are read. */
    PoolFeed(TxPool& pool, const TxAcceptance& acceptance, const std::atomic<ChainManager*>& chain,
             std::function<void(const Error&)> fatal)
        : m_pool(pool), m_acceptance(acceptance), m_chain(chain), m_fatal(std::move(fatal))
    {
    }

    void BlockConnected(const HeaderNode& node, const BlockView& block) override;
    void BlockDisconnected(const HeaderNode& node, const BlockView& block) override;
    void TipChanged(const HeaderNode& node) override;

private:
    Result<> CheckAnew(ChainManager& chain, const HeaderNode& tip) IBD_REQUIRES(m_pool.mutex);

    TxPool& m_pool;
    const TxAcceptance& m_acceptance;
    const std::atomic<ChainManager*>& m_chain;
    const std::function<void(const Error&)> m_fatal;
    bool m_disconnected = false;           //!< since the last tip
    std::deque<TransactionRef> m_returned; //!< in the order of their blocks
    size_t m_bytes = 0;                    //!< of these
};

} // namespace ibd
