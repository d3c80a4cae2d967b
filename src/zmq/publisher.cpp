// See publisher.h.
#include "zmq/publisher.h"
#include "primitives/serialize.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr char kConnect = 'C';
constexpr char kDisconnect = 'D';
constexpr char kAccept = 'A';
constexpr char kRemove = 'R';

/** A hash in display byte order. */
Bytes Shown(const Uint256& hash)
{
    Bytes out(hash.Span().begin(), hash.Span().end());
    std::ranges::reverse(out);
    return out;
}

} // namespace

const char* NameOf(ZmqTopic topic)
{
    switch (topic) {
    case ZmqTopic::kHashBlock: return "hashblock";
    case ZmqTopic::kHashTx: return "hashtx";
    case ZmqTopic::kRawBlock: return "rawblock";
    case ZmqTopic::kRawTx: return "rawtx";
    case ZmqTopic::kSequence: break;
    }
    return "sequence";
}

ZmqPublisher::ZmqPublisher(const ZmqOptions& options, ReadBlock read_block, Logger& log)
    : m_read_block(std::move(read_block)), m_log(log)
{
    for (const ZmqPublication& what : options) m_publishers.push_back({what});
}

Result<std::unique_ptr<ZmqPublisher>> ZmqPublisher::Open(const ZmqOptions& options,
                                                         ReadBlock read_block, Logger& log)
{
    std::unique_ptr<ZmqPublisher> out(new ZmqPublisher(options, std::move(read_block), log));
    for (const ZmqPublication& what : options) {
        IBD_RETURN_IF_ERROR(out->m_sockets.Open(what.address, what.high_water_mark));
        log.Debug(LogCategory::kZmq, "Notifier pub{} ready (address = {})", NameOf(what.topic),
                  what.address);
    }
    return out;
}

Subscription ZmqPublisher::Wanted() const
{
    return {.kinds =
                EventKinds::Of<BlockConnected, BlockDisconnected, TipChanged, TxAdded, TxRemoved>(),
            .when_full = WhenFull::kResync,
            .capacity = kQueued,
            .yields = true};
}

bool ZmqPublisher::WantsPool() const
{
    return Has(ZmqTopic::kHashTx) || Has(ZmqTopic::kRawTx) || Has(ZmqTopic::kSequence);
}

void ZmqPublisher::Take(const Event& event)
{
    std::visit([this](const auto& one) { Take(one); }, event);
}

/** A gap in the sequence numbers shows subscribers that they have missed messages. */
void ZmqPublisher::Missed(const MissedEvents& missed)
{
    m_log.Warning("zmq: {} events were dropped, because they came faster than they could be "
                  "published",
                  missed.count);
    for (Publisher& publisher : m_publishers) {
        publisher.next += static_cast<uint32_t>(missed.count);
    }
    if (missed.tip) m_waiting.clear();
    if (missed.tip) m_in_reorganisation = false;
}

void ZmqPublisher::Take(const BlockConnected& event)
{
    if (m_in_reorganisation) {
        m_waiting.push_back(event);
        return;
    }
    PublishTxs(event.hash);
    PublishSequence(event.hash, kConnect, std::nullopt);
}

void ZmqPublisher::Take(const BlockDisconnected& event)
{
    EndReorganisation(); // blocks of a branch that failed
    m_in_reorganisation = true;
    PublishTxs(event.hash);
    PublishSequence(event.hash, kDisconnect, std::nullopt);
}

/** Tells of the new blocks. */
void ZmqPublisher::EndReorganisation()
{
    m_in_reorganisation = false;
    for (const BlockConnected& block : std::exchange(m_waiting, {})) Take(block);
}

/** Publishes a tip only if its chain has new blocks, and not during the initial download. */
void ZmqPublisher::Take(const TipChanged& event)
{
    EndReorganisation();
    if (!event.has_new_blocks || event.downloading) return;
    Publish(ZmqTopic::kHashBlock, Shown(event.tip.hash));
    if (!Has(ZmqTopic::kRawBlock)) return;
    if (const Block* const block = Load(event.tip.hash)) Publish(ZmqTopic::kRawBlock, block->raw);
}

void ZmqPublisher::Take(const TxAdded& event)
{
    PublishTx(event.tx->View());
    PublishSequence(event.tx->Id(), kAccept, event.sequence);
}

void ZmqPublisher::Take(const TxRemoved& event)
{
    PublishSequence(event.id, kRemove, event.sequence);
}

bool ZmqPublisher::Has(ZmqTopic topic) const
{
    return std::ranges::any_of(m_publishers,
                               [&](const Publisher& one) { return one.what.topic == topic; });
}

/** A message that cannot be sent is lost, and its number with it. */
void ZmqPublisher::Publish(ZmqTopic topic, ByteSpan body)
{
    for (Publisher& publisher : m_publishers) {
        if (publisher.what.topic != topic) continue;
        Bytes number;
        Writer(number).U32(publisher.next++);
        const ByteSpan parts[] = {AsBytes(NameOf(topic)), body, number};
        const Result<> sent = m_sockets.Send(publisher.what.address, parts);
        if (!sent) m_log.Error("zmq: {}", sent.Message());
    }
}

void ZmqPublisher::PublishTxs(const BlockHash& block)
{
    if (!Has(ZmqTopic::kHashTx) && !Has(ZmqTopic::kRawTx)) return;
    const Block* const loaded = Load(block);
    if (!loaded) return;
    for (const TxView& tx : loaded->view.Txs()) PublishTx(tx);
}

void ZmqPublisher::PublishTx(const TxView& tx)
{
    Publish(ZmqTopic::kHashTx, Shown(tx.txid));
    Publish(ZmqTopic::kRawTx, tx.raw);
}

void ZmqPublisher::PublishSequence(const Uint256& id, char label, std::optional<uint64_t> number)
{
    Bytes body = Shown(id);
    Writer writer(body);
    writer.U8(static_cast<uint8_t>(label));
    if (number) writer.U64(*number);
    Publish(ZmqTopic::kSequence, body);
}

const ZmqPublisher::Block* ZmqPublisher::Load(const BlockHash& hash)
{
    if (m_block && m_block->hash == hash) return m_block.get();
    m_block = std::make_unique<Block>();
    m_block->hash = hash;
    const auto load = [&]() -> Result<> {
        IBD_ASSIGN_OR_RETURN(m_block->raw, m_read_block(hash));
        return m_block->view.Parse(m_block->raw);
    };
    const Result<> loaded = load();
    if (loaded) return m_block.get();
    m_log.Error("zmq: Can't read block {} from disk: {}", hash.ToHex(), loaded.Message());
    m_block.reset();
    return nullptr;
}

} // namespace ibd
