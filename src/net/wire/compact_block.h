// Compact blocks (BIP152, version 2): makes them for peers, and assembles a peer's block from its
// message, a pool's transactions, and requested ones. Pure; a PartialBlock belongs to the request
// that it answers (block_downloader.h). Memory: the transactions of one or two messages, and
// references to possibly matching ones of the pool.
#pragma once

#include "crypto/siphash.h"
#include "net/wire/messages.h"

#include <deque>
#include <functional>
#include <optional>
#include <span>

namespace ibd {

using PeerId = int64_t;

/** Key of the short ids of a compact block. */
SipKey ShortIdKey(const BlockHeader& header, uint64_t nonce);
/** 48 bits. */
uint64_t ShortId(SipKey key, const Wtxid& id);

/** The block with its coinbase in full and all others by short id. `nonce`: random; `block` has at
 *  least one transaction. */
CompactBlockMessage MakeCompactBlock(const BlockView& block, uint64_t nonce);
/** The same with the witness ids of its transactions. */
CompactBlockMessage MakeCompactBlock(const BlockView& block, std::span<const Wtxid> witness_ids,
                                     uint64_t nonce);
/** The payload of a blocktxn; nothing: an index is out of range. */
std::optional<Bytes> BlockTxnPayload(const BlockView& block, std::span<const uint16_t> indexes);

/** Transactions that an expected block may contain: those of the pool, and others. */
class TransactionSource {
public:
    virtual ~TransactionSource() = default;
    /** Transactions, and at the same indexes their wtxids; null: the place is free. */
    using Visit = std::function<bool(std::span<const Wtxid>, std::span<const TransactionRef>)>;
    /** Visits all, in groups, until `more` returns false. */
    virtual void ForEachTransaction(const Visit& more) const = 0;
    /** Likewise visits about `count`, in the order in which a miner would take them, or none, if
     *  that would have to wait. Nearly all transactions of a new block are among them. A lock of
     *  the pool is held, so `more` takes no lock. */
    virtual void ForEachToMine(size_t count, const Visit& more) const = 0;
};

class PartialBlock {
public:
    enum class Status {
        kOk,
        kInvalid, //!< violates the protocol
        kFailed,  //!< short ids probably collide: the whole block is necessary
    };

    /** Call once. `pool` may be null; `extra`: transactions outside of it. */
    Status Start(const CompactBlockMessage& message, const TransactionSource* pool,
                 std::span<const TransactionRef> extra = {});
    /** Indexes of the missing transactions, ascending. */
    std::vector<uint16_t> Missing() const;
    /** `missing`: the transactions of Missing(), in order. Sets `block` to the serialized block if
     *  it has the merkle root of its header and, with `expect_commitment`, matches its witness
     *  commitment. The transactions are released in any case. */
    Status Fill(std::span<const TransactionRef> missing, bool expect_commitment, Bytes& block);
    /** Whether Fill() was called. */
    bool IsSpent() const { return m_spent; }

    size_t PrefilledCount() const { return m_prefilled; }
    size_t PoolCount() const { return m_found; } //!< with the extra ones
    size_t ExtraCount() const { return m_from_extra; }

private:
    struct Wanted;
    class WantedTxs;

    bool PlacePrefilled(const CompactBlockMessage& message);
    std::vector<Wanted> ListWanted(const CompactBlockMessage& message) const;
    void Offer(Wanted& wanted, const Wtxid& wtxid, const TransactionRef& tx);

    BlockHeader m_header;
    std::vector<TransactionRef> m_txs; //!< null: missing
    size_t m_prefilled = 0;
    size_t m_found = 0; //!< by short id
    size_t m_from_extra = 0;
    bool m_spent = false;
};

/** Peers that we asked to announce blocks by cmpctblock ("high bandwidth"): the last peers that
 *  sent a block, including at least one outbound peer if there was one. As in Core, a disconnected
 *  peer keeps its place until others displace it. */
class CompactAnnouncers {
public:
    static constexpr size_t kMost = 3;

    struct Change {
        bool start = false;         //!< ask the peer to start
        std::optional<PeerId> stop; //!< peer to ask to stop
    };
    /** `peer` sent a block. `is_outbound`: whether a peer is connected and outbound. */
    Change BroughtBlock(PeerId peer, const std::function<bool(PeerId)>& is_outbound);

private:
    std::deque<PeerId> m_peers; //!< the last one to send a block is at the back
};

} // namespace ibd
