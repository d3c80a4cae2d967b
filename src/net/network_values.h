// Values shown to users about the network as a whole, and results of their commands.
#pragma once

#include "net/address/net_address.h"

namespace ibd {

/** Numbers of admitted peers. */
struct PeerCounts {
    size_t in = 0;
    size_t out = 0;
};

struct UploadTarget {
    int64_t timeframe = 0; //!< seconds
    uint64_t target = 0;   //!< bytes; 0: no limit
    bool reached = false;
    bool serves_historical = true;
    uint64_t bytes_left = 0;
    int64_t seconds_left = 0;
};

struct TrafficTotals {
    uint64_t received = 0; //!< bytes
    uint64_t sent = 0;     //!< bytes
    UploadTarget upload;
};

struct OwnAddress {
    Endpoint address;
    int score = 0; //!< certainty (LocalAddresses)
};

/** A peer from -addnode or the call of that name. */
struct AddedNode {
    std::string name;
    bool v2 = false;
    Endpoint address; //!< if connected
    bool connected = false;
    bool inbound = false;
};

/** The result of a command to the address manager. */
enum class AddAddressResult { kOk, kNotAddedToNew, kNotAddedToTried };

/** Numbers of known addresses. */
struct AddressCounts {
    size_t in_new = 0;
    size_t in_tried = 0;
};

} // namespace ibd
