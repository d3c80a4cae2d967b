// AddrMan: the known addresses of peers ("new") and those of successful connections ("tried"), in
// buckets chosen by a secret key. The addresses that a peer sends can only fill buckets chosen by
// its group and by theirs. The design is Bitcoin Core's, with its constants: the same peers under
// the same key give the same tables.
//
// Owned by the peer logic, one thread; time is passed with each call (seconds since 1970),
// randomness to the constructor. Memory: at most kMaxNew + kMaxTried entries, about 30 MB.
#pragma once

#include "crypto/random_stream.h"
#include "crypto/siphash.h"
#include "net/address/net_groups.h"
#include "util/log.h"

#include <set>
#include <unordered_map>
#include <vector>

namespace ibd {

/** A set of networks, as bits. */
class NetworkSet {
public:
    NetworkSet() = default;
    NetworkSet(std::initializer_list<AddressNetwork> networks)
    {
        for (const AddressNetwork network : networks) Add(network);
    }
    void Add(AddressNetwork network) { m_bits |= 1U << static_cast<unsigned>(network); }
    void Remove(AddressNetwork network) { m_bits &= ~(1U << static_cast<unsigned>(network)); }
    bool Contains(AddressNetwork network) const
    {
        return (m_bits >> static_cast<unsigned>(network) & 1) != 0;
    }
    bool Empty() const { return m_bits == 0; }
    bool operator==(const NetworkSet&) const = default;

private:
    uint32_t m_bits = 0;
};

/** Data about one address. Times are seconds since 1970, 0: never. */
struct AddrInfo {
    PeerAddress address;
    NetAddress source;          //!< peer that announced it first
    int64_t last_try = 0;       //!< not kept on disk
    int64_t last_count_try = 0; //!< last attempt that counted as a failure; not kept on disk
    int64_t last_success = 0;
    int32_t attempts = 0;   //!< since the last success
    int32_t references = 0; //!< number of "new" buckets with it
    bool tried = false;
    uint32_t random_position = 0;

    /** Whether it is bad enough to be replaced. */
    bool IsTerrible(int64_t now) const;
    /** Relative probability of selecting it, 0 to 1. */
    double Chance(int64_t now) const;
};

class AddrMan {
public:
    // Core's constants.
    static constexpr uint32_t kTriedBuckets = 256;
    static constexpr uint32_t kNewBuckets = 1024;
    static constexpr uint32_t kBucketSize = 64;
    static constexpr uint32_t kTriedBucketsPerGroup = 8;
    static constexpr uint32_t kNewBucketsPerSource = 64;
    static constexpr int32_t kNewBucketsPerAddress = 8;
    static constexpr int32_t kMaxNew = kNewBuckets * kBucketSize;
    static constexpr int32_t kMaxTried = kTriedBuckets * kBucketSize;
    static constexpr size_t kMaxCollisions = 10;

    /** `groups` and `logger` must outlive it. `check_ratio`: on average one of this many calls is
     *  followed by Check() (-checkaddrman); 0: none. `fixed_key`: Core's key of -test=addrman. */
    AddrMan(const NetGroups& groups, const Hash32& seed, Logger& logger, uint32_t check_ratio = 0,
            bool fixed_key = false);

    /** Adds addresses announced by `source`, with their times reduced by `penalty` seconds. Returns
     *  whether any is new. */
    bool Add(const std::vector<PeerAddress>& addresses, const NetAddress& source, int64_t penalty,
             int64_t now);
    /** Records a successful connection. Returns whether the address was moved to "tried". */
    bool Good(const Endpoint& endpoint, int64_t now);
    /** Records an attempt to connect. `count_failure`: a failure of it counts. */
    void Attempt(const Endpoint& endpoint, bool count_failure, int64_t now);
    /** A connection has ended. */
    void Connected(const Endpoint& endpoint, int64_t now);
    void SetServices(const Endpoint& endpoint, uint64_t services);

    struct Choice {
        PeerAddress address;
        int64_t last_try = 0;
    };
    /** Selects an address to connect to, of these networks (empty: any); nothing: there is none. */
    std::optional<Choice> Select(bool new_only, const NetworkSet& networks, int64_t now);
    /** An address in "tried" that another one would displace; it must be tested before. */
    std::optional<Choice> SelectTriedCollision();
    /** Resolves the collisions with completed tests. */
    void ResolveCollisions(int64_t now);

    /** Random addresses: at most `max`, and at most that percentage of all (0: no limit);
     *  `network`: only of this class; `filtered`: without terrible ones. */
    std::vector<PeerAddress> GetAddresses(size_t max, size_t max_percent,
                                          std::optional<AddressNetwork> network, int64_t now,
                                          bool filtered = true);

    struct Position {
        bool tried;
        int32_t multiplicity; //!< number of buckets with it
        uint32_t bucket;
        uint32_t place;
    };
    /** Its position; for an address in "new", the bucket of its first source. */
    std::optional<Position> Find(const Endpoint& endpoint) const;
    /** All entries of a table, ordered by bucket and position. */
    std::vector<std::pair<AddrInfo, Position>> Entries(bool tried) const;
    /** Number of entries; of one network or table, if given. */
    size_t Size(std::optional<AddressNetwork> network = {}, std::optional<bool> in_new = {}) const;

    /** 0, or Core's number of the first inconsistency. */
    int Check() const;

    /** The contents of peers.dat, between magic and checksum (doc/formats/peers.md). */
    void Serialize(Writer& writer) const;
    /** Reads into an empty object. False: a later format, which this program cannot read. Errors
     *  are in Core's words; the object must not be used afterwards. */
    Result<bool> Deserialize(PayloadReader& reader);

private:
    using Id = int32_t;
    static constexpr Id kNone = -1;
    struct EndpointHasher {
        SipKey key;
        size_t operator()(const Endpoint& endpoint) const;
    };
    struct Counts {
        size_t in_new = 0;
        size_t in_tried = 0;
    };
    class Checked;

    /** Positions, which follow from address and key. */
    struct Places {
        uint32_t TriedBucket(const Endpoint& endpoint) const;
        uint32_t NewBucket(const Endpoint& endpoint, const NetAddress& source) const;
        uint32_t InBucket(const Endpoint& endpoint, bool in_new, uint32_t bucket) const;

        const NetGroups& groups;
        Hash32 key;
    };
    Id& NewAt(uint32_t bucket, uint32_t place) { return m_new[bucket * kBucketSize + place]; }
    Id& TriedAt(uint32_t bucket, uint32_t place) { return m_tried[bucket * kBucketSize + place]; }
    Id& TriedPlaceOf(const Endpoint& endpoint);
    std::string AsText(const NetAddress& address) const;

    AddrInfo* FindInfo(const Endpoint& endpoint, Id* id = nullptr);
    Id Insert(AddrInfo info);
    void Erase(Id id);
    void SwapRandom(size_t a, size_t b);
    void ClearNew(uint32_t bucket, uint32_t place);
    void MakeTried(Id id);
    void MoveToNew(Id id);
    bool AddOne(const PeerAddress& address, const NetAddress& source, int64_t penalty, int64_t now);
    bool Refresh(AddrInfo& info, const PeerAddress& address, int64_t penalty, int64_t now);
    bool PlaceInNew(Id id, const NetAddress& source, int64_t now);
    bool MarkGood(const Endpoint& endpoint, bool test_first, int64_t now);
    bool ResolveCollision(Id id, int64_t now);
    Counts CountOf(const NetworkSet& networks) const;
    Id PickFrom(bool tried, const NetworkSet& networks);
    Counts& CountsOf(const AddrInfo& info);
    int CheckEntries(std::vector<int32_t>& references,
                     Counts (&counts)[kAddressNetworkCount]) const;
    int CheckTables(std::vector<int32_t> references) const;

    // Parts of peers.dat.
    void ReadNewEntries(PayloadReader& reader, bool v2, int32_t count);
    int32_t ReadTriedEntries(PayloadReader& reader, bool v2, int32_t count);
    void RestoreBuckets(const std::vector<std::pair<uint32_t, Id>>& places, bool as_they_were);

    const NetGroups& m_groups;
    Logger& m_logger;
    RandomStream m_chance;
    const uint32_t m_check_ratio;
    Places m_places;

    // Ids are indices into m_infos; m_free has the unused ones.
    std::vector<AddrInfo> m_infos;
    std::vector<Id> m_free;
    std::unordered_map<Endpoint, Id, EndpointHasher> m_ids;
    std::vector<Id> m_random; //!< all ids, in an order that calls shuffle
    std::vector<Id> m_new;    //!< kNewBuckets * kBucketSize
    std::vector<Id> m_tried;
    int32_t m_new_count = 0;
    int32_t m_tried_count = 0;
    Counts m_counts[kAddressNetworkCount];
    std::set<Id> m_collisions; //!< good addresses in "new" whose position in "tried" is occupied
    int64_t m_last_good = 1;
};

} // namespace ibd
