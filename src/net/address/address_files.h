// Files of addresses in the network's directory: peers.dat (the address manager) and anchors.dat
// (the last block-relay peers, for the next start), both in Bitcoin Core's format. See
// doc/formats/peers.md. Called at start, at the end and every few minutes, on the caller's thread.
#pragma once

#include "net/address/addr_man.h"
#include "net/address/network_magic.h"
#include "util/env.h"

namespace ibd {

inline constexpr size_t kMaxAnchors = 2;
/** Above the size of any peers.dat: 82 thousand entries below 120 bytes, and the buckets. */
inline constexpr uint64_t kMaxAddressFile = 32'000'000;

/** An entry of either file. `v2`: when writing, BIP155 is used; when reading, it is allowed. */
void WriteDiskAddress(Writer& writer, const PeerAddress& address);
PeerAddress ReadDiskAddress(PayloadReader& reader, bool v2);

/** Magic, contents, and the double SHA-256 of both. */
Bytes FrameAddressFile(const NetworkMagic& magic, ByteSpan contents);

struct AddressFileContext {
    Env& env;
    Logger& logger;
    Path folder; //!< the network's
    NetworkMagic magic;
};

/** Arguments of AddrMan, except the log. */
struct AddrManOptions {
    const NetGroups& groups;
    uint32_t check_ratio = 0;
    bool fixed_key = false;
};

/** The address manager from peers.dat; a new one, which is written, if there is no file, if there
 *  is no permission to read it (as in Core), or if it has a later format (it is then renamed to
 *  peers.dat.bak). A failed write is only logged. Error texts are Core's. */
Result<std::unique_ptr<AddrMan>> LoadPeers(const AddressFileContext& files,
                                           const AddrManOptions& options);
/** The contents of the whole file. */
Bytes PeersFile(const NetworkMagic& magic, const AddrMan& addresses);
Result<> SavePeers(const AddressFileContext& files, ByteSpan whole_file);

/** Reads anchors.dat and removes it, so that peers which crash the node are not tried again. Empty
 *  if it is missing or damaged. */
std::vector<PeerAddress> TakeAnchors(const AddressFileContext& files);
Result<> SaveAnchors(const AddressFileContext& files, const std::vector<PeerAddress>& anchors);

} // namespace ibd
