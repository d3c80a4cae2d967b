// Hints from peers: requests and offers, trust, and the treatment of wrong data, silence and
// excessive requests.
#include "net/peer_support.h"
#include "support/testdata.h"

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** A substitute of a hints file: a head, which lists its groups, and the groups. */
struct FakeHints {
    explicit FakeHints(uint32_t height, uint8_t salt = 0, size_t count = 300, size_t size = 9'000)
    {
        head.push_back(salt);
        for (size_t i = 0; i < count; ++i) {
            Bytes group = RandomBytes(1 + TestRng()() % size);
            const Hash32 digest = Sha256Of(group);
            Writer(head).U32(static_cast<uint32_t>(group.size()));
            Writer(head).Raw(ByteSpan(digest).first(8));
            offer.size += group.size();
            groups.push_back(std::move(group));
        }
        offer.size += head.size();
        offer.id = Uint256(Sha256Of(head));
        offer.file_hash = Uint256(Sha256d(head));
        offer.terminal = Uint256(Sha256d(Bytes(height % 251, 1)));
        offer.height = height;
    }
    Bytes Whole() const
    {
        Bytes out;
        for (const Bytes& group : groups) out.insert(out.end(), group.begin(), group.end());
        return out;
    }

    HintsOffer offer;
    Bytes head;
    std::vector<Bytes> groups;
};

class FakeProvider final : public HintsProvider {
public:
    explicit FakeProvider(std::vector<const FakeHints*> files) : m_files(std::move(files)) {}

    std::vector<HintsOffer> Offers() override
    {
        std::vector<HintsOffer> out;
        for (const FakeHints* file : m_files) out.push_back(file->offer);
        return out;
    }
    Result<Bytes> Read(const HintsPart& part) override
    {
        for (const FakeHints* file : m_files) {
            if (file->offer.id != part.id) continue;
            ++served;
            Bytes out = part.IsHead() ? file->head : Bytes{};
            for (size_t i = part.first; i < part.first + part.count; ++i) {
                if (i >= file->groups.size()) return BadData("no such group");
                out.insert(out.end(), file->groups[i].begin(), file->groups[i].end());
            }
            if (spoil_head == part.IsHead() && spoil) out[out.size() / 2] ^= 1;
            return out;
        }
        return BadData("no such file");
    }

    size_t served = 0;
    bool spoil = false;
    bool spoil_head = false;

private:
    const std::vector<const FakeHints*> m_files;
};

class FakeGoal final : public HintsGoal {
public:
    bool HasHeaders() override { return headers; }
    Fit Judge(const HintsOffer& offer) override
    {
        if (offer.height > best) return Fit::kUseless;
        return offer.height == best ? Fit::kBest : Fit::kUsable;
    }
    bool IsPinned(const HintsOffer& offer) override { return offer.file_hash == pin; }
    Result<std::vector<HintsPiece>> TakeHead(const HintsOffer& offer, Bytes head) override
    {
        if (Uint256(Sha256Of(head)) != offer.id) return BadData("another id");
        std::vector<HintsPiece> out;
        for (size_t at = 1; at < head.size(); at += 12) {
            HintsPiece piece{ReadLE32(head.data() + at), {}, have.contains(out.size())};
            std::copy_n(head.begin() + static_cast<ptrdiff_t>(at) + 4, 8, piece.checksum.begin());
            out.push_back(piece);
        }
        groups.assign(out.size(), {}); // of another file nothing stays
        return out;
    }
    Result<> TakeGroups(size_t first, ByteSpan bytes) override
    {
        if (disk_full) return SystemError("no space left");
        CHECK(groups.at(first).empty());
        groups[first].assign(bytes.begin(), bytes.end()); // a request's, where its first belongs
        return {};
    }
    void Complete(const HintsOffer& offer) override { complete = offer; }
    void Failed(const std::string& why) override { failure = why; }

    Bytes Whole() const
    {
        Bytes out;
        for (const Bytes& group : groups) out.insert(out.end(), group.begin(), group.end());
        return out;
    }

    bool headers = true;
    uint32_t best = 1000;
    Uint256 pin;
    std::set<size_t> have;
    bool disk_full = false;
    std::vector<Bytes> groups;
    std::optional<HintsOffer> complete;
    std::string failure;
};

/** A node that requests hints, and its outbound peers. */
class Fetch {
public:
    Fetch() : client(RegtestParams()) { client.manager.FetchHints(goal); }

    /** A peer with these files at an address. */
    FakeProvider& Add(const char* address, std::vector<const FakeHints*> files,
                      ConnectionKind kind = ConnectionKind::kOutboundFullRelay)
    {
        auto server = std::make_unique<Server>(std::move(files));
        server->here = client.Connect(kind, address);
        server->there = server->node.Connect(ConnectionKind::kInbound);
        m_servers.push_back(std::move(server));
        Run();
        return m_servers.back()->provider;
    }
    /** Rounds enough that all fall silent. */
    void Run()
    {
        for (int round = 0; round < 5; ++round) {
            for (auto& server : m_servers) {
                if (!client.IsClosed(server->here) && !server->silent) {
                    Exchange(client, server->here, server->node, server->there);
                }
            }
            client.Run();
        }
    }
    void Pass(int64_t seconds)
    {
        client.MoveTime(seconds);
        Run();
    }
    void Silence(size_t server) { m_servers[server]->silent = true; }
    PeerId Id(size_t server) const { return m_servers[server]->here; }
    bool IsClosed(size_t server) const { return client.IsClosed(Id(server)); }

    FakeGoal goal;
    TestNode client;

private:
    struct Server {
        explicit Server(std::vector<const FakeHints*> files)
            : provider(std::move(files)), node(RegtestParams(), {}, 2, nullptr, nullptr, &provider)
        {
        }
        FakeProvider provider;
        TestNode node;
        PeerId here = -1, there = -1;
        bool silent = false;
    };
    std::vector<std::unique_ptr<Server>> m_servers;
};

constexpr const char* kHere = "8.8.8.8:8333";
constexpr const char* kThere = "9.9.9.9:8333";
constexpr const char* kElsewhere = "7.7.7.7:8333";

FeatureMessage Feature() { return {std::string(kHintsFeature), {kHintsFeatureVersion}}; }

size_t FeaturesSent(TestNode& node, ConnectionKind kind, int32_t version = kProtocolVersion)
{
    const PeerId id = node.Connect(kind);
    VersionMessage message = TestNode::Version();
    message.version = version;
    node.Say(id, message);
    return node.Take<FeatureMessage>(id).size();
}

/** A caller that has said the feature and verack. */
PeerId Caller(TestNode& node)
{
    const PeerId id = node.Connect(ConnectionKind::kInbound);
    node.Say(id, TestNode::Version());
    node.Say(id, Feature());
    node.Say(id, VerackMessage{});
    return id;
}

} // namespace

TEST_CASE("Hints messages: bytes, and refused messages")
{
    const FakeHints file(7);
    HintsMessage offers;
    offers.list.items = {file.offer, file.offer};
    CHECK(*Decode<HintsMessage>(Encode(offers)) == offers);
    CHECK(Encode(offers).size() == 1 + 2 * HintsOffer::kSize);
    offers.list.items.resize(kMaxHintsOffers + 1, file.offer);
    const auto many = Decode<HintsMessage>(Encode(offers));
    CHECK(many->list.TooMany());
    CHECK(many->list.items.size() == kMaxHintsOffers);
    const GetHintsMessage request{{file.offer.id, 3, 4}};
    CHECK(*Decode<GetHintsMessage>(Encode(request)) == request);
    const Bytes groups(kMaxHintsData + 1, 7);
    HintsDataMessage data{request.part, ByteSpan(groups).first(1000)};
    Bytes cut = Encode(data);
    const auto read = Decode<HintsDataMessage>(cut);
    CHECK(read->part == data.part);
    CHECK(std::ranges::equal(read->data, data.data));
    cut.pop_back();
    CHECK_FALSE(Decode<HintsDataMessage>(cut));
    CHECK_FALSE(Decode<GetHintsMessage>(ByteSpan(Encode(request)).first(39)));
    data.data = groups;
    CHECK(Decode<HintsDataMessage>(Encode(data)).Message() == "hints data too long");
}

TEST_CASE("Hints: outbound peers of version 70017 get the feature")
{
    FakeGoal goal;
    TestNode node(RegtestParams());
    CHECK(FeaturesSent(node, ConnectionKind::kOutboundFullRelay) == 0);
    node.manager.FetchHints(goal);
    CHECK(FeaturesSent(node, ConnectionKind::kOutboundFullRelay) == 1);
    CHECK(FeaturesSent(node, ConnectionKind::kBlockRelay) == 1);
    CHECK(FeaturesSent(node, ConnectionKind::kManual) == 1);
    CHECK(FeaturesSent(node, ConnectionKind::kOutboundFullRelay, kFeatureVersion - 1) == 0);
    CHECK(FeaturesSent(node, ConnectionKind::kInbound) == 0);
    CHECK(FeaturesSent(node, ConnectionKind::kFeeler) == 0);
    CHECK(FeaturesSent(node, ConnectionKind::kAddrFetch) == 0);
    node.manager.StopHints();
    CHECK(FeaturesSent(node, ConnectionKind::kOutboundFullRelay) == 0);
}

TEST_CASE("Hints: a node with hints offers them to peers with the feature alone")
{
    const FakeHints file(7);
    FakeProvider provider({&file});
    TestNode node(RegtestParams(), {}, 1, nullptr, nullptr, &provider);
    const PeerId asker = Caller(node);
    const auto offers = node.Take<HintsMessage>(asker);
    REQUIRE(offers.size() == 1);
    CHECK(offers[0].list.items == std::vector{file.offer});
    const PeerId other = node.Connect(ConnectionKind::kInbound);
    node.Say(other, TestNode::Version());
    node.Say(other, FeatureMessage{std::string(kHintsFeature), {kHintsFeatureVersion + 1}});
    node.Say(other, FeatureMessage{"other-feature", {1}});
    node.Say(other, VerackMessage{});
    node.Say(other, GetHintsMessage{{file.offer.id, 0, 0}});
    for (const std::string& type : node.Types(other)) {
        CHECK(type != HintsMessage::kType);
        CHECK(type != HintsDataMessage::kType);
    }
    CHECK(provider.served == 0);
    CHECK_FALSE(node.IsClosed(other));
    // A peer that did not ask gets no offer.
    FakeGoal goal;
    node.manager.FetchHints(goal);
    HintsMessage unasked;
    unasked.list.items = {file.offer};
    node.Say(asker, unasked);
    CHECK(node.manager.Info().size() == 2);
}

TEST_CASE("Hints: fetched from three peers at once")
{
    const FakeHints file(1000);
    Fetch fetch;
    fetch.goal.headers = false; // no hints are requested before all peers have announced theirs
    const std::array<FakeProvider*, 3> peers{
        &fetch.Add(kHere, {&file}), &fetch.Add(kThere, {&file}), &fetch.Add(kElsewhere, {&file})};
    for (const FakeProvider* peer : peers) CHECK(peer->served == 0);
    fetch.goal.headers = true;
    fetch.Run();
    REQUIRE(fetch.goal.complete == file.offer);
    CHECK(fetch.goal.Whole() == file.Whole());
    for (const FakeProvider* peer : peers) CHECK(peer->served > 0);
}

TEST_CASE("Hints: parts on disk are not fetched again")
{
    const FakeHints file(1000);
    Fetch fetch;
    for (size_t i = 0; i < file.groups.size(); ++i) {
        if (i != 17) fetch.goal.have.insert(i);
    }
    fetch.Add(kHere, {&file});
    fetch.Add(kThere, {&file});
    REQUIRE(fetch.goal.complete);
    CHECK(fetch.goal.Whole() == file.groups[17]);
}

TEST_CASE("Hints: several independent peers must name the same file, or somebody vouch for it")
{
    const FakeHints file(1000);
    Fetch fetch;
    SECTION("two of one network are one")
    {
        fetch.Add("8.8.8.8:8333", {&file});
        fetch.Add("8.8.4.4:8333", {&file});
        fetch.Pass(kHintsOfferTime / kSecond + 1);
        CHECK(fetch.goal.failure == "too few peers offer hints that could be used");
        CHECK_FALSE(fetch.goal.complete);
    }
    SECTION("those whom the user named are not")
    {
        fetch.Add("127.0.0.1:1", {&file}, ConnectionKind::kManual);
        CHECK_FALSE(fetch.goal.complete);
        fetch.Add("127.0.0.1:2", {&file}, ConnectionKind::kManual);
        CHECK(fetch.goal.complete == file.offer);
    }
    SECTION("one is enough for a file that is pinned")
    {
        fetch.goal.pin = file.offer.file_hash;
        fetch.Add(kHere, {&file});
        CHECK(fetch.goal.complete == file.offer);
    }
    SECTION("one who says it twice is one")
    {
        fetch.Add(kHere, {&file, &file});
        CHECK_FALSE(fetch.goal.complete);
    }
}

TEST_CASE("Hints: those that end highest at or below the assumed-valid block")
{
    const FakeHints low(900), middle(950), high(1001), best(1000);
    Fetch fetch;
    fetch.Add(kHere, {&low, &middle, &high});
    fetch.Add(kThere, {&high, &middle, &low});
    CHECK_FALSE(fetch.goal.complete); // better ones are waited for
    SECTION("in time")
    {
        fetch.Add(kElsewhere, {&best});
        fetch.Add("6.6.6.6:8333", {&best});
        CHECK(fetch.goal.complete == best.offer);
    }
    SECTION("not for ever")
    {
        fetch.Pass(kHintsOfferTime / kSecond + 1);
        CHECK(fetch.goal.complete == middle.offer);
    }
}

TEST_CASE("Hints: where peers differ the more decide, of equal voices the shortest")
{
    const FakeHints one(1000, 1, 200), two(1000, 2, 300);
    Fetch fetch;
    fetch.goal.headers = false;
    fetch.Add(kHere, {&one});
    fetch.Add(kThere, {&one});
    fetch.Add(kElsewhere, {&two});
    fetch.Add("6.6.6.6:8333", {&two});
    fetch.goal.headers = true;
    const bool more = GENERATE(false, true);
    if (more) fetch.Add("5.5.5.5:8333", {&two});
    fetch.Run();
    CHECK_FALSE(fetch.goal.complete);
    fetch.Pass(kHintsOfferTime / kSecond + 1);
    if (more) {
        CHECK(fetch.goal.complete == two.offer);
    } else {
        REQUIRE(fetch.goal.complete == one.offer);
        fetch.client.manager.NextHints("wrong");
        fetch.Run();
        CHECK(fetch.goal.complete == two.offer);
        fetch.client.manager.NextHints("wrong, too");
        CHECK(fetch.goal.failure == "wrong, too");
    }
}

TEST_CASE("Hints: a peer that sends other bytes than the file is disconnected")
{
    const FakeHints file(1000);
    Fetch fetch;
    fetch.goal.headers = false;
    const bool head = GENERATE(false, true);
    const auto kind = GENERATE(ConnectionKind::kOutboundFullRelay, ConnectionKind::kManual);
    FakeProvider& liar = fetch.Add(kHere, {&file}, kind);
    liar.spoil = true;
    liar.spoil_head = head;
    fetch.Add(kThere, {&file});
    fetch.goal.headers = true;
    fetch.Run();
    CHECK(fetch.IsClosed(0));
    CHECK_FALSE(fetch.IsClosed(1));
    CHECK(fetch.client.link.discouraged.empty() == (kind == ConnectionKind::kManual));
    REQUIRE(fetch.goal.complete);
    CHECK(fetch.goal.Whole() == file.Whole());
}

TEST_CASE("Hints: a silent peer is not waited for, and without peers the fetch ends")
{
    const FakeHints file(1000);
    Fetch fetch;
    fetch.goal.headers = false;
    fetch.Add(kHere, {&file});
    fetch.Add(kThere, {&file});
    fetch.Silence(0);
    fetch.goal.headers = true;
    SECTION("another goes on")
    {
        fetch.Run();
        CHECK_FALSE(fetch.goal.complete);
        fetch.Pass(kHintsAgainTime / kSecond + 1);
        fetch.Pass(kHintsAgainTime / kSecond + 1); // the head, then groups
        REQUIRE(fetch.goal.complete);
        CHECK(fetch.goal.Whole() == file.Whole());
        CHECK_FALSE(fetch.IsClosed(0));
    }
    SECTION("nobody does")
    {
        fetch.Silence(1);
        fetch.Run();
        for (int i = 0; i < 4; ++i) fetch.Pass(kHintsRequestTime / kSecond + 1);
        CHECK(fetch.goal.failure == "peers bring the hints too slowly");
    }
    SECTION("one that hangs up")
    {
        fetch.Silence(1);
        fetch.Run();
        fetch.client.manager.Disconnected(fetch.Id(0));
        fetch.client.manager.Disconnected(fetch.Id(1));
        fetch.Pass(kHintsIdleTime / kSecond + 1);
        CHECK(fetch.goal.failure == "no peer with the hints is left");
    }
}

TEST_CASE("Hints: a failing disk ends the fetch, and no peer is blamed")
{
    const FakeHints file(1000);
    Fetch fetch;
    fetch.goal.disk_full = true;
    fetch.Add(kHere, {&file});
    fetch.Add(kThere, {&file});
    CHECK(fetch.goal.failure == "no space left");
    CHECK_FALSE(fetch.IsClosed(0));
    CHECK_FALSE(fetch.IsClosed(1));
}

TEST_CASE("Hints that turn out wrong: peers that offered them are disconnected")
{
    const FakeHints file(1000), other(900);
    Fetch fetch;
    fetch.Add(kHere, {&file});
    fetch.Add(kThere, {&file}, ConnectionKind::kManual);
    fetch.Add(kElsewhere, {&other});
    REQUIRE(fetch.goal.complete);
    fetch.client.manager.PunishForHints(file.offer.id);
    fetch.client.Run();
    CHECK(fetch.IsClosed(0));
    CHECK(fetch.IsClosed(1));
    CHECK_FALSE(fetch.IsClosed(2));
}

TEST_CASE("Hints: a file offered under another file's hash is not blamed on peers of that file")
{
    const FakeHints file(1000);
    FakeHints lie = file;
    lie.offer.file_hash = {};
    Fetch fetch;
    fetch.goal.pin = lie.offer.file_hash;
    fetch.Add(kHere, {&file});
    fetch.Add(kThere, {&lie});
    fetch.Pass(kHintsOfferTime / kSecond + 1);
    REQUIRE(fetch.goal.complete == lie.offer);
    fetch.client.manager.PunishForHints(file.offer.id); // each part is right, the whole is not
    fetch.client.Run();
    CHECK_FALSE(fetch.IsClosed(0));
    CHECK(fetch.IsClosed(1));
}

TEST_CASE("Hints: serving is bounded")
{
    const FakeHints file(7, 0, 2);
    FakeProvider provider({&file});
    TestNode node(RegtestParams(), {}, 1, nullptr, nullptr, &provider);
    const PeerId id = Caller(node);
    node.link.sent[id].clear();
    const GetHintsMessage all{{file.offer.id, 0, 2}};
    const auto answer = [&](const GetHintsMessage& request) {
        node.Say(id, request);
        REQUIRE(node.link.sent[id].size() == 1);
        const Bytes payload = std::move(node.link.sent[id][0].payload);
        node.link.sent[id].clear();
        const auto message = *Decode<HintsDataMessage>(payload);
        CHECK(message.part == request.part);
        return Bytes(message.data.begin(), message.data.end());
    };
    SECTION("what there is not")
    {
        CHECK(answer({{Uint256(), 0, 0}}).empty());
        CHECK(answer({{file.offer.id, 1, 2}}).empty());
        CHECK(answer({{file.offer.id, 0, 0}}) == file.head);
    }
    SECTION("twice the file and no more")
    {
        CHECK(answer(all) == file.Whole());
        CHECK(answer(all) == file.Whole());
        for (int i = 0; i < 4; ++i) answer(all);
        CHECK(answer(all).empty());
    }
    SECTION("by -maxuploadtarget")
    {
        node.link.may_upload_history = false;
        CHECK(answer(all).empty());
        CHECK(provider.served == 0);
    }
    SECTION("requests that wait")
    {
        node.link.paused.insert(id);
        for (size_t i = 0; i < kMaxHintsRequests + 3; ++i) node.Say(id, all);
        CHECK(provider.served == 0);
        node.link.paused.erase(id);
        node.Run();
        // Unread requests do not count yet.
        CHECK_FALSE(node.IsClosed(id));
        CHECK(node.Take<HintsDataMessage>(id).size() == kMaxHintsRequests + 3);
    }
    SECTION("too many offers")
    {
        FakeGoal goal;
        TestNode fetcher(RegtestParams());
        fetcher.manager.FetchHints(goal);
        const PeerId peer = fetcher.Befriend(ConnectionKind::kOutboundFullRelay);
        HintsMessage offers;
        offers.list.items.resize(kMaxHintsOffers + 1, file.offer);
        fetcher.Say(peer, offers);
        CHECK(fetcher.IsClosed(peer));
    }
}
