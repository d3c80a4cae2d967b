// I2pSession: an address of our own in I2P, and streams to and from others, by a router's SAM 3.1
// bridge. A session lasts as long as its control socket; it is made when it is first needed, and
// again when the bridge has dropped it. With a key file the address stays the same, and others may
// call it; without, it is a new one each time, which the bridge makes.
//
// Owned by Connections, its thread only; told things there.
// Memory: kLongestLine for each stream that is being made. Format of the key file:
// doc/formats/peers.md.
#pragma once

#include "net/line_socket.h"
#include "util/env.h"
#include "util/log.h"
#include "util/secret.h"

#include <functional>
#include <map>

namespace ibd {

class I2pSession {
public:
    static constexpr size_t kLongestLine = 65'536;        //!< with the longest of keys
    static constexpr int64_t kConnectTimeout = 5'000;     //!< to the bridge, milliseconds
    static constexpr int64_t kReplyTimeout = 3 * 60'000;  //!< the router may have to ask others
    static constexpr int64_t kFirstRetry = 1'000;         //!< of listening; a second more each time
    static constexpr int64_t kLongestRetry = 5 * 60'000;

    struct Settings {
        Env& env;
        Logger& log;
        event_base* base = nullptr;
        Endpoint bridge;
        Path key_file; //!< empty: a new address each time
    };
    /** A socket to the peer, or -1; `bridge_failed`: which says nothing about the peer. */
    using Connected = std::function<void(int fd, bool bridge_failed, const Endpoint& own)>;
    struct Listener {
        /** The own address can be called, or no more. */
        std::function<void(const Endpoint& own, bool on)> listening;
        /** Somebody called; the socket is the receiver's. */
        std::function<void(int fd, const Endpoint& own, const Endpoint& peer)> accepted;
    };

    explicit I2pSession(Settings settings);
    ~I2pSession();
    I2pSession(const I2pSession&) = delete;
    I2pSession& operator=(const I2pSession&) = delete;

    void Connect(const Endpoint& peer, Connected done);
    /** From now on, for good. */
    void Listen(Listener listener);

private:
    /** What a bridge answered: words with and without values. */
    struct Reply {
        std::string text;
        std::map<std::string, std::string> values;
        Result<std::string> Get(const std::string& key, const std::string& request) const;
    };
    /** Of one request; the conversation is over with an error. */
    using OnReply = std::function<void(Result<Reply> reply)>;
    struct Talk; //!< one socket to the bridge
    using TalkId = uint64_t;
    using Ready = std::function<void(const Result<>& created)>;
    struct Free {
        void operator()(event* e) const;
    };

    /** Opens a conversation; `ready` has its greeting answered. */
    void Open(const std::function<void(TalkId talk, const Result<>& greeted)>& ready);
    /** With `must_be_ok`, any RESULT but OK is an error. */
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
    TalkId m_control = 0; //!< of the session, once it is made
    bool m_creating = false;
    std::vector<Ready> m_waiting; //!< for the session
    SecretText m_key; //!< what the bridge calls a private key; it begins with our destination
    Endpoint m_own;
    std::string m_id;
    Listener m_listener;
    bool m_told_listening = false;
    int64_t m_retry = kFirstRetry;
    std::unique_ptr<event, Free> m_retry_timer;
};

} // namespace ibd
