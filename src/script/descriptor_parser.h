// Reads the functions of an output descriptor; see output_descriptor.h. Pure; any thread.
#pragma once

#include "script/output_descriptor.h"

namespace ibd {

/** `text` without a checksum; one node for each value of multipath steps. */
Result<std::vector<DescriptorNode>> ParseDescriptorNodes(std::string_view text,
                                                         const DescriptorNetwork& network);

} // namespace ibd
