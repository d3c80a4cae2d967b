// Hints of a generated chain, written as a container.
#pragma once

#include "hints/hints_writer.h"
#include "support/must.h"

namespace ibd::test {

/** `unspent[height]`: a byte for each spendable output, 1 if it is unspent at the last height. */
inline void WriteHints(const Path& path, const ChainParams& params,
                       const std::vector<std::vector<uint8_t>>& unspent, const BlockHash& last)
{
    const auto env = MakePosixEnv();
    const auto writer = Must(MakeContainerWriter(*env, path, params.magic));
    for (uint32_t height = 1; height < unspent.size(); ++height) {
        std::vector<uint32_t> indices;
        for (uint32_t i = 0; i < unspent[height].size(); ++i) {
            if (unspent[height][i]) indices.push_back(i);
        }
        Must(writer->Add(height, static_cast<uint32_t>(unspent[height].size()), indices));
    }
    Must(writer->Finish(last));
}

} // namespace ibd::test
