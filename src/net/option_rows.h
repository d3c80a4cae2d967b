// The options about peers: tables whose rows say everything about an option with a plain value.
// network_config.cpp reads options that depend on others.
#pragma once

#include "net/network_options.h"
#include "util/option_row.h"

namespace ibd {

using PeerOptionTopic = OptionTopic<PeerNetworkOptions>;

std::vector<PeerOptionTopic> PeerOptionTopics();

} // namespace ibd
