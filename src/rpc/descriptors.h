// Shared by several calls about output descriptors.
#pragma once

#include "consensus/params.h"
#include "jsonrpc/error.h"
#include "keys/output_descriptor.h"

#include <memory>
#include <utility>

namespace ibd {

/** The network's encodings of addresses and keys. */
DescriptorNetwork NetworkOf(const ChainParams& params);

/** -5 with the parser's words for an invalid descriptor. Never empty. */
std::vector<OutputDescriptor>
ParseDescriptorOrThrow(const std::string& text, const ChainParams& params, bool require_checksum);

/** "end" or "[begin,end]", both inclusive; -8 in Core's words if out of range. */
std::pair<uint32_t, uint32_t> ParseDescriptorRange(const UniValue& value);

/** A script of a descriptor. */
struct WatchedScript {
    Bytes script;
    std::shared_ptr<const OutputDescriptor> descriptor;
    uint32_t index = 0; //!< position in its range
    size_t place = 0;   //!< among its scripts at this position

    /** The descriptor of the script alone. */
    std::string Describe() const;
};

/** A descriptor, or an object of "desc" and "range" (default 0 to 1000): all its scripts. */
std::vector<WatchedScript> ExpandScanObject(const UniValue& object, const ChainParams& params);
/** All keys, secrets and inner scripts of a list of such objects. */
KeyRing CollectScanObjects(const UniValue& list, const ChainParams& params);

} // namespace ibd
