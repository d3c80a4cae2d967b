// The peers' interfaces to the chain. Owned by net, implemented outside; called on the thread of
// the peers. Every call is a look-up of microseconds, except in BlockProvider, which reads a block,
// and HeaderSink, which checks headers.
#pragma once

#include "chain/header_tree.h"
#include "script/coin.h"
#include "util/found.h"

#include <span>

namespace ibd {

/** The changeable state of a block. */
struct BlockFacts {
    bool have_data = false;       //!< in a block file
    bool was_seen = false;        //!< was stored once
    bool failed = false;          //!< is invalid, or descends from an invalid block
    bool fully_validated = false; //!< including scripts
    bool have_undo = false;       //!< in an undo file
};

/** Nodes live as long as this object. Read only those members of a returned node that are fixed at
 *  insertion; the others are in Facts(). */
class PeerChain {
public:
    virtual ~PeerChain() = default;

    /** Last block of the active chain. */
    virtual const HeaderNode& Tip() const = 0;
    /** The header with most work that has not failed. */
    virtual const HeaderNode& BestHeader() const = 0;
    /** Null: unknown. */
    virtual const HeaderNode* Find(const BlockHash& hash) const = 0;
    virtual BlockFacts Facts(const HeaderNode& node) const = 0;
    virtual bool IsInitialBlockDownload() const = 0;
    /** Whether blocks are being read from files (-reindex, -loadblock), so that none are requested
     *  from peers. */
    virtual bool IsImporting() const = 0;
};

class HeaderSink {
public:
    virtual ~HeaderSink() = default;

    /** Takes continuous headers with enough work to be stored, up to the first that breaks a rule.
     *  `last`: node of the last stored one; null: none. */
    virtual RuleResult AcceptHeaders(std::span<const BlockHeader> headers,
                                     const HeaderNode** last) = 0;
};

class BlockProvider {
public:
    virtual ~BlockProvider() = default;

    /** The bytes of a block that is stored according to its facts. An error: it was deleted
     *  meanwhile, or the disk failed. */
    virtual Result<Bytes> ReadBlock(const HeaderNode& node) = 0;
    /** The coins that a block spends, in the order of inputs. Nothing: there is no undo data. */
    virtual Found<std::vector<Coin>> SpentCoins(const HeaderNode& /*node*/)
    {
        return std::nullopt;
    }
};

} // namespace ibd
