// What several calls about output descriptors share.
#pragma once

#include "consensus/params.h"
#include "rpc/error.h"
#include "script/output_descriptor.h"

#include <utility>

namespace ibd {

/** How the network writes addresses and keys. */
DescriptorNetwork NetworkOf(const ChainParams& params);

/** -5 with the parser's words when it is none. Never empty. */
std::vector<OutputDescriptor>
ParseDescriptorOrThrow(const std::string& text, const ChainParams& params, bool require_checksum);

/** "end" or "[begin,end]", both inclusive; -8 in Core's words when out of range. */
std::pair<uint32_t, uint32_t> ParseDescriptorRange(const UniValue& value);

/** A descriptor, or an object of "desc" and "range" (0 to 1000 without): all its scripts. */
std::vector<ExpandedScript> ExpandScanObject(const UniValue& object, const ChainParams& params);
/** Of a list of these all keys, secrets and inner scripts. */
KeyRing CollectScanObjects(const UniValue& list, const ChainParams& params);

} // namespace ibd
