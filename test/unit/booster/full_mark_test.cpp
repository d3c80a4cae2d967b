// The mark of a full validation: it counts only if its blocks would be verified likewise now.
#include "booster/full_mark.h"

#include "chain/chain_data.h"
#include "crypto/sha256.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "util/atomic_file.h"
#include "util/hex.h"

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

TEST_CASE("a mark of batches above the known block counts as none")
{
    const auto env = MakePosixEnv();
    const TempDir dir;
    const ChainParams params = MakeChainParams(Network::kRegtest, {});
    HeaderTree tree(params);
    const HeaderNode& terminal = *Grow(tree, tree.Genesis(), 1);
    const auto mark = [&](int32_t known_height, UndoChecks checks = UndoChecks::kScripts) {
        return FullMark(*env, dir.Get(), params, terminal, checks, known_height);
    };
    CHECK(Must(mark(0).Load()) == 0);
    Must(mark(60).Save(100));
    CHECK(Must(mark(60).Load()) == 100);
    CHECK(Must(mark(61).Load()) == 100);
    CHECK(Must(mark(59).Load()) == 0);
    CHECK(Must(mark(0).Load()) == 0);
    CHECK(Must(mark(60, UndoChecks::kRules).Load()) == 0);
    Must(mark(60).Save(50)); // all its blocks are below 51
    CHECK(Must(mark(50).Load()) == 50);
    CHECK(Must(mark(49).Load()) == 0);
    Must(mark(0).Save(70));
    CHECK(Must(mark(0).Load()) == 70);

    // As an older program wrote it, which verified all signatures in batches.
    const Path file = dir.Get() / "fullvalidation.txt";
    std::string text = std::string(AsChars(Must(ReadWholeFile(*env, file))));
    text.resize(text.rfind(' '));
    text.resize(text.rfind(' '));
    const std::string checksum = ToHex(Sha256Of(AsBytes(text))).substr(0, 16);
    Must(WriteFileAtomically(*env, file, AsBytes(text + " " + checksum + "\n")));
    CHECK(Must(mark(1'000).Load()) == 0);
}
