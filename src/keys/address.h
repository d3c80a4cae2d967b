// Addresses: the short text forms of output scripts (Base58Check, BIP173, BIP350). Pure; any
// thread.
#pragma once

#include "script/standard.h"

namespace ibd {

/** Prefixes of a network's addresses; from its ChainParams. */
struct AddressPrefixes {
    uint8_t pubkey_hash = 0;
    uint8_t script_hash = 5;
    std::string bech32 = "bc";
};

/** The address of the script; nothing if it has none (bare keys, multisig, data, others). */
std::optional<std::string> EncodeAddress(ByteSpan script, const AddressPrefixes& prefixes);

/** The script of an address of this network. */
std::optional<Bytes> DecodeAddress(std::string_view address, const AddressPrefixes& prefixes);

} // namespace ibd
