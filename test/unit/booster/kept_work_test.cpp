// KeptWork: each part of the kept work is measured, and removed without any other file, for any
// mixture of parts. The wording of getboosterinfo for each state.
#include "booster/kept_work.h"

#include "booster/booster_progress.h"
#include "support/must.h"
#include "support/temp_dir.h"

#include <fstream>
#include <map>
#include <set>

namespace ibd::test {

namespace {

constexpr size_t kFileBytes = 10;

/** The files of each part, by the names that the node gives. */
const std::map<unsigned, std::set<std::string>>& FilesOfParts()
{
    static const std::map<unsigned, std::set<std::string>> files = {
        {KeptWork::kFold, {"run000001.dat", "run1234567.dat", "checkpoint.dat", "checkpoint.log"}},
        {KeptWork::kMark, {"fullvalidation.txt"}},
        {KeptWork::kOwnHints, {"own.hints", "join.dat", "spill000000.dat"}},
        {KeptWork::kBegunHints, {"own.hints.incomplete"}},
        {KeptWork::kPairs, {"undo/join.dat", "undo/spill000003.dat"}},
    };
    return files;
}

/** Files of the user, and those that always stay. */
const std::set<std::string> kOthers = {"photo",      "run7.dat",     "spill.dat",
                                       "undo/photo", "badhints.txt", "suspecthints.txt"};

void Write(const Path& folder, const std::string& name)
{
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << std::string(kFileBytes, 'x');
}

std::set<std::string> FilesIn(const Path& folder)
{
    std::set<std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) out.insert(entry.path().lexically_relative(folder).string());
    }
    return out;
}

} // namespace

TEST_CASE("kept work: any mixture of parts is removed, and no other file")
{
    const auto env = MakePosixEnv();
    const auto log = MakeNullLogger();
    const ChainParams params = MakeChainParams(Network::kRegtest);
    constexpr unsigned kAll = KeptWork::kFold | KeptWork::kMark | KeptWork::kOwnHints |
                              KeptWork::kBegunHints | KeptWork::kPairs;
    for (unsigned parts = 0; parts <= kAll; ++parts) {
        CAPTURE(parts);
        const TempDir dir;
        const Path folder = dir / "booster";
        std::set<std::string> left = kOthers;
        size_t kept_files = 0;
        size_t own_files = 0;
        for (const auto& [part, names] : FilesOfParts()) {
            for (const std::string& name : names) {
                Write(folder, name);
                ++kept_files;
                own_files += part >= KeptWork::kOwnHints;
                // Hints that are begun go with the hints.
                const bool with_hints = part == KeptWork::kBegunHints;
                const bool goes = (parts & part) || (with_hints && (parts & KeptWork::kOwnHints));
                if (!goes) left.insert(name);
            }
        }
        for (const std::string& name : kOthers) Write(folder, name);
        const KeptWork kept(*env, *log, params, {folder});
        CHECK(Must(kept.Size()) == kept_files * kFileBytes);
        CHECK(Must(kept.SizeOfOwnHints()) == own_files * kFileBytes);
        Must(kept.Discard(parts));
        CHECK(FilesIn(folder) == left);
        Must(kept.Discard(kAll));
        CHECK(FilesIn(folder) == kOthers);
        CHECK(Must(kept.Size()) == 0);
        CHECK_FALSE(Must(kept.SizeOfOwnHints()));
    }
}

TEST_CASE("kept work: without its folder there is nothing, and nothing is made")
{
    const auto env = MakePosixEnv();
    const auto log = MakeNullLogger();
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const TempDir dir;
    const KeptWork kept(*env, *log, params, {dir / "none"});
    CHECK_FALSE(Must(kept.IsThere()));
    CHECK(Must(kept.Size()) == 0);
    CHECK_FALSE(Must(kept.OwnHints()));
    CHECK_FALSE(Must(kept.Fold()));
    CHECK(Must(kept.StandingOfFold({}, {})) == FoldStanding::kNone);
    Must(kept.Discard(KeptWork::kFold | KeptWork::kOwnHints | KeptWork::kPairs));
    Must(kept.Tend());
    CHECK_FALSE(std::filesystem::exists(dir / "none"));
}

TEST_CASE("progress of a session: one word for each state and each phase")
{
    std::set<std::string> words;
    for (const FoldState state :
         {FoldState::kIdle, FoldState::kFolding, FoldState::kJudging, FoldState::kLoading,
          FoldState::kPublishing, FoldState::kAccepted, FoldState::kRefused}) {
        words.insert(BoosterProgress{.fold = {.state = state}}.StateName());
    }
    for (const BoosterState state :
         {BoosterState::kWaiting, BoosterState::kJoining, BoosterState::kValidating}) {
        words.insert(BoosterProgress{.state = state}.StateName());
    }
    CHECK(words == std::set<std::string>{"idle", "waiting", "joining", "validating", "folding",
                                         "judging", "loading", "publishing", "accepted",
                                         "refused"});
    using Phase = JoinProgress::Phase;
    CHECK(PhaseName(Phase::kReading) == std::string("reading"));
    CHECK(PhaseName(Phase::kFetching) == std::string("fetching"));
    CHECK(PhaseName(Phase::kUndo) == PhaseName(Phase::kWriting));
}

} // namespace ibd::test
