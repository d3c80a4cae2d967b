// ZmqPublisher over real sockets: order, sequence numbers, and blocks that cannot be read. The
// messages themselves are in test/functional/test_zmq.py.
#include "support/temp_dir.h"
#include "zmq/publisher.h"

#include "support/catch.h"

#include <zmq.h>

using namespace ibd;
using ibd::test::TempDir;

namespace {

/** A subscriber by libzmq. */
class Listener {
public:
    explicit Listener(const std::string& address)
        : m_context(zmq_ctx_new()), m_socket(zmq_socket(m_context, ZMQ_SUB))
    {
        const int wait = 30'000; // milliseconds
        REQUIRE(zmq_setsockopt(m_socket, ZMQ_SUBSCRIBE, "", 0) == 0);
        REQUIRE(zmq_setsockopt(m_socket, ZMQ_RCVTIMEO, &wait, sizeof wait) == 0);
        REQUIRE(zmq_connect(m_socket, address.c_str()) == 0);
    }
    ~Listener()
    {
        zmq_close(m_socket);
        zmq_ctx_term(m_context);
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    std::string Part()
    {
        char buffer[1000];
        const int size = zmq_recv(m_socket, buffer, sizeof buffer, 0);
        REQUIRE(size >= 0);
        return {buffer, static_cast<size_t>(size)};
    }
    /** "hashblock 3": the topic of a message, and its number. */
    std::string Message()
    {
        const std::string topic = Part();
        Part();
        return topic + " " + std::to_string(static_cast<uint8_t>(Part()[0]));
    }
    /** "C 3": the letter of a sequence message, and the message's number. */
    std::string Change()
    {
        REQUIRE(Part() == "sequence");
        const std::string body = Part();
        return body.substr(32, 1) + " " + std::to_string(static_cast<uint8_t>(Part()[0]));
    }
    bool HasMessage(int milliseconds)
    {
        zmq_pollitem_t item{m_socket, 0, ZMQ_POLLIN, 0};
        return zmq_poll(&item, 1, milliseconds) == 1;
    }

private:
    void* const m_context;
    void* const m_socket;
};

struct Publishing {
    explicit Publishing(ZmqTopic other = ZmqTopic::kHashTx)
    {
        auto opened = ZmqPublisher::Open(
            {{other, address}, {ZmqTopic::kSequence, address}},
            [](const BlockHash&) -> Result<Bytes> { return BadData("gone"); }, *log);
        REQUIRE(opened.Ok());
        publisher = std::move(*opened);
        listener = std::make_unique<Listener>(address);
        // Until the subscription has arrived nothing is sent.
        while (!listener->HasMessage(10)) Say(TxRemoved{Id(0), 1});
        while (listener->HasMessage(200)) last = listener->Change();
    }
    static Uint256 Id(uint8_t number)
    {
        Uint256 id;
        id.data()[0] = number;
        return id;
    }
    void Say(const Event& event) { publisher->Take(event); }
    void Connect(uint8_t number) { Say(BlockConnected{Id(number), {}, number}); }
    void Disconnect(uint8_t number) { Say(BlockDisconnected{Id(number), {}, number}); }
    void Tip(uint8_t number, bool has_new_blocks = true)
    {
        Say(TipChanged{{Id(number), number}, false, has_new_blocks});
    }
    /** The number of the message before those of the test. */
    int Before() const { return std::stoi(last.substr(2)); }

    TempDir dir;
    const std::string address = "ipc://" + (dir / "s").string();
    std::unique_ptr<Logger> log = MakeNullLogger();
    std::unique_ptr<ZmqPublisher> publisher;
    std::unique_ptr<Listener> listener;
    std::string last;
};

} // namespace

TEST_CASE("in a reorganisation the pool's changes come before the new blocks")
{
    Publishing p;
    p.Disconnect(2);
    p.Connect(3);
    p.Connect(4);
    p.Say(TxRemoved{Publishing::Id(9), 7});
    p.Tip(4);
    p.Connect(5);
    p.Tip(5);
    std::string letters;
    for (int i = 0; i < 5; ++i) letters += p.listener->Change()[0];
    CHECK(letters == "DRCCC");
}

TEST_CASE("blocks of a branch that fails are published before they are disconnected")
{
    Publishing p;
    p.Disconnect(2);
    p.Connect(3);
    p.Disconnect(3);
    p.Connect(2);
    p.Tip(2);
    std::string letters;
    for (int i = 0; i < 4; ++i) letters += p.listener->Change()[0];
    CHECK(letters == "DCDC");
}

TEST_CASE("hashblock names each new tip once")
{
    Publishing p(ZmqTopic::kHashBlock);
    const int before = p.Before();
    p.Connect(1);
    p.Tip(1);
    p.Disconnect(1); // for a branch that fails
    p.Connect(2);
    p.Disconnect(2);
    p.Connect(1);
    p.Tip(1, false);
    p.Disconnect(1); // invalidateblock
    p.Tip(0, false);
    p.publisher->Missed({.first = 10, .last = 10, .count = 1}); // a connected block
    p.Tip(3);
    std::vector<std::string> blocks;
    for (int i = 0; i < 8; ++i) {
        const std::string message = p.listener->Message();
        if (message.starts_with("hashblock")) blocks.push_back(message);
    }
    CHECK(blocks == std::vector<std::string>{"hashblock 0", "hashblock 2"});
    p.Connect(4);
    CHECK(p.listener->Change() == fmt::format("C {}", before + 8));
}

TEST_CASE("events that were missed leave a gap in the numbers")
{
    Publishing p;
    const int before = p.Before();
    p.Connect(1);
    p.publisher->Missed({.first = 10, .last = 14, .count = 5});
    p.Connect(2);
    CHECK(p.listener->Change() == fmt::format("C {}", before + 1));
    CHECK(p.listener->Change() == fmt::format("C {}", before + 7));
}

TEST_CASE("an address that cannot be used is an error that names it")
{
    Publishing p;
    const auto again = ZmqPublisher::Open(
        {{ZmqTopic::kRawTx, "nowhere://x"}},
        [](const BlockHash&) -> Result<Bytes> { return BadData("gone"); }, *p.log);
    REQUIRE_FALSE(again.Ok());
    CHECK_THAT(again.Message(), Catch::StartsWith("Failed to bind address nowhere://x: "));
}
