// Numbers and names of the peer-to-peer protocol, version 70017 as in Bitcoin Core. Contents of
// messages: messages.h; bytes: doc/formats/p2p.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ibd {

// Versions. A connection uses the lower of the two announced ones.
inline constexpr int32_t kProtocolVersion = 70017;
inline constexpr int32_t kMinPeerVersion = 31800;       //!< older peers are disconnected
inline constexpr int32_t kPingNonceVersion = 60000;     //!< above it pings carry a nonce (BIP31)
inline constexpr int32_t kSendHeadersVersion = 70012;   //!< BIP130
inline constexpr int32_t kFeeFilterVersion = 70013;     //!< BIP133
inline constexpr int32_t kCompactBlocksVersion = 70014; //!< BIP152
/** From here on relaying an invalid compact block is not misbehaviour. */
inline constexpr int32_t kInvalidCompactBlockVersion = 70015;
inline constexpr int32_t kWtxidRelayVersion = 70016;  //!< BIP339
inline constexpr int32_t kFeatureVersion = 70017;     //!< BIP434
inline constexpr uint64_t kCompactBlocksEncoding = 2; //!< the only one in use: with witnesses

// Bounds of messages.
inline constexpr size_t kMaxPayload = 4'000'000;  //!< bytes
inline constexpr size_t kMaxMessageType = 12;     //!< characters
inline constexpr size_t kMaxUserAgent = 256;      //!< bytes
inline constexpr size_t kMaxAddresses = 1000;     //!< in an addr or addrv2
inline constexpr size_t kMaxInventory = 50'000;   //!< in an inv or getdata
inline constexpr size_t kMaxHeaders = 2000;       //!< in a headers message
inline constexpr size_t kMaxLocator = 101;        //!< hashes of a getheaders or getblocks
inline constexpr size_t kMaxCompactTxs = 65535;   //!< transactions in a cmpctblock
inline constexpr size_t kMinFeatureId = 4;        //!< bytes
inline constexpr size_t kMaxFeatureId = 80;       //!< bytes
inline constexpr size_t kMaxFeatureData = 512;    //!< bytes
inline constexpr size_t kMaxBloomFilter = 36'000; //!< bytes
inline constexpr uint32_t kMaxBloomHashes = 50;
inline constexpr size_t kMaxFilterElement = 520;       //!< bytes, of a filteradd
inline constexpr uint32_t kMaxBlockFilters = 1000;     //!< blocks in a getcfilters
inline constexpr uint32_t kMaxFilterHeaders = 2000;    //!< blocks in a getcfheaders
inline constexpr int kFilterCheckpointInterval = 1000; //!< blocks between entries of a cfcheckpt

/** Types of inventory entries. */
enum InventoryType : uint32_t {
    kInvTx = 1,
    kInvBlock = 2,
    kInvFilteredBlock = 3, //!< getdata only (BIP37)
    kInvCompactBlock = 4,  //!< getdata only (BIP152)
    kInvWtx = 5,           //!< BIP339
    kInvWitnessFlag = 1 << 30,
    kInvWitnessTx = kInvTx | kInvWitnessFlag,
    kInvWitnessBlock = kInvBlock | kInvWitnessFlag,
};

} // namespace ibd
