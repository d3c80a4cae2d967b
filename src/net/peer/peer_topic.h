// PeerTopic: a part of the protocol with peers that owns its state, such as address gossip. It gets
// the messages of its rows in wire/message_table.h and is informed of connections. The dispatcher
// (PeerManager) calls it on the thread of the peers; topics in the order of PeerSet::Topics().
#pragma once

namespace ibd {

struct FeatureMessage;
struct HeaderNode;
struct Peer;
struct PeerInfo;
struct ReceivedMessage;

class PeerTopic {
public:
    virtual ~PeerTopic() = default;

    /** A message of this topic, at a stage of the connection that the table permits. May take the
     *  payload. Topics without messages do not override it. */
    virtual void Handle(Peer& /*peer*/, ReceivedMessage& /*message*/) {}

    // Stages of a connection, in this order.

    virtual void Connected(Peer& /*peer*/) {}
    /** The peer's version is accepted: sends the messages that must precede our verack. */
    virtual void Negotiate(Peer& /*peer*/) {}
    /** Our verack was sent. */
    virtual void Greeted(Peer& /*peer*/) {}
    /** The peer announces a feature before its verack. Returns whether it belongs to this topic. */
    virtual bool TakeFeature(Peer& /*peer*/, const FeatureMessage& /*feature*/) { return false; }
    /** Its verack was received. */
    virtual void Established(Peer& /*peer*/) {}
    /** We have closed the connection: nothing is read or sent any more. */
    virtual void Closed(Peer& /*peer*/) {}
    /** The connection has ended; the state of the peer is deleted after this call. Closed() was
     *  called before unless the other side has ended the connection. */
    virtual void Disconnected(Peer& /*peer*/) {}

    // Upkeep.

    /** Work that concerns no single peer, once for each round. */
    virtual void StartRound() {}
    /** Whether the last StartRound() has left work for the next, so that blocks are handled before
     *  it. */
    virtual bool HasMore() const { return false; }
    /** Answers to earlier requests of a peer, one at a time so that other peers get their turn.
     *  While there are any, no further message of the peer is read. */
    virtual void Serve(Peer& /*peer*/) {}
    enum class Unserved {
        kNone,
        kReady,  //!< Serve() would answer
        kWaiting //!< nothing to do until another event happens
    };
    virtual Unserved UnservedOf(const Peer& /*peer*/) const { return Unserved::kNone; }
    /** Due work for an established peer. */
    virtual void Maintain(Peer& /*peer*/) {}
    /** The active chain ends in `tip`, and left the old one at `fork`. */
    virtual void TipChanged(const HeaderNode& /*tip*/, const HeaderNode& /*fork*/) {}

    /** Fills in its data about a peer. */
    virtual void Describe(const Peer& /*peer*/, PeerInfo& /*info*/) const {}
};

} // namespace ibd
