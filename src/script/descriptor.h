// The output descriptor of a script about which nothing but itself is known, with its checksum
// (BIP380 to BIP386). Pure; any thread.
#pragma once

#include "script/address.h"

namespace ibd {

/** pk(), multi(), rawtr(), addr() or raw() and "#" checksum: what RPC answers call "desc". */
std::string InferDescriptor(ByteSpan script, const AddressPrefixes& prefixes);

/** The eight characters over a descriptor without its checksum; empty if it has characters that
 *  descriptors may not contain. */
std::string DescriptorChecksum(std::string_view descriptor);

} // namespace ibd
