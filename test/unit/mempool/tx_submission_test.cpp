// Submission while the pool, the chain or the user's wishes change during the run of the scripts.
#include "desk.h"

namespace ibd::test {

namespace {

/** How the package was taken, for each transaction, or the error of the package. */
std::string Outcome(const Desk& desk, const std::vector<TransactionRef>& package)
{
    const Arrival arrival{.now = Desk::kFirstTime, .time = Desk::kFirstTime};
    const PackageSubmission out = Must(desk.door.SubmitPackage(package, arrival));
    if (out.violation) return out.violation->reason;
    std::string text;
    for (const TransactionRef& tx : package) {
        switch (out.txs.at(tx->WitnessId()).kind) {
        case PackageTx::Kind::kAccepted: text += "accepted "; break;
        case PackageTx::Kind::kInPool: text += "known "; break;
        default: text += "? ";
        }
    }
    return text;
}

} // namespace

TEST_CASE("what changes while scripts run is looked at again", "[mempool]")
{
    Desk desk;
    const MutableTransaction tx = desk.Good();
    const MutableTransaction rival = Spending({tx.inputs[0].prevout}, {kValue - 2 * kFee});
    // Between the checks and the addition.
    const auto during = [&](std::function<void()> change) { desk.AtUse(2, std::move(change)); };
    during([&] { CHECK(desk.Accept(desk.Good()).empty()); });
    CHECK(desk.Accept(tx).empty());
    CHECK(desk.Size() == 2);

    const MutableTransaction other = desk.Good();
    during([&] { CHECK(desk.Accept(Spending({other.inputs[0].prevout}, {1'000})).empty()); });
    CHECK(desk.Accept(other) == "insufficient fee");
    const MutableTransaction third = desk.Good();
    during([&] {
        desk.coins.coins.erase(third.inputs[0].prevout);
        desk.is_below = true; // a block came or went
    });
    CHECK(desk.Accept(third) == "bad-txns-inputs-missingorspent");
    CHECK(desk.Size() == 3);
    CHECK(desk.Accept(rival).empty());
}

TEST_CASE("a package of which parts came while scripts ran is taken", "[mempool]")
{
    Desk desk;
    // Each pays enough alone: the first use checks the parent, the second one adds it.
    const MutableTransaction parent = desk.Good();
    const MutableTransaction child = Spending({{parent.Id(), 0}}, {kValue - 2 * kFee});
    const std::vector<TransactionRef> rich = {parent.Freeze(), child.Freeze()};
    desk.AtUse(2, [&] { CHECK(Outcome(desk, rich) == "accepted accepted "); });
    CHECK(Outcome(desk, rich) == "known known ");

    // The child pays for its parents: after one use for each the fourth checks all together.
    const auto poor_family = [&] {
        const MutableTransaction one = Spending({desk.AddCoin()}, {kValue});
        const MutableTransaction two = Spending({desk.AddCoin()}, {kValue});
        const MutableTransaction both =
            Spending({{one.Id(), 0}, {two.Id(), 0}}, {2 * kValue - 3 * kFee});
        return std::vector<TransactionRef>{one.Freeze(), two.Freeze(), both.Freeze()};
    };
    const auto at_once = poor_family();
    desk.AtUse(5, [&] { CHECK(Outcome(desk, at_once) == "accepted accepted accepted "); });
    CHECK(Outcome(desk, at_once) == "known known known ");
    for (const size_t parents : {1, 2}) {
        const auto family = poor_family();
        desk.AtUse(5, [&] {
            for (size_t i = 0; i < parents; ++i) {
                const MutableTransaction tx = MutableTransaction::FromView(family[i]->View());
                desk.GiveDelta(tx, kFee);
                CHECK(desk.Accept(tx).empty());
            }
        });
        CHECK(Outcome(desk, family) ==
              (parents == 1 ? "known accepted accepted " : "known known accepted "));
    }
    CHECK(desk.Size() == 2 + 3 * 3);
}

TEST_CASE("a wish of the user that comes while scripts run counts", "[mempool]")
{
    Desk desk;
    const MutableTransaction tx = desk.Good();
    desk.AtUse(2, [&] {
        uint64_t before = 0;
        {
            const Lock lock(desk.pool.mutex);
            before = desk.pool.Updates();
        }
        desk.GiveDelta(tx, 7);
        const Lock lock(desk.pool.mutex);
        CHECK(desk.pool.Updates() == before); // for the pool it is no change
    });
    CHECK(desk.Accept(tx).empty());
    CHECK(desk.DeltaInPool(tx) == 7);

    const MutableTransaction parent = Spending({desk.AddCoin()}, {kValue});
    const MutableTransaction child = Spending({{parent.Id(), 0}}, {kValue - 2 * kFee});
    desk.AtUse(4, [&] { desk.GiveDelta(parent, 9); });
    CHECK(Outcome(desk, {parent.Freeze(), child.Freeze()}) == "accepted accepted ");
    CHECK(desk.DeltaInPool(parent) == 9);

    const MutableTransaction cheap = desk.Good();
    desk.AtUse(2, [&] { desk.GiveDelta(cheap, -kFee); });
    CHECK(desk.Accept(cheap) == "min relay fee not met");
}

} // namespace ibd::test
