// See hints_messages.h.
#include "net/wire/hints_messages.h"

namespace ibd {

namespace {

void WritePart(const HintsPart& part, Writer& writer)
{
    writer.Hash(part.id);
    writer.U32(part.first);
    writer.U32(part.count);
}

HintsPart ReadPart(PayloadReader& reader)
{
    HintsPart part;
    part.id = reader.Hash();
    part.first = reader.U32();
    part.count = reader.U32();
    return part;
}

} // namespace

void HintsMessage::Write(Writer& writer) const
{
    writer.CompactSize(list.items.size());
    for (const HintsOffer& offer : list.items) {
        writer.Hash(offer.id);
        writer.Hash(offer.file_hash);
        writer.Hash(offer.terminal);
        writer.U32(offer.height);
        writer.U64(offer.size);
    }
}

void HintsMessage::Read(PayloadReader& reader)
{
    const uint64_t count = reader.CompactSize();
    for (uint64_t i = 0; i < std::min<uint64_t>(count, kMaxHintsOffers) && reader.Ok(); ++i) {
        HintsOffer offer;
        offer.id = reader.Hash();
        offer.file_hash = reader.Hash();
        offer.terminal = BlockHash(reader.Hash());
        offer.height = reader.U32();
        offer.size = reader.U64();
        if (reader.Ok()) list.items.push_back(offer);
    }
    list.dropped = count - std::min<uint64_t>(count, kMaxHintsOffers);
}

void GetHintsMessage::Write(Writer& writer) const { WritePart(part, writer); }

void GetHintsMessage::Read(PayloadReader& reader) { part = ReadPart(reader); }

void HintsDataMessage::Write(Writer& writer) const
{
    WritePart(part, writer);
    writer.VarBytes(data);
}

void HintsDataMessage::Read(PayloadReader& reader)
{
    part = ReadPart(reader);
    const uint64_t size = reader.CompactSize();
    if (size > kMaxHintsData) return reader.Refuse("hints data too long");
    data = reader.Span(reader.Ok() ? size : 0);
}

} // namespace ibd
