// PeerNetwork: the facade of all networking. It owns the sockets (thread net-io), the peers and all
// decisions about them (thread net-msg), and the name resolver (thread net-dns). Owned by the node.
//
// Any method, also of the interfaces that it hands out, may be called on any thread but those
// three, and never while holding a lock of the chain: all but a few marked ones wait until net-msg
// has run them between two messages. Before Start() and after Stop() the caller's thread runs them.
//
// Memory: for each connection -maxreceivebuffer and -maxsendbuffer, and less if all together exceed
// the bounds of socket/input_room.h and OutputRoom (socket/channel.h); the queue of net-msg is
// within those bounds, plus one command for each caller.
#pragma once

#include "net/network_interfaces.h"
#include "net/network_surroundings.h"

namespace ibd {

class PeerNetwork {
public:
    PeerNetwork(PeerNetworkSurroundings surroundings, PeerNetworkOptions options);
    ~PeerNetwork();
    PeerNetwork(const PeerNetwork&) = delete;
    PeerNetwork& operator=(const PeerNetwork&) = delete;

    // Life cycle; on one thread.

    /** Reads peers.dat, unless done before. The error is Core's sentence. */
    Result<> LoadAddresses();
    /** Listens, and starts to connect. The error is Core's sentence. */
    Result<> Start();
    /** Returns at once; no new connections are made. */
    void Interrupt();
    /** Closes all connections, ends the threads, and writes peers.dat and anchors.dat. */
    void Stop();

    // Events of the chain. They do not wait.

    /** The active chain ends in `tip`, and left the old one at `fork`. */
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork);
    /** Call it when a condition that peers wait for may have changed: space in the sink, a block to
     *  announce. */
    void Wake();

    const PeerNetworkOptions& Options() const { return m_options; }

    // Interfaces, one for each kind of user; they live as long as this object.

    PeerInfoSource& Info();
    ConnectionControl& Control();
    BanControl& Bans();
    AddressControl& Addresses();
    BlockFetching& Blocks();
    HintsFetching& Hints();
    TxControl& Txs();

private:
    const PeerNetworkOptions m_options;
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace ibd
