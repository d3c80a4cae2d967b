// The order of a cluster: against exhaustive search in every shape of up to 7 transactions, against
// the order by ancestors in large clusters, and under a budget that does not suffice.
#include "mempool/linearize.h"
#include "support/must.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <random>

namespace ibd::test {

namespace {

using Rng = std::mt19937_64;

TxMask Bit(size_t at) { return TxMask{1} << at; }

FeeSize SumOf(const ClusterGraph& cluster, TxMask set)
{
    FeeSize sum;
    for (size_t i = 0; i < cluster.txs.size(); ++i) {
        if ((set & Bit(i)) != 0) sum += cluster.txs[i];
    }
    return sum;
}

/** Whether it holds all ancestors within `of`. */
bool IsClosed(const ClusterGraph& cluster, TxMask set, TxMask of)
{
    for (size_t i = 0; i < cluster.txs.size(); ++i) {
        if ((set & Bit(i)) != 0 && (cluster.ancestors[i] & of & ~set) != 0) return false;
    }
    return true;
}

/** Calls with the ancestors of every partial order of `count` transactions that is sorted. */
void ForEachShape(size_t count, const std::function<void(const std::vector<TxMask>&)>& call)
{
    std::vector<TxMask> shape;
    const std::function<void()> extend = [&] {
        if (shape.size() == count) return call(shape);
        const ClusterGraph so_far{std::vector<FeeSize>(shape.size()), shape};
        for (TxMask set = 0; set < Bit(so_far.txs.size()); ++set) {
            if (!IsClosed(so_far, set, ~TxMask{0})) continue;
            shape.push_back(set | Bit(so_far.txs.size()));
            extend();
            shape.pop_back();
        }
    };
    extend();
}

/** With many equal rates, or with large numbers. */
FeeSize RandomTx(Rng& rng)
{
    switch (rng() % 4) {
    case 0: return {static_cast<Amount>(rng() % 4), 1};
    case 1: return {static_cast<Amount>(rng() % 7) - 2, static_cast<int64_t>(1 + rng() % 3)};
    case 2: return {static_cast<Amount>(rng() % 10'000), static_cast<int64_t>(1 + rng() % 4'000)};
    default:
        return {static_cast<Amount>(rng() % 2'100'000'000'000'000),
                static_cast<int64_t>(1 + rng() % 404'000)};
    }
}

ClusterGraph WithRandomFees(std::vector<TxMask> ancestors, Rng& rng)
{
    ClusterGraph cluster;
    const Rng::result_type kind = rng() % 4; // of all alike, or of each its own
    for (size_t i = 0; i < ancestors.size(); ++i) {
        cluster.txs.push_back(kind == 0 ? FeeSize{static_cast<Amount>(rng() % 3), 1}
                                        : RandomTx(rng));
    }
    cluster.ancestors = std::move(ancestors);
    return cluster;
}

std::vector<FeeSize> Sums(const std::vector<LinearChunk>& chunks)
{
    std::vector<FeeSize> sums;
    for (const LinearChunk& chunk : chunks) sums.push_back(chunk.sum);
    return sums;
}

/** The chunks of the best order: each time the closed set with the best rate, the smallest first,
 *  out of all sets. */
std::vector<FeeSize> SearchAllSets(const ClusterGraph& cluster)
{
    std::vector<FeeSize> sums;
    const TxMask all = Bit(cluster.txs.size()) - 1;
    for (TxMask left = all; left != 0;) {
        TxMask best = 0;
        for (TxMask set = left; set != 0; set = (set - 1) & left) {
            if (!IsClosed(cluster, set, left)) continue;
            const auto order = best == 0 ? std::strong_ordering::greater
                                         : CompareRates(SumOf(cluster, set), SumOf(cluster, best));
            if (order > 0 || (order == 0 && std::popcount(set) < std::popcount(best))) best = set;
        }
        sums.push_back(SumOf(cluster, best));
        left &= ~best;
    }
    return sums;
}

/** No order of all is better anywhere. */
void CheckAgainstAllOrders(const ClusterGraph& cluster, std::span<const FeeSize> found)
{
    std::vector<uint8_t> order;
    const std::function<void(TxMask)> extend = [&](TxMask done) {
        if (order.size() == cluster.txs.size()) {
            CHECK((CompareDiagrams(found, Sums(ChunksOf(cluster, order))) >= 0));
            return;
        }
        for (size_t i = 0; i < cluster.txs.size(); ++i) {
            if ((done & Bit(i)) != 0 || (cluster.ancestors[i] & ~done) != Bit(i)) continue;
            order.push_back(static_cast<uint8_t>(i));
            extend(done | Bit(i));
            order.pop_back();
        }
    };
    extend(0);
}

/** Everything once, parents first, chunk by chunk, at rates that do not rise. */
void CheckForm(const ClusterGraph& cluster, const Linearization& linear)
{
    TxMask done = 0;
    size_t next = 0;
    for (size_t i = 0; i < linear.chunks.size(); ++i) {
        const LinearChunk& chunk = linear.chunks[i];
        for (int count = std::popcount(chunk.txs); count > 0; --count) {
            REQUIRE(next < linear.order.size());
            const uint8_t at = linear.order[next++];
            REQUIRE((chunk.txs & ~done & Bit(at)) != 0);
            REQUIRE((cluster.ancestors[at] & ~done) == Bit(at));
            done |= Bit(at);
        }
        REQUIRE(chunk.sum == SumOf(cluster, chunk.txs));
        if (i > 0) REQUIRE((CompareRates(linear.chunks[i - 1].sum, chunk.sum) >= 0));
    }
    REQUIRE(next == cluster.txs.size());
}

/** A cluster of one of several kinds. */
ClusterGraph RandomCluster(size_t count, Rng& rng)
{
    const Rng::result_type density = 1 + rng() % 10;
    const Rng::result_type kind = rng() % 3;
    std::vector<TxMask> ancestors;
    for (size_t i = 0; i < count; ++i) {
        TxMask mask = Bit(i);
        for (size_t j = 0; j < i; ++j) {
            const bool in_rows =
                kind == 1 && (j % 2 == i % 2 || j + 20 < i); // parents and children
            const bool link = kind == 2 ? j + 3 >= i : rng() % 30 < density;
            if (link && !in_rows) mask |= ancestors[j];
        }
        ancestors.push_back(mask);
    }
    return WithRandomFees(std::move(ancestors), rng);
}

} // namespace

TEST_CASE("diagrams compare as curves", "[mempool]")
{
    using Chunks = std::vector<FeeSize>;
    const auto compare = [](const Chunks& a, const Chunks& b) {
        const auto forth = CompareDiagrams(a, b);
        const auto back = CompareDiagrams(b, a);
        CHECK((forth > 0) == (back < 0));
        CHECK((forth < 0) == (back > 0));
        CHECK((forth == 0) == (back == 0));
        return forth;
    };
    CHECK(compare({}, {}) == std::partial_ordering::equivalent);
    CHECK(compare({{10, 5}}, {{4, 2}, {6, 3}}) == std::partial_ordering::equivalent);
    CHECK(compare({{10, 5}}, {{9, 5}}) == std::partial_ordering::greater);
    CHECK(compare({{9, 5}}, {{10, 5}}) == std::partial_ordering::less);
    CHECK(compare({{8, 2}, {2, 3}}, {{10, 5}}) == std::partial_ordering::greater);
    // More fee in the end, but less at the beginning.
    CHECK(compare({{20, 10}}, {{10, 2}}) == std::partial_ordering::unordered);
    CHECK(compare({{10, 2}}, {{20, 10}}) == std::partial_ordering::unordered);
    // Level after the end.
    CHECK(compare({{10, 2}}, {{10, 2}, {0, 5}}) == std::partial_ordering::equivalent);
    CHECK(compare({{10, 2}}, {{10, 2}, {-1, 5}}) == std::partial_ordering::greater);
    CHECK(compare({}, {{1, 1}}) == std::partial_ordering::less);
}

TEST_CASE("the order of small clusters equals exhaustive search", "[mempool]")
{
    Rng rng(36);
    for (size_t count = 1; count <= 7; ++count) {
        size_t shapes = 0;
        ForEachShape(count, [&](const std::vector<TxMask>& shape) {
            ++shapes;
            const ClusterGraph cluster = WithRandomFees(shape, rng);
            CAPTURE(count, shape);
            const Linearization linear = Linearize(cluster);
            REQUIRE(linear.optimal);
            CheckForm(cluster, linear);
            REQUIRE(Sums(linear.chunks).size() == SearchAllSets(cluster).size());
            REQUIRE((CompareDiagrams(Sums(linear.chunks), SearchAllSets(cluster)) == 0));
            if (count <= 4) CheckAgainstAllOrders(cluster, Sums(linear.chunks));
        });
        constexpr size_t kShapes[] = {1, 2, 7, 40, 357, 4'824, 96'428}; // OEIS A006455
        CHECK(shapes == kShapes[count - 1]);
    }
}

TEST_CASE("the order of large clusters is not worse than by ancestors", "[mempool]")
{
    Rng rng(64);
    for (int round = 0; round < 300; ++round) {
        CAPTURE(round);
        const ClusterGraph cluster = RandomCluster(round < 200 ? 64 : 1 + rng() % 64, rng);
        // A tenth of the budget suffices for all of these.
        const Linearization linear = Linearize(cluster, kLinearizeBudget / 10);
        REQUIRE(linear.optimal);
        CheckForm(cluster, linear);
        const std::vector<FeeSize> sums = Sums(linear.chunks);
        CHECK((CompareDiagrams(sums, Sums(ChunksOf(cluster, AncestorOrder(cluster)))) >= 0));
    }
}

TEST_CASE("chunks do not depend on the indexes of transactions", "[mempool]")
{
    Rng rng(7);
    for (int round = 0; round < 100; ++round) {
        CAPTURE(round);
        const ClusterGraph cluster = RandomCluster(1 + rng() % 64, rng);
        const size_t count = cluster.txs.size();
        std::vector<size_t> to(count);
        for (size_t i = 0; i < count; ++i) to[i] = i;
        std::shuffle(to.begin(), to.end(), rng);
        const auto moved = [&](TxMask set) {
            TxMask out = 0;
            for (size_t i = 0; i < count; ++i) {
                if ((set & Bit(i)) != 0) out |= Bit(to[i]);
            }
            return out;
        };
        ClusterGraph other{std::vector<FeeSize>(count), std::vector<TxMask>(count)};
        for (size_t i = 0; i < count; ++i) {
            other.txs[to[i]] = cluster.txs[i];
            other.ancestors[to[i]] = moved(cluster.ancestors[i]);
        }
        std::vector<TxMask> expected, found;
        for (const LinearChunk& chunk : Linearize(cluster).chunks) {
            expected.push_back(moved(chunk.txs));
        }
        for (const LinearChunk& chunk : Linearize(other).chunks) found.push_back(chunk.txs);
        std::sort(expected.begin(), expected.end());
        std::sort(found.begin(), found.end());
        CHECK(found == expected);
    }
}

TEST_CASE("a budget that does not suffice leaves a valid order", "[mempool]")
{
    Rng rng(5);
    size_t unfinished = 0;
    for (int round = 0; round < 100; ++round) {
        CAPTURE(round);
        const ClusterGraph cluster = RandomCluster(64, rng);
        const Linearization linear = Linearize(cluster, 1 + rng() % 20);
        CheckForm(cluster, linear);
        const auto by_ancestors = Sums(ChunksOf(cluster, AncestorOrder(cluster)));
        CHECK((CompareDiagrams(Sums(linear.chunks), by_ancestors) >= 0));
        CHECK((CompareDiagrams(Sums(Linearize(cluster).chunks), Sums(linear.chunks)) >= 0));
        unfinished += linear.optimal ? 0 : 1;
    }
    CHECK(unfinished > 30);
}

} // namespace ibd::test
