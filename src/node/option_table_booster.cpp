// See option_table.h. Options of the IBD Booster.
#include "node/option_table.h"
#include "node/start_checks.h"
#include "util/hex.h"

namespace ibd {

namespace {

constexpr unsigned kPlain = OptionSpec::kPlain;
constexpr unsigned kHidden = OptionSpec::kHidden;
constexpr unsigned kYesOrNo = OptionSpec::kYesOrNo;

constexpr int64_t kMaxBoosterMem = 64 << 10; //!< MiB; enough for all coins
constexpr int64_t kMaxBoosterThreads = 1024;
constexpr int64_t kLeastBoosterPeers = 2; //!< made by Core anyway
constexpr int64_t kMostBoosterPeers = 64;
constexpr int64_t kMaxInterval = 86'400; //!< seconds

template <typename Value>
using Word = std::pair<std::string_view, Value>;

constexpr std::array kAggregates{Word<AggregateKind>{"sha256", AggregateKind::kSha256},
                                 Word<AggregateKind>{"muhash", AggregateKind::kMuHash}};
constexpr std::array kLoaders{Word<LoaderKind>{"table", LoaderKind::kTable},
                              Word<LoaderKind>{"batch", LoaderKind::kBatch}};
constexpr std::array kLanes{
    Word<LanesMode>{"0", LanesMode::kOff}, Word<LanesMode>{"1", LanesMode::kOn},
    Word<LanesMode>{"", LanesMode::kOn}, Word<LanesMode>{"check", LanesMode::kCheck}};

constexpr OptionRow<NodeOptions> kBooster[] = {
    {"-ibdboosterfile", "=<file>",
     "Build the chainstate with the IBD Booster up to the last block of this hints file. A "
     "relative path is below the working directory. All "
     "formats are accepted (swifthints only if the blocks are stored). The option takes effect if "
     "there is no chainstate, or with -reindex or -reindex-chainstate. auto: the best file in the "
     "folder hints of the network's data directory, or else a file that several peers offer. These "
     "rules are checked later, with the undo data (-ibdboosterundo): amounts against inputs, "
     "coinbase maturity, relative lock times, the order of spending across blocks, and the "
     "signature operations of P2SH and witness spends"},
    {"-ibdbooster", "",
     "Without a hints file: make hints from stored blocks or blocks of peers, and build the "
     "chainstate with them; -ibdbooster=0: do not run the booster, even with -ibdboosterfile=auto "
     "(default: 1 if the blocks up to the assumed-valid block have more than 1 GiB, the disk has "
     "room, and -prune is not given)",
     kYesOrNo},
    {"-ibdboosterleast", "=<n>",
     "Make hints by default if the blocks have more bytes than this (default: 1 GiB)", kHidden,
     kNumber<&NodeOptions::own_hints, &OwnHintsOptions::least_bytes>.From(0)},
    {"-ibdboosteraggregate", "=<kind>",
     "Aggregate that must be zero at the terminal block: sha256 or muhash (default: sha256)",
     kPlain, kChoice<kAggregates, &NodeOptions::booster, &BoosterOptions::aggregate>},
    {"-ibdboosterchecks", "",
     "Check all rules but scripts before the chainstate is written, with spent coins joined from "
     "the blocks, so that only scripts are assumed valid (default: 1 without a hints file, if the "
     "disk has room; 0 with a hints file: the checks are then made in the background with "
     "-ibdboosterundo=1, and never if no undo data is made)",
     kYesOrNo, kFlag<&NodeOptions::booster, &BoosterOptions::check_rules>},
    {"-ibdboosterdir", "=<dir>",
     "Directory for runs and checkpoints while the booster works; each data directory gets its own "
     "folder in it (default: ibdbooster in the network's data directory)"},
    {"-ibdboosterhash", "=<hex>",
     "SHA-256 of the hints file; a file with another hash is refused, or skipped with auto"},
    {"-ibdboosterinterval", "=<n>",
     "Most work that a crash of the booster loses, in seconds (default: 60)", kPlain,
     kNumber<&NodeOptions::booster, &BoosterOptions::checkpoint_seconds>.From(1, kMaxInterval,
                                                                              " seconds")},
    {"-ibdboosterintervalbytes", "=<n>",
     "Most work that a crash of the booster loses, in bytes of blocks; the smaller of this bound "
     "and -ibdboosterinterval applies (default: 32 GiB)",
     kHidden, kNumber<&NodeOptions::booster, &BoosterOptions::checkpoint_bytes>.From(1)},
    {"-ibdboosterfullvalidation", "",
     "Check every rule and script, and assume no block valid. The spent coins come from undo files "
     "if these are complete, else from the blocks; with -prune from peers (default: 0)",
     kYesOrNo, kFlag<&NodeOptions::booster, &BoosterOptions::full_validation>},
    {"-ibdboosterloader", "=<kind>",
     "How the chainstate is written: table, directly as sorted tables, or batch, through LevelDB "
     "(default: table)",
     kPlain, kChoice<kLoaders, &NodeOptions::booster, &BoosterOptions::loader>},
    {"-ibdboostermem", "=<n>",
     "Memory for coins being sorted and for joins, MiB. The program, and blocks from one peer, "
     "take up to 110 MiB more; each further peer up to 4 MB (default: 96)",
     kPlain,
     kNumber<&NodeOptions::booster, &BoosterOptions::memory_bytes>.From(1, kMaxBoosterMem, " MiB",
                                                                        1 << 20)},
    {"-ibdboosterpeers", "=<n>",
     "Block-only connections to make while the booster fetches blocks, in addition to the other "
     "connections; 2 to 64 (default: 2, as without the booster)",
     kPlain, kNumber<&NodeOptions::booster_peers>.From(kLeastBoosterPeers, kMostBoosterPeers)},
    {"-ibdboosterprune", "",
     "With -prune: process blocks without storing them, except the last 288 below the end of the "
     "hints. Wrong hints then cost a second download of all blocks (default: 0)",
     kYesOrNo},
    {"-ibdboosterthreads", "=<n>", "Threads of the booster (default: one for each core)", kPlain,
     kNumber<&NodeOptions::booster, &BoosterOptions::threads>.From(1, kMaxBoosterThreads)},
    {"-ibdboosterundo", "=<when>",
     "When to make the undo data (rev*.dat) of blocks that the booster processed. This also checks "
     "the blocks against all rules but scripts. now: before the node is in use; 1: that of the "
     "last 288 blocks before the node is in use, the rest in the background; 0: never (default: 1 "
     "if the disk has room and -prune is not given)"},
    {"-ibdboosterwait", "=<n>",
     "Seconds to wait after the headers: with -ibdboosterfile=auto for peers with better hints, "
     "in full validation with -prune for peers with spent coins (default: 60)",
     kPlain, kNumber<&NodeOptions::hints_wait_seconds>.From(0, kMaxInterval, " seconds")},
    {"-servehints", "",
     "Keep hints that the node has used or made, in the folder hints of the network's data "
     "directory, and send them to peers that ask (default: 1)",
     kYesOrNo, kFlag<&NodeOptions::serve_hints>},
    {"-signaturelanes", "=<mode>",
     "How signatures up to the assumed-valid block are verified, in full validation and with "
     "-assumevalid=0 (then the built-in block counts). 1: several at a time, if the processor has "
     "AVX-512 IFMA or AVX2; 0: one by one, with libsecp256k1; check: in both ways, and the node "
     "stops at a difference (default: 1). Above that block libsecp256k1 verifies alone",
     kPlain, kChoice<kLanes, &NodeOptions::booster, &BoosterOptions::signature_lanes>},
};

/** A folder for this network and data directory only, inside one that several nodes may share: none
 *  removes another's unfinished work. */
Path OwnFolderIn(const Path& shared, const ChainParams& params, const Path& net_dir)
{
    std::error_code code;
    const Path canonical = std::filesystem::weakly_canonical(net_dir, code);
    const Hash32 digest = Sha256Of(AsBytes((code ? net_dir : canonical).string()));
    return std::filesystem::absolute(shared) /
           fmt::format("{}-{}", params.name, ToHex(ByteSpan(digest).first(4)));
}

Result<> ReadOwnHints(const ArgsManager& args, NodeOptions& out)
{
    using Mode = OwnHintsOptions::Mode;
    out.own_hints.mode = Mode::kDefault;
    if (out.booster.full_validation) { // reads blocks several times, so all must be stored
        out.own_hints.mode = out.prune_target == 0 ? Mode::kAsked : Mode::kOff;
    }
    if (!args.IsSet("-ibdbooster")) return {};
    const bool asked = args.GetBool("-ibdbooster", true);
    out.own_hints.mode = asked ? Mode::kAsked : Mode::kOff;
    if (!asked && out.hints.file) {
        return BadData("-ibdbooster=0 means never, but -ibdboosterfile names hints: leave out one");
    }
    if (!asked || out.hints.file) return {};
    if (out.prune_target != 0) {
        return BadData(
            "-ibdbooster with -prune: hints are made from blocks that are read twice, so "
            "all have to be stored. Leave out one, or give -ibdboosterfile");
    }
    if (args.IsSet("-assumevalid") && out.assume_valid.IsNull() && !out.booster.full_validation) {
        return BadData("-ibdbooster assumes blocks valid, but -assumevalid=0 says that none is: "
                       "leave out one, or add -ibdboosterfullvalidation");
    }
    return {};
}

Result<> ReadUndo(const ArgsManager& args, NodeOptions& out)
{
    const bool pruned = out.prune_target != 0;
    const std::string when = args.Get("-ibdboosterundo", pruned ? "0" : "1");
    if (when != "0" && when != "1" && when != "now") {
        return BadData("-ibdboosterundo={}: must be 0, 1 or now", when);
    }
    if (when == "0") return {};
    const bool asked = args.IsSet("-ibdboosterundo");
    out.own_hints.undo = asked ? UndoWanted::kYes : UndoWanted::kIfRoom;
    out.own_hints.undo_first = when == "now";
    if (!pruned) return {};
    return BadData("-ibdboosterundo={} with -prune: undo data is made from all blocks, and these "
                   "are not kept. Leave out one",
                   when);
}

/** Reads the options for using and serving hints. */
Result<> ReadHints(const ArgsManager& args, const Path& net_dir, NodeOptions& out)
{
    out.hints.converted = std::filesystem::absolute(net_dir / "hints");
    if (const auto file = args.Get("-ibdboosterfile"); file && !args.IsNegated("-ibdboosterfile")) {
        if (file->empty()) return BadData("-ibdboosterfile: names no file");
        if (*file == "auto") {
            // -ibdboosterfile=auto may be in bitcoin.conf, and -ibdbooster=0 given for one start.
            const bool never = !args.GetBool("-ibdbooster", true);
            if (!never) out.hints.folder = std::filesystem::absolute(net_dir / "hints");
        } else {
            out.hints.file = std::filesystem::absolute(*file);
        }
    }
    if (const auto text = args.Get("-ibdboosterhash"); text && !args.IsNegated("-ibdboosterhash")) {
        const auto bytes = FromHex(*text);
        if (!bytes || bytes->size() != Uint256{}.Span().size()) {
            return BadData("-ibdboosterhash={}: must be a SHA-256, 64 hex digits", *text);
        }
        out.hints.hash = Uint256::FromBytes(bytes->data());
        // -noibdboosterfile overrides the file in bitcoin.conf, including its hash.
        if (!args.IsSet("-ibdboosterfile")) {
            return BadData("-ibdboosterhash without -ibdboosterfile: there is no file that could "
                           "have this hash. Name the file, or leave out the hash");
        }
    }
    return {};
}

/** The folder for runs and checkpoints. */
Result<Path> ReadDirectory(const ArgsManager& args, const ChainParams& params, const Path& net_dir)
{
    const auto dir = args.Get("-ibdboosterdir");
    if (!dir || args.IsNegated("-ibdboosterdir")) return net_dir / "ibdbooster";
    if (dir->empty()) return BadData("-ibdboosterdir: names no directory");
    std::error_code code;
    const auto type = std::filesystem::symlink_status(*dir, code).type();
    const bool there = type != std::filesystem::file_type::not_found;
    if (there && !std::filesystem::is_directory(*dir, code)) {
        return BadData("-ibdboosterdir={}: is no directory", *dir);
    }
    return OwnFolderIn(*dir, params, net_dir);
}

/** Refuses options that conflict with -prune, because they need blocks that it deletes. */
Result<> CheckPruned(const ArgsManager& args, const NodeOptions& options)
{
    if (options.prune_target == 0) return {};
    if (options.booster.check_rules) {
        return BadData("-ibdboosterchecks with -prune: all blocks are read again, and these are "
                       "not kept. Leave out one");
    }
    const bool hinted = options.hints.file || options.hints.folder;
    if (hinted && !args.GetBool("-ibdboosterprune", false)) {
        return BadData("-ibdboosterfile with -prune keeps no blocks to fall back to: if the hints "
                       "are wrong, all blocks are downloaded again. Add -ibdboosterprune=1 to "
                       "accept that");
    }
    IBD_ASSIGN_OR_RETURN(const bool filters, WantsFilterIndex(args));
    if (hinted && (filters || args.GetBool("-coinstatsindex", false))) {
        return BadData("-ibdboosterprune keeps no blocks to index: leave out {}, or the hints",
                       filters ? "-blockfilterindex" : "-coinstatsindex");
    }
    return {};
}

} // namespace

std::vector<NodeTopic> BoosterTopics() { return {{OptionGroup::kBooster, kBooster}}; }

Result<> ReadBoosterOptions(const ArgsManager& args, const ChainParams& params, const Path& net_dir,
                            NodeOptions& out)
{
    BoosterOptions& booster = out.booster;
    IBD_RETURN_IF_ERROR(ReadHints(args, net_dir, out));
    if (booster.full_validation) out.assume_valid = {}; // also none above the terminal block
    // Without a hints file the rules are checked by default.
    out.own_hints.checks = args.GetBool("-ibdboosterchecks", true);
    IBD_RETURN_IF_ERROR(CheckPruned(args, out));
    IBD_ASSIGN_OR_RETURN(booster.directory, ReadDirectory(args, params, net_dir));
    IBD_RETURN_IF_ERROR(ReadOwnHints(args, out));
    return ReadUndo(args, out);
}

} // namespace ibd
