// Messages between peers: a struct and a codec for each, without behaviour. `block` has none, as
// its payload is the block (primitives/block.h). Values; bytes: doc/formats/p2p.md.
//
// Decode() accepts and refuses exactly as Bitcoin Core's deserialization. Like Core, it ignores
// bytes after a message, except for `feature`. A refused message is dropped and the peer kept,
// unless the struct says otherwise. Lists with a protocol limit keep at most that number of
// entries: sending more is misbehaviour, which the caller must check (BoundedList::TooMany).
#pragma once

#include "consensus/merkle_proof.h"
#include "net/address/net_address.h"
#include "net/address/services.h"
#include "net/wire/protocol.h"
#include "primitives/block.h"
#include "primitives/transaction.h"

namespace ibd {

template <typename T, size_t kLimit>
struct BoundedList {
    using Item = T;
    static constexpr size_t kMax = kLimit;

    std::vector<T> items; //!< to send; or the first kLimit received ones
    uint64_t dropped = 0; //!< number of received entries beyond the limit

    uint64_t Count() const { return items.size() + dropped; }
    bool TooMany() const { return Count() > kLimit; }
    bool operator==(const BoundedList&) const = default;
};

/** The payload of a message. */
template <typename Message>
Bytes Encode(const Message& message)
{
    Bytes out;
    Writer writer(out);
    message.Write(writer);
    return out;
}

/** Decodes a payload; the error is in the words of Core's log. */
template <typename Message>
Result<Message> Decode(ByteSpan payload)
{
    PayloadReader reader(payload);
    Message message;
    message.Read(reader);
    if (!reader.Ok()) return reader.GetError();
    return message;
}

// Handshake and upkeep of a connection.

struct VersionMessage {
    static constexpr std::string_view kType = "version";

    int32_t version = kProtocolVersion;
    uint64_t services = 0; //!< of the sender
    int64_t time = 0;      //!< sender's clock, seconds since 1970; not below 0 when received
    uint64_t receiver_services = 0;
    Endpoint receiver; //!< as the sender sees it
    // Fields from here on may be missing in a received message, and then have these values.
    uint64_t sender_services = 0; //!< ignored when received, as in Core
    Endpoint sender;              //!< ignored when received, as in Core
    uint64_t nonce = 1;           //!< random: detects connections to oneself
    std::string user_agent;       //!< at most kMaxUserAgent bytes
    int32_t start_height = -1;    //!< height of the sender's best block
    bool relay = true;            //!< the sender wants transactions (BIP37)

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const VersionMessage&) const = default;
};

/** Messages without content; any payload is ignored. */
struct EmptyMessage {
    void Write(Writer&) const {}
    void Read(PayloadReader&) {}
    bool operator==(const EmptyMessage&) const = default;
};
struct VerackMessage : EmptyMessage {
    static constexpr std::string_view kType = "verack";
};
struct WtxidRelayMessage : EmptyMessage { //!< BIP339, before verack
    static constexpr std::string_view kType = "wtxidrelay";
};
struct SendAddrV2Message : EmptyMessage { //!< BIP155, before verack
    static constexpr std::string_view kType = "sendaddrv2";
};
struct SendHeadersMessage : EmptyMessage { //!< BIP130
    static constexpr std::string_view kType = "sendheaders";
};
struct GetAddrMessage : EmptyMessage {
    static constexpr std::string_view kType = "getaddr";
};
struct MempoolMessage : EmptyMessage { //!< BIP35
    static constexpr std::string_view kType = "mempool";
};
struct FilterClearMessage : EmptyMessage { //!< BIP37
    static constexpr std::string_view kType = "filterclear";
};

/** BIP434, between version and verack. If it is refused, the peer is disconnected. */
struct FeatureMessage {
    static constexpr std::string_view kType = "feature";

    std::string id; //!< kMinFeatureId to kMaxFeatureId bytes
    Bytes data;     //!< at most kMaxFeatureData bytes

    /** Whether it is this feature, with the version as its first byte. */
    bool Is(std::string_view name, uint8_t version) const
    {
        return id == name && !data.empty() && data[0] == version;
    }
    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const FeatureMessage&) const = default;
};

struct SendCompactMessage { //!< BIP152
    static constexpr std::string_view kType = "sendcmpct";

    bool high_bandwidth = false; //!< announce new blocks by cmpctblock
    uint64_t version = kCompactBlocksEncoding;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const SendCompactMessage&) const = default;
};

struct FeeFilterMessage { //!< BIP133
    static constexpr std::string_view kType = "feefilter";

    int64_t rate = 0; //!< satoshi per 1,000 virtual bytes; ignored when out of MoneyRange()

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const FeeFilterMessage&) const = default;
};

struct SendTxReconciliationMessage { //!< BIP330, before verack
    static constexpr std::string_view kType = "sendtxrcncl";

    uint32_t version = 1;
    uint64_t salt = 0;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const SendTxReconciliationMessage&) const = default;
};

/** Peers up to kPingNonceVersion send no nonce: do not decode their pings. */
struct PingMessage {
    static constexpr std::string_view kType = "ping";

    uint64_t nonce = 0;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const PingMessage&) const = default;
};

/** A refused one ("Short payload") ends the pending ping, as if it had been answered. */
struct PongMessage {
    static constexpr std::string_view kType = "pong";

    uint64_t nonce = 0;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const PongMessage&) const = default;
};

// Addresses.

struct AddrMessage {
    static constexpr std::string_view kType = "addr";

    BoundedList<PeerAddress, kMaxAddresses> list;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const AddrMessage&) const = default;
};

struct AddrV2Message { //!< BIP155
    static constexpr std::string_view kType = "addrv2";

    BoundedList<PeerAddress, kMaxAddresses> list;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const AddrV2Message&) const = default;
};

// Inventory.

struct InventoryItem {
    uint32_t type = 0; //!< InventoryType; unknown types may arrive
    Uint256 hash;

    bool IsTx() const { return type == kInvTx || type == kInvWtx || type == kInvWitnessTx; }
    bool IsBlock() const
    {
        return type == kInvBlock || type == kInvFilteredBlock || type == kInvCompactBlock ||
               type == kInvWitnessBlock;
    }
    /** "witness-block 00..": the form in Core's log. */
    std::string ToString() const;
    bool operator==(const InventoryItem&) const = default;
};
using InventoryList = BoundedList<InventoryItem, kMaxInventory>;

struct InventoryMessage {
    InventoryList list;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const InventoryMessage&) const = default;
};
struct InvMessage : InventoryMessage {
    static constexpr std::string_view kType = "inv";
};
struct GetDataMessage : InventoryMessage {
    static constexpr std::string_view kType = "getdata";
};
/** A message with too many entries is not misbehaviour. Like Core, the node ignores it. */
struct NotFoundMessage : InventoryMessage {
    static constexpr std::string_view kType = "notfound";
};

// Headers and blocks.

struct LocatorMessage {
    int32_t version = kProtocolVersion;          //!< ignored
    BoundedList<BlockHash, kMaxLocator> locator; //!< from the tip down; too many: the sender is
                                                 //!< disconnected
    BlockHash stop;                              //!< last wanted header; null: as many as fit

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const LocatorMessage&) const = default;
};
struct GetHeadersMessage : LocatorMessage {
    static constexpr std::string_view kType = "getheaders";
};
struct GetBlocksMessage : LocatorMessage {
    static constexpr std::string_view kType = "getblocks";
};

struct HeadersMessage {
    static constexpr std::string_view kType = "headers";

    /** If the count is too large, no header is read, and `dropped` is the whole count. */
    BoundedList<BlockHeader, kMaxHeaders> list;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const HeadersMessage&) const = default;
};

struct TxMessage {
    static constexpr std::string_view kType = "tx";

    TransactionRef tx; //!< never null when received

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
};

struct PrefilledTx {
    uint16_t gap = 0; //!< number of transactions since the previous entry of the list
    TransactionRef tx;
};

struct CompactBlockMessage { //!< BIP152
    static constexpr std::string_view kType = "cmpctblock";
    static constexpr size_t kShortIdSize = 6; //!< bytes

    BlockHeader header;
    uint64_t nonce = 0; //!< random; with the header it is the key of the short ids
    std::vector<uint64_t> short_ids;
    /** Read() does not check that these and the short ids form a block. */
    std::vector<PrefilledTx> prefilled;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
};

struct GetBlockTxnMessage { //!< BIP152
    static constexpr std::string_view kType = "getblocktxn";

    BlockHash block;
    std::vector<uint16_t> indexes; //!< ascending

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const GetBlockTxnMessage&) const = default;
};

struct BlockTxnMessage { //!< BIP152
    static constexpr std::string_view kType = "blocktxn";

    BlockHash block;
    std::vector<TransactionRef> txs;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
};

// Bloom filters (BIP37).

struct FilterLoadMessage {
    static constexpr std::string_view kType = "filterload";

    Bytes data;
    uint32_t hash_count = 0;
    uint32_t tweak = 0;
    uint8_t flags = 0;

    /** False: the sender misbehaves. */
    bool WithinLimits() const
    {
        return data.size() <= kMaxBloomFilter && hash_count <= kMaxBloomHashes;
    }
    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const FilterLoadMessage&) const = default;
};

struct FilterAddMessage {
    static constexpr std::string_view kType = "filteradd";

    Bytes data;

    /** False: the sender misbehaves. */
    bool WithinLimits() const { return data.size() <= kMaxFilterElement; }
    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const FilterAddMessage&) const = default;
};

struct MerkleBlockMessage {
    static constexpr std::string_view kType = "merkleblock";

    BlockHeader header;
    MerkleProof proof;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const MerkleBlockMessage&) const = default;
};

// Block filters (BIP157).

struct BlockFilterRequest {
    uint8_t filter_type = 0; //!< 0: basic
    uint32_t start_height = 0;
    BlockHash stop;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const BlockFilterRequest&) const = default;
};
struct GetCFiltersMessage : BlockFilterRequest { //!< for at most kMaxBlockFilters blocks
    static constexpr std::string_view kType = "getcfilters";
};
struct GetCFHeadersMessage : BlockFilterRequest { //!< for at most kMaxFilterHeaders blocks
    static constexpr std::string_view kType = "getcfheaders";
};

struct GetCFCheckptMessage {
    static constexpr std::string_view kType = "getcfcheckpt";

    uint8_t filter_type = 0;
    BlockHash stop;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const GetCFCheckptMessage&) const = default;
};

struct CFilterMessage {
    static constexpr std::string_view kType = "cfilter";

    uint8_t filter_type = 0;
    BlockHash block;
    Bytes filter;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const CFilterMessage&) const = default;
};

struct CFHeadersMessage {
    static constexpr std::string_view kType = "cfheaders";

    uint8_t filter_type = 0;
    BlockHash stop;
    Uint256 previous_header; //!< header of the filter before the first
    std::vector<Uint256> filter_hashes;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const CFHeadersMessage&) const = default;
};

struct CFCheckptMessage {
    static constexpr std::string_view kType = "cfcheckpt";

    uint8_t filter_type = 0;
    BlockHash stop;
    std::vector<Uint256> headers; //!< of every kFilterCheckpointInterval-th block

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const CFCheckptMessage&) const = default;
};

} // namespace ibd
