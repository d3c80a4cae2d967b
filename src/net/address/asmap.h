// Asmap: maps an IP address to its autonomous system, by the file of -asmap. The file is a program
// of bits that branches on the bits of an address. Immutable; any thread.
//
// A look-up takes at most 128 branches and matches; Parse() checks that every path through the
// program terminates in time.
#pragma once

#include "primitives/uint256.h"

#include <optional>

namespace ibd {

class Asmap {
public:
    /** Parses the bytes of a file; nothing: not a valid program for 128 bits. */
    static std::optional<Asmap> Parse(Bytes program);

    /** Number of the system; 0: unknown. IPv4 is looked up as ::ffff:a.b.c.d. */
    uint32_t Lookup(const std::array<uint8_t, 16>& ip) const;
    /** Identifies the map: double SHA-256 of size and bytes. */
    const Uint256& Version() const { return m_version; }

private:
    explicit Asmap(Bytes program);

    Bytes m_program;
    Uint256 m_version;
};

} // namespace ibd
