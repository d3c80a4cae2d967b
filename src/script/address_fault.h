// What is wrong with a text that is no address, in Core's words. Pure; any thread.
#pragma once

#include "script/address.h"

namespace ibd {

struct AddressFault {
    std::string text;
    std::vector<int> places; //!< of characters that are likely to be wrong, where that is known
};

/** Of a text that DecodeAddress refuses. */
AddressFault FindAddressFault(const std::string& address, const AddressPrefixes& prefixes);

} // namespace ibd
