// See store_places.h.
#include "storage/store_places.h"

#include "storage/chainstate_builder.h"
#include "storage/store_mark.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {
namespace {

/** A store, and how messages name it. */
struct Store {
    const char* name;                  //!< of its folder
    const char* option;                //!< without the dash
    std::vector<const char*> contents; //!< names in its directory; the first one gets the mark
    Path parent;                       //!< where this start expects it
    Path folder;                       //!< the first name there, links followed
    bool rebuilt;                      //!< the user asks for it
    std::string remedy;                //!< how to ask for it
};

std::string OfOtherStarts(const std::string& older, uint64_t first, const std::string& newer,
                          uint64_t last)
{
    return fmt::format("'{}' is an older copy: it is of start {} of this node, but '{}' is of "
                       "start {}",
                       older, first, newer, last);
}

/** The mark in the data directory of the store with this option. */
Path RecordOf(const DataDir& dir, const char* option)
{
    return dir.Net() / fmt::format("{}.txt", option);
}

/** The check of one store. */
class StoreCheck {
public:
    StoreCheck(Env& env, Logger& log, const DataDir& dir, Store store)
        : m_env(env), m_log(log), m_dir(dir), m_store(std::move(store)),
          m_record_file(RecordOf(dir, m_store.option)), m_mark_file(m_store.folder / kStoreMarkName)
    {
    }

    /** Changes nothing. */
    Result<> Look();
    /** Raises the numbers; without the option, and with the store in the data directory, forgets
     *  them. */
    Result<> Settle();

private:
    bool IsMoved() const { return m_store.parent != m_dir.Net(); }
    std::vector<Path> OtherParents() const;
    Result<bool> IsFull(const Path& path) const;
    Found<Path> FindIn(const Path& parent) const;
    Found<Path> FindInterrupted(const Path& parent) const;
    Result<> ReadRecord();
    Result<> LookElsewhere() const;
    Error InTwoPlaces(const Path& other) const;
    Error Elsewhere(const Path& parent, const Path& found) const;
    Error Missing() const;
    Result<std::string> FindFault() const;
    void LogPlace() const;
    Result<> ClearUp() const;

    Env& m_env;
    Logger& m_log;
    const DataDir& m_dir;
    const Store m_store;
    const Path m_record_file;          //!< the mark in the data directory
    const Path m_mark_file;            //!< the store's
    std::optional<StoreMark> m_record; //!< as found
    bool m_there = false;              //!< the store is where this start expects it
    std::string m_fault;               //!< why it is not that of the last start; empty: it is
};

/** Where the store may be besides: in the data directory, or where it was last. */
std::vector<Path> StoreCheck::OtherParents() const
{
    std::vector<Path> out = {m_dir.Net()};
    if (m_record) out.push_back(m_dir.FolderBelow(m_record->directory));
    std::erase(out, m_store.parent);
    return out;
}

/** A link to nothing counts as full: its disk may not be mounted. */
Result<bool> StoreCheck::IsFull(const Path& path) const
{
    IBD_ASSIGN_OR_RETURN(const FileKind kind, m_env.KindOf(path));
    if (kind != FileKind::kFolder) return kind != FileKind::kNothing;
    IBD_ASSIGN_OR_RETURN(const auto names, m_env.List(path));
    return !names.empty();
}

/** A part of the store in this directory, if there is one. */
Found<Path> StoreCheck::FindIn(const Path& parent) const
{
    for (const char* name : m_store.contents) {
        IBD_ASSIGN_OR_RETURN(const bool full, IsFull(parent / name));
        if (full) return std::optional<Path>(parent / name);
    }
    return std::nullopt;
}

/** A database that a killed booster left, and that would become the store there. */
Found<Path> StoreCheck::FindInterrupted(const Path& parent) const
{
    const WorkFolder work(parent / m_store.contents.front());
    for (const Path& database : {work.Old(), work.New()}) {
        IBD_ASSIGN_OR_RETURN(const bool whole, m_env.IsThere(database / "CURRENT"));
        if (whole) return std::optional<Path>(database);
    }
    return std::nullopt;
}

Error StoreCheck::InTwoPlaces(const Path& other) const
{
    return SystemError("'{}' and '{}' both exist: move the one away that is not to be used, as -{} "
                       "chooses only the directory",
                       m_store.folder.string(), other.string(), m_store.option);
}

Error StoreCheck::Elsewhere(const Path& parent, const Path& found) const
{
    const std::string there = parent == m_dir.Net()
                                  ? fmt::format("start without -{}", m_store.option)
                                  : fmt::format("start with -{}={}", m_store.option,
                                                m_record->directory.string());
    return SystemError("There is no '{}' in '{}', but there is '{}': {}, or move the folder",
                       m_store.name, m_store.parent.string(), found.string(), there);
}

Error StoreCheck::Missing() const
{
    return SystemError("There is no '{}' in '{}', where the last start used it: mount its disk, "
                       "or {}",
                       m_store.name, m_dir.FolderBelow(m_record->directory).string(),
                       m_store.remedy);
}

Result<> StoreCheck::LookElsewhere() const
{
    for (const Path& parent : OtherParents()) {
        IBD_ASSIGN_OR_RETURN(auto found, FindIn(parent));
        if (found && m_there) return InTwoPlaces(*found);
        if (!found && !m_there) {
            IBD_ASSIGN_OR_RETURN(found, FindInterrupted(parent));
        }
        if (found) return Elsewhere(parent, *found);
    }
    return {};
}

/** A sentence; empty: the store is that of the last start, or the first one to get a mark. */
Result<std::string> StoreCheck::FindFault() const
{
    const std::string folder = m_store.folder.string();
    const auto mark = ReadStoreMark(m_env, m_mark_file);
    IBD_RETURN_IF_SYSTEM_ERROR(mark);
    if (!mark) return mark.Message();
    const uint64_t known = m_record ? m_record->starts : 0;
    if (!*mark) {
        if (known == 0) return std::string();
        return fmt::format("'{}' is an older copy, or made by another program: it has no '{}'",
                           folder, kStoreMarkName);
    }
    const StoreMark& found = **mark;
    if (!m_record || found.id != m_record->id) {
        return fmt::format("'{}' belongs to another data directory, or to this one at another time",
                           folder);
    }
    if (found.unfinished) {
        return fmt::format("'{}' is an older copy, whose rebuild has not finished", folder);
    }
    if (found.starts == known || found.starts == known + 1) return std::string();
    const std::string net = m_dir.Net().string();
    return found.starts < known ? OfOtherStarts(folder, found.starts, net, known)
                                : OfOtherStarts(net, known, folder, found.starts);
}

Result<> StoreCheck::ReadRecord()
{
    auto record = ReadStoreMark(m_env, m_record_file);
    IBD_RETURN_IF_SYSTEM_ERROR(record);
    if (record && (!*record || !(*record)->directory.empty())) {
        m_record = std::move(*record);
        return {};
    }
    if (m_store.rebuilt) return {};
    return BadData("'{}' is damaged: if the folder of the last start is in '{}', remove this file "
                   "and '{}'",
                   m_record_file.string(), m_store.parent.string(), m_mark_file.string());
}

Result<> StoreCheck::Look()
{
    IBD_RETURN_IF_ERROR(ReadRecord());
    if (!IsMoved() && !m_record) return {};
    IBD_ASSIGN_OR_RETURN(const auto there, FindIn(m_store.parent));
    m_there = there.has_value();
    IBD_RETURN_IF_ERROR(LookElsewhere());
    if (!m_there) {
        const bool lost = m_record && m_record->starts > 0 && !m_store.rebuilt;
        return lost ? Missing() : Result<>();
    }
    IBD_ASSIGN_OR_RETURN(m_fault, FindFault());
    if (m_fault.empty()) return {};
    if (!m_store.rebuilt) {
        return BadData("{}. Put the folder of the last start there, or {}", m_fault,
                       m_store.remedy);
    }
    m_log.Warning("{}: it is rebuilt", m_fault);
    return {};
}

void StoreCheck::LogPlace() const
{
    const Path before = m_record ? m_dir.FolderBelow(m_record->directory) : m_store.parent;
    if (before != m_store.parent) {
        m_log.Info("'{}' moved from '{}' to '{}' since the last start", m_store.name,
                   before.string(), m_store.parent.string());
    }
    if (!IsMoved()) return;
    m_log.Info("'{}' is where Bitcoin Core does not look (-{}): before Core uses this data "
               "directory, stop the node, move the folder into '{}', and start without the option",
               (m_store.parent / m_store.name).string(), m_store.option, m_dir.Net().string());
}

/** For the data directory of a store that is elsewhere: removes or names the work of a booster that
 *  was killed there. */
Result<> StoreCheck::ClearUp() const
{
    const WorkFolder work(m_dir.Net() / m_store.contents.front());
    IBD_ASSIGN_OR_RETURN(const bool ours, m_env.IsThere(work.Marker()));
    if (!IsMoved() || !ours) return {};
    IBD_ASSIGN_OR_RETURN(const auto whole, FindInterrupted(m_dir.Net()));
    if (whole) {
        m_log.Warning("'{}' is not used any more: you may delete '{}'", whole->string(),
                      work.Get().string());
        return {};
    }
    m_log.Info("IBD Booster: removing '{}', left by a build that was interrupted",
               work.Get().string());
    return work.Remove(m_env);
}

Result<> StoreCheck::Settle()
{
    LogPlace();
    IBD_RETURN_IF_ERROR(ClearUp());
    if (!IsMoved() && m_fault.empty()) {
        IBD_RETURN_IF_ERROR(RemoveStoreMark(m_env, m_record_file));
        return RemoveStoreMark(m_env, m_mark_file);
    }
    StoreMark record = m_record.value_or(StoreMark());
    if (IsMoved()) record.directory = m_dir.DirectoryAbove(m_store.parent);
    if (!m_record) {
        // First, so that a kill after the store's mark does not make a stranger of it.
        std::array<uint8_t, 8> id;
        m_env.RandomBytes(id);
        record.id = ToHex(id);
        IBD_RETURN_IF_ERROR(WriteStoreMark(m_env, m_record_file, record));
    }
    ++record.starts;
    IBD_RETURN_IF_ERROR(m_env.CreateDirectories(m_store.folder));
    IBD_RETURN_IF_ERROR(
        WriteStoreMark(m_env, m_mark_file, {record.id, record.starts, !m_fault.empty()}));
    return WriteStoreMark(m_env, m_record_file, record);
}

/** A link to nothing means a disk that is not mounted: data would go to the disk below it. */
Result<> CheckLink(Env& env, const DataDir& dir)
{
    const Path chainstate = dir.Chainstate();
    if (!dir.ChainstateIsLink() || env.Exists(chainstate)) return {};
    return SystemError("'{}' is a symbolic link to '{}', which is not there: mount its disk, or "
                       "make that directory",
                       dir.ChainstateName().string(), chainstate.string());
}

} // namespace

Result<> PrepareStores(Env& env, Logger& log, const DataDir& dir, const StoreUses& uses)
{
    IBD_RETURN_IF_ERROR(RecoverDb(env, log, dir.Chainstate()));
    IBD_RETURN_IF_ERROR(CheckLink(env, dir));
    std::vector<StoreCheck> checks;
    checks.push_back({env, log, dir,
                      Store{"chainstate",
                            "chainstatedir",
                            {"chainstate", "chainstate_snapshot"},
                            dir.ChainstateParent(),
                            dir.Chainstate(),
                            uses.chainstate_rebuilt,
                            "restart with -reindex-chainstate (-reindex with -prune) to rebuild "
                            "it"}});
    if (uses.indexes_used) {
        checks.push_back(
            {env, log, dir,
             Store{"indexes",
                   "indexdir",
                   {"indexes"},
                   dir.IndexParent(),
                   dir.Indexes(),
                   uses.indexes_rebuilt,
                   fmt::format("remove '{}' and '{}' to have them built again",
                               dir.Indexes().string(), RecordOf(dir, "indexdir").string())}});
    }
    for (StoreCheck& check : checks) IBD_RETURN_IF_ERROR(check.Look());
    for (StoreCheck& check : checks) IBD_RETURN_IF_ERROR(check.Settle());
    return {};
}

} // namespace ibd
