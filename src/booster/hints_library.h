// HintsLibrary: hints that the node has used or made, kept in the folder hints of the network's
// data directory as containers of version 2 named "kept-...", and offered to peers. Owned by Node;
// any thread, but Keep() on one at a time. Memory: kMaxHintsOffers open files.
#pragma once

#include "consensus/params.h"
#include "hints/container2.h"
#include "net/peer/hints_goal.h"
#include "util/log.h"

namespace ibd {

class HintsLibrary final : public HintsProvider {
public:
    HintsLibrary(Env& env, Logger& log, const ChainParams& params, Path folder)
        : m_env(env), m_log(log), m_params(params), m_folder(std::move(folder))
    {
    }

    /** Opens the kept files; reads each of them once. Damaged ones are logged. */
    void Load();
    /** Keeps hints that were proven right: renames a file from peers, writes a container of others.
     *  Above the limit, the files that end lowest are removed. Hints in a format that numbers
     *  unspendable outputs are also bad data: converting them to a container would need the blocks.
     */
    Result<> Keep(const Hints& hints, const BlockHash& terminal);

    std::vector<HintsOffer> Offers() override;
    Result<Bytes> Read(const HintsPart& part) override;

private:
    struct File {
        HintsOffer offer;
        Path path;
        std::shared_ptr<const Container2Hints> hints;
    };

    Result<> Add(const Path& path);
    Result<Path> MakeContainer(const Hints& hints, const BlockHash& terminal) const;

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    const Path m_folder;
    Mutex m_keeping; //!< one Keep() at a time
    Mutex m_mutex;
    std::vector<File> m_files IBD_GUARDED_BY(m_mutex); //!< the highest first
};

} // namespace ibd
