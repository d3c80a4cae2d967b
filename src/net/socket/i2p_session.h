// I2pSession: our own I2P address, and streams to and from others, through a router's SAM 3.1
// bridge. A session lasts as long as its control socket; it is created when first needed, and
// created again after the bridge has dropped it. With a key file the address is permanent, and
// others can connect to it; without, the bridge makes a new one each time.
//
// Owned by Connections, on its thread; callbacks run there. Memory: kLongestLine for each stream
// being created. Format of the key file: doc/formats/peers.md.
#pragma once

#include "net/socket/line_socket.h"
#include "util/env.h"
#include "util/log.h"
#include "util/secret.h"

#include <functional>
#include <map>

namespace ibd {

class I2pSession {
public:
    static constexpr size_t kLongestLine = 65'536;        //!< with the longest key
    static constexpr int64_t kConnectTimeout = 5'000;     //!< to the bridge, milliseconds
    static constexpr int64_t kReplyTimeout = 3 * 60'000;  //!< milliseconds; the router may query
                                                          //!< others
    static constexpr int64_t kFirstRetry = 1'000;         //!< pause before listening again,
                                                          //!< milliseconds; one second more each
                                                          //!< time
    static constexpr int64_t kLongestRetry = 5 * 60'000;

    struct Settings {
        Env& env;
        Logger& log;
        event_base* base = nullptr;
        Endpoint bridge;
        Path key_file; //!< empty: a new address each time
    };
    /** A socket to the peer, or -1; `bridge_failed`: the failure says nothing about the peer. */
    using Connected = std::function<void(int fd, bool bridge_failed, const Endpoint& own)>;
    struct Listener {
        /** Our address has begun to accept streams, or no longer does. */
        std::function<void(const Endpoint& own, bool on)> listening;
        /** An inbound stream; the receiver owns the socket. */
        std::function<void(int fd, const Endpoint& own, const Endpoint& peer)> accepted;
    };

    explicit I2pSession(Settings settings);
    ~I2pSession();
    I2pSession(const I2pSession&) = delete;
    I2pSession& operator=(const I2pSession&) = delete;

    void Connect(const Endpoint& peer, Connected done);
    /** Listens permanently from now on. */
    void Listen(Listener listener);

private:
    /** The answer of a bridge: words with and without values. */
    struct Reply {
        std::string text;
        std::map<std::string, std::string> values;
        Result<std::string> Get(const std::string& key, const std::string& request) const;
    };
    /** The answer to one request; after an error the conversation has ended. */
    using OnReply = std::function<void(Result<Reply> reply)>;
    struct Talk; //!< one socket to the bridge
    using TalkId = uint64_t;
    using Ready = std::function<void(const Result<>& created)>;
    struct Free {
        void operator()(event* e) const;
    };

    /** Opens a conversation; `ready` receives the result of the greeting. */
    void Open(const std::function<void(TalkId talk, const Result<>& greeted)>& ready);
    /** `must_be_ok`: any RESULT but OK is an error. */
    void Ask(TalkId talk, const std::string& request, bool must_be_ok, OnReply on_reply);
    void TookLine(TalkId talk, std::string line);
    void Ended(TalkId talk, const std::string& why);

    void Create(Ready ready);
    void CreateOver(TalkId talk);
    void RequestSession(TalkId talk, const std::string& destination);
    void Created(TalkId talk, const Result<>& made);
    Result<> TakeKey(const std::string& base64);
    Result<> SaveKey() const;
    void Destroy();

    void LookUp(TalkId talk, const Endpoint& peer, const Connected& done);
    void ConnectStream(TalkId talk, const Endpoint& peer, const std::string& destination,
                       const Connected& done);
    void ConnectFailed(TalkId talk, const Endpoint& peer, const std::string& why,
                       bool bridge_failed, const Connected& done);
    void Accept();
    void AwaitCaller(TalkId talk);
    void ListenFailed(TalkId talk, const std::string& what, const std::string& why);
    int Release(TalkId talk);

    const Settings m_settings;
    std::map<TalkId, std::unique_ptr<Talk>> m_talks;
    TalkId m_next_talk = 1;
    TalkId m_control = 0; //!< of the session, once it exists
    bool m_creating = false;
    std::vector<Ready> m_waiting; //!< waiting for the session
    SecretText m_key;             //!< the bridge's "private key"; starts with our destination
    Endpoint m_own;
    std::string m_id;
    Listener m_listener;
    bool m_told_listening = false;
    int64_t m_retry = kFirstRetry;
    std::unique_ptr<event, Free> m_retry_timer;
};

} // namespace ibd
