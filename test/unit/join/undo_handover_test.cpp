// UndoHandover: for any order in which threads deliver spans, the consumer is given each record
// once, in the order of heights, up to a broken rule, an error or the end. Waiting is bounded.
#include "join/undo_handover.h"

#include "support/testdata.h"
#include "undo_setup.h"

#include <chrono>
#include <numeric>
#include <thread>

using namespace ibd;
using namespace ibd::test;

namespace {

/** Blocks from height 0 on, in spans, with the records of those from `first_wanted` on. */
class Spans {
public:
    explicit Spans(uint32_t first_wanted = 1) : m_first_wanted(first_wanted)
    {
        auto& rng = TestRng();
        for (uint32_t height = 0; height < 300;) {
            const auto end = height + 1 + static_cast<uint32_t>(rng.Below(20));
            m_spans.push_back({height, end});
            height = end;
        }
        for (uint32_t height = 0; height < m_spans.back().end; ++height) {
            m_nodes.emplace_back().height = static_cast<int32_t>(height);
            m_undo.push_back(RandomBytes(rng.Below(200)));
        }
    }

    size_t Count() const { return m_spans.size(); }
    uint32_t Blocks() const { return m_spans.back().end; }
    HeightSpan operator[](size_t i) const { return m_spans[i]; }
    const std::vector<Bytes>& Undo() const { return m_undo; }

    /** As a worker makes it; nothing from a block on that breaks a rule. Every third record may be
     *  scattered. */
    UndoSpan Make(size_t i, UndoHandover& handover, uint32_t broken, bool scattered) const
    {
        UndoSpan made = handover.Spare();
        made.span = m_spans[i];
        for (uint32_t height = std::max(made.span.first, m_first_wanted); height < made.span.end;
             ++height) {
            if (height == broken) made.broken = BrokenRule{static_cast<int32_t>(height), "rule"};
            made.records.emplace_back();
            if (height >= broken) continue;
            if (scattered && height % 3 == 0) {
                made.records.back().node = &m_nodes[height];
                made.records.back().scattered = Scatter(m_undo[height]);
            } else {
                made.records.back() = {&m_nodes[height], made.bytes.size(), m_undo[height].size()};
                Append(made.bytes, m_undo[height]);
            }
        }
        return made;
    }

private:
    static std::unique_ptr<ScatteredUndo> Scatter(ByteSpan undo)
    {
        auto out = std::make_unique<ScatteredUndo>();
        while (!undo.empty()) {
            const size_t size = 1 + undo.size() / 3;
            out->pieces.push_back(undo.first(size));
            undo = undo.subspan(size);
        }
        return out;
    }

    const uint32_t m_first_wanted;
    std::vector<HeightSpan> m_spans;
    std::vector<HeaderNode> m_nodes;
    std::vector<Bytes> m_undo; //!< by height
};

constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();

/** Threads that claim spans from the lowest up, as UndoPhase does. The number with an error. */
size_t GiveAll(const Spans& spans, UndoHandover& handover, size_t threads, uint32_t broken)
{
    std::atomic<size_t> next = 0;
    std::atomic<size_t> errors = 0;
    const auto work = [&] {
        for (size_t i = next++; i < spans.Count(); i = next++) {
            const bool alone = i % 7 == 3;
            if (alone && !handover.AwaitTurn(spans[i].first)) return;
            const auto given = handover.Give(spans.Make(i, handover, broken, i % 5 == 1));
            if (given && *given) continue;
            errors += !given.Ok();
            handover.End();
            return;
        }
    };
    std::vector<std::thread> running;
    for (size_t t = 0; t < threads; ++t) running.emplace_back(work);
    for (std::thread& thread : running) thread.join();
    return errors;
}

struct Setup {
    Spans spans;
    KeptUndo kept;
    std::atomic<uint32_t> handed_on = 0;
    UndoHandover handover;

    explicit Setup(uint64_t most_bytes, uint32_t first = 1)
        : spans(first), handover(kept, handed_on, most_bytes)
    {
        kept.first = static_cast<int32_t>(first);
    }
    UndoSpan Make(size_t i) { return spans.Make(i, handover, kNever, false); }
    void RequireTaken(uint32_t end) const;
};

/** All records up to `end`. */
void Setup::RequireTaken(uint32_t end) const
{
    REQUIRE(kept.Ordered());
    REQUIRE(kept.NextHeight() == static_cast<int32_t>(end));
    for (size_t i = 0; i < kept.Records().size(); ++i) {
        REQUIRE(kept.Records()[i] == spans.Undo()[static_cast<size_t>(kept.first) + i]);
    }
}

} // namespace

TEST_CASE("Records come in order whichever thread is early")
{
    for (const uint64_t most_bytes : {0, 1'000, 20'000, 1'000'000}) {
        for (const size_t threads : {1, 2, 5}) {
            const auto first = static_cast<uint32_t>(1 + TestRng().Below(100));
            Setup setup(most_bytes, first);
            REQUIRE(GiveAll(setup.spans, setup.handover, threads, kNever) == 0);
            setup.RequireTaken(setup.spans.Blocks());
            REQUIRE(setup.handed_on == setup.spans.Blocks() - first);
            REQUIRE_FALSE(setup.handover.Broken());
        }
    }
}

TEST_CASE("A scattered record waits with its maker, however much may be left")
{
    Setup setup(10'000'000);
    REQUIRE(setup.spans.Count() > 2);
    bool given = false;
    std::atomic<bool> back = false;
    std::thread early([&] {
        auto made = setup.Make(1);
        made.records.back().scattered = std::make_unique<ScatteredUndo>();
        const Bytes& undo = setup.spans.Undo()[setup.spans[1].end - 1];
        const Bytes held = undo;
        made.records.back().scattered->pieces = {ByteSpan(held)};
        const auto done = setup.handover.Give(std::move(made));
        given = done && *done;
        back = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE_FALSE(back);
    REQUIRE(Must(setup.handover.Give(setup.Make(0))));
    early.join();
    REQUIRE(given);
    setup.RequireTaken(setup.spans[1].end);
}

TEST_CASE("Early spans, in any order, are handed over by the thread with the due span")
{
    Setup setup(10'000'000);
    std::vector<size_t> order(setup.spans.Count() - 1);
    std::iota(order.begin(), order.end(), 1);
    std::shuffle(order.begin(), order.end(), TestRng());
    for (const size_t i : order) REQUIRE(Must(setup.handover.Give(setup.Make(i))));
    REQUIRE(setup.handed_on == 0);
    REQUIRE(Must(setup.handover.Give(setup.Make(0))));
    setup.RequireTaken(setup.spans.Blocks());
    const UndoSpan spare = setup.handover.Spare();
    REQUIRE(spare.bytes.capacity() > 0);
    REQUIRE(spare.bytes.empty());
    REQUIRE(spare.records.empty());
    REQUIRE_FALSE(spare.broken);
}

TEST_CASE("A broken rule ends it, and all below is handed on")
{
    for (const size_t threads : {1, 2, 5}) {
        Setup setup(5'000);
        const auto broken = static_cast<uint32_t>(1 + TestRng().Below(setup.spans.Blocks() - 1));
        REQUIRE(GiveAll(setup.spans, setup.handover, threads, broken) == 0);
        setup.RequireTaken(broken);
        REQUIRE(setup.handover.Broken());
        REQUIRE(setup.handover.Broken()->height == static_cast<int32_t>(broken));
        REQUIRE(setup.handover.Broken()->reason == "rule");
        REQUIRE_FALSE(setup.handover.AwaitTurn(0));
    }
}

TEST_CASE("An error of the consumer is reported once, as a system error, and ends the rest")
{
    for (const size_t threads : {1, 2, 5}) {
        Setup setup(5'000);
        setup.kept.fails_at = 1 + static_cast<int32_t>(TestRng().Below(setup.spans.Blocks() - 1));
        REQUIRE(GiveAll(setup.spans, setup.handover, threads, kNever) == 1);
        setup.RequireTaken(static_cast<uint32_t>(setup.kept.fails_at));
        REQUIRE_FALSE(setup.handover.Broken());
    }
    Setup setup(5'000);
    setup.kept.fails_at = 1;
    const auto given = setup.handover.Give(setup.Make(0));
    const auto next = given.Ok() ? setup.handover.Give(setup.Make(1)) : given;
    REQUIRE_FALSE(next.Ok());
    REQUIRE(next.GetError().kind == Error::Kind::kSystem);
}

TEST_CASE("A thread with more than may wait blocks until its span is due, or all ends")
{
    for (const bool ends : {false, true}) {
        Setup setup(1);
        REQUIRE(Must(setup.handover.Give(setup.Make(1)))); // one may wait alone
        std::atomic<bool> back = false;
        bool go_on = false;
        std::thread second([&] {
            const auto given = setup.handover.Give(setup.Make(2));
            go_on = given && *given;
            back = true;
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        REQUIRE_FALSE(back);
        if (ends) {
            setup.handover.End();
        } else {
            REQUIRE(Must(setup.handover.Give(setup.Make(0))));
        }
        second.join();
        REQUIRE(go_on == !ends);
        setup.RequireTaken(ends ? 1 : setup.spans[2].end);
    }
}
