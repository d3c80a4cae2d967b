// Hints that are converted beside the blocks: from all outputs to shapes to spendable ones, hints
// of other blocks, and stopping.
#include "swiftsync/convert_hints.h"
#include "sync_setup.h"

#include "support/testdata.h"

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

class Converting {
public:
    explicit Converting(uint64_t seed) : setup(seed, {.blocks = 50}, HintsCounting::kAll) {}

    HintsSource Source(const Path& path, HintsFormat format)
    {
        HintsSource source;
        if (format == HintsFormat::kSwifthints) {
            source.swifthints = Must(SwifthintsReader::Open(setup.CleanEnv(), path));
        } else {
            source.hints = Must(OpenHints(setup.CleanEnv(), path, format));
        }
        return source;
    }
    /** Up to the block at `stop`, which is not added. */
    Result<bool> Convert(const HintsSource& source, HintsFormat format, const Path& to,
                         uint32_t stop = 0)
    {
        TestChain& chain = setup.Chain();
        HintsSink sink{{format, chain.Params().magic, chain.Height()}, {}, {}};
        Must(sink.Start(setup.CleanEnv(), to));
        const BlockWalk walk(setup.Blocks(), chain.Tip(), chain.Params().consensus);
        const auto done = ConvertBeside(walk, source, sink, [&](uint32_t height) {
            ++heard;
            return height != stop;
        });
        if (done && *done) Must(sink.Finish(chain.Tip().hash));
        return done;
    }
    Path File(const char* name) const { return m_dir.Get() / name; }

    SyncSetup setup;
    uint32_t heard = 0;

private:
    TempDir m_dir;
};

} // namespace

TEST_CASE("Hints beside blocks: to swifthints and back, and what the engine says to that")
{
    Converting with(TestRng()());
    const Path swift = with.File("swift");
    const Path back = with.File("back");
    REQUIRE(Must(with.Convert(with.Source(with.setup.HintsPath(), HintsFormat::kBitmap),
                              HintsFormat::kSwifthints, swift)));
    REQUIRE(Must(
        with.Convert(with.Source(swift, HintsFormat::kSwifthints), HintsFormat::kContainer, back)));
    const auto hints = Must(OpenHints(with.setup.CleanEnv(), back));
    BlockHints block;
    for (uint32_t h = 1; h <= with.setup.Chain().Height(); ++h) {
        Must(hints->Read(h, block));
        REQUIRE(block.unspent == with.setup.Chain().HintsOf(h, HintsCounting::kSpendable).unspent);
    }
    const auto verdict =
        Must(with.setup.SyncWith(with.setup.CleanEnv(), *hints, with.setup.Options()));
    REQUIRE(verdict.kind == VerdictKind::kDone);
    with.setup.RequireRight();
}

TEST_CASE("Hints beside blocks: the callback for each height may stop the walk")
{
    Converting with(5);
    const auto source = with.Source(with.setup.HintsPath(), HintsFormat::kBitmap);
    REQUIRE_FALSE(Must(with.Convert(source, HintsFormat::kContainer, with.File("out"), 20)));
    REQUIRE(with.heard == 20);
}

TEST_CASE("Hints beside blocks: those of another chain are refused as bad data")
{
    Converting with(5);
    Converting other(6);
    REQUIRE(Must(other.Convert(other.Source(other.setup.HintsPath(), HintsFormat::kBitmap),
                               HintsFormat::kSwifthints, other.File("swift"))));
    const auto wrong = with.Convert(with.Source(other.File("swift"), HintsFormat::kSwifthints),
                                    HintsFormat::kContainer, with.File("out"));
    REQUIRE_FALSE(wrong);
    REQUIRE(wrong.GetError().kind == Error::Kind::kBadData);
}
