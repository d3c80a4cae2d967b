// The table of messages: type, short number, topic, stage and size of each. The dispatcher
// (peer/peer_manager.h), the transports, the counts of traffic, the tests of codecs and the fuzzers
// take their lists from it, so that a new message is its struct (messages.h), a row here, and the
// topic that handles it.
#pragma once

#include "net/wire/hints_messages.h"
#include "net/wire/messages.h"
#include "net/wire/packed_blocks.h"
#include "net/wire/spent_coins.h"

#include <tuple>

namespace ibd {

/** The part of the protocol that handles a message (peer/peer_topic.h). */
enum class MessageTopic : uint8_t {
    kNone, //!< known, and ignored
    kHandshake,
    kKeepalive,
    kAddresses,
    kHeaders,
    kBlocks,
    kCompact,
    kAnnouncing,
    kServing,
    kFilters,
    kTransactions,
    kReconciliation,
    kBloom,
    kHints,
    kSpentCoins,
    kPacked,
};

/** The stage from which a peer may send a message; earlier messages are ignored. */
enum class MessageStage : uint8_t {
    kFirst,       //!< as the first message
    kNegotiation, //!< after its version
    kEstablished, //!< after its verack
};

/** The payload is the block itself (primitives/block.h), so it has no codec. */
struct BlockMessage {
    static constexpr std::string_view kType = "block";
};

template <typename M>
struct MessageEntry {
    using Message = M;
    uint8_t short_id; //!< BIP324; 0: none
    MessageTopic topic;
    MessageStage stage;
    size_t max_bytes; //!< largest payload that the codec writes from a decoded message
};

namespace message_sizes {
inline constexpr size_t kCount = 3; //!< bytes of a CompactSize for a list of less than 65,536
                                    //!< entries
inline constexpr size_t kLongCount = 5;
inline constexpr size_t kHash = 32;
inline constexpr size_t kEndpoint = 18;
inline constexpr size_t kVersion =
    4 + 8 + 8 + (8 + kEndpoint) + (8 + kEndpoint) + 8 + kCount + kMaxUserAgent + 4 + 1;
inline constexpr size_t kFeature = kCount + kMaxFeatureId + kCount + kMaxFeatureData;
inline constexpr size_t kAddr = kCount + kMaxAddresses * (4 + 8 + kEndpoint);
inline constexpr size_t kAddrV2 = kCount + kMaxAddresses * (4 + 9 + 1 + 1 + 32 + 2);
inline constexpr size_t kInventory = kCount + kMaxInventory * (4 + kHash);
inline constexpr size_t kLocator = 4 + 1 + kMaxLocator * kHash + kHash;
inline constexpr size_t kHeaders = kCount + kMaxHeaders * (BlockHeader::kSize + 1);
inline constexpr size_t kGetBlockTxn = kHash + kLongCount + 65'536 * kCount;
inline constexpr size_t kHints = 1 + kMaxHintsOffers * HintsOffer::kSize;
inline constexpr size_t kHintsPart = kHash + 4 + 4;
inline constexpr size_t kGetPacked = kCount + kMaxPackedRequest * kHash;
} // namespace message_sizes

/** All messages: those of Core in its order, and then ours. */
inline constexpr auto kMessages = [] {
    using enum MessageTopic;
    using enum MessageStage;
    namespace size = message_sizes;
    return std::tuple{
        MessageEntry<VersionMessage>{0, kHandshake, kFirst, size::kVersion},
        MessageEntry<VerackMessage>{0, kHandshake, kNegotiation, 0},
        MessageEntry<AddrMessage>{1, kAddresses, kEstablished, size::kAddr},
        MessageEntry<AddrV2Message>{28, kAddresses, kEstablished, size::kAddrV2},
        MessageEntry<SendAddrV2Message>{0, kAddresses, kNegotiation, 0},
        MessageEntry<InvMessage>{14, kHeaders, kEstablished, size::kInventory},
        MessageEntry<GetDataMessage>{11, kServing, kEstablished, size::kInventory},
        MessageEntry<MerkleBlockMessage>{16, kNone, kEstablished, kMaxPayload},
        MessageEntry<GetBlocksMessage>{9, kServing, kEstablished, size::kLocator},
        MessageEntry<GetHeadersMessage>{12, kServing, kEstablished, size::kLocator},
        MessageEntry<TxMessage>{21, kTransactions, kEstablished, kMaxPayload},
        MessageEntry<HeadersMessage>{13, kHeaders, kEstablished, size::kHeaders},
        MessageEntry<BlockMessage>{2, kBlocks, kEstablished, kMaxPayload},
        MessageEntry<GetAddrMessage>{0, kAddresses, kEstablished, 0},
        MessageEntry<MempoolMessage>{15, kTransactions, kEstablished, 0},
        MessageEntry<PingMessage>{18, kKeepalive, kEstablished, 8},
        MessageEntry<PongMessage>{19, kKeepalive, kEstablished, 8},
        MessageEntry<NotFoundMessage>{17, kTransactions, kEstablished, size::kInventory},
        MessageEntry<FilterLoadMessage>{8, kBloom, kEstablished, kMaxPayload},
        MessageEntry<FilterAddMessage>{6, kBloom, kEstablished, kMaxPayload},
        MessageEntry<FilterClearMessage>{7, kBloom, kEstablished, 0},
        MessageEntry<SendHeadersMessage>{0, kAnnouncing, kNegotiation, 0},
        MessageEntry<FeeFilterMessage>{5, kTransactions, kEstablished, 8},
        MessageEntry<SendCompactMessage>{20, kAnnouncing, kNegotiation, 9},
        MessageEntry<CompactBlockMessage>{4, kCompact, kEstablished, kMaxPayload},
        MessageEntry<GetBlockTxnMessage>{10, kServing, kEstablished, size::kGetBlockTxn},
        MessageEntry<BlockTxnMessage>{3, kCompact, kEstablished, kMaxPayload},
        MessageEntry<GetCFiltersMessage>{22, kFilters, kEstablished, 1 + 4 + size::kHash},
        MessageEntry<CFilterMessage>{23, kNone, kEstablished, kMaxPayload},
        MessageEntry<GetCFHeadersMessage>{24, kFilters, kEstablished, 1 + 4 + size::kHash},
        MessageEntry<CFHeadersMessage>{25, kNone, kEstablished, kMaxPayload},
        MessageEntry<GetCFCheckptMessage>{26, kFilters, kEstablished, 1 + size::kHash},
        MessageEntry<CFCheckptMessage>{27, kNone, kEstablished, kMaxPayload},
        MessageEntry<WtxidRelayMessage>{0, kHandshake, kNegotiation, 0},
        MessageEntry<SendTxReconciliationMessage>{0, kReconciliation, kNegotiation, 12},
        MessageEntry<FeatureMessage>{37, kHandshake, kNegotiation, size::kFeature},
        MessageEntry<HintsMessage>{0, kHints, kEstablished, size::kHints},
        MessageEntry<GetHintsMessage>{0, kHints, kEstablished, size::kHintsPart},
        MessageEntry<HintsDataMessage>{0, kHints, kEstablished,
                                       size::kHintsPart + size::kLongCount + kMaxHintsData},
        MessageEntry<GetSpentCoinsMessage>{0, kSpentCoins, kEstablished, size::kHash + 4},
        MessageEntry<SpentCoinsMessage>{0, kBlocks, kEstablished, kMaxPayload},
        MessageEntry<GetPackedMessage>{0, kPacked, kEstablished, size::kGetPacked},
        MessageEntry<PackedMessage>{0, kBlocks, kEstablished, kMaxPayload},
        MessageEntry<PackedTxsMessage>{0, kTransactions, kEstablished, kMaxTxBatchBytes},
    };
}();
/** The number of messages, at the front of kMessages, that Core knows. */
inline constexpr size_t kCoreMessages = 36;

/** An entry without its codec. */
struct MessageRow {
    std::string_view type;
    uint8_t short_id = 0;
    MessageTopic topic = MessageTopic::kNone;
    MessageStage stage = MessageStage::kEstablished;
    size_t max_bytes = 0;
};
inline constexpr auto kMessageRows = std::apply(
    [](auto... entry) {
        return std::array{MessageRow{decltype(entry)::Message::kType, entry.short_id, entry.topic,
                                     entry.stage, entry.max_bytes}...};
    },
    kMessages);

/** Null: an unknown type. */
const MessageRow* FindMessage(std::string_view type);
/** The type with this BIP324 number; null: none. */
const MessageRow* FindMessage(uint8_t short_id);
/** Whether Core knows the type. */
bool IsCoreMessage(std::string_view type);

/** Calls `visit(entry)` for each entry with a codec. */
template <typename Visit>
void ForEachCodec(const Visit& visit)
{
    const auto each = [&](const auto& entry) {
        if constexpr (requires(typename std::decay_t<decltype(entry)>::Message message,
                               Writer & writer) { message.Write(writer); }) {
            visit(entry);
        }
    };
    std::apply([&](const auto&... entry) { (each(entry), ...); }, kMessages);
}

} // namespace ibd
