// EventQueue against a model: delivered, dropped and reported events for each policy.
#include "events/event_queue.h"

#include "support/catch.h"
#include "support/testdata.h"

#include <map>

namespace ibd::test {

namespace {

Event RandomEvent(uint64_t number)
{
    const auto height = static_cast<int32_t>(number);
    switch (TestRng()() % 4) {
    case 0: return BlockConnected{{}, {}, height};
    case 1: return BlockDisconnected{{}, {}, height};
    case 2: return TipChanged{{{}, height}, TestRng()() % 2 == 0};
    default: return WarningRaised{NodeWarning::kInvalidChain, std::to_string(number)};
    }
}

/** Pushes and pops at random, and checks each entry against what was pushed. */
class Model {
public:
    explicit Model(const Subscription& subscription)
        : m_subscription(subscription), m_queue(subscription)
    {
    }

    void Push()
    {
        const NumberedEvent event{++m_number, RandomEvent(m_number)};
        if (!m_queue.Wants(event.event)) return;
        REQUIRE(m_queue.Blocks() ==
                (m_waiting.size() == m_subscription.capacity && Is(WhenFull::kBlock)));
        if (m_queue.Blocks()) return;
        if (m_waiting.size() < m_subscription.capacity) {
            m_waiting[event.number] = event.event;
        } else {
            m_dropped[event.number] = event.event;
            ++m_drops;
        }
        m_queue.Push(event);
        REQUIRE(m_queue.Dropped() == m_drops);
    }
    void Pop()
    {
        if (m_queue.Empty()) {
            REQUIRE(m_waiting.empty());
            REQUIRE((m_dropped.empty() || Is(WhenFull::kDrop)));
            return;
        }
        const uint64_t first = m_queue.FirstNumber();
        REQUIRE(first > m_last);
        const EventQueue::Entry entry = m_queue.Pop();
        if (const auto* event = std::get_if<NumberedEvent>(&entry)) {
            REQUIRE(event->number == first);
            Take(*event);
        } else {
            REQUIRE(std::get<MissedEvents>(entry).first == first);
            Take(std::get<MissedEvents>(entry));
        }
    }
    void Finish()
    {
        while (!m_queue.Empty()) Pop();
        REQUIRE(m_waiting.empty());
        if (!Is(WhenFull::kDrop)) REQUIRE(m_dropped.empty()); // all were reported
        if (Is(WhenFull::kBlock)) REQUIRE(m_drops == 0);
    }

private:
    bool Is(WhenFull policy) const { return m_subscription.when_full == policy; }

    /** The oldest event that was not dropped, and with kResync all dropped before it reported. */
    void Take(const NumberedEvent& event)
    {
        REQUIRE(m_waiting.begin()->first == event.number);
        REQUIRE(m_waiting.begin()->second == event.event);
        m_waiting.erase(m_waiting.begin());
        if (Is(WhenFull::kResync)) {
            REQUIRE((m_dropped.empty() || m_dropped.begin()->first > event.number));
        }
        m_last = event.number;
    }
    /** Exactly the dropped events from the first to the last one; no queued event lies between. */
    void Take(const MissedEvents& missed)
    {
        REQUIRE(Is(WhenFull::kResync));
        REQUIRE(m_dropped.begin()->first == missed.first);
        uint64_t count = 0;
        uint64_t last = 0;
        std::optional<TipChanged> tip;
        while (!m_dropped.empty() && m_dropped.begin()->first <= missed.last) {
            last = m_dropped.begin()->first;
            if (const auto* change = std::get_if<TipChanged>(&m_dropped.begin()->second)) {
                tip = *change;
            }
            m_dropped.erase(m_dropped.begin());
            ++count;
        }
        REQUIRE((last == missed.last && count == missed.count && tip == missed.tip));
        REQUIRE((m_waiting.empty() || m_waiting.begin()->first > missed.last));
        m_last = missed.last;
    }

    const Subscription m_subscription;
    EventQueue m_queue;
    uint64_t m_number = 0;
    uint64_t m_last = 0; //!< number of the last entry that was taken
    uint64_t m_drops = 0;
    std::map<uint64_t, Event> m_waiting;
    std::map<uint64_t, Event> m_dropped; //!< and not reported
};

} // namespace

TEST_CASE("a queue keeps the order, and each policy does what it says with what exceeds the bound")
{
    const EventKinds some = EventKinds::Of<TipChanged, BlockDisconnected>();
    const EventKinds all =
        EventKinds::Of<BlockConnected, BlockDisconnected, TipChanged, WarningRaised>();
    for (const WhenFull policy : {WhenFull::kBlock, WhenFull::kDrop, WhenFull::kResync}) {
        for (int round = 0; round < 50; ++round) {
            Model model({.kinds = round % 2 == 0 ? some : all,
                         .when_full = policy,
                         .capacity = 1 + TestRng()() % 6});
            for (int step = 0; step < 300; ++step) {
                // Stretches in which the consumer is slower, and in which it is quicker.
                const uint64_t quick = step / 50 % 2 == 0 ? 2 : 5;
                TestRng()() % 7 < quick ? model.Pop() : model.Push();
            }
            model.Finish();
        }
    }
}

TEST_CASE("a set of kinds has those that it was made of")
{
    const EventKinds none;
    const EventKinds tips = EventKinds::Of<TipChanged>();
    CHECK_FALSE(none.Has(TipChanged{}));
    CHECK(tips.Has(TipChanged{}));
    CHECK_FALSE(tips.Has(BlockConnected{}));
    CHECK_FALSE(tips.Has(WarningRaised{}));
    CHECK(EventKinds::Of<BlockConnected, WarningRaised>().Has(WarningRaised{}));
}

TEST_CASE("a queue holds no more entries than its bound allows")
{
    EventQueue queue({.kinds = EventKinds::Of<TipChanged>(), .capacity = 3});
    uint64_t number = 0;
    for (int i = 0; i < 1000; ++i) {
        queue.Push({++number, TipChanged{}});
        if (i % 5 == 0) (void)queue.Pop();
    }
    size_t events = 0;
    size_t notes = 0;
    while (!queue.Empty()) {
        std::holds_alternative<NumberedEvent>(queue.Pop()) ? ++events : ++notes;
    }
    CHECK(events <= 3);
    CHECK(notes <= events + 1);
}

} // namespace ibd::test
