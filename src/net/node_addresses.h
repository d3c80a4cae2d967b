// NodeAddresses: addresses of other nodes (AddrMan) and our own (LocalAddresses): their exchange
// with peers and the user, and their files. Owned by PeerNetwork; net-msg. Memory: theirs, and
// kMaxAnswers answers to getaddr.
#pragma once

#include "net/access_rules.h"
#include "net/address/address_files.h"
#include "net/address/local_addresses.h"
#include "net/peer/address_book.h"

namespace ibd {

class NodeAddresses final : public AddressBook {
public:
    static constexpr size_t kMaxAnswers = 256;
    static constexpr size_t kAnswerPercent = 23; //!< part of the known addresses in an answer to
                                                 //!< getaddr
    static constexpr int64_t kMapHealthInterval = 24 * 60 * 60 * kSecond;

    NodeAddresses(NetworkState& state, const AccessRules& access);

    /** Reads peers.dat, unless done before. The error is Core's sentence. */
    Result<> Load();
    /** Finds our own addresses. */
    void Start();
    /** Does the work that is due; `now`: microseconds, monotonic. */
    void Tick(int64_t now);
    /** Writes peers.dat and anchors.dat. */
    void Save();
    /** The contents for peers.dat. */
    Bytes PeersFileNow() const;
    /** Writes peers.dat; on any thread, by one call at a time. A failure is logged. */
    void WritePeersFile(ByteSpan file, size_t addresses) const;
    AddressFileContext Files() const;

    /** Addresses of other nodes; Load() must have succeeded. */
    AddrMan& Others() const { return *m_others; }
    /** Our own. */
    LocalAddresses& Own() { return m_own; }
    const LocalAddresses& Own() const { return m_own; }
    /** At most `count` (0: all), and at most that percentage of all, without unwanted ones. */
    std::vector<PeerAddress> Known(size_t count, std::optional<AddressNetwork> network,
                                   size_t percent = 0) const;
    /** For tests: as if a peer had announced it, and with `tried` a connection had succeeded. */
    AddAddressResult Add(const Endpoint& address, bool tried);

    // AddressBook
    void Heard(const std::vector<PeerAddress>& addresses, const NetAddress& source,
               int64_t penalty) override;
    void Good(const Endpoint& endpoint) override;
    void SetServices(const Endpoint& endpoint, uint64_t services) override;
    void Connected(const Endpoint& endpoint) override;
    bool IsUnwanted(const NetAddress& address) const override
    {
        return m_access.IsUnwanted(address);
    }
    bool IsReachable(const NetAddress& address) const override;
    std::vector<PeerAddress> Answer(const NewPeer& asker, bool trusted) override;
    bool Listens() const override { return m_state.options.listen; }
    void SeenAs(const Endpoint& endpoint) override;
    std::optional<Endpoint> OwnAddressFor(const NewPeer& peer, const Endpoint& seen_as) override;

private:
    void FindOwn();
    void LogMapHealth();

    NetworkState& m_state;
    const PeerNetworkSurroundings& m_at{m_state.at};
    const PeerNetworkOptions& m_options{m_state.options};
    const AccessRules& m_access;
    std::unique_ptr<AddrMan> m_others; //!< set by Load()
    LocalAddresses m_own;
    struct CachedAnswer {
        std::vector<PeerAddress> addresses;
        int64_t until = 0; //!< seconds since 1970
    };
    std::map<Bytes, CachedAnswer> m_answers; //!< by kind of connection; at most kMaxAnswers
    int64_t m_last_map_health = 0;           //!< microseconds, monotonic
};

} // namespace ibd
