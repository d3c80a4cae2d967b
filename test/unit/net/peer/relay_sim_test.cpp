// Relay of transactions among honest nodes, with colluding hostile peers among them. Those announce
// and never answer, say notfound, send other witnesses or none, flood with ids, orphans and
// transactions that are invalid, cheap, repeated or in conflict, and connect and disconnect.
// Everything runs on one thread and follows from one seed. IBD_SIM_SEEDS=1000 runs a thousand
// seeds; IBD_TEST_SEED=n begins with seed n.
#include "sim/relay_net.h"

#include "support/catch.h"
#include "support/testdata.h"

namespace ibd::test {

namespace {

constexpr uint64_t kUsualSeeds = 20;

using sim::HonestNode;
using sim::RelayNet;
using sim::UserTx;

uint64_t SeedsToRun()
{
    const char* const text = std::getenv("IBD_SIM_SEEDS");
    return text ? std::strtoul(text, nullptr, 10) : kUsualSeeds;
}

/** When an honest peer had announced it to the node, and the node had its parents. */
std::optional<int64_t> Expected(const RelayNet& net, const HonestNode& node, const UserTx& tx)
{
    const auto told = node.told.find(tx.tx->WitnessId());
    if (told == node.told.end()) return std::nullopt; // it came from elsewhere before
    int64_t time = told->second;
    for (const size_t parent : tx.parents) {
        if (!net.txs[parent].pays_too_little) {
            time = std::max(time, node.Came(net.txs[parent]).value_or(time));
        }
    }
    return time;
}

/** A transaction announced by an honest peer is in the pool after the time-outs of the node's
 *  hostile peers; with an unannounced parent, after twice that time. */
void CheckInTime(const RelayNet& net, const HonestNode& node, const UserTx& tx)
{
    const auto came = node.Came(tx);
    CAPTURE(net.Describe(node, tx));
    REQUIRE(came);
    const auto expected = Expected(net, node, tx);
    if (!expected) return;
    const bool with_parent = std::any_of(tx.parents.begin(), tx.parents.end(), [&](size_t parent) {
        return net.txs[parent].pays_too_little;
    });
    CHECK(*came - *expected <= net.LongestDelay(node) * (with_parent ? 2 : 1));
}

struct Trace {
    uint64_t steps = 0;
    int64_t time = 0;
    uint64_t requests = 0; //!< to strangers
    bool operator==(const Trace&) const = default;
};

Trace RunSeed(uint64_t seed)
{
    CAPTURE(seed);
    RelayNet net(seed);
    net.Run();
    for (size_t i = 0; i < net.nodes.size(); ++i) {
        for (size_t j = 0; j < net.txs.size(); ++j) {
            CAPTURE(i, j);
            CheckInTime(net, *net.nodes[i], net.txs[j]);
        }
    }
    net.RunSilently();
    for (const auto& node : net.nodes) {
        CHECK(node->host.Peers().TxsToCome().Requests().Size() == 0);
        CHECK_FALSE(node->pool.HasNews());
        for (const auto& [peer, other] : node->friends) {
            CHECK(node->host.Traffic(peer).last_receive > 0); // still connected
        }
    }
    net.SendMore();
    CHECK(net.HaveAll());
    CHECK(net.fault == "");
    Trace out{net.network.Steps(), net.network.Now()};
    for (const auto& stranger : net.strangers) out.requests += stranger->requests;
    return out;
}

} // namespace

TEST_CASE("each honest transaction reaches each honest node in time, whatever strangers do",
          "[relay_sim]")
{
    const uint64_t first = TestRng()();
    uint64_t requests = 0;
    for (uint64_t seed = first; seed < first + SeedsToRun(); ++seed) {
        requests += RunSeed(seed).requests;
    }
    CHECK(requests > 0);
}

TEST_CASE("a seed of simulated relay repeats exactly", "[relay_sim]")
{
    const uint64_t seed = TestRng()();
    CHECK(RunSeed(seed) == RunSeed(seed));
}

} // namespace ibd::test
