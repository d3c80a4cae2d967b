// NetGroups: which addresses one operator is likely to hold, so that no one fills all slots of a
// node or all buckets of its address manager: those of one autonomous system where a map is given,
// else those that begin with the same bits. Immutable; any thread.
#pragma once

#include "net/asmap.h"
#include "net/net_address.h"

namespace ibd {

class NetGroups {
public:
    NetGroups() = default;
    explicit NetGroups(Asmap asmap) : m_asmap(std::move(asmap)) {}

    /** Name of the group: as bytes, that of Core. */
    Bytes GroupOf(const NetAddress& address) const;
    /** Autonomous system of an IP address; 0 if it is none, not known or there is no map. */
    uint32_t MappedAs(const NetAddress& address) const;

    bool UsesAsmap() const { return m_asmap.has_value(); }
    /** Zeros without a map. */
    Uint256 AsmapVersion() const { return m_asmap ? m_asmap->Version() : Uint256(); }
    /** The map, if there is one. */
    const std::optional<Asmap>& Map() const { return m_asmap; }

private:
    std::optional<Asmap> m_asmap;
};

} // namespace ibd
