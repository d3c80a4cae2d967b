// See addr_man.h: entries and positions. Selection: addr_man_select.cpp; disk: addr_man_file.cpp.
#include "net/address/addr_man.h"

#include "util/endian.h"

#include <algorithm>
#include <cmath>

namespace ibd {

namespace {

constexpr int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
constexpr int64_t kHorizon = 30 * kDay; //!< terrible if not seen for longer
constexpr int32_t kRetries = 3;         //!< failures of an address without a success
constexpr int32_t kMaxFailures = 10;    //!< failures of an address without a success in kMinFail
constexpr int64_t kMinFail = 7 * kDay;

/** First eight bytes of the double SHA-256. */
uint64_t ShortHash(const Bytes& bytes) { return ReadLE64(Sha256d(bytes).data()); }

} // namespace

bool AddrInfo::IsTerrible(int64_t now) const
{
    if (now - last_try <= kMinute) return false;
    const int64_t seen = address.time;
    if (seen > now + 10 * kMinute || now - seen > kHorizon) return true;
    if (last_success == 0 && attempts >= kRetries) return true;
    return now - last_success > kMinFail && attempts >= kMaxFailures;
}

double AddrInfo::Chance(int64_t now) const
{
    const double recent = now - last_try < 10 * kMinute ? 0.01 : 1.0;
    return recent * std::pow(0.66, std::min(attempts, 8));
}

/** Calls Check() after some of the calls (-checkaddrman). */
class AddrMan::Checked {
public:
    explicit Checked(AddrMan& man) : m_man(man) {}
    ~Checked()
    {
        if (m_man.m_check_ratio == 0 || m_man.m_chance.Below(m_man.m_check_ratio) != 0) return;
        const int code = m_man.Check();
        if (code != 0) {
            m_man.m_logger.Error("ADDRMAN CONSISTENCY CHECK FAILED!!! err={}", code);
        }
        CHECK(code == 0);
    }

private:
    AddrMan& m_man;
};

AddrMan::AddrMan(const NetGroups& groups, const Hash32& seed, Logger& logger, uint32_t check_ratio,
                 bool fixed_key)
    : m_groups(groups), m_logger(logger), m_chance(seed),
      m_check_ratio(check_ratio), m_places{groups, fixed_key ? Hash32{1} : m_chance.Hash()},
      m_ids(0, EndpointHasher{{m_chance.U64(), m_chance.U64()}}),
      m_new(kNewBuckets * kBucketSize, kNone), m_tried(kTriedBuckets * kBucketSize, kNone)
{
}

size_t AddrMan::EndpointHasher::operator()(const Endpoint& endpoint) const
{
    SipHasher hasher(key);
    hasher.Write(uint64_t{endpoint.port} << 8 | static_cast<uint8_t>(endpoint.address.Network()));
    return static_cast<size_t>(hasher.Write(endpoint.address.Raw()).Finalize());
}

uint32_t AddrMan::Places::TriedBucket(const Endpoint& endpoint) const
{
    Bytes bytes(key.begin(), key.end());
    Writer(bytes).VarBytes(endpoint.Key());
    const uint64_t one_of_few = ShortHash(bytes) % kTriedBucketsPerGroup;
    bytes.assign(key.begin(), key.end());
    Writer writer(bytes);
    writer.VarBytes(groups.GroupOf(endpoint.address));
    writer.U64(one_of_few);
    return static_cast<uint32_t>(ShortHash(bytes) % kTriedBuckets);
}

uint32_t AddrMan::Places::NewBucket(const Endpoint& endpoint, const NetAddress& source) const
{
    const Bytes source_group = groups.GroupOf(source);
    Bytes bytes(key.begin(), key.end());
    Writer first(bytes);
    first.VarBytes(groups.GroupOf(endpoint.address));
    first.VarBytes(source_group);
    const uint64_t one_of_few = ShortHash(bytes) % kNewBucketsPerSource;
    bytes.assign(key.begin(), key.end());
    Writer second(bytes);
    second.VarBytes(source_group);
    second.U64(one_of_few);
    return static_cast<uint32_t>(ShortHash(bytes) % kNewBuckets);
}

uint32_t AddrMan::Places::InBucket(const Endpoint& endpoint, bool in_new, uint32_t bucket) const
{
    Bytes bytes(key.begin(), key.end());
    Writer writer(bytes);
    writer.U8(in_new ? 'N' : 'K');
    writer.U32(bucket);
    writer.VarBytes(endpoint.Key());
    return static_cast<uint32_t>(ShortHash(bytes) % kBucketSize);
}

AddrMan::Id& AddrMan::TriedPlaceOf(const Endpoint& endpoint)
{
    const uint32_t bucket = m_places.TriedBucket(endpoint);
    return TriedAt(bucket, m_places.InBucket(endpoint, false, bucket));
}

std::string AddrMan::AsText(const NetAddress& address) const
{
    const uint32_t system = m_groups.MappedAs(address);
    return system ? fmt::format(" mapped to AS{}", system) : std::string();
}

AddrInfo* AddrMan::FindInfo(const Endpoint& endpoint, Id* id)
{
    const auto found = m_ids.find(endpoint);
    if (found == m_ids.end()) return nullptr;
    if (id) *id = found->second;
    return &m_infos[found->second];
}

AddrMan::Counts& AddrMan::CountsOf(const AddrInfo& info)
{
    return m_counts[static_cast<size_t>(info.address.endpoint.address.RoutableNetwork())];
}

/** Makes an entry that is in no table yet. */
AddrMan::Id AddrMan::Insert(AddrInfo info)
{
    info.random_position = static_cast<uint32_t>(m_random.size());
    Id id;
    if (m_free.empty()) {
        id = static_cast<Id>(m_infos.size());
        m_infos.push_back(info);
    } else {
        id = m_free.back();
        m_free.pop_back();
        m_infos[id] = info;
    }
    m_ids[m_infos[id].address.endpoint] = id;
    m_random.push_back(id);
    return id;
}

/** Removes an entry that is in no table. */
void AddrMan::Erase(Id id)
{
    AddrInfo& info = m_infos[id];
    CHECK(!info.tried && info.references == 0);
    SwapRandom(info.random_position, m_random.size() - 1);
    m_random.pop_back();
    --CountsOf(info).in_new;
    --m_new_count;
    const auto found = m_ids.find(info.address.endpoint);
    if (found != m_ids.end() && found->second == id) m_ids.erase(found);
    m_collisions.erase(id); // the id will be reused
    m_free.push_back(id);
}

void AddrMan::SwapRandom(size_t a, size_t b)
{
    std::swap(m_random[a], m_random[b]);
    m_infos[m_random[a]].random_position = static_cast<uint32_t>(a);
    m_infos[m_random[b]].random_position = static_cast<uint32_t>(b);
}

void AddrMan::ClearNew(uint32_t bucket, uint32_t place)
{
    const Id id = std::exchange(NewAt(bucket, place), kNone);
    if (id == kNone) return;
    AddrInfo& info = m_infos[id];
    CHECK(info.references > 0);
    --info.references;
    m_logger.Debug(LogCategory::kAddrman, "Removed {} from new[{}][{}]",
                   info.address.endpoint.ToString(), bucket, place);
    if (info.references == 0) Erase(id);
}

/** Moves an entry back from "tried"; its position there is already free. */
void AddrMan::MoveToNew(Id id)
{
    const Endpoint endpoint = m_infos[id].address.endpoint;
    const uint32_t bucket = m_places.NewBucket(endpoint, m_infos[id].source);
    const uint32_t place = m_places.InBucket(endpoint, true, bucket);
    ClearNew(bucket, place);
    AddrInfo& info = m_infos[id];
    info.tried = false;
    info.references = 1;
    NewAt(bucket, place) = id;
    --m_tried_count;
    --CountsOf(info).in_tried;
    ++m_new_count;
    ++CountsOf(info).in_new;
    m_logger.Debug(LogCategory::kAddrman, "Moved {} from tried to new[{}][{}] to make space",
                   endpoint.ToString(), bucket, place);
}

void AddrMan::MakeTried(Id id)
{
    const Endpoint endpoint = m_infos[id].address.endpoint;
    // Starts with the bucket of its first source, the most probable one; other sources are not
    // stored.
    const uint32_t start = m_places.NewBucket(endpoint, m_infos[id].source);
    for (uint32_t n = 0; n < kNewBuckets && m_infos[id].references > 0; ++n) {
        const uint32_t bucket = (start + n) % kNewBuckets;
        Id& at = NewAt(bucket, m_places.InBucket(endpoint, true, bucket));
        if (at != id) continue;
        at = kNone;
        --m_infos[id].references;
    }
    CHECK(m_infos[id].references == 0);
    --m_new_count;
    --CountsOf(m_infos[id]).in_new;
    Id& place = TriedPlaceOf(endpoint);
    if (place != kNone) MoveToNew(std::exchange(place, kNone));
    place = id;
    m_infos[id].tried = true;
    ++m_tried_count;
    ++CountsOf(m_infos[id]).in_tried;
}

bool AddrMan::Add(const std::vector<PeerAddress>& addresses, const NetAddress& source,
                  int64_t penalty, int64_t now)
{
    const Checked checked(*this);
    size_t added = 0;
    for (const PeerAddress& address : addresses) added += AddOne(address, source, penalty, now);
    if (added > 0) {
        m_logger.Debug(LogCategory::kAddrman,
                       "Added {} addresses (of {}) from {}: {} tried, {} new", added,
                       addresses.size(), source.ToString(), m_tried_count, m_new_count);
    }
    return added > 0;
}

/** Updates a known address; returns whether it may get one more bucket. */
bool AddrMan::Refresh(AddrInfo& info, const PeerAddress& address, int64_t penalty, int64_t now)
{
    const bool online = now - int64_t{address.time} < kDay;
    const int64_t interval = online ? kHour : kDay;
    if (int64_t{info.address.time} < int64_t{address.time} - interval - penalty) {
        info.address.time = static_cast<uint32_t>(std::max<int64_t>(0, address.time - penalty));
    }
    info.address.services |= address.services;
    if (address.time <= info.address.time || info.tried) return false;
    if (info.references == kNewBucketsPerAddress) return false;
    // Each further bucket has half the probability.
    return info.references == 0 || m_chance.Below(uint64_t{1} << info.references) == 0;
}

bool AddrMan::AddOne(const PeerAddress& address, const NetAddress& source, int64_t penalty,
                     int64_t now)
{
    if (!address.endpoint.address.IsRoutable()) return false;
    if (address.endpoint.address == source) penalty = 0; // its own announcement
    Id id;
    if (AddrInfo* const info = FindInfo(address.endpoint, &id)) {
        if (!Refresh(*info, address, penalty, now)) return false;
    } else {
        AddrInfo fresh;
        fresh.address = address;
        fresh.address.time = static_cast<uint32_t>(std::max<int64_t>(0, address.time - penalty));
        fresh.source = source;
        id = Insert(fresh);
        ++m_new_count;
        ++CountsOf(m_infos[id]).in_new;
    }
    return PlaceInNew(id, source, now);
}

bool AddrMan::PlaceInNew(Id id, const NetAddress& source, int64_t now)
{
    const Endpoint endpoint = m_infos[id].address.endpoint;
    const uint32_t bucket = m_places.NewBucket(endpoint, source);
    const uint32_t place = m_places.InBucket(endpoint, true, bucket);
    const Id there = NewAt(bucket, place);
    if (there == id) return false;
    const bool insert = there == kNone || m_infos[there].IsTerrible(now) ||
                        (m_infos[there].references > 1 && m_infos[id].references == 0);
    if (!insert) {
        if (m_infos[id].references == 0) Erase(id);
        return false;
    }
    ClearNew(bucket, place);
    ++m_infos[id].references;
    NewAt(bucket, place) = id;
    m_logger.Debug(LogCategory::kAddrman, "Added {}{} to new[{}][{}]", endpoint.ToString(),
                   AsText(endpoint.address), bucket, place);
    return true;
}

bool AddrMan::Good(const Endpoint& endpoint, int64_t now)
{
    const Checked checked(*this);
    return MarkGood(endpoint, true, now);
}

bool AddrMan::MarkGood(const Endpoint& endpoint, bool test_first, int64_t now)
{
    m_last_good = now;
    Id id;
    AddrInfo* const info = FindInfo(endpoint, &id);
    if (!info) return false;
    // The last-seen time is not updated: it would reveal our connections to peers.
    info->last_success = info->last_try = now;
    info->attempts = 0;
    if (info->tried) return false;
    CHECK(info->references > 0);

    const Id there = TriedPlaceOf(endpoint);
    if (test_first && there != kNone) {
        if (m_collisions.size() < kMaxCollisions) m_collisions.insert(id);
        m_logger.Debug(LogCategory::kAddrman,
                       "Collision with {} while attempting to move {} to tried table. "
                       "Collisions={}",
                       m_infos[there].address.endpoint.ToString(), endpoint.ToString(),
                       m_collisions.size());
        return false;
    }
    MakeTried(id);
    const uint32_t bucket = m_places.TriedBucket(endpoint);
    m_logger.Debug(LogCategory::kAddrman, "Moved {}{} to tried[{}][{}]", endpoint.ToString(),
                   AsText(endpoint.address), bucket, m_places.InBucket(endpoint, false, bucket));
    return true;
}

void AddrMan::Attempt(const Endpoint& endpoint, bool count_failure, int64_t now)
{
    const Checked checked(*this);
    AddrInfo* const info = FindInfo(endpoint);
    if (!info) return;
    info->last_try = now;
    // While no connection succeeds, the fault may be ours: until then only one failure counts for
    // each address.
    if (count_failure && info->last_count_try < m_last_good) {
        info->last_count_try = now;
        ++info->attempts;
    }
}

void AddrMan::Connected(const Endpoint& endpoint, int64_t now)
{
    const Checked checked(*this);
    AddrInfo* const info = FindInfo(endpoint);
    if (info && now - int64_t{info->address.time} > 20 * kMinute) {
        info->address.time = static_cast<uint32_t>(now);
    }
}

void AddrMan::SetServices(const Endpoint& endpoint, uint64_t services)
{
    const Checked checked(*this);
    if (AddrInfo* const info = FindInfo(endpoint)) info->address.services = services;
}

int AddrMan::Check() const
{
    std::vector<int32_t> references(m_infos.size(), 0);
    Counts counts[kAddressNetworkCount];
    if (m_random.size() != static_cast<size_t>(m_tried_count) + static_cast<size_t>(m_new_count)) {
        return -7;
    }
    if (const int code = CheckEntries(references, counts)) return code;
    if (const int code = CheckTables(std::move(references))) return code;
    if (m_places.key == Hash32{}) return -16;
    for (size_t i = 0; i < kAddressNetworkCount; ++i) {
        if (counts[i].in_new != m_counts[i].in_new || counts[i].in_tried != m_counts[i].in_tried) {
            return -21;
        }
    }
    return 0;
}

/** Checks each entry; `references` receives how often each must occur in the tables. */
int AddrMan::CheckEntries(std::vector<int32_t>& references,
                          Counts (&counts)[kAddressNetworkCount]) const
{
    int32_t in_new = 0, in_tried = 0;
    for (size_t i = 0; i < m_random.size(); ++i) {
        const Id id = m_random[i];
        const AddrInfo& info = m_infos[id];
        Counts& count =
            counts[static_cast<size_t>(info.address.endpoint.address.RoutableNetwork())];
        if (info.tried) {
            if (info.last_success == 0) return -1;
            if (info.references != 0) return -2;
            ++in_tried;
            ++count.in_tried;
        } else {
            if (info.references < 0 || info.references > kNewBucketsPerAddress) return -3;
            if (info.references == 0) return -4;
            ++in_new;
            ++count.in_new;
        }
        const auto found = m_ids.find(info.address.endpoint);
        if (found == m_ids.end() || found->second != id) return -5;
        if (info.random_position != i) return -14;
        if (info.last_try < 0) return -6;
        if (info.last_success < 0) return -8;
        references[id] = info.tried ? 1 : info.references;
    }
    if (in_tried != m_tried_count) return -9;
    return in_new == m_new_count ? 0 : -10;
}

int AddrMan::CheckTables(std::vector<int32_t> references) const
{
    for (uint32_t i = 0; i < m_tried.size(); ++i) {
        if (m_tried[i] == kNone) continue;
        const AddrInfo& info = m_infos[m_tried[i]];
        if (!info.tried || references[m_tried[i]]-- == 0) return -11;
        const uint32_t bucket = i / kBucketSize;
        if (m_places.TriedBucket(info.address.endpoint) != bucket) return -17;
        if (m_places.InBucket(info.address.endpoint, false, bucket) != i % kBucketSize) return -18;
    }
    for (uint32_t i = 0; i < m_new.size(); ++i) {
        if (m_new[i] == kNone) continue;
        const AddrInfo& info = m_infos[m_new[i]];
        if (info.tried || references[m_new[i]]-- == 0) return -12;
        const uint32_t bucket = i / kBucketSize;
        if (m_places.InBucket(info.address.endpoint, true, bucket) != i % kBucketSize) return -19;
    }
    for (const Id id : m_random) {
        if (references[id] != 0) return m_infos[id].tried ? -13 : -15;
    }
    return 0;
}

} // namespace ibd
