// DataDir: the folders of one network, and locks against a second node. Block files, chainstate and
// indexes may be in other directories. Created at start-up by the node, held until the end. One
// thread.
#pragma once

#include "util/env.h"

#include <memory>

namespace ibd {

/** Bytes that stay free on a disk: Core refuses to run with less. */
inline constexpr uint64_t kMinDiskSpace = 50 << 20;

struct DataDirOptions {
    Path base;          //!< -datadir; must exist
    Path blocks_base;   //!< -blocksdir; must exist; empty means `base`
    std::string folder; //!< of the network: "" (main), testnet3, testnet4, signet, regtest
    Path chainstate_base = {}; //!< -chainstatedir; must exist; empty means `base`
    Path index_base = {};      //!< -indexdir; the same
};

class DataDir {
public:
    /** Makes the folders, checks that they are writable, locks them and checks for space. Errors
     *  are one line for the user: absent folder, no permission, held by another process, full. */
    static Result<std::unique_ptr<DataDir>> Open(Env& env, const DataDirOptions& options);

    const Path& Net() const { return m_net; }       //!< folder of the network
    const Path& Blocks() const { return m_blocks; } //!< blk, rev, xor.dat
    /** In the network's folder even with -blocksdir, as in Core. */
    Path BlockIndex() const { return m_net / "blocks" / "index"; }
    /** The place of the index with -blocksdir up to version 0.1. */
    Path OldBlockIndex() const { return m_blocks / "index"; }
    /** Moves an index from there to its current place if that has none; returns whether it did. An
     *  error (for example another disk) names both places. */
    Result<bool> AdoptOldBlockIndex();
    /** The folder of `chainstate` and `chainstate_snapshot`; Net() without -chainstatedir. */
    const Path& ChainstateParent() const { return m_chainstate_parent; }
    /** The folder of `indexes`; Net() without -indexdir. */
    const Path& IndexParent() const { return m_index_parent; }
    /** "chainstate", which may be a symbolic link. */
    Path ChainstateName() const { return m_chainstate_parent / "chainstate"; }
    /** The target of a symbolic link: the booster replaces the folder, and the new one must stay on
     *  the disk that the user chose. */
    Path Chainstate() const { return m_env.FollowLink(ChainstateName()); }
    bool ChainstateIsLink() const { return Chainstate() != ChainstateName(); }
    Path Indexes() const { return m_index_parent / "indexes"; }

    /** The network's folder in a directory such as -chainstatedir. */
    Path FolderBelow(const Path& directory) const
    {
        return m_folder.empty() ? directory : directory / m_folder;
    }
    /** The reverse. */
    Path DirectoryAbove(const Path& folder) const
    {
        return m_folder.empty() ? folder : folder.parent_path();
    }

    /** An error when the file system of a folder has less than kMinDiskSpace + `more` free. */
    Result<> CheckSpace(uint64_t more = 0) const;

private:
    DataDir(Env& env, std::string folder) : m_env(env), m_folder(std::move(folder)) {}
    Result<> MakeAndLock(const Path& folder);

    Env& m_env;
    std::string m_folder; //!< of the network
    Path m_net;
    Path m_blocks;
    Path m_chainstate_parent;
    Path m_index_parent;
    std::vector<Path> m_folders; //!< all of these, each once
    std::vector<std::unique_ptr<FileLock>> m_locks;
};

} // namespace ibd
