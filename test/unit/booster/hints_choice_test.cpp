// The choice of the hints file: a given one, or one from a folder.
#include "booster/hints_choice.h"

#include "crypto/sha256.h"
#include "hints/hints_writer.h"
#include "hints/swifthints.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "util/hex.h"

#include <fstream>
#include <map>

using namespace ibd;
using namespace ibd::test;

namespace {

class Folder {
public:
    Folder() { std::filesystem::create_directories(Path()); }

    ibd::Path Path() const { return m_dir.Get() / "hints"; }
    void Write(const char* name, HintsFormat format, uint32_t height,
               const BlockHash& terminal = {}, const std::array<uint8_t, 4>* magic = nullptr)
    {
        const HintsTarget target{format, magic ? *magic : m_params.magic, height};
        const auto writer = Must(StartHintsFile(*m_env, Path() / name, target));
        if (FirstHeight(format) == 0) Must(writer->Add(0, 1, {}));
        for (uint32_t h = 1; h <= height; ++h) {
            Must(writer->Add(h, 1, h % 2 ? std::vector<uint32_t>{0} : std::vector<uint32_t>()));
        }
        Must(writer->Finish(terminal));
    }
    /** A block is a transaction with one output. */
    void WriteSwifthints(const char* name, uint32_t height)
    {
        SwifthintsWriter writer(Must(m_env->OpenWrite(Path() / name, true)));
        constexpr std::array<uint32_t, 1> kShape = {1};
        for (uint32_t h = 0; h <= height; ++h) {
            Must(writer.Add(h, kShape, h % 2 ? std::vector<uint32_t>{0} : std::vector<uint32_t>()));
        }
        Must(writer.Finish());
    }
    Uint256 HashOf(const char* name) const
    {
        return Uint256(Sha256Of(Must(ReadWholeFile(*m_env, Path() / name))));
    }
    Result<ChosenHints> ChooseAny(const HintsChoice& choice,
                                  const BlockHash& assumed_valid = {}) const
    {
        return ChooseHints(*m_env, *m_log, m_params, choice, assumed_valid);
    }
    Result<std::unique_ptr<Hints>> Choose(const HintsChoice& choice,
                                          const BlockHash& assumed_valid = {}) const
    {
        auto chosen = ChooseAny(choice, assumed_valid);
        if (!chosen) return chosen.GetError();
        return std::move(chosen->hints);
    }
    /** The name of the file chosen in the folder; empty for none. */
    std::string Chosen(const BlockHash& assumed_valid = {}, std::optional<Uint256> hash = {}) const
    {
        const auto hints = Must(Choose({{}, Path(), hash}, assumed_valid));
        return hints ? hints->Info().path.filename().string() : "";
    }

private:
    TempDir m_dir;
    const std::unique_ptr<Env> m_env = MakePosixEnv();
    const std::unique_ptr<Logger> m_log = MakeNullLogger();
    const ChainParams m_params = MakeChainParams(Network::kRegtest);
};

} // namespace

TEST_CASE("swifthints wait for their blocks, where there are no other hints or they are named")
{
    Folder folder;
    folder.WriteSwifthints("low", 50);
    folder.WriteSwifthints("high", 60);
    const HintsChoice any{{}, folder.Path(), {}, folder.Path()};
    const ChosenHints high = Must(folder.ChooseAny(any));
    CHECK_FALSE(high.hints);
    REQUIRE(high.waiting);
    CHECK(high.waiting->info.path == folder.Path() / "high");
    CHECK(high.waiting->info.terminal_height == 60);
    const std::string hash = ToHex(folder.HashOf("high").Span());
    CHECK(high.waiting->container == folder.Path() / ("swifthints-" + hash + ".hints"));
    // An earlier conversion of it, unless that is damaged.
    folder.Write(("swifthints-" + hash + ".hints").c_str(), HintsFormat::kContainer, 60);
    const ChosenHints made =
        Must(folder.ChooseAny({folder.Path() / "high", {}, {}, folder.Path()}));
    CHECK_FALSE(made.waiting);
    REQUIRE(made.hints);
    CHECK(made.hints->Info().path == high.waiting->container);
    std::filesystem::resize_file(high.waiting->container, 100);
    CHECK(Must(folder.ChooseAny(any)).waiting);
    folder.Write("other", HintsFormat::kContainer, 10);
    CHECK_FALSE(Must(folder.ChooseAny(any)).waiting);
    CHECK(Must(folder.ChooseAny(any)).hints->Info().path == folder.Path() / "other");
    // A hash is that of the file that is given.
    CHECK(Must(folder.ChooseAny({folder.Path() / "low", {}, folder.HashOf("low"), folder.Path()}))
              .waiting);
    CHECK_FALSE(
        folder.ChooseAny({folder.Path() / "low", {}, folder.HashOf("high"), folder.Path()}));
}

TEST_CASE("hints are chosen of a folder: the assumed-valid block, then height, then name")
{
    Folder folder;
    CHECK(folder.Chosen().empty());
    CHECK(Must(folder.Choose({{}, folder.Path() / "none", {}})) == nullptr);
    folder.Write("c", HintsFormat::kContainer, 5);
    CHECK(folder.Chosen() == "c");
    folder.Write("b", HintsFormat::kBip456Crate, 9);
    folder.Write("a", HintsFormat::kBtcd, 9);
    CHECK(folder.Chosen() == "a");
    const BlockHash assumed = BlockHash::FromBytes(Sha256Of({}).data());
    folder.Write("d", HintsFormat::kContainer1, 3, assumed);
    CHECK(folder.Chosen() == "a");
    CHECK(folder.Chosen(assumed) == "d");
    // A file of another network, and one without a network.
    const std::array<uint8_t, 4> magic = {1, 2, 3, 4};
    folder.Write("e", HintsFormat::kContainer, 100, {}, &magic);
    std::ofstream(folder.Path() / "f") << "nonsense";
    CHECK(folder.Chosen() == "a");
    CHECK(folder.Chosen({}, folder.HashOf("c")) == "c");
    CHECK(folder.Chosen({}, Uint256(Sha256Of({}))).empty());
}

TEST_CASE("hints of a folder: those of an unfinished sync come first, suspect ones last")
{
    Folder folder;
    for (const uint32_t height : {5u, 7u, 9u}) {
        folder.Write(fmt::format("{}", height).c_str(), HintsFormat::kContainer, height);
    }
    const auto chosen = [&](const std::map<std::string, HintsRank>& ranks) {
        HintsChoice choice{{}, folder.Path(), {}};
        choice.rank = [&](const HintsInfo& info) -> Result<HintsRank> {
            const auto found = ranks.find(info.path.filename().string());
            return found == ranks.end() ? HintsRank::kUsual : found->second;
        };
        const auto hints = Must(folder.Choose(choice));
        return hints ? hints->Info().path.filename().string() : "";
    };
    CHECK(chosen({}) == "9");
    CHECK(chosen({{"9", HintsRank::kRefused}}) == "7");
    CHECK(chosen({{"5", HintsRank::kBegun}}) == "5");
    CHECK(chosen({{"5", HintsRank::kBegun}, {"7", HintsRank::kBegun}}) == "7");
    CHECK(chosen({{"9", HintsRank::kSuspect}}) == "7");
    CHECK(chosen({{"7", HintsRank::kSuspect},
                  {"9", HintsRank::kRefused},
                  {"5", HintsRank::kRefused}}) == "7");
    CHECK(chosen({{"5", HintsRank::kRefused},
                  {"7", HintsRank::kRefused},
                  {"9", HintsRank::kRefused}}) == "");
    HintsChoice unreadable{{}, folder.Path(), {}};
    unreadable.rank = [](const HintsInfo&) { return SystemError("no disk"); };
    CHECK_FALSE(folder.Choose(unreadable));
}

TEST_CASE("hints that are given are refused when their hash is not the one that is pinned")
{
    Folder folder;
    folder.Write("c", HintsFormat::kContainer, 5);
    folder.Write("d", HintsFormat::kContainer, 6);
    const Path file = folder.Path() / "c";
    CHECK(Must(folder.Choose({file, {}, folder.HashOf("c")}))->Info().terminal_height == 5);
    const std::string message = folder.Choose({file, {}, folder.HashOf("d")}).Message();
    CHECK_THAT(message, Catch::Contains("-ibdboosterhash"));
    CHECK_THAT(message, Catch::Contains(file.string()));
    const std::array<uint8_t, 4> magic = {1, 2, 3, 4};
    folder.Write("c", HintsFormat::kContainer, 5, {}, &magic);
    CHECK_THAT(folder.Choose({file, {}, {}}).Message(), Catch::Contains("another network"));
    CHECK_FALSE(folder.Choose({folder.Path() / "none", {}, {}}).Ok());
    CHECK(Must(folder.Choose({})) == nullptr);
}
