// The options of notifications: an address and a high-water mark for each topic.
#pragma once

#include "util/option_row.h"
#include "zmq/options.h"

namespace ibd {

using ZmqOptionTopic = OptionTopic<ZmqOptions>;

ZmqOptionTopic ZmqOptionRows();
/** Fails on an address without a valid port, in Core's words. */
Result<ZmqOptions> ReadZmqOptions(const ArgsManager& args);

} // namespace ibd
