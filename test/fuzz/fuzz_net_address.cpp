// Addresses from any text and any bytes: a parsed address survives a round trip.
#include "net/address/net_address.h"
#include "util/check.h"

#include <algorithm>

using namespace ibd;

namespace {

void CheckText(std::string_view text)
{
    const auto endpoint = Endpoint::Parse(text, 1);
    if (!endpoint) return;
    CHECK(!endpoint->address.IsInternal());
    CHECK(Endpoint::Parse(endpoint->ToString(), 2) == endpoint);
}

void CheckKinds(const NetAddress& address)
{
    CHECK(!address.IsRoutable() || address.IsValid());
    CHECK(!address.LinkedIpv4() || address.IsRoutable());
    CHECK(address.ReachabilityFrom(address) >= (address.IsRoutable() ? 1 : 0));
    CHECK((address.NetworkClass() == AddressNetwork::kUnroutable) ==
          (!address.IsRoutable() && !address.IsInternal()));
    if (!address.IsInternal())
        CHECK(NetAddress::Parse(address.ToString()).has_value() ||
              address.Is(AddressNetwork::kCjdns));
}

void CheckBytes(ByteSpan bytes)
{
    PayloadReader reader(bytes);
    const PeerAddress v2 = PeerAddress::DecodeV2(reader);
    if (reader.Ok()) {
        CheckKinds(v2.endpoint.address);
        Bytes out;
        Writer writer(out);
        v2.EncodeV2(writer);
        PayloadReader again(out);
        CHECK(PeerAddress::DecodeV2(again) == v2);
        CHECK(again.AtEnd());
    }
    PayloadReader v1_reader(bytes);
    const PeerAddress v1 = PeerAddress::DecodeV1(v1_reader);
    if (v1_reader.Ok()) CheckKinds(v1.endpoint.address);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    CheckText(AsChars({data, size}));
    CheckBytes({data, size});
    return 0;
}
