// See zmq_calls.h.
#include "rpc/zmq_calls.h"
#include "jsonrpc/json.h"

namespace ibd {

void AddZmqMethods(RpcTable& table, std::vector<ZmqNotification> active)
{
    table.Add({"zmq",
               "getzmqnotifications",
               "Lists the active ZeroMQ publishers (-zmqpub...).",
               {},
               "[\n  {\n"
               "    \"type\": \"pubhashtx\",    (string) What is published\n"
               "    \"address\": \"...\",       (string) Where\n"
               "    \"hwm\": n                (numeric) Messages that may wait for a subscriber\n"
               "  }, ...\n]",
               "",
               [active = std::move(active)](const RpcCall&) {
                   UniValue list(UniValue::VARR);
                   for (const ZmqNotification& one : active) {
                       UniValue entry(UniValue::VOBJ);
                       entry.pushKV("type", one.type);
                       entry.pushKV("address", one.address);
                       entry.pushKV("hwm", Num(one.high_water_mark));
                       list.push_back(entry);
                   }
                   return list;
               }});
    table.AnswerEarly({"getzmqnotifications"});
}

} // namespace ibd
