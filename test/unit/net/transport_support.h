// Shared code of tests of transports: random numbers from the test's seed, messages, and two
// transports whose bytes go back and forth in pieces.
#pragma once

#include "net/wire/message_table.h"
#include "net/wire/v2_transport.h"
#include "support/testdata.h"
#include "util/check.h"

#include <algorithm>
#include <deque>
#include <memory>

namespace ibd::test {

inline constexpr NetworkMagic kMagic = {0xf9, 0xbe, 0xb4, 0xd9};

inline size_t RandomBelow(size_t n) { return TestRng()() % n; }

inline Hash32 RandomHash()
{
    Hash32 out;
    const Bytes bytes = RandomBytes(out.size());
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
}

inline V2Secrets TestSecrets(size_t garbage_size)
{
    V2Secrets out{RandomHash(), RandomHash(), RandomBytes(garbage_size)};
    out.key[0] &= 0x7f; // below the order of the group
    return out;
}

inline std::unique_ptr<Transport> MakeV2(bool initiator)
{
    return std::make_unique<V2Transport>(kMagic, initiator,
                                         TestSecrets(RandomBelow(V2Transport::kMaxGarbage + 1)));
}

using Sample = std::pair<std::string, Bytes>; //!< type and payload

/** Types with and without a short number; most are short, a few longer than any buffer. */
inline OutgoingMessage RandomMessage()
{
    const size_t kind = RandomBelow(kCoreMessages + 1);
    const std::string_view type = kind < kCoreMessages ? kMessageRows[kind].type : "unknowntypes";
    const size_t most = RandomBelow(20) == 0 ? 600'000 : 300;
    return {std::string(type), RandomBytes(RandomBelow(most))};
}

/** Two transports, each with messages to send. */
class TransportPair {
public:
    TransportPair(Transport& caller, Transport& called) : m_sides{{&caller}, {&called}} {}

    void Queue(bool from_called, OutgoingMessage message)
    {
        Side& side = m_sides[from_called];
        side.sent.emplace_back(message.type, message.payload);
        side.queue.push_back(std::move(message));
    }

    /** Moves bytes in pieces of random sizes until nothing moves; the error that ended it, or "".
     */
    std::string RunToEnd()
    {
        for (int idle = 0; idle < 4;) {
            const bool from = RandomBelow(2);
            const auto moved = Move(m_sides[from], m_sides[!from]);
            if (!moved) return moved.Message();
            idle = *moved ? 0 : idle + 1;
            if (!*moved) {
                const auto other = Move(m_sides[!from], m_sides[from]);
                if (!other) return other.Message();
                if (*other) idle = 0;
            }
        }
        return m_sides[0].queue.empty() && m_sides[1].queue.empty() ? "" : "stuck";
    }

    /** Messages that a side has sent or received. */
    const std::vector<Sample>& Sent(bool by_caller) const { return m_sides[!by_caller].sent; }
    const std::vector<Sample>& Received(bool by_caller) const
    {
        return m_sides[!by_caller].received;
    }

private:
    struct Side {
        Transport* transport;
        std::deque<OutgoingMessage> queue{};
        std::vector<Sample> sent{}, received{};
    };

    static Result<bool> Move(Side& from, Side& to)
    {
        if (!from.queue.empty() && from.transport->Send(from.queue.front())) {
            CHECK(from.queue.front().payload.empty());
            from.queue.pop_front();
        }
        const auto to_send = from.transport->GetToSend(!from.queue.empty());
        if (to_send.bytes.empty()) return false;
        const size_t most = std::min<size_t>(to_send.bytes.size(), RandomBelow(3) ? 100 : 70'000);
        const size_t size = 1 + RandomBelow(most);
        const Bytes copy(to_send.bytes.begin(), to_send.bytes.begin() + std::ptrdiff_t(size));
        from.transport->MarkSent(size);
        ByteSpan bytes(copy);
        while (!bytes.empty()) {
            IBD_RETURN_IF_ERROR(to.transport->Receive(bytes));
            if (!to.transport->HasMessage()) continue;
            ReceivedMessage message = to.transport->TakeMessage();
            if (!message.problem.empty()) return BadData("{}", message.problem);
            to.received.emplace_back(message.type, message.payload);
        }
        return true;
    }

    Side m_sides[2];
};

} // namespace ibd::test
