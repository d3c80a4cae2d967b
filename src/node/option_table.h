// The options of bitcoind, all of Bitcoin Core's and the booster's: a table for each topic, whose
// rows say everything about an option with a plain value. A file of a table also reads its options
// that depend on others. For options of RPC see rpc/server_options.h, for those shared with
// bitcoin-cli util/config.h, for those about peers net/option_rows.h, for notifications
// zmq/option_rows.h.
#pragma once

#include "node/node_options.h"
#include "util/log_file.h"
#include "util/option_row.h"

namespace ibd {

using NodeTopic = OptionTopic<NodeOptions>;

/** For a start and the data directory. */
std::vector<NodeTopic> GeneralTopics();
std::vector<NodeTopic> BoosterTopics();
/** Tests and the log. */
std::vector<NodeTopic> DebugTopics();
/** The transaction pool and mining. */
std::vector<NodeTopic> PolicyTopics();
/** All of the above. */
std::vector<NodeTopic> NodeTopics();

OptionTopic<LogOptions> LogTopic();

/** Options of the log: the topic, and those whose help lists levels or categories. */
void AddLogOptions(ArgsManager& args);
/** Options that Core accepts but does not show: names without help. */
void AddHiddenNames(ArgsManager& args);

/** Reads all of the booster's options that have no field, or change other fields. After the rows.
 */
Result<> ReadBoosterOptions(const ArgsManager& args, const ChainParams& params, const Path& net_dir,
                            NodeOptions& out);

/** Reads the snapshots that the user adds to those of a test network. */
Result<> ReadAssumeutxo(const ArgsManager& args, Network network, NetworkOptions& out);

/** Names of options that are set but not supported by this version. A value of 0 requests nothing.
 */
std::vector<std::string> OptionsWithoutEffect(const ArgsManager& args);

} // namespace ibd
