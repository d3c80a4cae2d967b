// Explains in Core's words why a text is not an address. Pure; any thread.
#pragma once

#include "keys/address.h"

namespace ibd {

struct AddressFault {
    std::string text;
    std::vector<int> places; //!< indices of probably wrong characters, if known
};

/** For a text that DecodeAddress refuses. */
AddressFault FindAddressFault(const std::string& address, const AddressPrefixes& prefixes);

} // namespace ibd
