// NetGroups: groups of addresses that one operator probably controls, so that no operator can fill
// all slots of a node or all buckets of its address manager. With an asmap a group is an autonomous
// system, else a common prefix. Immutable; any thread.
#pragma once

#include "net/address/asmap.h"
#include "net/address/net_address.h"

namespace ibd {

class NetGroups {
public:
    NetGroups() = default;
    explicit NetGroups(Asmap asmap) : m_asmap(std::move(asmap)) {}

    /** Bytes that identify the group, as in Core. */
    Bytes GroupOf(const NetAddress& address) const;
    /** Autonomous system of an IP address; 0: not an IP address, unknown, or no map. */
    uint32_t MappedAs(const NetAddress& address) const;

    bool UsesAsmap() const { return m_asmap.has_value(); }
    /** Zero without a map. */
    Uint256 AsmapVersion() const { return m_asmap ? m_asmap->Version() : Uint256(); }
    /** The map, if any. */
    const std::optional<Asmap>& Map() const { return m_asmap; }

private:
    std::optional<Asmap> m_asmap;
};

} // namespace ibd
