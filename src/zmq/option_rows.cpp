// See option_rows.h.
#include "zmq/option_rows.h"
#include "util/host_port.h"

namespace ibd {

namespace {

constexpr OptionRow<ZmqOptions> kZmq[] = {
    {"-zmqpubhashblock", "=<address>",
     "Publish the hash of each new tip at this address: tcp://<host>:<port> or unix:<path>. Each "
     "option with an <address> may be given several times"},
    {"-zmqpubhashblockhwm", "=<n>",
     "Messages that may wait for a subscriber before more are dropped (default: 1000)"},
    {"-zmqpubhashtx", "=<address>",
     "Publish the ids of transactions that enter the pool, and of those in connected and "
     "disconnected blocks"},
    {"-zmqpubhashtxhwm", "=<n>", "The same bound for these messages (default: 1000)"},
    {"-zmqpubrawblock", "=<address>", "Publish each new tip as bytes"},
    {"-zmqpubrawblockhwm", "=<n>", "The same bound for these messages (default: 1000)"},
    {"-zmqpubrawtx", "=<address>", "Publish the transactions of -zmqpubhashtx as bytes"},
    {"-zmqpubrawtxhwm", "=<n>", "The same bound for these messages (default: 1000)"},
    {"-zmqpubsequence", "=<address>",
     "Publish each change of chain and pool: blocks connected (C) and disconnected (D), "
     "transactions added (A) and removed (R)"},
    {"-zmqpubsequencehwm", "=<n>", "The same bound for these messages (default: 1000)"},
};

/** In the order in which the topics of one event are published. */
constexpr ZmqTopic kTopics[] = {ZmqTopic::kHashBlock, ZmqTopic::kHashTx, ZmqTopic::kRawBlock,
                                ZmqTopic::kRawTx, ZmqTopic::kSequence};

/** libzmq has its own word for Unix sockets. */
Result<std::string> ForLibzmq(const std::string& option, const std::string& address)
{
    constexpr std::string_view kUnix = "unix:";
    if (address.starts_with(kUnix)) return "ipc://" + address.substr(kUnix.size());
    if (!SplitHostPort(address)) return InvalidPort(option, address);
    return address;
}

} // namespace

ZmqOptionTopic ZmqOptionRows() { return {OptionGroup::kZmq, kZmq}; }

Result<ZmqOptions> ReadZmqOptions(const ArgsManager& args)
{
    ZmqOptions out;
    for (const ZmqTopic topic : kTopics) {
        const std::string name = std::string("-zmqpub") + NameOf(topic);
        const auto most = static_cast<int>(args.GetInt(name + "hwm", kZmqHighWaterMark));
        for (const std::string& address : args.GetAll(name)) {
            IBD_ASSIGN_OR_RETURN(std::string place, ForLibzmq(name, address));
            out.push_back({topic, std::move(place), most});
        }
    }
    return out;
}

} // namespace ibd
