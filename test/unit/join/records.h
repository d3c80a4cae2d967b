// Random lives of outputs, and their evaluation with a plain map.
#pragma once

#include "join/partition_join.h"
#include "support/testdata.h"

#include <map>
#include <set>

namespace ibd::test {

/** Events by outpoint, in the order of the chain. */
using Lives = std::map<std::pair<uint64_t, uint64_t>, std::set<uint64_t>>;

inline JoinRecord MakeEvent(OutpointName key, JoinKind kind, uint64_t height, uint64_t index = 0)
{
    return JoinRecord::Of(key, kind, static_cast<uint32_t>(height), static_cast<uint32_t>(index));
}

inline void AddTo(Lives& lives, const JoinRecord& record)
{
    lives[{record.name, record.NameRest()}].insert(record.Event());
}

/** The unspent outputs at the end, and the first impossible event. */
struct Judgement {
    std::set<uint64_t> unspent;
    std::optional<uint64_t> problem;
};

inline Judgement Judge(const Lives& lives)
{
    Judgement out;
    for (const auto& [key, events] : lives) {
        std::optional<uint64_t> there;
        bool sound = true;
        for (const uint64_t event : events) {
            const bool makes = JoinRecord{0, event}.Kind() != JoinKind::kSpent;
            sound = makes != there.has_value();
            if (!sound) {
                if (!out.problem || event < *out.problem) out.problem = event;
                break;
            }
            there = makes ? std::optional(event) : std::nullopt;
        }
        if (sound && there && JoinRecord{0, *there}.Kind() == JoinKind::kCreated) {
            out.unspent.insert(*there);
        }
    }
    return out;
}

} // namespace ibd::test
