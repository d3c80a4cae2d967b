// See fixed_seeds.h.
#include "net/address/fixed_seeds.h"

#include "net/address/services.h"
#include "util/base64.h"
#include "util/check.h"

namespace ibd {

namespace {

constexpr int64_t kWeek = 7 * 24 * 60 * 60; //!< seconds

std::string TextOf(const ChainParams& params)
{
    switch (params.network) {
    case Network::kMain: return std::string(kMainSeeds[0]) + kMainSeeds[1];
    case Network::kTestnet3: return kTestnet3Seeds;
    case Network::kTestnet4: return kTestnet4Seeds;
    case Network::kSignet: return params.dns_seeds.empty() ? "" : kSignetSeeds;
    case Network::kRegtest: return "";
    }
    return "";
}

} // namespace

std::vector<PeerAddress> FixedSeeds(const ChainParams& params, RandomStream& chance, int64_t now)
{
    const auto bytes = FromBase64(TextOf(params));
    CHECK(bytes.has_value());
    PayloadReader reader{ByteSpan(*bytes)};
    std::vector<PeerAddress> out;
    while (reader.Remaining() > 0 && reader.Ok()) {
        PeerAddress address;
        address.endpoint = Endpoint::DecodeV2(reader);
        address.services = kNodeNetwork | kNodeWitness;
        address.time =
            static_cast<uint32_t>(now - kWeek - static_cast<int64_t>(chance.Below(kWeek)));
        out.push_back(address);
    }
    CHECK(reader.Ok());
    return out;
}

} // namespace ibd
