// See i2p_session.h.
#include "net/socket/i2p_session.h"

#include "crypto/sha256.h"
#include "util/base32.h"
#include "util/base64.h"
#include "util/endian.h"
#include "util/hex.h"

#include <algorithm>

#include <event2/event.h>

namespace ibd {

namespace {

constexpr const char* kKeyOptions = "SIGNATURE_TYPE=7"; //!< EdDSA with SHA-512 and Ed25519
constexpr const char* kEncryption = "i2cp.leaseSetEncType=4,0";
// A destination: two keys, then a certificate whose length is in the bytes before 387.
constexpr size_t kCertificateLength = 385;
constexpr size_t kShortestDestination = 387;
constexpr size_t kIdBytes = 5;

/** I2P's Base64 uses - and ~ for + and /. */
std::string SwapAlphabet(std::string text)
{
    for (char& c : text) {
        switch (c) {
        case '-': c = '+'; break;
        case '~': c = '/'; break;
        case '+': c = '-'; break;
        case '/': c = '~'; break;
        default: break;
        }
    }
    return text;
}

Result<Bytes> DecodeI2pBase64(const std::string& text)
{
    auto bytes = FromBase64(SwapAlphabet(text));
    if (!bytes) return BadData("Cannot decode Base64: \"{}\"", text);
    return std::move(*bytes);
}

/** The address of a destination is its hash. */
Endpoint AddressOf(ByteSpan destination)
{
    const Hash32 hash = Sha256Of(destination);
    return {*NetAddress::Parse(ToBase32(hash, false) + ".b32.i2p"), 0};
}

Result<ByteSpan> DestinationIn(ByteSpan key)
{
    if (key.size() < kShortestDestination) {
        return BadData("The private key is too short ({} < {})", key.size(), kShortestDestination);
    }
    const size_t length =
        kShortestDestination + key[kCertificateLength] * 256u + key[kCertificateLength + 1];
    if (key.size() >= length) return key.first(length);
    return BadData("Certificate length ({}) designates that the private key should be {} bytes, "
                   "but it is only {} bytes",
                   length - kShortestDestination, length, key.size());
}

std::string Capitalized(std::string text)
{
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

} // namespace

struct I2pSession::Talk {
    std::unique_ptr<LineSocket> socket;
    std::string request; //!< printable form for errors
    bool must_be_ok = false;
    OnReply on_reply; //!< empty: no answer is expected
    /** Takes lines of a conversation after its requests. */
    std::function<void(Result<std::string> line)> on_line;
};

void I2pSession::Free::operator()(event* e) const { event_free(e); }

I2pSession::I2pSession(Settings settings) : m_settings(std::move(settings))
{
    const auto retry = [](evutil_socket_t, short, void* self) {
        static_cast<I2pSession*>(self)->Accept();
    };
    m_retry_timer.reset(event_new(m_settings.base, -1, 0, retry, this));
}

I2pSession::~I2pSession() { Destroy(); }

Result<std::string> I2pSession::Reply::Get(const std::string& key, const std::string& request) const
{
    const auto found = values.find(key);
    if (found != values.end()) return found->second;
    return BadData("Missing {}= in the reply to \"{}\"", key, request);
}

// Conversations.

void I2pSession::Open(const std::function<void(TalkId, const Result<>&)>& ready)
{
    const TalkId id = m_next_talk++;
    auto talk = std::make_unique<Talk>();
    talk->socket = std::make_unique<LineSocket>(
        m_settings.base, m_settings.bridge, kConnectTimeout, kLongestLine,
        [this, id](std::string line) { TookLine(id, std::move(line)); },
        [this, id](const std::string& why) { Ended(id, why); });
    m_talks[id] = std::move(talk);
    Ask(id, "HELLO VERSION MIN=3.1 MAX=3.1", true, [id, ready](const Result<Reply>& reply) {
        ready(id, reply ? Result<>() : Result<>(reply.GetError()));
    });
}

void I2pSession::Ask(TalkId id, const std::string& request, bool must_be_ok, OnReply on_reply)
{
    Talk& talk = *m_talks.at(id);
    // That request contains our key.
    const bool secret = request.starts_with("SESSION CREATE");
    talk.request = secret ? "SESSION CREATE ..." : request;
    talk.must_be_ok = must_be_ok;
    talk.on_reply = std::move(on_reply);
    talk.socket->Send(request + "\n");
}

void I2pSession::TookLine(TalkId id, std::string line)
{
    Talk& talk = *m_talks.at(id);
    if (talk.on_line) {
        const auto take = std::exchange(talk.on_line, nullptr);
        return take(std::move(line));
    }
    if (!talk.on_reply) return; // unsolicited line of the bridge
    Reply reply;
    reply.text = line;
    for (size_t at = 0; at <= line.size();) {
        const size_t end = std::min(line.find(' ', at), line.size());
        const std::string word = line.substr(at, end - at);
        const size_t equals = word.find('=');
        if (equals != std::string::npos) {
            reply.values.emplace(word.substr(0, equals), word.substr(equals + 1));
        }
        at = end + 1;
    }
    const OnReply tell = std::exchange(talk.on_reply, nullptr);
    talk.socket->ExpectWithin(kReplyTimeout);
    if (!talk.must_be_ok) return tell(std::move(reply));
    const auto result = reply.Get("RESULT", talk.request);
    if (!result) return tell(result.GetError());
    if (*result == "OK") return tell(std::move(reply));
    tell(BadData("Reply to \"{}\": had a RESULT not equal to OK.", talk.request));
}

void I2pSession::Ended(TalkId id, const std::string& why)
{
    const auto found = m_talks.find(id);
    const std::unique_ptr<Talk> talk = std::move(found->second);
    m_talks.erase(found);
    if (id == m_control) {
        m_settings.log.Debug(LogCategory::kI2p, "Control socket error: {}", why);
        return Destroy();
    }
    const bool greeted = !talk->request.starts_with("HELLO");
    const Error error = greeted ? SystemError("{}", why)
                                : SystemError("Cannot connect to {}", m_settings.bridge.ToString());
    if (talk->on_line) return talk->on_line(error);
    if (talk->on_reply) talk->on_reply(error);
}

int I2pSession::Release(TalkId id)
{
    const auto found = m_talks.find(id);
    const int fd = found->second->socket->Release();
    m_talks.erase(found);
    return fd;
}

// The session.

void I2pSession::Create(Ready ready)
{
    if (m_control != 0) return ready({});
    m_waiting.push_back(std::move(ready));
    if (std::exchange(m_creating, true)) return;
    uint8_t id[kIdBytes];
    m_settings.env.RandomBytes(id);
    m_id = ToHex(id);
    m_settings.log.Debug(LogCategory::kI2p, "Creating {} I2P SAM session {} with {}",
                         m_settings.key_file.empty() ? "transient" : "persistent", m_id,
                         m_settings.bridge.ToString());
    Open([this](TalkId talk, const Result<>& greeted) {
        if (!greeted) return Created(talk, greeted);
        CreateOver(talk);
    });
}

void I2pSession::CreateOver(TalkId talk)
{
    if (m_settings.key_file.empty()) {
        return RequestSession(talk, fmt::format("TRANSIENT {}", kKeyOptions));
    }
    if (auto key = ReadWholeFile(m_settings.env, m_settings.key_file); key) {
        const WipedAtEnd wiped(*key);
        m_key = SecretText({AsChars(*key)});
        return RequestSession(talk, SwapAlphabet(ToBase64(*key)));
    }
    const std::string request = fmt::format("DEST GENERATE {}", kKeyOptions);
    Ask(talk, request, false, [this, talk, request](const Result<Reply>& reply) {
        if (!reply) return Created(talk, reply.GetError());
        const auto key = reply->Get("PRIV", request);
        if (!key) return Created(talk, key.GetError());
        Result<> taken = TakeKey(*key);
        if (taken) taken = SaveKey();
        if (!taken) return Created(talk, taken);
        RequestSession(talk, *key);
    });
}

void I2pSession::RequestSession(TalkId talk, const std::string& destination)
{
    const bool transient = m_settings.key_file.empty();
    const int quantity = transient ? 1 : 3;
    const std::string request =
        fmt::format("SESSION CREATE STYLE=STREAM ID={} DESTINATION={} {} inbound.quantity={} "
                    "outbound.quantity={}",
                    m_id, destination, kEncryption, quantity, quantity);
    Ask(talk, request, true, [this, talk, transient](const Result<Reply>& reply) {
        if (!reply) return Created(talk, reply.GetError());
        if (transient) {
            const auto key = reply->Get("DESTINATION", "SESSION CREATE ...");
            if (!key) return Created(talk, key.GetError());
            if (const Result<> taken = TakeKey(*key); !taken) return Created(talk, taken);
        }
        Created(talk, {});
    });
}

Result<> I2pSession::TakeKey(const std::string& base64)
{
    IBD_ASSIGN_OR_RETURN(Bytes key, DecodeI2pBase64(base64));
    const WipedAtEnd wiped(key);
    m_key = SecretText({AsChars(key)});
    return {};
}

Result<> I2pSession::SaveKey() const
{
    const Result<> saved =
        WriteFileAtomically(m_settings.env, m_settings.key_file, AsBytes(m_key.View()));
    if (saved) return {};
    return SystemError("Cannot save I2P private key to \"{}\"", m_settings.key_file.string());
}

/** The end of Create(), successful or not. */
void I2pSession::Created(TalkId talk, const Result<>& made)
{
    m_creating = false;
    Result<> result = made;
    if (result) {
        const auto destination = DestinationIn(AsBytes(m_key.View()));
        if (destination) m_own = AddressOf(*destination);
        if (!destination) result = destination.GetError();
    }
    if (result) {
        m_control = talk;
        m_talks.at(talk)->socket->ExpectWithin(0);
        m_settings.log.Info("{} I2P SAM session {} created, my address={}",
                            Capitalized(m_settings.key_file.empty() ? "transient" : "persistent"),
                            m_id, m_own.ToString());
    } else {
        m_talks.erase(talk);
    }
    for (const Ready& ready : std::exchange(m_waiting, {})) ready(result);
}

void I2pSession::Destroy()
{
    if (m_control == 0) return;
    m_settings.log.Info("Destroying I2P SAM session {}", m_id);
    m_talks.erase(std::exchange(m_control, 0));
}

// Streams to others.

void I2pSession::Connect(const Endpoint& peer, Connected done)
{
    if (peer.port != 0) { // SAM 3.1 has no ports
        m_settings.log.Debug(LogCategory::kI2p,
                             "Error connecting to {}, connection refused due to arbitrary port {}",
                             peer.ToString(), peer.port);
        return done(-1, false, {});
    }
    Create([this, peer, done = std::move(done)](const Result<>& created) {
        if (!created) return ConnectFailed(0, peer, created.Message(), true, done);
        Open([this, peer, done](TalkId talk, const Result<>& greeted) {
            if (!greeted) return ConnectFailed(talk, peer, greeted.Message(), true, done);
            LookUp(talk, peer, done);
        });
    });
}

void I2pSession::LookUp(TalkId talk, const Endpoint& peer, const Connected& done)
{
    const std::string request = fmt::format("NAMING LOOKUP NAME={}", peer.address.ToString());
    Ask(talk, request, true, [this, talk, peer, request, done](const Result<Reply>& reply) {
        if (!reply) return ConnectFailed(talk, peer, reply.Message(), true, done);
        const auto destination = reply->Get("VALUE", request);
        if (!destination) return ConnectFailed(talk, peer, destination.Message(), true, done);
        ConnectStream(talk, peer, *destination, done);
    });
}

void I2pSession::ConnectStream(TalkId talk, const Endpoint& peer, const std::string& destination,
                               const Connected& done)
{
    const std::string request =
        fmt::format("STREAM CONNECT ID={} DESTINATION={} SILENT=false", m_id, destination);
    Ask(talk, request, false, [this, talk, peer, request, done](const Result<Reply>& reply) {
        if (!reply) return ConnectFailed(talk, peer, reply.Message(), true, done);
        const auto result = reply->Get("RESULT", request);
        if (!result) return ConnectFailed(talk, peer, result.Message(), true, done);
        if (*result == "OK") return done(Release(talk), false, m_own);
        if (*result == "INVALID_ID") {
            Destroy();
            return ConnectFailed(talk, peer, "Invalid session id", true, done);
        }
        const bool of_peer = *result == "CANT_REACH_PEER" || *result == "TIMEOUT";
        ConnectFailed(talk, peer, '"' + reply->text + '"', !of_peer, done);
    });
}

void I2pSession::ConnectFailed(TalkId talk, const Endpoint& peer, const std::string& why,
                               bool bridge_failed, const Connected& done)
{
    m_settings.log.Debug(LogCategory::kI2p, "Error connecting to {}: {}", peer.ToString(), why);
    const Connected tell = done; // it may belong to the conversation
    m_talks.erase(talk);
    tell(-1, bridge_failed, {});
}

// Inbound streams: one conversation waits for the next one.

void I2pSession::Listen(Listener listener)
{
    m_listener = std::move(listener);
    Accept();
}

void I2pSession::Accept()
{
    Create([this](const Result<>& created) {
        if (!created) return ListenFailed(0, "Couldn't listen", created.Message());
        Open([this](TalkId talk, const Result<>& greeted) {
            if (!greeted) return ListenFailed(talk, "Couldn't listen", greeted.Message());
            const std::string request = fmt::format("STREAM ACCEPT ID={} SILENT=false", m_id);
            Ask(talk, request, false, [this, talk](const Result<Reply>& reply) {
                if (!reply) return ListenFailed(talk, "Couldn't listen", reply.Message());
                const auto result = reply->Get("RESULT", "STREAM ACCEPT");
                if (result && *result == "OK") return AwaitCaller(talk);
                if (result && *result == "INVALID_ID") Destroy();
                ListenFailed(talk, "Couldn't listen", '"' + reply->text + '"');
            });
        });
    });
}

void I2pSession::AwaitCaller(TalkId id)
{
    if (!std::exchange(m_told_listening, true)) m_listener.listening(m_own, true);
    Talk& talk = *m_talks.at(id);
    talk.socket->ExpectWithin(0);
    talk.on_line = [this, id](const Result<std::string>& line) {
        if (!line) return ListenFailed(id, "Error accepting", line.Message());
        const auto destination = DecodeI2pBase64(*line);
        if (!destination) {
            // An error of the bridge instead of an address.
            const bool unusable = line->find("RESULT=I2P_ERROR") != std::string::npos;
            if (unusable) Destroy();
            return ListenFailed(id, "Error accepting", *line);
        }
        m_retry = kFirstRetry;
        const Endpoint peer = AddressOf(*destination);
        m_listener.accepted(Release(id), m_own, peer);
        Accept();
    };
}

void I2pSession::ListenFailed(TalkId talk, const std::string& what, const std::string& why)
{
    m_talks.erase(talk);
    if (what == "Couldn't listen") {
        m_settings.log.Error("{}: {}", what, why);
    } else {
        m_settings.log.Debug(LogCategory::kI2p, "{}: {}", what, why);
    }
    if (std::exchange(m_told_listening, false)) m_listener.listening(m_own, false);
    const timeval when{m_retry / 1000, (m_retry % 1000) * 1000};
    event_add(m_retry_timer.get(), &when);
    m_retry = std::min(m_retry + kFirstRetry, kLongestRetry);
}

} // namespace ibd
