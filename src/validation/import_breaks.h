// Where block files hold no whole block: to name the place behind which -reindex finds no chain.
// Main thread.
#pragma once

#include "storage/block_store.h"

#include <optional>
#include <span>

namespace ibd {

struct ImportBreak {
    FilePos pos;      //!< first byte that belongs to no block
    std::string text; //!< names file, offset and cause
};

/** The first place in `files` that belongs to no frame, except for zeros at a file's end. Reads
 *  frames and block headers only. */
Result<std::optional<ImportBreak>> FindBreak(Env& env, const BlockStore& blocks,
                                             std::span<const int32_t> files);

/** Adds what -reindex found to an error that may follow from it and does not name a place itself;
 *  nothing if `text` is empty. */
Error WithBreak(const Error& error, const std::string& text);

} // namespace ibd
