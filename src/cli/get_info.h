// -getinfo: a few facts about the node from several calls, as one short text.
#pragma once

#include <string>

#include <univalue.h>

namespace ibd {

/** The batch to send. */
UniValue GetInfoBatch();

/** Text from the answers to the batch (by id), with colours for a terminal if `color`. Empty with
 *  `error` set if one of them failed. */
std::string GetInfoText(const UniValue& answers, bool color, UniValue& error);

} // namespace ibd
