// -getinfo: data about the node from a batch of calls, as text. Pure functions.
#pragma once

#include "util/result.h"

#include <string>
#include <utility>
#include <vector>

#include <univalue.h>

namespace ibd {

struct GetInfoAnswers {
    UniValue network, chain;  //!< results of getnetworkinfo and getblockchaininfo
    UniValue wallet, balance; //!< of getwalletinfo and getbalances; null: the node has no wallet
    UniValue booster;         //!< of getboosterinfo; null: no such call
    UniValue error;           //!< error of one of the first two; null if there is none
    std::vector<std::pair<std::string, std::string>> balances; //!< of several wallets, by name
};

/** The calls, as one request. */
UniValue GetInfoBatch();

/** An error if `answers` does not match the batch. */
Result<GetInfoAnswers> ReadGetInfo(const UniValue& answers);

/** The text of -getinfo, without the last newline. */
std::string GetInfoText(const GetInfoAnswers& answers, bool color);

} // namespace ibd
