// See min_cut.h.
#include "mempool/min_cut.h"

#include <algorithm>
#include <bit>

namespace ibd {

namespace {

constexpr size_t kNoSink = kMaxClusterTxs;

constexpr TxMask Bit(size_t at) { return TxMask{1} << at; }

/** The least index of a set that is not empty; removes it. */
size_t TakeFirst(TxMask& set)
{
    const auto at = static_cast<size_t>(std::countr_zero(set));
    set &= set - 1;
    return at;
}

} // namespace

/** The weight of a transaction, its fee above the rate of the set, is times the set's size here, so
 *  that it is an integer; the weights add up to zero. */
void MinCut::SetWeights()
{
    FeeSize sum;
    for (TxMask todo = m_set; todo != 0;) sum += m_cluster.txs[TakeFirst(todo)];
    m_sources = m_sinks = m_better = 0;
    for (TxMask todo = m_set; todo != 0;) {
        const size_t at = TakeFirst(todo);
        const FeeSize& tx = m_cluster.txs[at];
        const Int128 weight =
            static_cast<Int128>(tx.fee) * sum.size - static_cast<Int128>(sum.fee) * tx.size;
        if (weight > 0) m_sources |= Bit(at);
        if (weight < 0) m_sinks |= Bit(at);
        m_left[at] = weight < 0 ? -weight : weight;
        m_payers[at] = 0;
    }
}

void MinCut::MoveFlow(size_t source, size_t sink, Int128 amount)
{
    Int128& flow = m_flow[source][sink];
    flow = (m_payers[sink] & Bit(source)) != 0 ? flow + amount : amount;
    if (flow == 0) {
        m_payers[sink] &= ~Bit(source);
    } else {
        m_payers[sink] |= Bit(source);
    }
}

void MinCut::PushDirectly(size_t source)
{
    TxMask sinks = m_cluster.ancestors[source] & m_sinks;
    while (sinks != 0 && m_left[source] > 0) {
        const size_t sink = TakeFirst(sinks);
        const Int128 amount = std::min(m_left[source], m_left[sink]);
        if (amount == 0) continue;
        MoveFlow(source, sink, amount);
        m_left[source] -= amount;
        m_left[sink] -= amount;
    }
}

/** Searches breadth first for a sink with room: a source reaches its ancestors, and a sink reaches
 *  the sources that pay it, because they could pay another sink instead. `seen` becomes all
 *  transactions that were reached. */
size_t MinCut::FindPath(size_t source, TxMask& seen)
{
    std::array<uint8_t, kMaxClusterTxs> queue{static_cast<uint8_t>(source)};
    seen = Bit(source);
    // A transaction without a path before has none now, nor has any that it reaches.
    const TxMask open = m_sinks & ~m_better;
    for (size_t next = 0, end = 1; next < end; ++next) {
        const size_t from = queue[next];
        if (m_budget > 0) --m_budget;
        TxMask sinks = m_cluster.ancestors[from] & open & ~seen;
        seen |= sinks;
        while (sinks != 0) {
            const size_t sink = TakeFirst(sinks);
            m_reached_from[sink] = static_cast<uint8_t>(from);
            if (m_left[sink] > 0) return sink;
            TxMask payers = m_payers[sink] & ~seen;
            seen |= payers;
            while (payers != 0) {
                const size_t payer = TakeFirst(payers);
                m_reached_from[payer] = static_cast<uint8_t>(sink);
                queue[end++] = static_cast<uint8_t>(payer);
            }
        }
    }
    return kNoSink;
}

void MinCut::Augment(size_t source, size_t sink)
{
    Int128 amount = std::min(m_left[source], m_left[sink]);
    for (size_t at = sink; m_reached_from[at] != source;) {
        const size_t payer = m_reached_from[at];
        at = m_reached_from[payer]; // the payer pays this sink less
        amount = std::min(amount, m_flow[payer][at]);
    }
    for (size_t at = sink;;) {
        const size_t payer = m_reached_from[at];
        MoveFlow(payer, at, amount);
        if (payer == source) break;
        at = m_reached_from[payer];
        MoveFlow(payer, at, -amount);
    }
    m_left[source] -= amount;
    m_left[sink] -= amount;
}

bool MinCut::Push(size_t source)
{
    while (m_left[source] > 0) {
        TxMask seen = 0;
        const size_t sink = FindPath(source, seen);
        if (m_budget == 0) return false;
        if (sink != kNoSink) {
            Augment(source, sink);
            continue;
        }
        while (seen != 0) m_better |= m_cluster.ancestors[TakeFirst(seen)] & m_set;
        return true;
    }
    return true;
}

bool MinCut::Find(TxMask set)
{
    m_set = set;
    SetWeights();
    for (TxMask todo = m_sources; todo != 0;) PushDirectly(TakeFirst(todo));
    for (TxMask todo = m_sources; todo != 0;) {
        if (!Push(TakeFirst(todo))) return false;
    }
    return true;
}

/** All weight is paid: parts are the strongly connected components of the residual graph, where a
 *  transaction reaches its ancestors, and a sink its payers. */
std::vector<TxMask> MinCut::Parts() const
{
    std::array<TxMask, kMaxClusterTxs> reach{};
    for (TxMask todo = m_set; todo != 0;) {
        const size_t at = TakeFirst(todo);
        reach[at] = (m_cluster.ancestors[at] & m_set) | m_payers[at];
    }
    for (TxMask through = m_set; through != 0;) {
        const size_t mid = TakeFirst(through);
        for (TxMask todo = m_set; todo != 0;) {
            const size_t at = TakeFirst(todo);
            if ((reach[at] & Bit(mid)) != 0) reach[at] |= reach[mid];
        }
    }
    std::vector<TxMask> parts;
    TxMask done = 0;
    while (done != m_set) {
        for (TxMask todo = m_set & ~done; todo != 0;) {
            const size_t at = TakeFirst(todo);
            TxMask part = 0;
            for (TxMask others = reach[at] & ~done; others != 0;) {
                const size_t other = TakeFirst(others);
                if ((reach[other] & Bit(at)) != 0) part |= Bit(other);
            }
            if ((reach[at] & ~done) != part) continue; // it needs another part before
            parts.push_back(part);
            done |= part;
            todo &= ~part;
        }
    }
    return parts;
}

} // namespace ibd
