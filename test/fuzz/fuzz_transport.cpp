// A hostile peer's bytes, in pieces of any size, to the transport of an inbound or outbound
// connection: it stays within its bounds, and the sizes of the pieces make no difference. After a
// handshake the stranger can do the same with bytes that it encrypts.
#include "net/wire/v2_transport.h"
#include "util/check.h"

#include <algorithm>
#include <memory>

using namespace ibd;

namespace {

constexpr NetworkMagic kMagic = {0xf9, 0xbe, 0xb4, 0xd9};

V2Secrets Secrets(uint8_t fill, size_t garbage)
{
    V2Secrets out;
    std::fill(out.key.begin(), out.key.end(), fill);
    out.entropy.fill(fill);
    out.garbage = Bytes(garbage, fill);
    return out;
}

struct Seen {
    std::vector<std::string> messages;
    std::string error;
    bool operator==(const Seen&) const = default;
};

Seen GiveAll(Transport& transport, ByteSpan bytes, size_t piece)
{
    Seen seen;
    while (!bytes.empty()) {
        ByteSpan some = bytes.first(std::min(piece, bytes.size()));
        const size_t given = some.size();
        const auto result = transport.Receive(some);
        bytes = bytes.subspan(given - some.size());
        if (!result) {
            seen.error = result.Message();
            CHECK(!seen.error.empty());
            return seen;
        }
        if (!transport.HasMessage()) continue;
        const ReceivedMessage message = transport.TakeMessage();
        CHECK(message.payload.size() <= kMaxPayload);
        CHECK(message.type.size() <= kMaxMessageType);
        seen.messages.push_back(message.type + message.problem +
                                std::string(AsChars(message.payload)));
    }
    return seen;
}

/** The hostile side of a handshake, then packets made from the input: a size, and that many bytes.
 */
Bytes Session(ByteSpan bytes, const EllSwiftKey& transport_key)
{
    const V2Secrets secrets = Secrets(2, 0);
    const EllSwiftKey key = MakeEllSwiftKey(secrets.key, secrets.entropy);
    V2Cipher cipher(kMagic, secrets.key, key, transport_key, true);
    Bytes out(key.begin(), key.end());
    Append(out, cipher.SendTerminator());
    while (!bytes.empty()) {
        const size_t size = std::min<size_t>(bytes[0] & 0x7f, bytes.size() - 1);
        const bool decoy = bytes[0] & 0x80;
        Bytes contents(bytes.begin() + 1, bytes.begin() + 1 + std::ptrdiff_t(size));
        Bytes head(V2Cipher::kLengthSize + V2Cipher::kHeaderSize);
        const auto tag = cipher.Encrypt(head, contents, {}, decoy);
        Append(out, head);
        Append(out, contents);
        Append(out, tag);
        bytes = bytes.subspan(1 + size);
    }
    return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 2) return 0;
    const uint8_t kind = data[0] % 4;
    const size_t piece = 1 + data[1];
    Bytes bytes(data + 2, data + size);
    const V2Secrets ours = Secrets(1, 7);
    if (kind == 3) bytes = Session(bytes, MakeEllSwiftKey(ours.key, ours.entropy));
    const auto make = [&]() -> std::unique_ptr<Transport> {
        if (kind == 0) return std::make_unique<V1Transport>(kMagic);
        return std::make_unique<V2Transport>(kMagic, kind == 1, ours);
    };
    const auto in_pieces = make(), whole = make();
    const Seen seen = GiveAll(*in_pieces, bytes, piece);
    CHECK(seen == GiveAll(*whole, bytes, bytes.size() + 1));
    if (kind == 3) CHECK(seen.error.empty());
    return 0;
}
