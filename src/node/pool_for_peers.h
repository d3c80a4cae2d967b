// PoolForPeers: the peers' interface to the pool: look-ups, and a TxIntake for the transactions
// that they offer. Owned by the node; called on the thread of the peers, except for the events of
// the pool. A look-up holds the pool's mutex for microseconds, except All() and ForEachToMine()
// (half a microsecond for each transaction), which does not wait for it; ForEachTransaction() has a
// list with its own lock.
#pragma once

#include "mempool/tx_acceptance.h"
#include "node/tx_intake.h"
#include "util/place_list.h"

namespace ibd {

class PoolForPeers final : public PeerPool, public PoolEvents {
public:
    /** The pool has no transactions yet. All arguments outlive it, or the pool's last change. */
    PoolForPeers(TxPool& pool, const PolicyOptions& policy, TxIntake& intake, Env& env);

    bool Has(const TxKey& key) const override;
    std::optional<Entry> Find(const TxKey& key) const override;
    std::vector<Entry> All() const override;
    std::vector<Entry> InMiningOrder(std::span<const Wtxid> ids) const override;
    std::vector<std::optional<double>> MiningRates(std::span<const Wtxid> ids) const override;
    std::vector<Entry> AncestorsOf(const Wtxid& id) const override;
    uint64_t Sequence() const override;
    Amount FullRate() const override;
    Amount MinRelayRate() const override { return m_policy.min_relay_fee; }
    Amount IncrementalRate() const override { return m_policy.incremental_fee; }
    std::vector<Entry> Unbroadcast() const override;
    void SetBroadcast(const Txid& id) override;
    bool HasRoom(size_t bytes) const override { return m_intake.HasRoom(bytes); }
    void Offer(TxOffer offer) override { m_intake.Put(std::move(offer)); }
    void PauseChecks() override { m_intake.Pause(); }
    void ResumeChecks() override { m_intake.Resume(); }
    std::vector<TxAnswer> TakeAnswers() override { return m_intake.TakeAnswers(); }
    /** A transaction that the pool adds or removes meanwhile may be left out. */
    void ForEachTransaction(const Visit& more) const override;
    void ForEachToMine(size_t count, const Visit& more) const override;

    void TxAdded(const PoolTx& tx, uint64_t sequence) override;
    void TxRemoved(const PoolTx& tx, RemovalReason reason, uint64_t sequence) override;
    /** Takes no lock: the list changes only under the pool's mutex, which the caller holds. */
    void PrefetchRemoval(const PoolTx& tx) const override IBD_NO_THREAD_CHECK
    {
        __builtin_prefetch(&m_list.Places()[tx.listed_at]);
    }

private:
    const PoolTx* FindIn(const TxKey& key) const IBD_REQUIRES(m_pool.mutex);

    TxPool& m_pool;
    const PolicyOptions m_policy;
    TxIntake& m_intake;
    Env& m_env;

    mutable Mutex m_mutex; //!< a leaf, after the pool's
    /** A transaction's index in it is PoolTx::listed_at. */
    PlaceList<TransactionRef> m_list IBD_GUARDED_BY(m_mutex);
    /** At the same indexes; separate, because all ids are read in sequence. */
    std::vector<Wtxid> m_wtxids IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
