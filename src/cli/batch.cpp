// See batch.h.
#include "cli/batch.h"

#include "util/strings.h"

namespace ibd {

UniValue MakeBatch(std::span<const char* const> methods)
{
    UniValue batch(UniValue::VARR);
    int id = 0;
    for (const char* method : methods) {
        UniValue call(UniValue::VOBJ);
        call.pushKV("jsonrpc", "2.0");
        call.pushKV("method", method);
        call.pushKV("params", UniValue(UniValue::VARR));
        call.pushKV("id", id++);
        batch.push_back(call);
    }
    return batch;
}

Result<std::vector<UniValue>> ReadBatch(const UniValue& answers, size_t count)
{
    if (!answers.isArray()) return BadData("Batch must be an array");
    std::vector<UniValue> replies(count);
    for (const UniValue& answer : answers.getValues()) {
        if (!answer.isObject()) return BadData("Batch member must be an object");
        const auto id = ParseInteger<size_t>(answer["id"].getValStr());
        if (!id || *id >= count) return BadData("Batch member id is larger than batch size");
        replies[*id] = answer;
    }
    return replies;
}

} // namespace ibd
