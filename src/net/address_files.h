// Files of addresses below the network's directory: peers.dat (the address manager) and anchors.dat
// (the block-relay peers of the last time, to begin with), both as Bitcoin Core writes them. See
// doc/formats/peers.md. Called at start, at the end and every few minutes, on the caller's thread.
#pragma once

#include "net/addr_man.h"
#include "net/transport.h"
#include "util/env.h"

namespace ibd {

inline constexpr size_t kMaxAnchors = 2;
/** Larger than any peers.dat: 82 thousand entries below 120 bytes, and the buckets. */
inline constexpr uint64_t kMaxAddressFile = 32'000'000;

/** An entry of either file; `v2`: written by BIP155, or may be when read. */
void WriteDiskAddress(Writer& writer, const PeerAddress& address);
PeerAddress ReadDiskAddress(PayloadReader& reader, bool v2);

/** Magic, the contents, and the double SHA-256 of both. */
Bytes FrameAddressFile(const NetworkMagic& magic, ByteSpan contents);

struct AddressFileContext {
    Env& env;
    Logger& logger;
    Path folder; //!< the network's
    NetworkMagic magic;
};

/** What AddrMan needs but for the log. */
struct AddrManOptions {
    const NetGroups& groups;
    uint32_t check_ratio = 0;
    bool fixed_key = false;
};

/** The address manager of peers.dat; a new one, which is written, if there is no file, or if the
 *  file is of a later format, which is then renamed to peers.dat.bak. Errors are Core's sentence.
 */
Result<std::unique_ptr<AddrMan>> LoadPeers(const AddressFileContext& files,
                                           const AddrManOptions& options);
Result<> SavePeers(const AddressFileContext& files, const AddrMan& addresses);

/** Reads anchors.dat and removes it: what crashes a node must not meet it again. None if it is
 *  missing or damaged. */
std::vector<PeerAddress> TakeAnchors(const AddressFileContext& files);
Result<> SaveAnchors(const AddressFileContext& files, const std::vector<PeerAddress>& anchors);

} // namespace ibd
