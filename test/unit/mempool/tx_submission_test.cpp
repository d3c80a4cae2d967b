// Submission while the pool or the chain change during the run of the scripts.
#include "desk.h"

namespace ibd::test {

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

} // namespace ibd::test
