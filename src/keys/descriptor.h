// The output descriptor of a script without further information, with its checksum (BIP380 to
// BIP386). Pure; any thread.
#pragma once

#include "keys/address.h"

namespace ibd {

/** pk(), multi(), rawtr(), addr() or raw() and "#" checksum: the field "desc" of RPC answers. */
std::string InferDescriptor(ByteSpan script, const AddressPrefixes& prefixes);

/** The eight-character checksum of a descriptor without one; empty if it has invalid characters. */
std::string DescriptorChecksum(std::string_view descriptor);

} // namespace ibd
