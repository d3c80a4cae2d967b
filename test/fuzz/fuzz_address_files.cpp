// Hostile files: the contents of peers.dat, and maps of autonomous systems. The result is
// consistent, survives a round trip, and every address has an answer in every map.
#include "net/address/addr_man.h"
#include "util/check.h"

#include <algorithm>

using namespace ibd;

namespace {

Bytes Written(const AddrMan& man)
{
    Bytes out;
    Writer writer(out);
    man.Serialize(writer);
    return out;
}

void CheckAddrMan(ByteSpan bytes)
{
    const NetGroups groups;
    const auto logger = MakeNullLogger();
    AddrMan man(groups, Hash32{1}, *logger);
    PayloadReader reader(bytes);
    const auto read = man.Deserialize(reader);
    if (!read) CHECK(!read.Message().empty());
    if (!read || !*read) return;
    CHECK(man.Check() == 0);
    const Bytes file = Written(man);
    AddrMan again(groups, Hash32{2}, *logger);
    PayloadReader second(file);
    const auto back = again.Deserialize(second);
    CHECK(back.Ok() && *back && second.AtEnd());
    CHECK(Written(again) == file);
}

void CheckAsmap(ByteSpan bytes)
{
    const auto map = Asmap::Parse({bytes.begin(), bytes.end()});
    if (!map) return;
    std::array<uint8_t, 16> ip{};
    for (size_t i = 0; i < 64; ++i) {
        ip[i % ip.size()] = static_cast<uint8_t>(i * 37 + bytes[i % bytes.size()]);
        map->Lookup(ip);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size == 0) return 0;
    const ByteSpan rest(data + 1, size - 1);
    if (data[0] & 1)
        CheckAsmap(rest);
    else
        CheckAddrMan(rest);
    return 0;
}
