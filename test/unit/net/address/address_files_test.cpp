// Files of addresses whose size a stranger may have chosen.
#include "net/address/address_files.h"
#include "net/address/net_groups.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "util/found.h"

#include <filesystem>
#include <fstream>

#include "support/catch.h"

namespace ibd::test {

TEST_CASE("address files above their largest size are not read into memory", "[address]")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto log = MakeNullLogger();
    const NetGroups groups;
    const AddressFileContext files{*env, *log, dir.Get(), {}};
    for (const char* name : {"peers.dat", "anchors.dat"}) {
        std::ofstream(dir / name).close();
        std::filesystem::resize_file(dir / name, kMaxAddressFile + 1);
    }
    const auto loaded = LoadPeers(files, {.groups = groups});
    REQUIRE_FALSE(loaded);
    CHECK(IsBadData(loaded));
    CHECK_THAT(loaded.Message(),
               Catch::Matchers::StartsWith("Invalid or corrupt peers.dat (it has 32000001 bytes"));
    CHECK_THAT(loaded.Message(), Catch::Matchers::Contains((dir / "peers.dat").string()));
    CHECK(std::filesystem::file_size(dir / "peers.dat") == kMaxAddressFile + 1);
    CHECK(TakeAnchors(files).empty());
}

} // namespace ibd::test
