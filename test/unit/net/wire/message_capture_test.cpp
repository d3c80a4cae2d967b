// Captured messages: the bytes of their files.
#include "net/wire/message_capture.h"

#include "support/must.h"
#include "support/temp_dir.h"
#include "util/hex.h"

#include "support/catch.h"

#include <fstream>
#include <iterator>

namespace ibd {

using namespace test;

namespace {

std::string FileHex(const Path& path)
{
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return ToHex(AsBytes(text));
}

} // namespace

TEST_CASE("messages of each peer and direction are appended to a file", "[message_capture]")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto log = MakeNullLogger();
    MessageCapture capture(*env, *log, dir.Get() / "message_capture");
    const Endpoint four = *Endpoint::Parse("1.2.3.4:5", 0);
    const Endpoint six = *Endpoint::Parse("[2001:db8::1]:8333", 0);
    const Bytes nonce{7, 0, 0, 0, 0, 0, 0, 0};
    capture.Keep(four, true, "ping", nonce, 1'000'000);
    capture.Keep(four, true, "sendheaders", {}, 2);
    capture.Keep(four, false, "pong", nonce, 3);
    capture.Keep(six, true, "verack", {}, 4);
    const Path folder = dir.Get() / "message_capture";
    CHECK(FileHex(folder / "1.2.3.4_5" / "msgs_recv.dat") ==
          "40420f0000000000" // a second
          "70696e670000000000000000"
          "08000000"
          "0700000000000000"
          "0200000000000000"
          "73656e646865616465727300"
          "00000000");
    CHECK(FileHex(folder / "1.2.3.4_5" / "msgs_sent.dat") == "0300000000000000"
                                                             "706f6e670000000000000000"
                                                             "08000000"
                                                             "0700000000000000");
    CHECK(FileHex(folder / "[2001_db8__1]_8333" / "msgs_recv.dat") == "0400000000000000"
                                                                      "76657261636b000000000000"
                                                                      "00000000");
}

} // namespace ibd
