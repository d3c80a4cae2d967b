// ZmqOptions: the topics to publish and their addresses. Values.
#pragma once

#include <string>
#include <vector>

namespace ibd {

enum class ZmqTopic {
    kHashBlock,
    kHashTx,
    kRawBlock,
    kRawTx,
    kSequence,
};

/** "hashblock": the first part of its messages, and the end of its option, -zmqpubhashblock. */
const char* NameOf(ZmqTopic topic);

inline constexpr int kZmqHighWaterMark = 1000; //!< default, messages

struct ZmqPublication {
    ZmqTopic topic = ZmqTopic::kHashBlock;
    std::string address; //!< as libzmq takes it
    int high_water_mark = kZmqHighWaterMark;
};

/** The order in which the topics of one event are published. */
using ZmqOptions = std::vector<ZmqPublication>;

} // namespace ibd
