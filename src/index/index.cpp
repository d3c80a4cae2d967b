// See index.h.
#include "index/index.h"

#include "index/place_sort.h"

#include <chrono>
#include <thread>

namespace ibd {

void Index::CloseDb()
{
    constexpr std::chrono::milliseconds kLookAgain{1};
    std::shared_ptr<KvStore> db;
    {
        const Lock lock(m_mutex);
        db.swap(m_db);
    }
    while (db.use_count() > 1) std::this_thread::sleep_for(kLookAgain); // a reader's few look-ups
}

void Index::SetDb(std::unique_ptr<KvStore> db)
{
    const Lock lock(m_mutex);
    m_db = std::move(db);
}

std::unique_ptr<PlaceSort> Index::MakeSort(Env&, const PlaceSortOptions&) { return nullptr; }

} // namespace ibd
