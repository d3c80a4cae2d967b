// See testdata.h.
#include "support/testdata.h"

#include "support/skips.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>

#include "support/catch.h"

namespace ibd::test {

namespace {

/** Standard output and error of a shell command, without the last line's end, and its status. */
std::pair<std::string, int> OutputOf(const std::string& command)
{
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    REQUIRE(pipe);
    std::string out;
    char chunk[4096];
    while (size_t n = fread(chunk, 1, sizeof chunk, pipe)) out.append(chunk, n);
    while (!out.empty() && out.back() == '\n') out.pop_back();
    return {out, pclose(pipe)};
}

/** If there are several lines, the last one. */
std::string LastLine(const std::string& text)
{
    const size_t end = text.rfind('\n');
    return end == std::string::npos ? text : text.substr(end + 1);
}

} // namespace

std::optional<std::string> TestData(const std::string& name)
{
    const std::filesystem::path source = IBD_SOURCE_DIR;
    const auto path = source / ".." / "shared" / "testdata" / name;
    if (std::filesystem::exists(path)) return path.string();
    const auto script = source / "test" / "support" / "pinned_testdata.sh";
    const auto [output, status] = OutputOf("'" + script.string() + "' '" + name + "'");
    if (status == 0) return LastLine(output);
    const std::string reason = LastLine(output);
    const char* ci = std::getenv("CI");
    if (ci && std::string(ci) == "true") FAIL("test data missing in CI: " << reason);
    SkipTest(reason);
    return std::nullopt;
}

void SkipTest(const std::string& reason)
{
    std::cerr << "skipped: " << reason << "\n";
    SkippedTests().emplace(Catch::getResultCapture().getCurrentTestName(), reason);
}

std::map<std::string, std::string>& SkippedTests()
{
    static std::map<std::string, std::string> skips;
    return skips;
}

Bytes ReadTestFile(const std::string& path)
{
    const std::string suffix = std::filesystem::path(path).extension();
    std::string tool = "cat";
    if (suffix == ".xz") tool = "xz -dc";
    if (suffix == ".zst") tool = "zstd -dcq";
    if (suffix == ".bz2") tool = "bzip2 -dc";
    FILE* pipe = popen((tool + " '" + path + "'").c_str(), "r");
    REQUIRE(pipe);
    Bytes out;
    uint8_t chunk[65536];
    while (size_t n = fread(chunk, 1, sizeof chunk, pipe)) out.insert(out.end(), chunk, chunk + n);
    REQUIRE(pclose(pipe) == 0);
    return out;
}

UniValue ReadTestJson(const std::string& path)
{
    const Bytes text = ReadTestFile(path);
    UniValue value;
    REQUIRE(value.read(reinterpret_cast<const char*>(text.data()), text.size()));
    return value;
}

sim::Rng& TestRng()
{
    static sim::Rng rng = [] {
        const char* given = std::getenv("IBD_TEST_SEED");
        const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
        std::cerr << "IBD_TEST_SEED=" << seed << "\n";
        return sim::Rng(seed);
    }();
    return rng;
}

Bytes RandomBytes(size_t n)
{
    Bytes out(n);
    for (uint8_t& b : out) b = static_cast<uint8_t>(TestRng()());
    return out;
}

} // namespace ibd::test
