// ZmqPublisher: publishes blocks and transactions by ZeroMQ, like Core's -zmqpub... options: a
// message consists of topic, body and a sequence number counted for each topic and address. A
// consumer of events with a thread of its own, which also reads the blocks from disk, so that
// neither disk nor subscribers delay the chain. Events that its queue drops leave a gap in the
// numbers.
//
// During a reorganisation the new blocks are published once the pool has followed, as in Core:
// disconnected blocks, then changes of the pool, then new blocks. Memory: one block, and the hashes
// of the blocks of a reorganisation.
#pragma once

#include "events/events.h"
#include "util/log.h"
#include "zmq/options.h"
#include "zmq/sockets.h"

#include <functional>

namespace ibd {

class ZmqPublisher final : public EventConsumer {
public:
    /** Most events that wait for it. */
    static constexpr size_t kQueued = 16'384;

    /** Reads the bytes of a stored block. */
    using ReadBlock = std::function<Result<Bytes>(const BlockHash& hash)>;

    /** Binds all addresses. Returns the first error. */
    static Result<std::unique_ptr<ZmqPublisher>> Open(const ZmqOptions& options,
                                                      ReadBlock read_block, Logger& log);

    /** The kinds of events that it needs. */
    Subscription Wanted() const;
    /** Whether events of the pool are among them. */
    bool WantsPool() const;

    void Take(const Event& event) override;
    void Missed(const MissedEvents& missed) override;

private:
    struct Publisher {
        ZmqPublication what;
        uint32_t next = 0; //!< number of its next message
    };
    struct Block {
        BlockHash hash;
        Bytes raw;
        BlockView view; //!< of raw
    };

    ZmqPublisher(const ZmqOptions& options, ReadBlock read_block, Logger& log);
    void Take(const BlockConnected& event);
    void Take(const BlockDisconnected& event);
    void Take(const TipChanged& event);
    void Take(const TxAdded& event);
    void Take(const TxRemoved& event);
    void Take(const WarningRaised&) {}

    bool Has(ZmqTopic topic) const;
    void EndReorganisation();
    void Publish(ZmqTopic topic, ByteSpan body);
    void PublishTxs(const BlockHash& block);
    void PublishTx(const TxView& tx);
    /** `label`: of a change. */
    void PublishSequence(const Uint256& id, char label, std::optional<uint64_t> number);
    /** Null: the block cannot be read, which is logged. */
    const Block* Load(const BlockHash& hash);

    std::vector<Publisher> m_publishers;
    const ReadBlock m_read_block;
    Logger& m_log;
    ZmqSockets m_sockets;
    std::unique_ptr<Block> m_block;        //!< the last one that was read
    bool m_in_reorganisation = false;      //!< blocks were disconnected since the last tip
    std::vector<BlockConnected> m_waiting; //!< during a reorganisation
};

} // namespace ibd
