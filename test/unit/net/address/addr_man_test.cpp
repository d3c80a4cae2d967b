// AddrMan: places that follow from the key, accepted and evicted addresses, selection, and its
// file. Places were computed with a program of a few lines of Python from the definition.
#include "net/address/addr_man.h"

#include "net/address/address_files.h"
#include "net/transport_support.h"
#include "support/must.h"
#include "support/temp_dir.h"

#include <map>

#include "support/catch.h"

namespace ibd {

using namespace test;
using Net = AddressNetwork;

namespace {

constexpr int64_t kNow = 1'700'000'000;
constexpr int64_t kHour = 3600, kDay = 24 * kHour;
constexpr const char* kOnionHost = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion";
constexpr const char* kOnion =
    "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion:8333";

Endpoint At(std::string_view text) { return *Endpoint::Parse(text, 8333); }

PeerAddress Peer(std::string_view text, int64_t time = kNow)
{
    return {At(text), kNodeNetwork, static_cast<uint32_t>(time)};
}

NetAddress Source(std::string_view text) { return *NetAddress::Parse(text); }

Endpoint RandomEndpoint()
{
    for (;;) {
        const Bytes b = RandomBytes(18);
        std::array<uint8_t, 16> bytes;
        std::copy_n(b.begin(), 16, bytes.begin());
        const NetAddress address = b[16] % 3 ? NetAddress::FromIpv4({b[0], b[1], b[2], b[3]})
                                             : NetAddress::FromIpv6(bytes).WithCjdns(true);
        if (address.IsRoutable()) return {address, static_cast<uint16_t>(1 + b[17])};
    }
}

struct Setup {
    NetGroups groups;
    std::unique_ptr<Logger> logger = MakeNullLogger();
    AddrMan man{groups, RandomHash(), *logger, 1, true};

    bool Add(std::string_view text, std::string_view source = "250.1.2.1", int64_t time = kNow)
    {
        return man.Add({Peer(text, time)}, Source(source), 0, kNow);
    }
    Bytes File() const
    {
        Bytes out;
        Writer writer(out);
        man.Serialize(writer);
        return out;
    }
};

using Table = std::map<std::pair<uint32_t, uint32_t>, std::string>;

Table TableOf(const AddrMan& man, bool tried)
{
    Table out;
    for (const auto& [info, position] : man.Entries(tried)) {
        out[{position.bucket, position.place}] =
            fmt::format("{} {} {} {} {}", info.address.endpoint.ToString(), info.address.services,
                        info.address.time, info.source.ToString(), info.last_success);
    }
    return out;
}

} // namespace

TEST_CASE("places follow from key, address and source", "[addr_man]")
{
    Setup s;
    struct Known {
        const char *address, *source;
        uint32_t new_bucket, new_place, tried_bucket, tried_place;
    };
    const Known known[] = {
        {"1.2.3.4:8333", "250.1.2.1", 76, 16, 6, 33},
        {"1.2.3.4:8334", "250.1.2.1", 76, 44, 36, 27},
        {"250.1.1.1:8333", "252.5.1.1", 301, 39, 228, 30},
        {"[2a01:4f8::1]:8333", "8.8.8.8", 275, 60, 110, 12},
        {kOnion, "1.1.1.1", 275, 9, 72, 61},
        {"8.8.8.8:18444", kOnionHost, 625, 41, 56, 6},
    };
    for (const Known& k : known) {
        INFO(k.address);
        REQUIRE(s.Add(k.address, k.source));
        const auto in_new = s.man.Find(At(k.address));
        REQUIRE(in_new);
        CHECK_FALSE(in_new->tried);
        CHECK(in_new->bucket == k.new_bucket);
        CHECK(in_new->place == k.new_place);
        REQUIRE(s.man.Good(At(k.address), kNow));
        const auto tried = s.man.Find(At(k.address));
        CHECK(tried->tried);
        CHECK(tried->bucket == k.tried_bucket);
        CHECK(tried->place == k.tried_place);
    }
    CHECK(s.man.Size({}, false) == std::size(known));
}

TEST_CASE("addresses that are added, and addresses that are not", "[addr_man]")
{
    Setup s;
    CHECK(s.man.Size() == 0);
    CHECK_FALSE(s.man.Select(false, {}, kNow));
    CHECK(s.Add("1.2.3.4"));
    CHECK_FALSE(s.Add("1.2.3.4"));
    CHECK(s.Add("1.2.3.4:8334")); // a port makes another peer
    CHECK(s.Add(kOnion));
    for (const char* not_routable : {"10.0.0.1", "127.0.0.1", "[::1]:5", "fd00::1"}) {
        CHECK_FALSE(s.Add(not_routable));
    }
    CHECK(s.man.Size() == 3);
    CHECK(s.man.Size(Net::kIpv4) == 2);
    CHECK(s.man.Size(Net::kOnion, true) == 1);
    CHECK(s.man.Size(Net::kOnion, false) == 0);
    CHECK(s.man.Good(At(kOnion), kNow));
    CHECK_FALSE(s.man.Good(At(kOnion), kNow));
    CHECK_FALSE(s.man.Good(At("9.9.9.9"), kNow)); // never heard of
    CHECK(s.man.Size({}, false) == 1);
    CHECK(s.man.Size({}, true) == 2);
    CHECK(s.man.Size(Net::kOnion, false) == 1);
}

TEST_CASE("times and services of a known address", "[addr_man]")
{
    Setup s;
    const Endpoint endpoint = At("1.2.3.4");
    const auto get = [&] { return s.man.Entries(false).at(0).first.address; };
    s.man.Add({Peer("1.2.3.4", kNow - 10 * kDay)}, Source("250.1.2.1"), 2 * kHour, kNow);
    CHECK(get().time == kNow - 10 * kDay - 2 * kHour);
    // News of the last day count if an hour newer, older news if a day; both less the penalty.
    s.man.Add({Peer("1.2.3.4", kNow - 10 * kDay + kDay)}, Source("250.1.2.1"), 0, kNow);
    CHECK(get().time == kNow - 9 * kDay);
    s.man.Add({Peer("1.2.3.4", kNow - 9 * kDay + kDay)}, Source("250.1.2.1"), 0, kNow);
    CHECK(get().time == kNow - 9 * kDay);
    s.man.Add({Peer("1.2.3.4", kNow)}, Source("250.1.2.1"), kHour, kNow);
    CHECK(get().time == kNow - kHour);
    // A peer that announces itself has no penalty.
    s.man.Add({Peer("5.6.7.8", kNow)}, Source("5.6.7.8"), kHour, kNow);
    CHECK(s.man.Size() == 2);

    PeerAddress more = Peer("1.2.3.4");
    more.services = kNodeWitness;
    s.man.Add({more}, Source("250.1.2.1"), 0, kNow);
    std::map<std::string, PeerAddress> all;
    for (const auto& [info, position] : s.man.Entries(false)) {
        all[info.address.endpoint.ToString()] = info.address;
    }
    CHECK(all["1.2.3.4:8333"].services == (kNodeNetwork | kNodeWitness));
    CHECK(all["5.6.7.8:8333"].time == kNow);
    s.man.SetServices(endpoint, kNodeNone);
    s.man.Connected(endpoint, kNow + kHour);
    for (const auto& [info, position] : s.man.Entries(false)) {
        if (info.address.endpoint != endpoint) continue;
        CHECK(info.address.services == 0);
        CHECK(info.address.time == kNow + kHour);
    }
}

TEST_CASE("terrible addresses, and the chance of the others", "[addr_man]")
{
    AddrInfo info;
    info.address.time = kNow;
    CHECK_FALSE(info.IsTerrible(kNow));
    info.address.time = kNow + 601;
    CHECK(info.IsTerrible(kNow)); // from the future
    info.address.time = kNow - 30 * kDay;
    CHECK_FALSE(info.IsTerrible(kNow));
    info.address.time -= 1;
    CHECK(info.IsTerrible(kNow));
    info.last_try = kNow - 60;
    CHECK_FALSE(info.IsTerrible(kNow)); // tried a minute ago: wait
    info.address.time = kNow;
    info.last_try = kNow - 61;
    info.attempts = 2;
    CHECK_FALSE(info.IsTerrible(kNow));
    info.attempts = 3;
    CHECK(info.IsTerrible(kNow)); // never a success
    info.last_success = kNow - 7 * kDay;
    info.attempts = 20;
    CHECK_FALSE(info.IsTerrible(kNow));
    info.last_success -= 1;
    CHECK(info.IsTerrible(kNow));
    info.attempts = 9;
    CHECK_FALSE(info.IsTerrible(kNow));

    info.last_try = kNow - 600;
    info.attempts = 0;
    CHECK(info.Chance(kNow) == 1.0);
    info.attempts = 2;
    CHECK(info.Chance(kNow) == Approx(0.66 * 0.66));
    info.attempts = 30;
    CHECK(info.Chance(kNow) == Approx(1.0 / 28).epsilon(0.02));
    info.attempts = 0;
    info.last_try = kNow - 599;
    CHECK(info.Chance(kNow) == Approx(0.01));
}

TEST_CASE("a peer that sends many addresses fills few buckets", "[addr_man]")
{
    Setup s;
    std::set<uint32_t> new_buckets, tried_buckets;
    // One group of senders, all addresses of any groups.
    for (int i = 0; i < 3000; ++i) {
        s.man.Add({{RandomEndpoint(), 0, uint32_t(kNow)}},
                  NetAddress::FromIpv4({250, 1, uint8_t(RandomBelow(256)), 7}), 0, kNow);
    }
    for (const auto& [info, position] : s.man.Entries(false)) new_buckets.insert(position.bucket);
    CHECK(new_buckets.size() <= AddrMan::kNewBucketsPerSource);
    // All addresses of one group, from anywhere.
    Setup t;
    for (int i = 0; i < 1000; ++i) {
        const Endpoint endpoint{
            NetAddress::FromIpv4({5, 6, uint8_t(RandomBelow(256)), uint8_t(RandomBelow(256))}), 1};
        t.man.Add({{endpoint, 0, uint32_t(kNow)}}, RandomEndpoint().address, 0, kNow);
        t.man.Good(endpoint, kNow);
    }
    for (const auto& [info, position] : t.man.Entries(true)) tried_buckets.insert(position.bucket);
    CHECK(tried_buckets.size() <= AddrMan::kTriedBucketsPerGroup);
    CHECK(t.man.Size({}, false) > 100);
}

TEST_CASE("a place in tried is given away after a test only", "[addr_man]")
{
    Setup s;
    // Fill "tried" until one collides.
    std::optional<Endpoint> late;
    for (int i = 0; i < 20'000 && !late; ++i) {
        const Endpoint endpoint{
            NetAddress::FromIpv4({5, 6, uint8_t(RandomBelow(256)), uint8_t(RandomBelow(256))}), 1};
        if (!s.man.Add({{endpoint, 0, uint32_t(kNow)}}, RandomEndpoint().address, 0, kNow))
            continue;
        if (!s.man.Good(endpoint, kNow)) late = endpoint;
    }
    REQUIRE(late);
    CHECK_FALSE(s.man.Find(*late)->tried);
    const auto old = s.man.SelectTriedCollision();
    REQUIRE(old);
    CHECK(s.man.Find(old->address.endpoint)->tried);

    // The one there was good within four hours: it stays, and the case is closed.
    s.man.ResolveCollisions(kNow + 4 * kHour - 1);
    CHECK_FALSE(s.man.Find(*late)->tried);
    CHECK_FALSE(s.man.SelectTriedCollision());

    // It is tried and does not answer within a minute: it goes back to "new".
    const int64_t later = kNow + 5 * kHour;
    CHECK_FALSE(s.man.Good(*late, later));
    s.man.Attempt(old->address.endpoint, true, later);
    s.man.ResolveCollisions(later + 60);
    CHECK_FALSE(s.man.Find(*late)->tried);
    s.man.ResolveCollisions(later + 61);
    CHECK(s.man.Find(*late)->tried);
    CHECK_FALSE(s.man.Find(old->address.endpoint)->tried);
    CHECK_FALSE(s.man.SelectTriedCollision());

    // Not tested within forty minutes: it is replaced all the same.
    const int64_t end = later + 10 * kHour;
    CHECK_FALSE(s.man.Good(old->address.endpoint, end));
    s.man.ResolveCollisions(end + 2400);
    CHECK_FALSE(s.man.Find(old->address.endpoint)->tried);
    s.man.ResolveCollisions(end + 2401);
    CHECK(s.man.Find(old->address.endpoint)->tried);
}

TEST_CASE("choosing by table and network", "[addr_man]")
{
    Setup s;
    CHECK(s.Add("1.2.3.4"));
    CHECK(s.Add(kOnion));
    const NetworkSet onion{Net::kOnion}, i2p{Net::kI2p};
    for (int i = 0; i < 20; ++i) {
        CHECK(s.man.Select(false, onion, kNow)->address.endpoint == At(kOnion));
        CHECK_FALSE(s.man.Select(false, i2p, kNow));
    }
    s.man.Good(At(kOnion), kNow);
    CHECK_FALSE(s.man.Select(true, onion, kNow));
    CHECK(s.man.Select(true, {}, kNow)->address.endpoint == At("1.2.3.4"));
    std::map<std::string, int> seen;
    for (int i = 0; i < 400; ++i)
        ++seen[s.man.Select(false, {}, kNow + kDay)->address.endpoint.ToString()];
    // Both tables are as likely: 400 tosses are within 120 of even but for one run in 10^32.
    CHECK(seen["1.2.3.4:8333"] > 80);
    CHECK(seen[kOnion] > 80);
    // One that failed is taken less often: 0.66^8 against 1.
    CHECK(s.Add("5.6.7.8"));
    for (int i = 0; i < 8; ++i) {
        s.man.Attempt(At("5.6.7.8"), true, kNow - kDay + i);
        s.man.Good(At(kOnion), kNow - kDay + i + 1);
    }
    seen.clear();
    for (int i = 0; i < 400; ++i)
        ++seen[s.man.Select(true, {}, kNow + kDay)->address.endpoint.ToString()];
    CHECK(seen["1.2.3.4:8333"] > 2 * seen["5.6.7.8:8333"]);
    CHECK(s.man.Select(false, {}, kNow)->last_try >= 0);
}

TEST_CASE("a few addresses for others", "[addr_man]")
{
    Setup s;
    for (int i = 0; i < 500; ++i) {
        s.man.Add({{RandomEndpoint(), 0, uint32_t(kNow)}}, RandomEndpoint().address, 0, kNow);
    }
    // An old one. Its place may be taken, and depends on its source.
    for (int i = 0; !s.Add("1.2.3.4", "250." + std::to_string(i) + ".2.1", kNow - 31 * kDay); ++i) {
        REQUIRE(i < 100);
    }
    const size_t size = s.man.Size();
    CHECK(s.man.GetAddresses(0, 0, {}, kNow).size() == size - 1);
    CHECK(s.man.GetAddresses(0, 0, {}, kNow, false).size() == size);
    CHECK(s.man.GetAddresses(100, 0, {}, kNow).size() == 100);
    CHECK(s.man.GetAddresses(0, 23, {}, kNow).size() == 23 * size / 100);
    CHECK(s.man.GetAddresses(10, 23, {}, kNow).size() == 10);
    std::set<Endpoint> distinct;
    for (const auto& a : s.man.GetAddresses(0, 0, Net::kIpv6, kNow)) {
        CHECK(a.endpoint.address.NetworkClass() == Net::kIpv6);
        CHECK(distinct.insert(a.endpoint).second);
    }
    CHECK_FALSE(distinct.empty());
}

TEST_CASE("any calls leave it consistent, and its file gives it back", "[addr_man]")
{
    for (int round = 0; round < 5; ++round) {
        Setup s; // looks at itself after each call
        std::vector<Endpoint> known;
        int64_t now = kNow;
        for (int i = 0; i < 400; ++i) {
            now += int64_t(RandomBelow(3000));
            if (known.empty() || RandomBelow(2)) known.push_back(RandomEndpoint());
            const Endpoint endpoint = known[RandomBelow(known.size())];
            switch (RandomBelow(8)) {
            case 0: s.man.Good(endpoint, now); break;
            case 1: s.man.Attempt(endpoint, RandomBelow(2), now); break;
            case 2: s.man.Connected(endpoint, now); break;
            case 3: s.man.ResolveCollisions(now); break;
            case 4: s.man.SelectTriedCollision(); break;
            case 5: s.man.GetAddresses(10, 0, {}, now); break;
            default:
                s.man.Add({{endpoint, RandomBelow(16), uint32_t(now)}}, RandomEndpoint().address,
                          int64_t(RandomBelow(7200)), now);
            }
        }
        const Bytes file = s.File();
        Setup back;
        PayloadReader reader(file);
        CHECK(Must(back.man.Deserialize(reader)));
        CHECK(reader.AtEnd());
        CHECK(back.man.Check() == 0);
        CHECK(TableOf(back.man, true) == TableOf(s.man, true));
        CHECK(TableOf(back.man, false) == TableOf(s.man, false));
        CHECK(back.File() == file);
    }
}

TEST_CASE("a new map of autonomous systems moves the addresses of the new table", "[addr_man]")
{
    Setup s;
    for (int i = 0; i < 200; ++i) {
        s.man.Add({{RandomEndpoint(), 0, uint32_t(kNow)}}, RandomEndpoint().address, 0, kNow);
    }
    // One system for all: the program that returns 1.
    const NetGroups one_group(*Asmap::Parse({0x00, 0x00, 0x00}));
    AddrMan other(one_group, RandomHash(), *s.logger, 1);
    const Bytes file = s.File();
    PayloadReader reader(file);
    CHECK(Must(other.Deserialize(reader)));
    CHECK(other.Check() == 0);
    CHECK(other.Size() > 0);
    CHECK(TableOf(other, false) != TableOf(s.man, false));
}

TEST_CASE("damaged files are refused in Core's words", "[addr_man]")
{
    Setup s;
    s.Add("1.2.3.4");
    const Bytes good = s.File();
    const auto says = [&](const Bytes& bytes) -> std::string {
        Setup t;
        PayloadReader reader(bytes);
        const auto read = t.man.Deserialize(reader);
        if (!read) return read.Message();
        return *read ? "read" : "later format";
    };
    const auto changed = [&](size_t at, const std::vector<uint8_t>& to) {
        Bytes out = good;
        std::copy(to.begin(), to.end(), out.begin() + std::ptrdiff_t(at));
        return out;
    };
    CHECK(says(good) == "read");
    CHECK(says(changed(0, {5})) == "read"); // later, but says that we can read it
    CHECK(says(changed(1, {37})) == "later format");
    CHECK(says(changed(1, {31})) == "Corrupted addrman database: The compat value (31) is lower "
                                    "than the expected minimum value 32.: iostream error");
    CHECK(says(changed(34, {0xff, 0xff, 0xff, 0xff})) ==
          "Corrupt AddrMan serialization: nNew=-1, should be in [0, 65536]: iostream error");
    CHECK(says(changed(38, {0x01, 0x40, 0, 0})) ==
          "Corrupt AddrMan serialization: nTried=16385, should be in [0, 16384]: iostream error");
    CHECK(says(changed(2, std::vector<uint8_t>(32, 0))) ==
          "Corrupt data. Consistency check failed with code -16: iostream error");
    CHECK(says(changed(49, {0x40})) == "Unsupported CAddress disk format version: iostream error");
    for (const size_t size :
         {size_t{0}, size_t{1}, size_t{33}, size_t{45}, size_t{60}, good.size() - 1}) {
        CHECK(says(Bytes(good.begin(), good.begin() + std::ptrdiff_t(size))) != "read");
    }
}

TEST_CASE("peers.dat and anchors.dat in a folder", "[addr_man]")
{
    const TempDir dir;
    const auto env = MakePosixEnv();
    Setup s;
    const AddressFileContext files{*env, *s.logger, dir.Get(), kMagic};
    const AddrManOptions options{s.groups};
    const Path peers = dir / "peers.dat";

    const auto fresh = Must(LoadPeers(files, options));
    CHECK(fresh->Size() == 0);
    CHECK(env->Exists(peers));
    s.Add("1.2.3.4");
    s.Add(kOnion);
    Must(SavePeers(files, PeersFile(files.magic, s.man)));
    CHECK(TableOf(*Must(LoadPeers(files, options)), false) == TableOf(s.man, false));

    const Bytes good = Must(ReadWholeFile(*env, peers));
    const auto reason = [&](const Bytes& bytes) {
        Must(WriteFileAtomically(*env, peers, bytes));
        const auto loaded = LoadPeers(files, options);
        if (loaded) return std::string("loaded");
        const std::string message = loaded.Message();
        const std::string before = "Invalid or corrupt peers.dat (";
        CHECK(message.starts_with(before));
        return message.substr(before.size(), message.find("). If") - before.size());
    };
    Bytes bad = good;
    bad[0] ^= 1;
    CHECK(reason(bad) == "Invalid network magic number");
    bad = good;
    bad.back() ^= 1;
    CHECK(reason(bad) == "Checksum mismatch, data corrupted");
    bad = good;
    bad.pop_back();
    CHECK(reason(bad) == "AutoFile::read: end of file: iostream error");
    CHECK(reason({}) == "AutoFile::read: end of file: iostream error");

    // A later format is set aside.
    bad = good;
    bad[5] = 99;
    CHECK(reason(bad) == "loaded");
    CHECK(Must(ReadWholeFile(*env, dir / "peers.dat.bak")) == bad);
    CHECK(Must(LoadPeers(files, options))->Size() == 0);

    CHECK(TakeAnchors(files).empty());
    const std::vector<PeerAddress> anchors = {Peer("1.2.3.4"), Peer(kOnion)};
    Must(SaveAnchors(files, anchors));
    CHECK(TakeAnchors(files) == anchors);
    CHECK(TakeAnchors(files).empty()); // it is gone
    Must(SaveAnchors(files, anchors));
    Bytes cut = Must(ReadWholeFile(*env, dir / "anchors.dat"));
    cut[10] ^= 1;
    Must(WriteFileAtomically(*env, dir / "anchors.dat", cut));
    CHECK(TakeAnchors(files).empty());
    CHECK_FALSE(env->Exists(dir / "anchors.dat"));
}

} // namespace ibd
