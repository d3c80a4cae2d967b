// Payloads of every message with a codec from any bytes: the first byte chooses the message. A
// decoded message is encoded, and the decoder accepts the result; both encodings are the same
// bytes, and no longer than the table of messages says.
#include "net/wire/message_table.h"
#include "util/check.h"

using namespace ibd;

namespace {

template <typename List>
void CheckBound(const List& list)
{
    CHECK(list.items.size() <= List::kMax);
    CHECK(list.dropped == 0 || list.items.size() == List::kMax || list.items.empty());
}

template <typename Message>
void Check(ByteSpan payload, size_t max_bytes)
{
    const auto message = Decode<Message>(payload);
    if (!message) {
        CHECK(!message.Message().empty());
        return;
    }
    if constexpr (requires { message->list; }) CheckBound(message->list);
    if constexpr (requires { message->locator; }) CheckBound(message->locator);
    const Bytes bytes = Encode(*message);
    CHECK(bytes.size() <= max_bytes);
    const auto again = Decode<Message>(bytes);
    CHECK(again.Ok());
    CHECK(Encode(*again) == bytes);
}

struct Codec {
    void (*check)(ByteSpan payload, size_t max_bytes);
    size_t max_bytes;
};

std::vector<Codec> Codecs()
{
    std::vector<Codec> out;
    ForEachCodec([&](const auto& entry) {
        using Message = typename std::decay_t<decltype(entry)>::Message;
        out.push_back({Check<Message>, entry.max_bytes});
    });
    return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    static const std::vector<Codec> codecs = Codecs();
    const Codec& codec = codecs[data[0] % codecs.size()];
    codec.check({data + 1, size - 1}, codec.max_bytes);
    return 0;
}
