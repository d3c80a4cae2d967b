// See address_fault.h.
#include "keys/address_fault.h"

#include "keys/base58.h"
#include "keys/bech32.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace ibd {

namespace {

constexpr size_t kPayloadSize = 21;      //!< prefix and hash
constexpr size_t kMostBytesLooked = 100; //!< decoded bytes of Base58 text without a valid checksum

bool BeginsWith(const std::string& text, const std::string& prefix)
{
    return text.size() >= prefix.size() &&
           std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) {
               return a == std::tolower(static_cast<unsigned char>(b));
           });
}

std::string Base58Fault(const std::string& address, const AddressPrefixes& prefixes)
{
    if (const auto payload = DecodeBase58Check(address, kPayloadSize)) {
        const bool ours = !payload->empty() && ((*payload)[0] == prefixes.pubkey_hash ||
                                                (*payload)[0] == prefixes.script_hash);
        return ours ? "Invalid length for Base58 address (P2PKH or P2SH)"
                    : "Invalid or unsupported Base58-encoded address.";
    }
    return DecodeBase58(address, kMostBytesLooked)
               ? "Invalid checksum or length of Base58 address (P2PKH or P2SH)"
               : "Invalid or unsupported Segwit (Bech32) or Base58 encoding.";
}

std::string ProgramFault(int version, size_t size)
{
    const char* const unit = size == 1 ? "byte" : "bytes";
    if (version == 0) {
        return fmt::format("Invalid Bech32 v0 address program size ({} {}), per BIP141", size,
                           unit);
    }
    if (version > 16) return "Invalid Bech32 address witness version";
    return fmt::format("Invalid Bech32 address program size ({} {})", size, unit);
}

std::string WitnessFault(const Bech32Text& text, const AddressPrefixes& prefixes)
{
    if (text.digits.empty()) return "Empty Bech32 data section";
    if (text.prefix != prefixes.bech32) {
        return fmt::format("Invalid or unsupported prefix for Segwit (Bech32) address (expected "
                           "{}, got {}).",
                           prefixes.bech32, text.prefix);
    }
    const int version = text.digits[0];
    const bool old = text.kind == Bech32Kind::kBech32;
    if (version == 0 && !old) return "Version 0 witness address must use Bech32 checksum";
    if (version != 0 && old) return "Version 1+ witness address must use Bech32m checksum";
    const auto program = RegroupBits(ByteSpan(text.digits).subspan(1), 5, 8, /*pad=*/false);
    return program ? ProgramFault(version, program->size())
                   : "Invalid padding in Bech32 data section";
}

} // namespace

AddressFault FindAddressFault(const std::string& address, const AddressPrefixes& prefixes)
{
    // Core also tries an address of another network as Base58.
    if (!BeginsWith(address, prefixes.bech32)) return {Base58Fault(address, prefixes), {}};
    if (const auto text = DecodeBech32(address)) return {WitnessFault(*text, prefixes), {}};
    Bech32Fault fault = FindBech32Fault(address);
    return {std::move(fault.text), std::move(fault.places)};
}

} // namespace ibd
