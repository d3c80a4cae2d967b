// ModelPool: a pool of transactions for tests of peers, with few and simple rules, and no scripts.
// A transaction's lock time is its fee in satoshi; its virtual size is its size. Outputs of ids
// that ModelCoin() makes are coins of the chain. For version and witness see ModelPool. It would be
// mined at its own rate, or at the least of those it depends on, if that is lower; among equal
// rates the first one is first.
#pragma once

#include "net/peer/peer_pool.h"

#include <algorithm>
#include <map>
#include <set>

namespace ibd::sim {

/** The `n`-th coin of the chain. */
inline OutPoint ModelCoin(uint32_t n)
{
    Txid id;
    id.data()[0] = 0xcc;
    for (int i = 0; i < 4; ++i) id.data()[1 + i] = static_cast<uint8_t>(n >> (8 * i));
    return {id, 0};
}

inline bool IsModelCoin(const OutPoint& outpoint)
{
    uint32_t n = 0;
    for (int i = 0; i < 4; ++i) n |= uint32_t{outpoint.txid.data()[1 + i]} << (8 * i);
    return outpoint == ModelCoin(n);
}

/** Spends these outputs, and makes two. `witness`: an arbitrary item; empty: none. */
inline TransactionRef MakeModelTx(const std::vector<OutPoint>& spent, Amount fee,
                                  Bytes witness = {}, uint32_t version = 2, size_t padding = 0)
{
    MutableTransaction tx;
    tx.version = version;
    tx.lock_time = static_cast<uint32_t>(fee);
    for (const OutPoint& outpoint : spent) {
        tx.inputs.push_back({.prevout = outpoint, .script_sig = {}, .witness = {}});
        if (!witness.empty()) tx.inputs.back().witness = {witness};
    }
    tx.outputs = {{1'000, Bytes(20 + padding, 0x51)}, {2'000, Bytes(20, 0x51)}};
    return tx.Freeze();
}

class ModelPool : public PeerPool {
public:
    static constexpr Amount kMinRate = 1'000;
    static constexpr uint32_t kBadVersion = 99;   //!< breaks a rule
    static constexpr uint32_t kNeedsWitness = 98; //!< breaks a rule without a witness
    static constexpr uint8_t kBadWitness = 0xbb;  //!< a witness of this byte breaks a rule

    /** Verdicts are held back. */
    bool held = false;
    bool paused = false; //!< by PauseChecks()
    size_t pauses = 0;
    size_t room = 16 << 20; //!< bytes of offers that wait
    Amount full_rate = 0;
    std::vector<TxOffer> offers; //!< all so far
    std::set<Txid> unbroadcast;
    mutable size_t asked = 0;   //!< transactions in calls of InMiningOrder() and MiningRates()
    mutable size_t lookups = 0; //!< by Has()

    void Add(const TransactionRef& tx)
    {
        Entry& entry = m_txs[tx->Id()];
        entry = {.tx = tx, .fee = FeeOf(*tx), .vsize = SizeOf(*tx), .sequence = m_sequence++};
        entry.mining_rate = static_cast<double>(entry.fee) / static_cast<double>(entry.vsize);
        for (const auto& [id, parent] : ParentsOf(*tx)) {
            entry.has_parents = true;
            entry.mining_rate = std::min(entry.mining_rate, parent.mining_rate);
        }
        m_by_wtxid[tx->WitnessId()] = tx->Id();
        for (const InputView& input : (*tx)->inputs) m_spent.insert(input.Prevout());
    }
    void Remove(const TransactionRef& tx)
    {
        m_txs.erase(tx->Id());
        m_by_wtxid.erase(tx->WitnessId());
        for (const InputView& input : (*tx)->inputs) m_spent.erase(input.Prevout());
    }
    /** Simulates the effect of transactions that spend it or conflict with it. */
    void SetMiningRate(const TransactionRef& tx, double rate)
    {
        m_txs.at(tx->Id()).mining_rate = rate;
    }
    size_t Size() const { return m_txs.size(); }
    /** Whether TakeAnswers() would return some. */
    bool HasNews() const { return !held && !m_waiting.empty(); }
    bool HasTx(const TransactionRef& tx) const { return m_by_wtxid.contains(tx->WitnessId()); }

    bool Has(const TxKey& key) const override
    {
        ++lookups;
        return Find(key).has_value();
    }
    std::optional<Entry> Find(const TxKey& key) const override
    {
        Txid id = key.hash;
        if (key.is_wtxid) {
            const auto known = m_by_wtxid.find(key.hash);
            if (known == m_by_wtxid.end()) return std::nullopt;
            id = known->second;
        }
        const auto found = m_txs.find(id);
        return found == m_txs.end() ? std::nullopt : std::optional(found->second);
    }
    std::vector<Entry> All() const override
    {
        std::vector<Entry> out;
        for (const auto& [id, entry] : m_txs) out.push_back(entry);
        return out;
    }
    std::vector<Entry> InMiningOrder(std::span<const Wtxid> ids) const override
    {
        asked += ids.size();
        std::vector<Entry> out;
        for (const Wtxid& id : ids) {
            if (const auto entry = Find({id, true})) out.push_back(*entry);
        }
        std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) {
            return a.mining_rate != b.mining_rate ? a.mining_rate > b.mining_rate
                                                  : a.sequence < b.sequence;
        });
        return out;
    }
    std::vector<std::optional<double>> MiningRates(std::span<const Wtxid> ids) const override
    {
        asked += ids.size();
        std::vector<std::optional<double>> out;
        for (const Wtxid& id : ids) {
            const auto entry = Find({id, true});
            out.push_back(entry ? std::optional(entry->mining_rate) : std::nullopt);
        }
        return out;
    }
    std::vector<Entry> AncestorsOf(const Wtxid& id) const override
    {
        std::map<Txid, Entry> found;
        std::vector<TransactionRef> left;
        if (const auto entry = Find({id, true})) left.push_back(entry->tx);
        while (!left.empty()) {
            const TransactionRef tx = left.back();
            left.pop_back();
            for (const auto& [parent, entry] : ParentsOf(*tx)) {
                if (found.emplace(parent, entry).second) left.push_back(entry.tx);
            }
        }
        std::vector<Wtxid> ids;
        for (const auto& [ancestor, entry] : found) ids.push_back(entry.tx->WitnessId());
        const size_t before = asked;
        std::vector<Entry> out = InMiningOrder(ids);
        asked = before;
        return out;
    }
    uint64_t Sequence() const override { return m_sequence; }
    Amount FullRate() const override { return full_rate; }
    Amount MinRelayRate() const override { return kMinRate; }
    Amount IncrementalRate() const override { return kMinRate; }
    std::vector<Entry> Unbroadcast() const override
    {
        std::vector<Entry> out;
        for (const Txid& id : unbroadcast) out.push_back(m_txs.at(id));
        return out;
    }
    void SetBroadcast(const Txid& id) override { unbroadcast.erase(id); }

    bool HasRoom(size_t bytes) const override
    {
        size_t used = 0;
        for (const TxOffer& offer : m_waiting) used += offer.Bytes();
        return used == 0 || used + bytes <= room;
    }
    void Offer(TxOffer offer) override
    {
        for (const TxOffer& other : m_waiting) CHECK(other.peer != offer.peer);
        offers.push_back(offer);
        m_waiting.push_back(std::move(offer));
    }
    void PauseChecks() override
    {
        paused = true;
        ++pauses;
    }
    void ResumeChecks() override { paused = false; }
    std::vector<TxAnswer> TakeAnswers() override
    {
        std::vector<TxAnswer> out;
        if (held) return out;
        for (TxOffer& offer : m_waiting) out.push_back(Judge(std::move(offer)));
        m_waiting.clear();
        return out;
    }
    void ForEachTransaction(const Visit& more) const override
    {
        for (const auto& [id, entry] : m_txs) {
            if (!more({&entry.tx->WitnessId(), 1}, {&entry.tx, 1})) return;
        }
    }
    void ForEachToMine(size_t count, const Visit& more) const override
    {
        std::vector<const Entry*> best;
        for (const auto& [id, entry] : m_txs) best.push_back(&entry);
        std::stable_sort(best.begin(), best.end(), [](const Entry* a, const Entry* b) {
            return a->mining_rate > b->mining_rate;
        });
        best.resize(std::min(best.size(), count));
        for (const Entry* const entry : best) {
            if (!more({&entry->tx->WitnessId(), 1}, {&entry->tx, 1})) return;
        }
    }

private:
    using Kind = RuleViolation::Kind;

    std::map<Txid, Entry> ParentsOf(const Transaction& tx) const
    {
        std::map<Txid, Entry> out;
        for (const InputView& input : tx->inputs) {
            const auto found = m_txs.find(input.Prevout().txid);
            if (found != m_txs.end()) out.insert(*found);
        }
        return out;
    }
    static Amount FeeOf(const Transaction& tx) { return tx->lock_time; }
    static int64_t SizeOf(const Transaction& tx) { return static_cast<int64_t>(tx->raw.size()); }

    RuleResult CheckAlone(const Transaction& tx, const Transaction* parent) const
    {
        if (tx->version == kBadVersion) return Invalid("bad-txns-of-tests");
        if (m_by_wtxid.contains(tx.WitnessId())) {
            return Violation(Kind::kConflict, "txn-already-in-mempool");
        }
        if (m_txs.contains(tx.Id())) {
            return Violation(Kind::kConflict, "txn-same-nonwitness-data-in-mempool");
        }
        for (const InputView& input : tx->inputs) {
            const OutPoint spent = input.Prevout();
            if (!IsThere(spent, parent)) {
                return Violation(Kind::kMissingInputs, "bad-txns-inputs-missingorspent");
            }
            if (m_spent.contains(spent)) {
                return Violation(Kind::kMempoolPolicy, "txn-mempool-conflict");
            }
        }
        return CheckWitness(tx);
    }
    bool IsThere(const OutPoint& spent, const Transaction* parent) const
    {
        if (IsModelCoin(spent)) return true;
        if (parent && spent.txid == parent->Id()) return spent.vout < (*parent)->outputs.size();
        const auto found = m_txs.find(spent.txid);
        return found != m_txs.end() && spent.vout < found->second.tx->View().outputs.size();
    }
    static RuleResult CheckWitness(const Transaction& tx)
    {
        if (tx->version == kNeedsWitness && !tx->has_witness) {
            return Violation(Kind::kWitnessStripped, "mempool-script-verify-flag-failed");
        }
        if (!tx->has_witness) return {};
        const MutableTransaction plain = MutableTransaction::FromView(tx.View());
        for (const MutableInput& input : plain.inputs) {
            if (input.witness == std::vector<Bytes>{{kBadWitness}}) {
                return Violation(Kind::kWitnessMutated, "bad-witness-nonstandard");
            }
        }
        return {};
    }
    static RuleResult CheckFee(Amount fee, int64_t size)
    {
        if (fee * 1'000 >= kMinRate * size) return {};
        return Violation(Kind::kReconsiderable, "min relay fee not met");
    }
    RuleResult Check(const Transaction& tx) const
    {
        if (auto bad = CheckAlone(tx, nullptr)) return bad;
        return CheckFee(FeeOf(tx), SizeOf(tx));
    }
    TxAnswer Judge(TxOffer offer)
    {
        TxAnswer out;
        out.offer = std::move(offer);
        out.txs.resize(out.offer.txs.size());
        for (size_t i = 0; i < out.txs.size(); ++i) {
            const TransactionRef& tx = out.offer.txs[i];
            out.txs[i].emplace().violation = Check(*tx);
            if (!out.txs[i]->violation && !out.offer.is_test) Add(tx);
        }
        if (out.txs.size() == 2 && out.txs[0]->violation) JudgeTogether(out);
        if (out.txs.size() == 2 && (out.txs[0]->violation || out.txs[1]->violation)) {
            out.violation = Violation(Kind::kMempoolPolicy, "transaction failed");
        }
        return out;
    }
    void JudgeTogether(TxAnswer& answer)
    {
        const Transaction& parent = *answer.offer.txs[0];
        const Transaction& child = *answer.offer.txs[1];
        if (CheckAlone(parent, nullptr) || CheckAlone(child, &parent)) return;
        if (CheckFee(FeeOf(parent) + FeeOf(child), SizeOf(parent) + SizeOf(child))) return;
        for (size_t i = 0; i < 2; ++i) {
            answer.txs[i]->violation.reset();
            Add(answer.offer.txs[i]);
        }
    }

    std::map<Txid, Entry> m_txs;
    std::map<Wtxid, Txid> m_by_wtxid;
    std::set<OutPoint> m_spent;
    uint64_t m_sequence = 1;
    std::vector<TxOffer> m_waiting;
};

} // namespace ibd::sim
