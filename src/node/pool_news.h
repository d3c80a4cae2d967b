// PoolNews: publishes the pool's changes as events, for ZmqPublisher. Owned by the node; called
// under the pool's mutex, on the thread that makes the change. A full queue drops events, so that
// the pool never waits.
#pragma once

#include "events/events.h"
#include "mempool/pool_events.h"

namespace ibd {

class PoolNews final : public PoolEvents {
public:
    explicit PoolNews(Events& events) : m_events(events) {}

    void TxAdded(const PoolTx& tx, uint64_t sequence) override
    {
        m_events.Publish(ibd::TxAdded{tx.tx, sequence});
    }
    void TxRemoved(const PoolTx& tx, RemovalReason reason, uint64_t sequence) override
    {
        if (reason == RemovalReason::kBlock) return; // transactions published with the block
        m_events.Publish(ibd::TxRemoved{tx.Id(), sequence});
    }

private:
    Events& m_events;
};

} // namespace ibd
