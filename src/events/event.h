// Event: a change of the chain or the pool, or a warning, as a value. Consumers that need a block's
// bytes read them from the archive (storage/block_archive.h).
#pragma once

#include "chain/chain_reader.h"
#include "primitives/transaction.h"
#include "util/warnings.h"

#include <string>
#include <variant>

namespace ibd {

/** A block was connected: the coins are at this block now. In a reorganisation the visible tip may
 *  follow later (TipChanged). */
struct BlockConnected {
    BlockHash hash;
    BlockHash prev_hash;
    int32_t height = 0;

    bool operator==(const BlockConnected&) const = default;
};

/** A block was disconnected: the coins are at its parent now. */
struct BlockDisconnected {
    BlockHash hash;
    BlockHash prev_hash;
    int32_t height = 0;

    bool operator==(const BlockDisconnected&) const = default;
};

/** There is a new visible tip. */
struct TipChanged {
    TipInfo tip;
    bool downloading = false; //!< during the initial download
    /** False: the chain of the last visible tip has all blocks of this chain, for example after
     *  invalidateblock or a failed reorganisation. */
    bool has_new_blocks = true;

    bool operator==(const TipChanged&) const = default;
};

/** A new warning; `text` is for the user. */
struct WarningRaised {
    NodeWarning kind;
    std::string text;

    bool operator==(const WarningRaised&) const = default;
};

/** A transaction entered the pool. This event and the next ones are published only if a consumer
 *  needs them. */
struct TxAdded {
    TransactionRef tx;
    uint64_t sequence = 0; //!< number of this change; see mempool/tx_pool.h

    bool operator==(const TxAdded&) const = default;
};

/** A transaction left the pool for another reason than a block. */
struct TxRemoved {
    Txid id;
    uint64_t sequence = 0; //!< of this change

    bool operator==(const TxRemoved&) const = default;
};

using Event =
    std::variant<BlockConnected, BlockDisconnected, TipChanged, WarningRaised, TxAdded, TxRemoved>;

/** An event with its number in the order of publication, from 1. */
struct NumberedEvent {
    uint64_t number = 0;
    Event event;
};

/** A set of kinds of events. */
class EventKinds {
public:
    template <typename... Kinds>
    static constexpr EventKinds Of()
    {
        EventKinds kinds;
        ((kinds.m_bits |= 1U << Number<Kinds>()), ...);
        return kinds;
    }
    bool Has(const Event& event) const { return (m_bits >> event.index() & 1U) != 0; }

private:
    template <typename Kind, size_t N = 0>
    static constexpr size_t Number()
    {
        if constexpr (std::is_same_v<Kind, std::variant_alternative_t<N, Event>>) {
            return N;
        } else {
            return Number<Kind, N + 1>();
        }
    }

    uint32_t m_bits = 0;
};

} // namespace ibd
