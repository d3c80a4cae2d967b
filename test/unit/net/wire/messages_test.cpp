// Message codecs: bytes written out by hand from the formats (doc/formats/p2p.md), the inputs that
// each codec refuses, and its bounds.
#include "net/wire/message_table.h"

#include "support/testdata.h"
#include "util/hex.h"

#include "support/catch.h"

namespace ibd {

namespace {

const std::string kHashA(64, 'a');
const std::string kHashB(64, 'b');
const Uint256 kA = *Uint256::FromHex(kHashA);
const Uint256 kB = *Uint256::FromHex(kHashB);

// A transaction with one input, one output and no witness; the same with a witness item.
const std::string kTx = "02000000"
                        "01" +
                        kHashA +
                        "00000000"
                        "00"
                        "ffffffff"
                        "01"
                        "0100000000000000"
                        "0151"
                        "00000000";
const std::string kWitnessTx = "02000000"
                               "0001"
                               "01" +
                               kHashA +
                               "00000000"
                               "00"
                               "ffffffff"
                               "01"
                               "0100000000000000"
                               "0151"
                               "01"
                               "0177"
                               "00000000";

BlockHeader Header(uint32_t nonce)
{
    BlockHeader header;
    header.version = 0x20000000;
    header.prev_hash = kA;
    header.merkle_root = kB;
    header.time = 0x11223344;
    header.bits = 0x207fffff;
    header.nonce = nonce;
    return header;
}
const std::string kHeader = "00000020" + kHashA + kHashB +
                            "44332211"
                            "ffff7f20"
                            "01000000"; // Header(1)

template <typename Message>
std::string Hex(const Message& message)
{
    return ToHex(Encode(message));
}

/** The reason for which `hex` is refused; "" if it is not. */
template <typename Message>
std::string Refusal(const std::string& hex)
{
    const auto result = Decode<Message>(*FromHex(hex));
    return result ? "" : result.Message();
}

/** The message has these bytes; bytes behind it make no difference; all of them are needed. */
template <typename Message>
void CheckBytes(const Message& message, const std::string& hex)
{
    INFO(Message::kType);
    CHECK(FindMessage(Message::kType));
    CHECK(Message::kType.size() <= kMaxMessageType);
    CHECK(Hex(message) == hex);
    const Bytes bytes = *FromHex(hex);
    const auto back = Decode<Message>(bytes);
    REQUIRE(back);
    CHECK(Hex(*back) == hex);
    for (size_t n = 0; n < bytes.size(); ++n) {
        INFO(n);
        CHECK_FALSE(Decode<Message>(ByteSpan(bytes).first(n)));
    }
    CHECK(Refusal<Message>(hex + "00").empty());
}

template <typename Message>
Message Parse(const std::string& hex)
{
    auto result = Decode<Message>(*FromHex(hex));
    if (!result) FAIL(result.Message());
    return std::move(*result);
}

std::string Repeat(size_t n, const std::string& text)
{
    std::string out;
    for (size_t i = 0; i < n; ++i) out += text;
    return out;
}

} // namespace

TEST_CASE("version, and what old peers leave out", "[messages]")
{
    VersionMessage message;
    message.services = 0x409;
    message.time = 0x0102030405;
    message.receiver_services = 1;
    message.receiver = *Endpoint::Parse("1.2.3.4:8333", 0);
    message.sender_services = 0x409;
    message.nonce = 0x1122334455667788;
    message.user_agent = "/x/";
    message.start_height = 0x010203;
    message.relay = false;
    const std::string must = "81110100"
                             "0904000000000000"
                             "0504030201000000"
                             "0100000000000000"
                             "00000000000000000000ffff01020304208d";
    const std::string sender = "0904000000000000"
                               "00000000000000000000000000000000"
                               "0000";
    const std::string with_nonce = must + sender + "8877665544332211";
    const std::string with_agent = with_nonce + "032f782f";
    const std::string with_height = with_agent + "03020100";
    CHECK(Hex(message) == with_height + "00");

    const VersionMessage all = Parse<VersionMessage>(with_height + "00"
                                                                   "ffff");
    CHECK(all.version == kProtocolVersion);
    CHECK(all.receiver == message.receiver);
    CHECK(all.nonce == message.nonce);
    CHECK(all.user_agent == "/x/");
    CHECK(all.start_height == 0x010203);
    CHECK_FALSE(all.relay);
    CHECK(Parse<VersionMessage>(with_height).relay);
    CHECK(Parse<VersionMessage>(with_height + "02").relay);
    CHECK(Parse<VersionMessage>(with_agent).start_height == -1);
    CHECK(Parse<VersionMessage>(with_nonce).user_agent.empty());
    CHECK(Parse<VersionMessage>(must).nonce == 1);

    const Bytes bytes = *FromHex(with_height + "00");
    size_t taken = 0;
    for (size_t n = 0; n <= bytes.size(); ++n) {
        taken += Decode<VersionMessage>(ByteSpan(bytes).first(n)).Ok();
    }
    CHECK(taken == 5); // the five lengths above

    CHECK(Parse<VersionMessage>("81110100"
                                "0000000000000000"
                                "ffffffffffffffff" +
                                Repeat(26, "00"))
              .time == 0);
    CHECK(Refusal<VersionMessage>(with_nonce + "fd0001" + Repeat(256, "61")).empty());
    CHECK(Refusal<VersionMessage>(with_nonce + "fd0101" + Repeat(257, "61")) ==
          "String length limit exceeded");
}

TEST_CASE("messages without content take any", "[messages]")
{
    for (const std::string payload : {"", "00", "ffffffff"}) {
        CHECK(Refusal<VerackMessage>(payload).empty());
        CHECK(Refusal<WtxidRelayMessage>(payload).empty());
        CHECK(Refusal<SendAddrV2Message>(payload).empty());
        CHECK(Refusal<SendHeadersMessage>(payload).empty());
        CHECK(Refusal<GetAddrMessage>(payload).empty());
        CHECK(Refusal<MempoolMessage>(payload).empty());
        CHECK(Refusal<FilterClearMessage>(payload).empty());
    }
    CHECK(Encode(VerackMessage{}).empty());
}

TEST_CASE("small messages of the handshake", "[messages]")
{
    CheckBytes(SendCompactMessage{true, 2}, "01"
                                            "0200000000000000");
    CHECK(Parse<SendCompactMessage>("05"
                                    "0100000000000000")
              .high_bandwidth);
    CheckBytes(FeeFilterMessage{1000}, "e803000000000000");
    CHECK(Parse<FeeFilterMessage>("ffffffffffffffff").rate == -1);
    CheckBytes(SendTxReconciliationMessage{1, 2}, "01000000"
                                                  "0200000000000000");
    CheckBytes(PingMessage{0x0102}, "0201000000000000");
    CheckBytes(PongMessage{0x0102}, "0201000000000000");
}

TEST_CASE("a feature is whole, and nothing follows it", "[messages]")
{
    const FeatureMessage feature{"BIP-1", {1, 2}};
    CHECK(Hex(feature) == "05"
                          "4249502d31"
                          "02"
                          "0102");
    CHECK(Parse<FeatureMessage>(Hex(feature)) == feature);
    const auto refused = [](const std::string& hex) {
        return !Refusal<FeatureMessage>(hex).empty();
    };
    CHECK(refused(Hex(feature) + "00"));
    CHECK(refused("05"
                  "4249502d31"
                  "02"
                  "01"));
    CHECK(refused("05"
                  "4249502d31"));
    CHECK(refused("03"
                  "616263"
                  "00"));
    CHECK_FALSE(refused("04"
                        "61626364"
                        "00"));
    CHECK_FALSE(refused("50" + Repeat(80, "61") + "fd0002" + Repeat(512, "00")));
    CHECK(refused("51" + Repeat(81, "61") + "00"));
    CHECK(refused("04"
                  "61626364"
                  "fd0102" +
                  Repeat(513, "00")));
    CHECK(refused(""));
}

TEST_CASE("addr and addrv2", "[messages]")
{
    const PeerAddress v4{*Endpoint::Parse("1.2.3.4:8333", 0), 9, 1};
    const PeerAddress onion{
        *Endpoint::Parse("pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion:1", 0),
        253, 2};
    AddrMessage addr;
    addr.list.items = {v4, v4};
    const std::string entry = "01000000"
                              "0900000000000000"
                              "00000000000000000000ffff01020304208d";
    CheckBytes(addr, "02" + entry + entry);
    AddrV2Message addrv2;
    addrv2.list.items = {v4, onion};
    CheckBytes(addrv2, "02"
                       "01000000"
                       "09"
                       "010401020304"
                       "208d"
                       "02000000"
                       "fdfd00"
                       "0420" +
                           ToHex(onion.endpoint.address.Raw()) + "0001");
    CHECK(Refusal<AddrV2Message>("01"
                                 "01000000"
                                 "09"
                                 "07fd0102" +
                                 Repeat(513, "00") + "0000") == "Address too long: 513 > 512");
    CHECK(Refusal<AddrV2Message>("01"
                                 "01000000"
                                 "09"
                                 "0103010203"
                                 "0000") == "BIP155 IPv4 address with length 3 (should be 4)");
    CHECK(Refusal<AddrV2Message>("") == "DataStream::read(): end of data");
    // Services may be any number, in the fewest bytes only.
    CHECK(Parse<AddrV2Message>("01"
                               "01000000"
                               "ffffffffffffffffff"
                               "010401020304"
                               "208d")
              .list.items[0]
              .services == ~uint64_t{0});
    CHECK_FALSE(Refusal<AddrV2Message>("01"
                                       "01000000"
                                       "fd0900"
                                       "010401020304"
                                       "208d")
                    .empty());

    const auto most = Parse<AddrMessage>("fde803" + Repeat(1000, entry));
    CHECK(most.list.items.size() == 1000);
    CHECK_FALSE(most.list.TooMany());
    const auto more = Parse<AddrMessage>("fdea03" + Repeat(1002, entry));
    CHECK(more.list.items.size() == 1000);
    CHECK(more.list.TooMany());
    CHECK(more.list.Count() == 1002);
    // Core ignores a message that does not parse, with any count of entries.
    CHECK_FALSE(Refusal<AddrMessage>("fdea03" + Repeat(1001, entry)).empty());
    CHECK_FALSE(Refusal<AddrMessage>("fe00000003").empty());
    CHECK_FALSE(Refusal<AddrMessage>("ff0000000001000000").empty());
}

TEST_CASE("inventory", "[messages]")
{
    InvMessage inv;
    inv.list.items = {{kInvTx, kA}, {kInvWitnessBlock, kB}};
    const std::string hex = "02"
                            "01000000" +
                            kHashA + "02000040" + kHashB;
    CheckBytes(inv, hex);
    GetDataMessage getdata;
    getdata.list = inv.list;
    CheckBytes(getdata, hex);
    NotFoundMessage notfound;
    notfound.list = inv.list;
    CheckBytes(notfound, hex);
    CHECK(inv.list.items[0].IsTx());
    CHECK(inv.list.items[1].IsBlock());
    CHECK(inv.list.items[0].ToString() == "tx " + kHashA);
    CHECK(inv.list.items[1].ToString() == "witness-block " + kHashB);
    CHECK(InventoryItem{7, kA}.ToString() == "0x00000007 " + kHashA);
    CHECK_FALSE(InventoryItem{0, kA}.IsBlock());

    const std::string entry = "01000000" + kHashA;
    CHECK_FALSE(Parse<InvMessage>("fd50c3" + Repeat(50000, entry)).list.TooMany());
    const auto more = Parse<InvMessage>("fd51c3" + Repeat(50001, entry));
    CHECK(more.list.TooMany());
    CHECK(more.list.items.size() == 50000);
    CHECK(more.list.Count() == 50001);
}

TEST_CASE("locators", "[messages]")
{
    GetHeadersMessage getheaders;
    getheaders.version = 0x0102;
    getheaders.locator.items = {kA, kB};
    getheaders.stop = kB;
    CheckBytes(getheaders, "02010000"
                           "02" +
                               kHashA + kHashB + kHashB);
    GetBlocksMessage getblocks;
    getblocks.locator.items = {kA};
    CheckBytes(getblocks, "81110100"
                          "01" +
                              kHashA + Repeat(32, "00"));
    CHECK_FALSE(Parse<GetHeadersMessage>("00000000"
                                         "65" +
                                         Repeat(102, kHashA))
                    .locator.TooMany());
    CHECK(Parse<GetHeadersMessage>("00000000"
                                   "66" +
                                   Repeat(103, kHashA))
              .locator.TooMany());
}

TEST_CASE("headers", "[messages]")
{
    HeadersMessage headers;
    headers.list.items = {Header(1), Header(1)};
    CheckBytes(headers, "02" + kHeader + "00" + kHeader + "00");
    CheckBytes(HeadersMessage{}, "00");
    // Counts of transactions are read and mean nothing.
    CHECK(Parse<HeadersMessage>("02" + kHeader + "fd0001" + kHeader + "07").list.items.size() == 2);
    CHECK(Parse<HeadersMessage>("fdd007" + Repeat(2000, kHeader + "00")).list.Count() == 2000);
    // Too many are a misbehaviour already when announced.
    CHECK(Parse<HeadersMessage>("fdd107").list.TooMany());
    CHECK(Parse<HeadersMessage>("fdd107").list.Count() == 2001);
    CHECK_FALSE(Refusal<HeadersMessage>("fe01000002").empty()); // above 32 MiB it is no count
}

TEST_CASE("transactions", "[messages]")
{
    CheckBytes(Parse<TxMessage>(kTx), kTx);
    CheckBytes(Parse<TxMessage>(kWitnessTx), kWitnessTx);
    CHECK(Parse<TxMessage>(kTx).tx->Id() == Parse<TxMessage>(kWitnessTx).tx->Id());
    CHECK_FALSE(Refusal<TxMessage>("02000000"
                                   "0001"
                                   "01")
                    .empty());
}

TEST_CASE("compact blocks", "[messages]")
{
    CompactBlockMessage block;
    block.header = Header(1);
    block.nonce = 0x0102;
    block.short_ids = {0x060504030201, 0xffffffffffff};
    block.prefilled = {{0, Parse<TxMessage>(kTx).tx}, {300, Parse<TxMessage>(kWitnessTx).tx}};
    const std::string head = kHeader + "0201000000000000";
    CheckBytes(block, head +
                          "02"
                          "010203040506"
                          "ffffffffffff"
                          "02"
                          "00" +
                          kTx + "fd2c01" + kWitnessTx);
    CHECK(Refusal<CompactBlockMessage>(head +
                                       "00"
                                       "01"
                                       "fdffff" +
                                       kTx)
              .empty());
    CHECK(Refusal<CompactBlockMessage>(head +
                                       "00"
                                       "01"
                                       "fe00000100" +
                                       kTx) == "CompactSize exceeds limit of type");
    const std::string ids = Repeat(65535, "010203040506");
    CHECK(Refusal<CompactBlockMessage>(head + "fdffff" + ids + "00").empty());
    CHECK(Refusal<CompactBlockMessage>(head + "fdffff" + ids +
                                       "01"
                                       "00" +
                                       kTx) == "indexes overflowed 16 bits");
    CHECK(Refusal<CompactBlockMessage>(head + "fe00000100" + ids +
                                       "010203040506"
                                       "00") == "indexes overflowed 16 bits");
}

TEST_CASE("asking for transactions of a block, and the answer", "[messages]")
{
    GetBlockTxnMessage request{kA, {0, 1, 7, 600, 65535}};
    CheckBytes(request, kHashA + "05"
                                 "00"
                                 "00"
                                 "05"
                                 "fd5002"
                                 "fda6fd");
    CHECK(Parse<GetBlockTxnMessage>(Hex(request)) == request);
    CHECK(Refusal<GetBlockTxnMessage>(kHashA + "02"
                                               "fdffff"
                                               "00") == "differential value overflow");
    CHECK(Refusal<GetBlockTxnMessage>(kHashA + "01"
                                               "fe00000100") == "differential value overflow");
    CheckBytes(GetBlockTxnMessage{kA, {}}, kHashA + "00");
    BlockTxnMessage answer{kA, {Parse<TxMessage>(kTx).tx, Parse<TxMessage>(kWitnessTx).tx}};
    CheckBytes(answer, kHashA + "02" + kTx + kWitnessTx);
}

TEST_CASE("bloom filters", "[messages]")
{
    CheckBytes(FilterLoadMessage{{1, 2}, 3, 4, 5}, "02"
                                                   "0102"
                                                   "03000000"
                                                   "04000000"
                                                   "05");
    CHECK(FilterLoadMessage{Bytes(36000), 50, 0, 0}.WithinLimits());
    CHECK_FALSE(FilterLoadMessage{Bytes(36001), 50, 0, 0}.WithinLimits());
    CHECK_FALSE(FilterLoadMessage{Bytes(1), 51, 0, 0}.WithinLimits());
    CheckBytes(FilterAddMessage{{1, 2}}, "02"
                                         "0102");
    CHECK(FilterAddMessage{Bytes(520)}.WithinLimits());
    CHECK_FALSE(FilterAddMessage{Bytes(521)}.WithinLimits());
    CheckBytes(MerkleBlockMessage{Header(1), {2, {kA}, {1}}}, kHeader +
                                                                  "02000000"
                                                                  "01" +
                                                                  kHashA +
                                                                  "01"
                                                                  "01");
}

TEST_CASE("block filters", "[messages]")
{
    GetCFiltersMessage filters;
    filters.start_height = 0x0102;
    filters.stop = kA;
    CheckBytes(filters, "00"
                        "02010000" +
                            kHashA);
    GetCFHeadersMessage headers;
    headers.filter_type = 1;
    headers.stop = kA;
    CheckBytes(headers, "01"
                        "00000000" +
                            kHashA);
    CheckBytes(GetCFCheckptMessage{0, kA}, "00" + kHashA);
    CheckBytes(CFilterMessage{0, kA, {1, 2}}, "00" + kHashA +
                                                  "02"
                                                  "0102");
    CheckBytes(CFHeadersMessage{0, kA, kB, {kA, kB}},
               "00" + kHashA + kHashB + "02" + kHashA + kHashB);
    CheckBytes(CFCheckptMessage{0, kA, {kB}}, "00" + kHashA + "01" + kHashB);
}

namespace {

/** A message with one coin: its height and kind, script and amount in hex. */
std::string WithCoin(const std::string& coin, const std::string& input = "05000000")
{
    return kHashA + "01" + input + coin;
}

SpentCoinsMessage OfScript(const std::string& script)
{
    SpentCoinsMessage out{kA, {{5, {}}}};
    out.coins[0].coin.value = 5'000'000'000;
    out.coins[0].coin.height = 0x102;
    out.coins[0].coin.coinbase = true;
    out.coins[0].coin.script = *FromHex(script);
    return out;
}

} // namespace

TEST_CASE("a request for packed blocks", "[messages]")
{
    CheckBytes(GetPackedMessage{}, "00");
    CheckBytes(GetPackedMessage{{{BlockHash(kA), BlockHash(kA)}, 0}}, "02" + kHashA + kHashA);
    CHECK_FALSE(Refusal<GetPackedMessage>("02" + kHashA).empty());
    GetPackedMessage many;
    many.blocks.items.resize(kMaxPackedRequest + 1);
    const auto read = Decode<GetPackedMessage>(Encode(many));
    REQUIRE(read);
    CHECK(read->blocks.items.size() == kMaxPackedRequest);
    CHECK(read->blocks.TooMany());
}

TEST_CASE("spent coins: each shape of a script", "[messages]")
{
    CheckBytes(GetSpentCoinsMessage{kA, 0x010203}, kHashA + "03020100");
    CheckBytes(SpentCoinsMessage{kA, {}}, kHashA + "00");
    const std::string origin = "05020000"; // height 258, of a coinbase
    const std::string a(40, 'a'), b(64, 'b'), c(128, 'c');
    const auto check = [&](const std::string& script, const std::string& form) {
        CheckBytes(OfScript(script), WithCoin(origin + form + "32"));
    };
    check("76a914" + a + "88ac", "01" + a);
    check("2102" + b + "ac", "02" + b);
    check("2103" + b + "ac", "03" + b);
    check("4104" + c + "ac", "04" + c);
    check("a914" + a + "87", "05" + a);
    check("0020" + b, "06" + b);
    check("0014" + a, "07" + a);
    check("5120" + b, "08" + b);
    check("", "0000");
    check("51", "000151");
    check("2104" + b + "ac", "0023" + ("2104" + b + "ac")); // no key
    check("76a914" + a + "88ad", "0019" + ("76a914" + a + "88ad"));
    check("5220" + b, "0022" + ("5220" + b)); // witness version 2
    check(Repeat(253, "6a"), "00fdfd00" + Repeat(253, "6a"));
}

TEST_CASE("spent coins: amounts, and refused messages", "[messages]")
{
    SpentCoinsMessage message = OfScript("51");
    const auto amount = [&](Amount value) {
        message.coins[0].coin.value = value;
        return Hex(message).substr(64 + 2 + 8 + 8 + 6);
    };
    CHECK(amount(0) == "00");
    CHECK(amount(1) == "01");
    CHECK(amount(100'000'000) == "09");
    CHECK(amount(5'000'000'000) == "32");
    CHECK(amount(2'100'000'000'000'000) == "fe406f4001");
    const std::string coin = "05020000"
                             "000151";
    CHECK(Refusal<SpentCoinsMessage>(WithCoin(coin + "32")).empty());
    CHECK_FALSE(Refusal<SpentCoinsMessage>(WithCoin(coin + "fd3200")).empty()); // not minimal
    CHECK_FALSE(Refusal<SpentCoinsMessage>(WithCoin(coin + "ffffffffffffffffff")).empty());
    CHECK_FALSE(Refusal<SpentCoinsMessage>(WithCoin("05020000"
                                                    "09"
                                                    "32"))
                    .empty());
    const std::string a(40, 'a');
    CHECK_FALSE(Refusal<SpentCoinsMessage>(WithCoin("05020000"
                                                    "0016"
                                                    "0014" +
                                                    a + "32"))
                    .empty()); // raw
    const std::string two = "0500000005020000"
                            "000151"
                            "32";
    CHECK_FALSE(Refusal<SpentCoinsMessage>(kHashA + "02" + two + two).empty()); // no order
    CHECK_FALSE(Refusal<SpentCoinsMessage>(kHashA + "fe00000100" + two).empty());
}

TEST_CASE("names of services", "[messages]")
{
    CHECK(ServiceNames(0).empty());
    CHECK(ServiceNames(kNodeNetwork | kNodeWitness | 2 | uint64_t{1} << 63) ==
          std::vector<std::string>{"NETWORK", "UNKNOWN[2^1]", "WITNESS", "UNKNOWN[2^63]"});
    CHECK(ServiceNames(kNodeBloom | kNodeCompactFilters | kNodeNetworkLimited | kNodeP2pV2) ==
          std::vector<std::string>{"BLOOM", "COMPACT_FILTERS", "NETWORK_LIMITED", "P2P_V2"});
}

} // namespace ibd
