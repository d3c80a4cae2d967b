// The table of messages: its types and numbers are unambiguous, and its sizes are those of the
// codecs.
#include "net/wire/message_table.h"

#include "util/hex.h"

#include "support/catch.h"

#include <set>

namespace ibd {

namespace {

/** Fills a list to its limit. */
template <typename List>
void Fill(List& list, const typename List::Item& item)
{
    list.items.assign(List::kMax, item);
}

/** The longest message of a type, for types whose lists or texts have a limit. */
template <typename Message>
Message Longest()
{
    Message out;
    if constexpr (std::is_same_v<Message, VersionMessage>) {
        out.user_agent = std::string(kMaxUserAgent, 'x');
    } else if constexpr (std::is_same_v<Message, FeatureMessage>) {
        out.id = std::string(kMaxFeatureId, 'x');
        out.data = Bytes(kMaxFeatureData);
    } else if constexpr (std::is_same_v<Message, HeadersMessage>) {
        Fill(out.list, BlockHeader());
    } else if constexpr (std::is_base_of_v<LocatorMessage, Message>) {
        Fill(out.locator, BlockHash());
    } else if constexpr (std::is_base_of_v<InventoryMessage, Message>) {
        Fill(out.list, InventoryItem());
    } else if constexpr (std::is_same_v<Message, AddrMessage>) {
        Fill(out.list, PeerAddress());
    } else if constexpr (std::is_same_v<Message, AddrV2Message>) {
        PeerAddress address;
        address.endpoint =
            *Endpoint::Parse("pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion:1", 0);
        address.services = ~uint64_t{0};
        Fill(out.list, address);
    } else if constexpr (std::is_same_v<Message, GetBlockTxnMessage>) {
        for (uint32_t i = 0; i < 65'536; ++i) out.indexes.push_back(static_cast<uint16_t>(i));
    } else if constexpr (std::is_same_v<Message, GetPackedMessage>) {
        Fill(out.blocks, BlockHash());
    } else if constexpr (std::is_same_v<Message, HintsMessage>) {
        Fill(out.list, HintsOffer());
    } else if constexpr (std::is_same_v<Message, HintsDataMessage>) {
        static const Bytes data(kMaxHintsData);
        out.data = data;
    }
    return out;
}

/** Types that hold a transaction or a block part, which no list bounds. */
template <typename Message>
constexpr bool kUnbounded = requires(Message message)
{
    message.tx;
}
|| requires(Message message) { message.txs; }
|| requires(Message message) { message.short_ids; }
|| requires(Message message) { message.proof; }
|| requires(Message message) { message.coins; }
|| requires(Message message) { message.filter; }
|| requires(Message message) { message.filter_hashes; }
|| std::is_same_v<Message, CFCheckptMessage> || std::is_same_v<Message, FilterLoadMessage> ||
    std::is_same_v<Message, FilterAddMessage>;

} // namespace

TEST_CASE("types and numbers name one message each", "[messages]")
{
    std::set<std::string_view> types;
    std::set<int> numbers;
    for (const MessageRow& row : kMessageRows) {
        INFO(row.type);
        CHECK(types.insert(row.type).second);
        CHECK(row.type.size() <= kMaxMessageType);
        CHECK(row.max_bytes <= kMaxPayload);
        CHECK(FindMessage(row.type) == &row);
        if (row.short_id != 0) {
            CHECK(numbers.insert(row.short_id).second);
            CHECK(FindMessage(row.short_id) == &row);
        }
    }
    CHECK(FindMessage("nonsense") == nullptr);
    CHECK(FindMessage(uint8_t{0}) == nullptr);
    CHECK(FindMessage(uint8_t{36}) == nullptr);
}

TEST_CASE("the numbers are those of BIP324", "[messages]")
{
    const std::vector<std::pair<int, std::string_view>> numbers{
        {1, "addr"},       {2, "block"},         {3, "blocktxn"},    {4, "cmpctblock"},
        {5, "feefilter"},  {6, "filteradd"},     {7, "filterclear"}, {8, "filterload"},
        {9, "getblocks"},  {10, "getblocktxn"},  {11, "getdata"},    {12, "getheaders"},
        {13, "headers"},   {14, "inv"},          {15, "mempool"},    {16, "merkleblock"},
        {17, "notfound"},  {18, "ping"},         {19, "pong"},       {20, "sendcmpct"},
        {21, "tx"},        {22, "getcfilters"},  {23, "cfilter"},    {24, "getcfheaders"},
        {25, "cfheaders"}, {26, "getcfcheckpt"}, {27, "cfcheckpt"},  {28, "addrv2"},
        {37, "feature"}};
    size_t found = 0;
    for (const MessageRow& row : kMessageRows) found += row.short_id != 0;
    CHECK(found == numbers.size());
    for (const auto& [number, type] : numbers) {
        INFO(type);
        REQUIRE(FindMessage(type));
        CHECK(FindMessage(type)->short_id == number);
    }
}

TEST_CASE("Core knows all messages but those about hints, coins and batches", "[messages]")
{
    for (const MessageRow& row : kMessageRows) {
        INFO(row.type);
        const bool ours =
            row.topic == MessageTopic::kHints || row.topic == MessageTopic::kSpentCoins ||
            row.topic == MessageTopic::kPacked || row.type == PackedMessage::kType ||
            row.type == SpentCoinsMessage::kType || row.type == PackedTxsMessage::kType;
        CHECK(IsCoreMessage(row.type) == !ours);
    }
    CHECK_FALSE(IsCoreMessage("nonsense"));
}

TEST_CASE("the longest message of each type is as long as the table says", "[messages]")
{
    ForEachCodec([](const auto& entry) {
        using Message = typename std::decay_t<decltype(entry)>::Message;
        INFO(Message::kType);
        if constexpr (kUnbounded<Message>) {
            CHECK(entry.max_bytes == kMaxPayload);
        } else {
            const Bytes bytes = Encode(Longest<Message>());
            CHECK(bytes.size() <= entry.max_bytes);
            // A CompactSize may be shorter than the table allows for.
            if constexpr (!std::is_same_v<Message, GetBlockTxnMessage>) {
                CHECK(bytes.size() + 4 >= entry.max_bytes);
            }
            CHECK(Decode<Message>(bytes));
        }
    });
}

} // namespace ibd
