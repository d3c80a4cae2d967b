// Compact blocks (BIP152, version 2): a block named by short ids for a peer, and a peer's block put
// together again from what it sent, what a pool has, and what it was then asked for. Pure; a
// PartialBlock belongs to the request it answers (block_downloader.h). Memory: the transactions of
// one or two messages, and a reference to each of the pool's that may be meant.
#pragma once

#include "crypto/siphash.h"
#include "net/messages.h"

#include <deque>
#include <functional>
#include <optional>
#include <span>

namespace ibd {

using PeerId = int64_t;

/** Of the short ids of a compact block. */
SipKey ShortIdKey(const BlockHeader& header, uint64_t nonce);
/** 48 bits. */
uint64_t ShortId(SipKey key, const Wtxid& id);

/** The block with its coinbase in full and all else by short id. `nonce` is chance; `block` has at
 *  least one transaction. */
CompactBlockMessage MakeCompactBlock(const BlockView& block, uint64_t nonce);
/** The payload of a blocktxn; nothing if the block has no transaction with one of the indexes. */
std::optional<Bytes> BlockTxnPayload(const BlockView& block, std::span<const uint16_t> indexes);

/** Transactions that a block on its way may hold: a pool's, and others that came along. */
class TransactionSource {
public:
    virtual ~TransactionSource() = default;
    /** Shows each until `more` returns false. */
    virtual void
    ForEachTransaction(const std::function<bool(const TransactionRef&)>& more) const = 0;
};

class PartialBlock {
public:
    enum class Status {
        kOk,
        kInvalid, //!< against the protocol
        kFailed,  //!< short ids collide, it seems: only the whole block helps
    };

    /** Once. `pool` may be null. */
    Status Start(const CompactBlockMessage& message, const TransactionSource* pool);
    /** Indexes of the transactions still to be had, rising. */
    std::vector<uint16_t> Missing() const;
    /** `missing`: the transactions of Missing(), in order. `block` becomes the serialized block if
     *  it has the merkle root of its header and, if `expect_commitment`, the witnesses that it
     *  commits to. Whatever comes of it, the transactions are gone then. */
    Status Fill(std::span<const TransactionRef> missing, bool expect_commitment, Bytes& block);
    /** Fill() was called. */
    bool IsSpent() const { return m_spent; }

    size_t PrefilledCount() const { return m_prefilled; }
    size_t PoolCount() const { return m_from_pool; }

private:
    struct Wanted {
        uint64_t id;
        uint16_t index; //!< in the block
        bool seen;      //!< the pool had one with this id
    };

    bool PlacePrefilled(const CompactBlockMessage& message);
    std::vector<Wanted> ListWanted(const CompactBlockMessage& message) const;
    void TakeFrom(const TransactionSource& pool, SipKey key, std::vector<Wanted>& wanted);

    BlockHeader m_header;
    std::vector<TransactionRef> m_txs; //!< null: missing
    size_t m_prefilled = 0;
    size_t m_from_pool = 0;
    bool m_spent = false;
};

/** Peers that we asked to announce blocks by cmpctblock ("high bandwidth"): those that last brought
 *  one, and among them one whom we called, if there was one. Who left keeps its place until others
 *  push it out, as in Core. */
class CompactAnnouncers {
public:
    static constexpr size_t kMost = 3;

    struct Change {
        bool start = false;         //!< the peer is to be asked
        std::optional<PeerId> stop; //!< who is to be told to stop
    };
    /** `peer` brought a block. `is_outbound` says so of a peer that is still there. */
    Change BroughtBlock(PeerId peer, const std::function<bool(PeerId)>& is_outbound);

private:
    std::deque<PeerId> m_peers; //!< the last to bring one at the back
};

} // namespace ibd
