// Output descriptors (BIP380 to BIP386, BIP389): what scripts to look for, as text. Known
// functions: pk pkh wpkh sh wsh combo multi sortedmulti tr (with a tree of pk, multi_a and
// sortedmulti_a) rawtr addr raw. Not known: miniscript, musig. Pure; any thread.
#pragma once

#include "script/descriptor_key.h"
#include "script/key_ring.h"

namespace ibd {

enum class DescriptorKind {
    kAddress,
    kRaw,
    kPk,
    kPkh,
    kWpkh,
    kCombo,
    kMulti,
    kSortedMulti,
    kMultiA,
    kSortedMultiA,
    kSh,
    kWsh,
    kTaproot,
    kRawTaproot,
    kUnused, //!< holds a key and makes no script
};

/** One function of a descriptor and what stands in it. */
struct DescriptorNode {
    DescriptorKind kind = DescriptorKind::kRaw;
    std::vector<KeyExpression> keys; //!< of tr: the internal key
    uint32_t threshold = 0;          //!< of multi and its kin
    Bytes script;                    //!< of addr and raw
    std::vector<DescriptorNode> children;
    std::vector<int> depths; //!< of the leaves of tr, in the tree
};

/** A script that a descriptor stands for, and a descriptor of it alone. */
struct ExpandedScript {
    Bytes script;
    std::string descriptor; //!< keys with their origin; with checksum
};

class OutputDescriptor {
public:
    /** More than one where a path has steps "<0;1>". Errors in Core's words; empty when something
     *  follows the last bracket. */
    static Result<std::vector<OutputDescriptor>>
    Parse(std::string_view text, const DescriptorNetwork& network, bool require_checksum);

    /** Without secrets, with checksum. */
    std::string ToString() const;
    bool IsRange() const;
    /** More is known than the script, as Core counts it: all but addr and raw. */
    bool IsSolvable() const;
    bool HasPrivateKeys() const;
    /** Scripts at one position of the range (0 to 2^31-1; any if there is none). Nothing if a
     *  secret would be needed that is not there. */
    std::optional<std::vector<ExpandedScript>> Expand(uint32_t index) const;
    /** Likewise puts into the ring what spends these scripts: keys and where they come from,
     *  inner scripts, secrets. False if a secret would be needed that is not there. */
    bool Collect(uint32_t index, KeyRing& ring) const;

private:
    OutputDescriptor(DescriptorNode root, DescriptorNetwork network)
        : m_root(std::move(root)), m_network(std::move(network))
    {
    }

    DescriptorNode m_root;
    DescriptorNetwork m_network;
};

/** Takes the checksum off a descriptor, if it is right; an error in Core's words. */
Result<std::string_view> StripDescriptorChecksum(std::string_view text, bool required);

} // namespace ibd
