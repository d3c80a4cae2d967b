// Which hints file is taken, of one that is given and of a folder.
#include "node/hints_choice.h"

#include "crypto/sha256.h"
#include "hints/hints_writer.h"
#include "support/must.h"
#include "support/temp_dir.h"

#include <fstream>

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
    Uint256 HashOf(const char* name) const
    {
        return Uint256(Sha256Of(Must(ReadWholeFile(*m_env, Path() / name))));
    }
    Result<std::unique_ptr<Hints>> Choose(const HintsChoice& choice,
                                          const BlockHash& assumed_valid = {}) const
    {
        return ChooseHints(*m_env, *m_log, m_params, choice, assumed_valid);
    }
    /** The name of what is chosen of the folder; empty for none. */
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
    // Of another network, and none at all.
    const std::array<uint8_t, 4> magic = {1, 2, 3, 4};
    folder.Write("e", HintsFormat::kContainer, 100, {}, &magic);
    std::ofstream(folder.Path() / "f") << "nonsense";
    CHECK(folder.Chosen() == "a");
    CHECK(folder.Chosen({}, folder.HashOf("c")) == "c");
    CHECK(folder.Chosen({}, Uint256(Sha256Of({}))).empty());
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
