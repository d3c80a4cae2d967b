// See linearize.h.
#include "mempool/linearize.h"

#include "mempool/min_cut.h"
#include "util/check.h"

#include <bit>
#include <memory>

namespace ibd {

namespace {

constexpr TxMask Bit(size_t at) { return TxMask{1} << at; }
constexpr TxMask FirstBits(size_t count)
{
    return count == kMaxClusterTxs ? ~TxMask{0} : Bit(count) - 1;
}

size_t First(TxMask set) { return static_cast<size_t>(std::countr_zero(set)); }

FeeSize SumOf(const ClusterGraph& cluster, TxMask set)
{
    FeeSize sum;
    for (; set != 0; set &= set - 1) sum += cluster.txs[First(set)];
    return sum;
}

/** Appends a set, parents first, otherwise by falling rate and by index. */
void AppendInOrder(const ClusterGraph& cluster, TxMask set, std::vector<uint8_t>& order)
{
    while (set != 0) {
        size_t best = kMaxClusterTxs;
        for (TxMask todo = set; todo != 0; todo &= todo - 1) {
            const size_t at = First(todo);
            if ((cluster.ancestors[at] & set) != Bit(at)) continue;
            if (best == kMaxClusterTxs || CompareRates(cluster.txs[at], cluster.txs[best]) > 0) {
                best = at;
            }
        }
        order.push_back(static_cast<uint8_t>(best));
        set &= ~Bit(best);
    }
}

/** Appends a set: repeatedly the remaining ancestors that pay best. */
void AppendByAncestors(const ClusterGraph& cluster, TxMask set, std::vector<uint8_t>& order)
{
    while (set != 0) {
        LinearChunk best;
        for (TxMask todo = set; todo != 0; todo &= todo - 1) {
            const TxMask needed = cluster.ancestors[First(todo)] & set;
            const FeeSize sum = SumOf(cluster, needed);
            if (best.txs == 0 || CompareRates(sum, best.sum) > 0) best = {needed, sum};
        }
        AppendInOrder(cluster, best.txs, order);
        set &= ~best.txs;
    }
}

/** The part of an order that is in a set. */
class RestOfOrder {
public:
    RestOfOrder(const ClusterGraph& cluster, std::span<const uint8_t> order)
        : m_cluster(cluster), m_order(order)
    {
    }
    /** The prefix, restricted to `set`, with the best rate. */
    LinearChunk BestPrefix(TxMask set) const
    {
        LinearChunk best, prefix;
        for (const uint8_t at : m_order) {
            if ((set & Bit(at)) == 0) continue;
            prefix.txs |= Bit(at);
            prefix.sum += m_cluster.txs[at];
            if (best.txs == 0 || CompareRates(prefix.sum, best.sum) > 0) best = prefix;
        }
        return best;
    }
    void Append(TxMask set, std::vector<uint8_t>& out) const
    {
        for (const uint8_t at : m_order) {
            if ((set & Bit(at)) != 0) out.push_back(at);
        }
    }

private:
    const ClusterGraph& m_cluster;
    const std::span<const uint8_t> m_order;
};

/** Splits the cluster until no part can be split; `left` becomes the part for which the budget did
 *  not suffice. */
std::vector<LinearChunk> SplitFully(const ClusterGraph& cluster, uint64_t& budget,
                                    std::vector<TxMask>& left)
{
    std::vector<LinearChunk> chunks;
    const auto cut = std::make_unique<MinCut>(cluster, budget);
    left = {FirstBits(cluster.txs.size())}; // the last comes first
    while (!left.empty()) {
        const TxMask set = left.back();
        if (!cut->Find(set)) return chunks;
        left.pop_back();
        if (const TxMask better = cut->Better()) {
            left.push_back(set & ~better);
            left.push_back(better);
            continue;
        }
        for (const TxMask part : cut->Parts()) chunks.push_back({part, SumOf(cluster, part)});
    }
    return chunks;
}

/** The order of a cluster that was not split fully. */
Linearization Unfinished(const ClusterGraph& cluster, const std::vector<LinearChunk>& chunks,
                         std::vector<TxMask> left)
{
    std::vector<uint8_t> found;
    for (const LinearChunk& chunk : chunks) AppendInOrder(cluster, chunk.txs, found);
    for (; !left.empty(); left.pop_back()) AppendByAncestors(cluster, left.back(), found);
    Linearization out;
    out.order = MergeOrders(cluster, found, AncestorOrder(cluster));
    out.chunks = ChunksOf(cluster, out.order);
    out.optimal = false;
    return out;
}

} // namespace

std::vector<uint8_t> AncestorOrder(const ClusterGraph& cluster)
{
    std::vector<uint8_t> order;
    AppendByAncestors(cluster, FirstBits(cluster.txs.size()), order);
    return order;
}

std::vector<LinearChunk> ChunksOf(const ClusterGraph& cluster, std::span<const uint8_t> order)
{
    std::vector<LinearChunk> chunks;
    for (const uint8_t at : order) {
        LinearChunk last{Bit(at), cluster.txs[at]};
        while (!chunks.empty() && CompareRates(last.sum, chunks.back().sum) > 0) {
            last.txs |= chunks.back().txs;
            last.sum += chunks.back().sum;
            chunks.pop_back();
        }
        chunks.push_back(last);
    }
    return chunks;
}

/** Repeatedly takes the best prefix of either order, and of that the best prefix in the other
 *  order. */
std::vector<uint8_t> MergeOrders(const ClusterGraph& cluster, std::span<const uint8_t> a,
                                 std::span<const uint8_t> b)
{
    const RestOfOrder first(cluster, a), second(cluster, b);
    std::vector<uint8_t> merged;
    for (TxMask left = FirstBits(cluster.txs.size()); left != 0;) {
        const LinearChunk of_first = first.BestPrefix(left);
        const LinearChunk of_second = second.BestPrefix(left);
        const bool use_first = CompareRates(of_first.sum, of_second.sum) >= 0;
        const LinearChunk& best = use_first ? of_first : of_second;
        // Not below the rate of `best`, which is the longest of the compared prefixes.
        const RestOfOrder& other = use_first ? second : first;
        const TxMask taken = other.BestPrefix(best.txs).txs;
        other.Append(taken, merged);
        left &= ~taken;
    }
    return merged;
}

Linearization Linearize(const ClusterGraph& cluster, uint64_t budget)
{
    CHECK(!cluster.txs.empty() && cluster.txs.size() <= kMaxClusterTxs);
    CHECK(cluster.txs.size() == cluster.ancestors.size());
    if (cluster.txs.size() == 1) return {{0}, {{Bit(0), cluster.txs[0]}}, true};
    std::vector<TxMask> left;
    Linearization out;
    out.chunks = SplitFully(cluster, budget, left);
    if (!left.empty()) return Unfinished(cluster, out.chunks, std::move(left));
    for (const LinearChunk& chunk : out.chunks) AppendInOrder(cluster, chunk.txs, out.order);
    return out;
}

} // namespace ibd
