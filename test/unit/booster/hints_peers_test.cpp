// The node's side of hints from peers: the kept files, and the file assembled from their data.
#include "booster/booster_machine.h"
#include "booster/hints_choice.h"
#include "booster/hints_from_peers.h"
#include "booster/hints_library.h"
#include "crypto/sha256.h"
#include "util/hex.h"

#include <thread>

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr int kHinted = 120;
constexpr int kTail = 2100; // the gate requires two weeks of work above the hints

const World& TheWorld()
{
    static const World world(11, kHinted, kTail);
    return world;
}

/** A library in a folder of its own. */
struct Shelf {
    Shelf() : library(*env, *log, TheWorld().params, dir / "hints") {}

    std::unique_ptr<Hints> Given(HintsFormat format, uint32_t height, const char* name = "given")
    {
        std::filesystem::create_directories(dir / "hints");
        const Path path = dir / "hints" / name;
        const auto writer =
            Must(StartHintsFile(*env, path, {format, TheWorld().params.magic, height}));
        if (FirstHeight(format) == 0) Must(writer->Add(0, 1, {}));
        for (uint32_t h = 1; h <= height; ++h)
            Must(writer->Add(h, 2, std::vector<uint32_t>{h % 2}));
        Must(writer->Finish(Uint256(Sha256Of(Bytes(height)))));
        return Must(OpenHints(*env, path, format));
    }
    std::vector<uint32_t> Heights()
    {
        std::vector<uint32_t> out;
        for (const HintsOffer& offer : library.Offers()) out.push_back(offer.height);
        return out;
    }

    const std::unique_ptr<Env> env = MakePosixEnv();
    const std::unique_ptr<Logger> log = MakeNullLogger();
    TempDir dir{MemoryFolder()};
    HintsLibrary library;
};

/** The container of the world's hints, as a peer has it. */
struct Served : Shelf {
    Served()
    {
        const auto hints = Must(OpenHints(*env, TheWorld().dir / "hints"));
        Must(library.Keep(*hints, TheWorld().terminal));
        offer = library.Offers().at(0);
        head = Must(library.Read({offer.id, 0, 0}));
    }
    HintsOffer offer;
    Bytes head;
};

/** A node that has the network's headers and requests hints. */
struct Wanting {
    explicit Wanting(HintsFetchOptions options = {}) : machine(TheWorld(), dir / "machine")
    {
        Must(machine.Open(env));
        options.folder = dir / "hints";
        fetch = std::make_unique<HintsFromPeers>(env, *log, machine.Chain(), std::move(options));
    }

    const std::unique_ptr<Logger> log = MakeNullLogger();
    TempDir dir{MemoryFolder()};
    FaultEnv env;
    Machine machine;
    std::unique_ptr<HintsFromPeers> fetch;
};

} // namespace

TEST_CASE("Hints for peers: proven hints become containers, and are found again")
{
    Shelf shelf;
    const auto hints = shelf.Given(
        GENERATE(HintsFormat::kContainer, HintsFormat::kContainer1, HintsFormat::kBtcd), 50);
    Must(shelf.library.Keep(*hints, TheWorld().terminal));
    CHECK(std::filesystem::exists(hints->Info().path)); // the user's own stays
    const HintsOffer offer = shelf.library.Offers().at(0);
    CHECK(offer.height == 50);
    CHECK(offer.terminal == TheWorld().terminal);
    const Path kept = shelf.dir / "hints" / fmt::format("kept-50-{}.hints", ToHex(offer.id.Span()));
    const Bytes whole = Must(ReadWholeFile(*shelf.env, kept));
    CHECK(whole.size() == offer.size);
    CHECK(Uint256(Sha256Of(whole)) == offer.file_hash);
    HintsLibrary again(*shelf.env, *shelf.log, TheWorld().params, shelf.dir / "hints");
    again.Load();
    CHECK(again.Offers() == std::vector{offer});
    // Once more changes nothing.
    Must(again.Keep(*Must(OpenHints(*shelf.env, kept)), TheWorld().terminal));
    CHECK(again.Offers() == std::vector{offer});
}

TEST_CASE("Hints for peers: damaged, foreign and useless files are not offered")
{
    Shelf shelf;
    const auto bitmap = shelf.Given(HintsFormat::kBitmap, 5);
    CHECK(shelf.library.Keep(*bitmap, {}).Message().find("bitmap files cannot be given to peers") !=
          std::string::npos);
    shelf.Given(HintsFormat::kContainer, 5, "kept-damaged.hints");
    std::filesystem::resize_file(shelf.dir / "hints" / "kept-damaged.hints", 100);
    shelf.Given(HintsFormat::kContainer, 5, "mine.hints"); // not proven
    const ChainParams params = MakeChainParams(Network::kMain);
    HintsLibrary main(*shelf.env, *shelf.log, params, shelf.dir / "hints");
    shelf.Given(HintsFormat::kContainer, 6, "kept-6.hints");
    main.Load();
    CHECK(main.Offers().empty());
    shelf.library.Load();
    CHECK(shelf.Heights() == std::vector<uint32_t>{6});
}

TEST_CASE("Hints for peers: a limited number of files is kept, the highest")
{
    Shelf shelf;
    for (uint32_t height = 3; height < 3 + kMaxHintsOffers + 2; ++height) {
        Must(shelf.library.Keep(*shelf.Given(HintsFormat::kContainer, height), {}));
    }
    CHECK(shelf.Heights() == std::vector<uint32_t>{12, 11, 10, 9, 8, 7, 6, 5});
    std::filesystem::remove(shelf.dir / "hints" / "given");
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(shelf.dir / "hints")) {
        files += entry.is_regular_file();
    }
    CHECK(files == kMaxHintsOffers);
}

TEST_CASE("Hints for peers: parts that there are not")
{
    Served served;
    const Uint256& id = served.offer.id;
    CHECK(served.library.Read({id, 0, 1}).Ok());
    CHECK_FALSE(served.library.Read({id, 1, 1}).Ok());
    CHECK_FALSE(served.library.Read({id, 0, 2}).Ok());
    CHECK_FALSE(served.library.Read({id, 0xffffffff, 0xffffffff}).Ok());
    CHECK_FALSE(served.library.Read({Uint256(), 0, 0}).Ok());
    CHECK(served.library.Read({id, 0, 0}).Ok());
    CHECK_FALSE(served.library.Read({id, 1, 0}).Ok()); // no groups are not the head
}

TEST_CASE("Hints from peers: put together, and gone on with")
{
    Served served;
    Wanting wanting;
    HintsFromPeers& fetch = *wanting.fetch;
    CHECK_FALSE(fetch.HasHeaders()); // no wait has begun yet
    CHECK(fetch.Judge(served.offer) == HintsGoal::Fit::kBest);
    auto pieces = Must(fetch.TakeHead(served.offer, served.head));
    REQUIRE(pieces.size() == 1);
    CHECK_FALSE(pieces[0].have);
    Must(fetch.TakeGroups(0, Must(served.library.Read({served.offer.id, 0, 1}))));
    SECTION("to the end")
    {
        fetch.Complete(served.offer);
        const auto path = Must(fetch.Wait());
        REQUIRE(path);
        CHECK(Uint256(Sha256Of(Must(ReadWholeFile(wanting.env, *path)))) == served.offer.file_hash);
        CHECK(path->filename().string().starts_with(kFetchedHints));
        CHECK(fetch.Id() == served.offer.id);
    }
    SECTION("to the end, where the hash is another than was said")
    {
        HintsOffer offer = served.offer;
        offer.file_hash = {};
        const bool pinned = GENERATE(false, true);
        HintsFetchOptions options{.folder = wanting.dir / "hints", .pin = {}, .known = {}};
        if (pinned) options.pin = offer.file_hash;
        HintsFromPeers next(wanting.env, *wanting.log, wanting.machine.Chain(), options);
        Must(next.TakeHead(offer, served.head));
        next.Complete(offer);
        CHECK(Must(next.Wait()).has_value() == !pinned);
        CHECK(next.WasFalse() == pinned);
        CHECK(std::filesystem::is_empty(wanting.dir / "hints") == pinned);
    }
    SECTION("by another start; a part of another file goes, what is somebody else's stays")
    {
        const Path folder = wanting.dir / "hints";
        const Path other = folder / (ToHex(Bytes(served.offer.id.Span().size())) + ".part");
        const Path foreign = folder / "other.part";
        for (const Path& path : {other, foreign}) {
            Must(WriteFileAtomically(wanting.env, path, Bytes(9)));
        }
        HintsFromPeers next(wanting.env, *wanting.log, wanting.machine.Chain(),
                            {.folder = folder, .pin = {}, .known = {}});
        pieces = Must(next.TakeHead(served.offer, served.head));
        CHECK(pieces[0].have);
        CHECK_FALSE(std::filesystem::exists(other));
        CHECK(std::filesystem::exists(foreign));
    }
}

TEST_CASE("Hints from peers: groups in any order, while somebody waits for the whole")
{
    Shelf shelf;
    const Path path = shelf.dir / "large";
    const HintsTarget target{HintsFormat::kContainer, TheWorld().params.magic, kHinted};
    const auto writer = Must(StartHintsFile(*shelf.env, path, target));
    for (uint32_t h = 1; h <= kHinted; ++h) {
        std::vector<uint32_t> unspent(h <= 20 ? 40'000 : 1); // blocks with a group each, and a last
        for (uint32_t i = 0; i < unspent.size(); ++i) unspent[i] = 2 * i + (i * h) % 2;
        Must(writer->Add(h, std::nullopt, unspent));
    }
    Must(writer->Finish(TheWorld().terminal));
    Must(shelf.library.Keep(*Must(OpenHints(*shelf.env, path)), TheWorld().terminal));
    const HintsOffer offer = shelf.library.Offers().at(0);

    HintsFetchOptions options;
    if (GENERATE(false, true)) options.pin = offer.file_hash;
    Wanting wanting(options);
    std::optional<Path> whole;
    std::thread waiter([&] { whole = Must(wanting.fetch->Wait()); });
    const auto pieces =
        Must(wanting.fetch->TakeHead(offer, Must(shelf.library.Read({offer.id, 0, 0}))));
    REQUIRE(pieces.size() == 21);
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < pieces.size(); i += 3) order.push_back(i);
    std::shuffle(order.begin(), order.end(), TestRng());
    for (const uint32_t first : order) {
        Must(wanting.fetch->TakeGroups(first, Must(shelf.library.Read({offer.id, first, 3}))));
    }
    wanting.fetch->Complete(offer);
    waiter.join();
    REQUIRE(whole);
    CHECK(Must(ReadWholeFile(wanting.env, *whole)) == Must(ReadWholeFile(*shelf.env, path)));
}

TEST_CASE("Hints from peers: a head that differs from the offer")
{
    Served served;
    Wanting wanting;
    const auto refused = [&](HintsOffer offer, const Bytes& head) {
        const auto taken = wanting.fetch->TakeHead(offer, head);
        return !taken && taken.GetError().kind == Error::Kind::kBadData;
    };
    HintsOffer offer = served.offer;
    offer.id.data()[0] ^= 1;
    CHECK(refused(offer, served.head));
    offer = served.offer;
    ++offer.height;
    CHECK(refused(offer, served.head));
    offer = served.offer;
    ++offer.size;
    CHECK(refused(offer, served.head));
    offer = served.offer;
    offer.terminal = {};
    CHECK(refused(offer, served.head));
    Bytes longer = served.head;
    longer.push_back(0);
    CHECK(refused(served.offer, longer));
    CHECK(refused(served.offer, {}));
    CHECK_FALSE(std::filesystem::exists(wanting.dir / "hints"));
}

TEST_CASE("Hints from peers: fitness of offers, and files for which one peer is enough")
{
    Served served;
    HintsOffer lower = served.offer;
    lower.height = kHinted - 1;
    lower.terminal = TheWorld().Header(kHinted - 1).Hash();
    HintsOffer higher = served.offer;
    higher.height = kHinted + 1;
    higher.terminal = TheWorld().Header(kHinted + 1).Hash();
    HintsOffer elsewhere = served.offer;
    elsewhere.terminal = {};
    {
        Wanting wanting;
        for (const uint64_t size :
             {uint64_t{0}, uint64_t{114}, uint64_t{120} * 500'000 + (65 << 20)}) {
            HintsOffer impossible = served.offer;
            impossible.size = size;
            CHECK(wanting.fetch->Judge(impossible) == HintsGoal::Fit::kUseless);
        }
        CHECK(wanting.fetch->Judge(lower) == HintsGoal::Fit::kUsable);
        CHECK(wanting.fetch->Judge(higher) == HintsGoal::Fit::kUseless);
        CHECK(wanting.fetch->Judge(elsewhere) == HintsGoal::Fit::kUseless);
        CHECK_FALSE(wanting.fetch->IsPinned(served.offer));
    }
    SECTION("pinned by the user")
    {
        Wanting wanting({.folder = {}, .pin = lower.file_hash, .known = {}});
        CHECK(wanting.fetch->IsPinned(lower));
        CHECK(wanting.fetch->Judge(lower) == HintsGoal::Fit::kBest);
        lower.file_hash = {};
        CHECK_FALSE(wanting.fetch->IsPinned(lower));
        CHECK(wanting.fetch->Judge(lower) == HintsGoal::Fit::kUseless);
    }
    SECTION("compiled in")
    {
        Wanting wanting(
            {.folder = {}, .pin = {}, .known = {{kHinted, served.offer.file_hash}, {7, {}}}});
        CHECK(wanting.fetch->IsPinned(served.offer));
        CHECK_FALSE(wanting.fetch->IsPinned(lower)); // the height is another
        higher.file_hash = {};
        CHECK(wanting.fetch->Judge(lower) == HintsGoal::Fit::kUsable);
    }
    for (const Network network : {Network::kMain, Network::kSignet, Network::kRegtest}) {
        CHECK(KnownHintsOf(network).empty());
    }
}

TEST_CASE("Hints from peers: a failure and a shutdown end the wait")
{
    Wanting wanting;
    std::optional<Path> path = "something";
    std::thread waiter([&] { path = Must(wanting.fetch->Wait()); });
    if (GENERATE(false, true)) {
        wanting.fetch->Interrupt();
    } else {
        wanting.fetch->Failed("nobody has any");
    }
    waiter.join();
    CHECK_FALSE(path);
}

TEST_CASE("Hints from peers: a disk that fails is no fault of theirs")
{
    Served served;
    Wanting wanting;
    wanting.env.SetScript(
        [](const FaultEnv::Operation& operation) { return operation.kind == "open"; });
    const auto taken = wanting.fetch->TakeHead(served.offer, served.head);
    REQUIRE_FALSE(taken);
    CHECK(taken.GetError().kind == Error::Kind::kSystem);
}
