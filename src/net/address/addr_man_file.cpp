// addr_man.h: the contents of peers.dat, see doc/formats/peers.md.
#include "net/address/addr_man.h"

#include "net/address/address_files.h"

#include <algorithm>

namespace ibd {

namespace {

// Versions of the format; all can be read.
constexpr uint8_t kV1Deterministic = 1; //!< since this version the number of buckets is masked
constexpr uint8_t kV2Asmap = 2;
constexpr uint8_t kV3Bip155 = 3;
constexpr uint8_t kV4Multiport = 4;
/** Added to the oldest version that can read the file: the field was once a size, 32. */
constexpr uint8_t kCompatBase = 32;
constexpr uint32_t kBucketCountMask = uint32_t{1} << 30;

void WriteInfo(Writer& writer, const AddrInfo& info)
{
    WriteDiskAddress(writer, info.address);
    info.source.EncodeV2(writer);
    writer.I64(info.last_success);
    writer.U32(static_cast<uint32_t>(info.attempts));
}

AddrInfo ReadInfo(PayloadReader& reader, bool v2)
{
    AddrInfo info;
    info.address = ReadDiskAddress(reader, v2);
    if (v2) {
        info.source = NetAddress::DecodeV2(reader);
    } else {
        std::array<uint8_t, 16> bytes{};
        const ByteSpan read = reader.Span(bytes.size());
        std::copy(read.begin(), read.end(), bytes.begin());
        info.source = NetAddress::FromIpv6(bytes);
    }
    info.last_success = reader.I64();
    info.attempts = static_cast<int32_t>(reader.U32());
    return info;
}

/** Reads up to the key; false: a later program wrote a format that this one cannot read. */
bool ReadHeader(PayloadReader& reader, uint8_t& format)
{
    format = reader.U8();
    const uint8_t compat = reader.U8();
    if (compat < kCompatBase) {
        reader.Refuse(fmt::format("Corrupted addrman database: The compat value ({}) is lower than "
                                  "the expected minimum value {}.: iostream error",
                                  compat, kCompatBase));
    }
    return !reader.Ok() || compat - kCompatBase <= kV4Multiport;
}

} // namespace

void AddrMan::Serialize(Writer& writer) const
{
    CHECK(m_new_count <= kMaxNew && m_tried_count <= kMaxTried); // Deserialize() would refuse more
    writer.U8(kV4Multiport);
    writer.U8(kCompatBase + kV4Multiport);
    writer.Raw(m_places.key);
    writer.U32(static_cast<uint32_t>(m_new_count));
    writer.U32(static_cast<uint32_t>(m_tried_count));
    writer.U32(kNewBuckets ^ kBucketCountMask);
    std::vector<uint32_t> numbers(m_infos.size()); // numbers of the entries in "new", in order
    uint32_t next = 0;
    for (const Id id : m_random) {
        if (m_infos[id].tried) continue;
        numbers[id] = next++;
        WriteInfo(writer, m_infos[id]);
    }
    for (const Id id : m_random) {
        if (m_infos[id].tried) WriteInfo(writer, m_infos[id]);
    }
    for (uint32_t bucket = 0; bucket < kNewBuckets; ++bucket) {
        const auto begin = m_new.begin() + bucket * kBucketSize, end = begin + kBucketSize;
        writer.U32(static_cast<uint32_t>(kBucketSize - std::count(begin, end, kNone)));
        for (auto at = begin; at != end; ++at) {
            if (*at != kNone) writer.U32(numbers[*at]);
        }
    }
    writer.Hash(m_groups.AsmapVersion());
}

void AddrMan::ReadNewEntries(PayloadReader& reader, bool v2, int32_t count)
{
    for (int32_t i = 0; i < count && reader.Ok(); ++i) {
        const Id id = Insert(ReadInfo(reader, v2));
        ++m_new_count;
        ++CountsOf(m_infos[id]).in_new;
    }
}

/** Reads entries whose position is free; returns the number of the others. */
int32_t AddrMan::ReadTriedEntries(PayloadReader& reader, bool v2, int32_t count)
{
    int32_t lost = 0;
    for (int32_t i = 0; i < count && reader.Ok(); ++i) {
        AddrInfo info = ReadInfo(reader, v2);
        if (!reader.Ok()) break;
        Id& place = TriedPlaceOf(info.address.endpoint);
        if (!info.address.endpoint.address.IsValid() || place != kNone) {
            ++lost;
            continue;
        }
        info.tried = true;
        place = Insert(info);
        ++m_tried_count;
        ++CountsOf(m_infos[place]).in_tried;
    }
    return lost;
}

void AddrMan::RestoreBuckets(const std::vector<std::pair<uint32_t, Id>>& places, bool as_they_were)
{
    for (const auto& [old_bucket, id] : places) {
        AddrInfo& info = m_infos[id];
        const Endpoint& endpoint = info.address.endpoint;
        if (!endpoint.address.IsValid() || info.references >= kNewBucketsPerAddress) continue;
        uint32_t bucket = old_bucket;
        uint32_t place = m_places.InBucket(endpoint, true, bucket);
        if (!as_they_were || NewAt(bucket, place) != kNone) {
            bucket = m_places.NewBucket(endpoint, info.source);
            place = m_places.InBucket(endpoint, true, bucket);
            if (NewAt(bucket, place) != kNone) continue;
        }
        NewAt(bucket, place) = id;
        ++info.references;
    }
}

Result<bool> AddrMan::Deserialize(PayloadReader& reader)
{
    CHECK(m_random.empty());
    uint8_t format = 0;
    if (!ReadHeader(reader, format)) return false;
    const bool v2 = format >= kV3Bip155;
    const ByteSpan key = reader.Span(m_places.key.size());
    std::copy(key.begin(), key.end(), m_places.key.begin());
    const auto new_count = static_cast<int32_t>(reader.U32());
    const auto tried_count = static_cast<int32_t>(reader.U32());
    uint32_t buckets = reader.U32();
    if (format >= kV1Deterministic) buckets ^= kBucketCountMask;
    const auto check_count = [&](const char* name, int32_t count, int32_t most) {
        if (count >= 0 && count <= most) return;
        reader.Refuse(fmt::format("Corrupt AddrMan serialization: {}={}, should be in [0, {}]: "
                                  "iostream error",
                                  name, count, most));
    };
    check_count("nNew", new_count, kMaxNew);
    check_count("nTried", tried_count, kMaxTried);
    if (!reader.Ok()) return reader.GetError();

    ReadNewEntries(reader, v2, new_count);
    const int32_t lost_tried = ReadTriedEntries(reader, v2, tried_count);
    std::vector<std::pair<uint32_t, Id>> places;
    for (uint32_t bucket = 0; bucket < buckets && reader.Ok(); ++bucket) {
        const auto size = static_cast<int32_t>(reader.U32());
        for (int32_t i = 0; i < size && reader.Ok(); ++i) {
            const auto number = static_cast<int32_t>(reader.U32());
            if (number >= 0 && number < new_count) places.emplace_back(bucket, number);
        }
    }
    const Uint256 version = format >= kV2Asmap ? reader.Hash() : Uint256();
    if (!reader.Ok()) return reader.GetError();

    const bool as_they_were = buckets == kNewBuckets && version == m_groups.AsmapVersion();
    if (!as_they_were) {
        m_logger.Debug(LogCategory::kAddrman, "Bucketing method was updated, re-bucketing addrman "
                                              "entries from disk");
    }
    RestoreBuckets(places, as_they_were);
    int32_t lost_new = 0;
    for (Id id = 0; id < new_count; ++id) {
        if (m_infos[id].references != 0) continue;
        Erase(id);
        ++lost_new;
    }
    if (lost_new + lost_tried > 0) {
        m_logger.Debug(LogCategory::kAddrman,
                       "addrman lost {} new and {} tried addresses due to collisions or invalid "
                       "addresses",
                       lost_new, lost_tried);
    }
    if (const int code = Check()) {
        return BadData("Corrupt data. Consistency check failed with code {}: iostream error", code);
    }
    return true;
}

} // namespace ibd
