// DurableUndo: which records become durable and when, the waits for that, and the calls that report
// errors.
#include "join/durable_undo.h"

#include "chain/header_node.h"
#include "sim/fault_env.h"
#include "support/must.h"

#include <chrono>

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr DurableUndo::Limits kLimits = {.micros = 3600 * int64_t{1'000'000}, .bytes = 1'000};

/** Remembers, and makes nothing durable while it is held. */
class Sink final : public UndoSink {
public:
    Result<> Put(const HeaderNode& node, const UndoRecord& undo) override
    {
        const Lock lock(m_mutex);
        m_put += undo.Size();
        m_most_lost = std::max(m_most_lost, m_put - m_durable);
        m_height = node.height;
        return {};
    }
    Result<> MakeDurable(int32_t height) override
    {
        const Lock lock(m_mutex);
        const uint64_t put = m_put;
        m_in_order = m_in_order && height >= m_asked && height <= m_height;
        m_asked = height;
        ++m_begun;
        m_changed.notify_all();
        while (m_held) m_changed.wait(m_mutex);
        if (m_fails) return SystemError("no room");
        m_durable = put;
        return {};
    }
    void Hold(bool held)
    {
        const Lock lock(m_mutex);
        m_held = held;
        m_changed.notify_all();
    }
    void Fail(bool fails)
    {
        const Lock lock(m_mutex);
        m_fails = fails;
    }
    void AwaitBegun(int begun)
    {
        const Lock lock(m_mutex);
        while (m_begun < begun) m_changed.wait(m_mutex);
    }
    int Begun() const
    {
        const Lock lock(m_mutex);
        return m_begun;
    }
    uint64_t MostLost() const
    {
        const Lock lock(m_mutex);
        return m_most_lost;
    }
    int32_t Asked() const
    {
        const Lock lock(m_mutex);
        return m_asked;
    }
    bool InOrder() const
    {
        const Lock lock(m_mutex);
        return m_in_order;
    }

private:
    mutable Mutex m_mutex;
    std::condition_variable_any m_changed;
    uint64_t m_put = 0, m_durable = 0, m_most_lost = 0;
    int32_t m_height = 0, m_asked = 0;
    int m_begun = 0;
    bool m_held = false, m_fails = false, m_in_order = true;
};

/** Gives records of a size, one for each height from 1. */
class Giver {
public:
    explicit Giver(DurableUndo& undo) : m_undo(undo) {}
    Result<> Give(size_t size)
    {
        m_node.height += 1;
        const Bytes bytes(size);
        const ByteSpan piece = bytes;
        return m_undo.Take(m_node, {{&piece, 1}, {}});
    }

private:
    DurableUndo& m_undo;
    HeaderNode m_node;
};

} // namespace

TEST_CASE("Undo records are made durable beside the next ones")
{
    FaultEnv env;
    Sink sink;
    DurableUndo undo(env, sink, kLimits);
    Giver giver(undo);
    sink.Hold(true);
    Must(giver.Give(900));
    REQUIRE(sink.Begun() == 0);
    Must(giver.Give(100)); // at the limit
    sink.AwaitBegun(1);
    REQUIRE(sink.Asked() == 2);
    Must(giver.Give(1'900)); // it works, and no caller waits yet
    REQUIRE(sink.Begun() == 1);
    sink.Hold(false);
    Must(undo.End());
    REQUIRE(sink.Begun() == 2);
    REQUIRE(sink.Asked() == 3);
}

TEST_CASE("What is not durable is bounded, however slow the disk")
{
    FaultEnv env;
    Sink sink;
    DurableUndo undo(env, sink, kLimits);
    Giver giver(undo);
    constexpr size_t kRecord = 100;
    for (int i = 0; i < 40; ++i) {
        sink.Hold(true);
        NamedThread release("release", [&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            sink.Hold(false);
        });
        for (int k = 0; k < 20; ++k) Must(giver.Give(kRecord));
    }
    Must(undo.End());
    REQUIRE(sink.InOrder());
    REQUIRE(sink.MostLost() <= 4 * kLimits.bytes + 2 * kRecord);
    REQUIRE(sink.MostLost() > kLimits.bytes);
}

TEST_CASE("Undo records are made durable by the clock, too")
{
    FaultEnv env;
    Sink sink;
    DurableUndo undo(env, sink, {.micros = 0, .bytes = 1'000});
    Giver giver(undo);
    Must(giver.Give(1));
    sink.AwaitBegun(1);
    REQUIRE(sink.Asked() == 1);
}

TEST_CASE("What could not be made durable comes up once, and the next try may do")
{
    FaultEnv env;
    Sink sink;
    DurableUndo undo(env, sink, kLimits);
    Giver giver(undo);
    sink.Fail(true);
    Must(giver.Give(1'000));
    SECTION("with a later record")
    {
        Result<> given = {};
        for (int i = 0; i < 10 && given; ++i) given = giver.Give(1'000);
        REQUIRE_FALSE(given.Ok());
        REQUIRE(given.Message() == "no room");
    }
    SECTION("at the end")
    {
        const Result<> ended = undo.End();
        REQUIRE_FALSE(ended.Ok());
        REQUIRE(ended.Message() == "no room");
    }
    sink.Fail(false);
    Must(undo.End());
    REQUIRE(sink.Asked() >= 1);
}
