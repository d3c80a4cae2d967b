// See messages.h: handshake, addresses, inventory, headers. Blocks and filters: messages_block.cpp.
#include "net/wire/messages.h"

#include "util/strings.h"

#include <algorithm>

namespace ibd {

namespace {

// Shortest entries, which bound counts by the remaining bytes.
constexpr size_t kMinAddressV1 = 30;
constexpr size_t kMinAddressV2 = 9; //!< time, services, network, size, port
constexpr size_t kInventorySize = 36;
constexpr size_t kHeaderEntry = BlockHeader::kSize + 1;

/** Reads a whole list, as Core does before it checks the count, and keeps the permitted part. A
 *  truncated list is read to its end, because Core logs the first fault. */
template <typename List, typename ReadItem>
void ReadList(PayloadReader& reader, size_t min_size, List& list, ReadItem read_item)
{
    const uint64_t count = reader.CompactSize();
    list.items.reserve(std::min<uint64_t>({count, List::kMax, reader.Remaining() / min_size}));
    for (uint64_t i = 0; i < count && reader.Ok(); ++i) {
        auto item = read_item();
        if (i < List::kMax) {
            list.items.push_back(std::move(item));
        } else {
            ++list.dropped;
        }
    }
}

BlockHeader ReadHeader(Reader& reader)
{
    const ByteSpan bytes = reader.Span(BlockHeader::kSize);
    return bytes.empty() ? BlockHeader{} : BlockHeader::FromBytes(bytes.data());
}

const char* InventoryName(uint32_t type)
{
    constexpr uint32_t kTypeMask = 0x3fffffff;
    switch (type & kTypeMask) {
    case kInvTx: return "tx";
    case kInvWtx: return "wtx";
    case kInvBlock: return "block";
    case kInvFilteredBlock: return "merkleblock";
    case kInvCompactBlock: return "cmpctblock";
    default: return nullptr;
    }
}

} // namespace

std::string InventoryItem::ToString() const
{
    const char* const name = InventoryName(type);
    if (!name) return fmt::format("0x{:08x} {}", type, hash.ToHex());
    return fmt::format("{}{} {}", (type & kInvWitnessFlag) ? "witness-" : "", name, hash.ToHex());
}

void VersionMessage::Write(Writer& writer) const
{
    writer.U32(static_cast<uint32_t>(version));
    writer.U64(services);
    writer.I64(time);
    writer.U64(receiver_services);
    receiver.EncodeV1(writer);
    writer.U64(sender_services);
    sender.EncodeV1(writer);
    writer.U64(nonce);
    writer.VarBytes(AsBytes(user_agent));
    writer.U32(static_cast<uint32_t>(start_height));
    writer.U8(relay ? 1 : 0);
}

void VersionMessage::Read(PayloadReader& reader)
{
    constexpr size_t kSenderSize = 26;
    version = static_cast<int32_t>(reader.U32());
    services = reader.U64();
    time = std::max<int64_t>(reader.I64(), 0);
    receiver_services = reader.U64();
    receiver = Endpoint::DecodeV1(reader);
    if (reader.Remaining() > 0) {
        reader.Span(kSenderSize);
        nonce = reader.U64();
    }
    if (reader.Remaining() > 0) user_agent = reader.LimitedString(kMaxUserAgent);
    if (reader.Remaining() > 0) start_height = static_cast<int32_t>(reader.U32());
    if (reader.Remaining() > 0) relay = reader.U8() != 0;
}

void FeatureMessage::Write(Writer& writer) const
{
    writer.VarBytes(AsBytes(id));
    writer.VarBytes(data);
}

void FeatureMessage::Read(PayloadReader& reader)
{
    id = reader.LimitedString(kMaxFeatureId);
    const std::string text = reader.LimitedString(kMaxFeatureData);
    data.assign(text.begin(), text.end());
    if (id.size() < kMinFeatureId || reader.Remaining() > 0) {
        reader.Refuse("invalid feature payload");
    }
}

void SendCompactMessage::Write(Writer& writer) const
{
    writer.U8(high_bandwidth ? 1 : 0);
    writer.U64(version);
}

void SendCompactMessage::Read(PayloadReader& reader)
{
    high_bandwidth = reader.U8() != 0;
    version = reader.U64();
}

void FeeFilterMessage::Write(Writer& writer) const { writer.I64(rate); }
void FeeFilterMessage::Read(PayloadReader& reader) { rate = reader.I64(); }

void SendTxReconciliationMessage::Write(Writer& writer) const
{
    writer.U32(version);
    writer.U64(salt);
}

void SendTxReconciliationMessage::Read(PayloadReader& reader)
{
    version = reader.U32();
    salt = reader.U64();
}

void PingMessage::Write(Writer& writer) const { writer.U64(nonce); }
void PingMessage::Read(PayloadReader& reader) { nonce = reader.U64(); }
void PongMessage::Write(Writer& writer) const { writer.U64(nonce); }
void PongMessage::Read(PayloadReader& reader) { nonce = reader.U64(); }

void AddrMessage::Write(Writer& writer) const
{
    writer.CompactSize(list.items.size());
    for (const PeerAddress& address : list.items) address.EncodeV1(writer);
}

void AddrMessage::Read(PayloadReader& reader)
{
    ReadList(reader, kMinAddressV1, list, [&] { return PeerAddress::DecodeV1(reader); });
}

void AddrV2Message::Write(Writer& writer) const
{
    writer.CompactSize(list.items.size());
    for (const PeerAddress& address : list.items) address.EncodeV2(writer);
}

void AddrV2Message::Read(PayloadReader& reader)
{
    ReadList(reader, kMinAddressV2, list, [&] { return PeerAddress::DecodeV2(reader); });
}

void InventoryMessage::Write(Writer& writer) const
{
    writer.CompactSize(list.items.size());
    for (const InventoryItem& item : list.items) {
        writer.U32(item.type);
        writer.Hash(item.hash);
    }
}

void InventoryMessage::Read(PayloadReader& reader)
{
    ReadList(reader, kInventorySize, list, [&] {
        const uint32_t type = reader.U32();
        return InventoryItem{type, reader.Hash()};
    });
}

void LocatorMessage::Write(Writer& writer) const
{
    writer.U32(static_cast<uint32_t>(version));
    writer.CompactSize(locator.items.size());
    for (const BlockHash& hash : locator.items) writer.Hash(hash);
    writer.Hash(stop);
}

void LocatorMessage::Read(PayloadReader& reader)
{
    version = static_cast<int32_t>(reader.U32());
    ReadList(reader, BlockHash::size(), locator, [&] { return reader.Hash(); });
    stop = reader.Hash();
}

void HeadersMessage::Write(Writer& writer) const
{
    writer.CompactSize(list.items.size());
    for (const BlockHeader& header : list.items) {
        writer.Raw(header.ToBytes());
        writer.CompactSize(0); // number of transactions that follow
    }
}

void HeadersMessage::Read(PayloadReader& reader)
{
    const uint64_t count = reader.CompactSize();
    if (count > kMaxHeaders) {
        list.dropped = count;
        return;
    }
    // The count of transactions may take more bytes, so entries have no fixed size.
    list.items.reserve(std::min<size_t>(count, reader.Remaining() / kHeaderEntry));
    for (uint64_t i = 0; i < count && reader.Ok(); ++i) {
        list.items.push_back(ReadHeader(reader));
        reader.CompactSize();
    }
}

} // namespace ibd
