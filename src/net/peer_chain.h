// What peers need to know of the chain and may do to it. Owned by net, implemented outside of it;
// called by the thread that owns the peers. Every call is a look-up that takes microseconds, but
// for BlockProvider, which reads a block, and HeaderSink, which checks headers.
#pragma once

#include "chain/header_tree.h"

#include <span>

namespace ibd {

/** What is known of a block and may change. */
struct BlockFacts {
    bool have_data = false;       //!< in a block file
    bool was_seen = false;        //!< it once was, or is
    bool failed = false;          //!< broke a rule, or descends from one that did
    bool fully_validated = false; //!< its scripts too
};

/** Nodes live as long as this does. Of a node that it returns only what is fixed at insertion may
 *  be read; what is not is in Facts(). */
class PeerChain {
public:
    virtual ~PeerChain() = default;

    /** Last block of the active chain. */
    virtual const HeaderNode& Tip() const = 0;
    /** Most work among headers that did not fail. */
    virtual const HeaderNode& BestHeader() const = 0;
    /** Null: unknown. */
    virtual const HeaderNode* Find(const BlockHash& hash) const = 0;
    virtual BlockFacts Facts(const HeaderNode& node) const = 0;
    virtual bool IsInitialBlockDownload() const = 0;
    /** Blocks are read from files now (-reindex, -loadblock), so that none are asked of peers. */
    virtual bool IsImporting() const = 0;
};

class HeaderSink {
public:
    virtual ~HeaderSink() = default;

    /** Takes headers that follow one another and have work enough to be stored, up to the first
     *  that breaks a rule. `last`: node of the last one that is stored; null: none is. */
    virtual RuleResult AcceptHeaders(std::span<const BlockHeader> headers,
                                     const HeaderNode** last) = 0;
};

class BlockProvider {
public:
    virtual ~BlockProvider() = default;

    /** The bytes of a block whose facts say that they are there. An error when they are gone
     *  meanwhile, or the disk fails. */
    virtual Result<Bytes> ReadBlock(const HeaderNode& node) = 0;
};

} // namespace ibd
