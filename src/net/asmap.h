// Asmap: which autonomous system announces an IP address, from the file that -asmap names. The file
// is a program in bits that decides over the bits of an address. Immutable; any thread.
//
// An address costs at most 128 branches and matches, and Parse() sees that every path through the
// program ends in time.
#pragma once

#include "primitives/uint256.h"

#include <optional>

namespace ibd {

class Asmap {
public:
    /** Takes the bytes of a file; nothing if they are no sound program for 128 bits. */
    static std::optional<Asmap> Parse(Bytes program);

    /** Number of the system; 0 if none is known. IPv4 is asked for as ::ffff:a.b.c.d. */
    uint32_t Lookup(const std::array<uint8_t, 16>& ip) const;
    /** Tells maps apart: double SHA-256 of size and bytes. */
    const Uint256& Version() const { return m_version; }

private:
    explicit Asmap(Bytes program);

    Bytes m_program;
    Uint256 m_version;
};

} // namespace ibd
