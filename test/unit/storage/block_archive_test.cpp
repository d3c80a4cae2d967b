// BlockArchive: blocks and undo data by places that were copied from a header tree.
#include "crypto/sha256.h"
#include "storage/block_archive.h"
#include "support.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

/** The part of a HeaderNode that says where its block lies. */
struct Place {
    BlockHash hash;
    BlockHash prev;
    int32_t height = 0;
    uint32_t tx_count = 0;
    bool has_data = false;
    bool has_undo = false;
    int32_t file = -1;
    uint32_t data_pos = 0;
    uint32_t undo_pos = 0;

    BlockHash PrevHash() const { return prev; }
    bool HasData() const { return has_data; }
    bool HasUndo() const { return has_undo; }
};

std::unique_ptr<BlockStore> OpenStore(const TempDir& dir)
{
    BlockStoreOptions options;
    options.blocks_dir = dir.Get();
    options.magic = kMainMagic;
    options.max_file_size = 64 << 10; // the blocks of a test fill several
    options.block_chunk = 16 << 10;
    options.undo_chunk = 4 << 10;
    return Must(BlockStore::Open(TestEnv(), TestLog(), options));
}

BlockHash HashOf(const Bytes& block) { return BlockHash(Sha256d(ByteSpan(block).first(80))); }

BlockUndo RandomUndo()
{
    BlockUndo undo;
    undo.txs.resize(RandomBelow(5));
    for (TxUndo& tx : undo.txs) tx.spent.push_back(RandomCoin());
    return undo;
}

bool Names(const std::string& message, const Place& place)
{
    return message.find(place.hash.ToHex()) != std::string::npos &&
           message.find(fmt::format("height {}", place.height)) != std::string::npos;
}

} // namespace

TEST_CASE("a block and its undo data are read where they lay when their place was copied")
{
    const TempDir dir;
    const auto store = OpenStore(dir);
    const BlockArchive archive(*store);
    struct Kept {
        Place place;
        Bytes block;
        BlockUndo undo;
    };
    std::vector<Kept> all;
    for (int32_t height = 0; height < 40; ++height) {
        Kept kept{.place = {}, .block = RandomBlock(RandomBelow(3000)), .undo = RandomUndo()};
        Place& place = kept.place;
        place.hash = HashOf(kept.block);
        place.height = height;
        place.tx_count = 1;
        if (height > 0) place.prev = all.back().place.hash;
        const FilePos at = Must(store->WriteBlock(kept.block, static_cast<uint32_t>(height), 0));
        place.file = at.file;
        place.data_pos = at.offset;
        place.has_data = RandomBelow(4) != 0;
        place.has_undo = RandomBelow(4) != 0;
        if (place.has_undo) {
            place.undo_pos = Must(store->WriteUndo(at.file, kept.undo.Encode(), place.prev,
                                                   static_cast<uint32_t>(height)))
                                 .offset;
        }
        all.push_back(std::move(kept));
    }
    Must(store->Flush());
    for (Kept& kept : all) {
        const StoredBlock stored(kept.place);
        CHECK(stored.seen);
        const Place before = std::exchange(kept.place, Place{}); // the tree moves on
        const auto block = archive.Block(stored);
        const auto undo = archive.Undo(stored);
        CHECK(archive.CheckUndo(stored).Ok() == before.has_undo);
        REQUIRE(block.Ok() == before.has_data);
        REQUIRE(undo.Ok() == before.has_undo);
        if (block) CHECK(*block == kept.block);
        if (undo) CHECK(*undo == kept.undo);
        if (!block) CHECK(Names(block.Message(), before));
        if (!undo) CHECK(Names(undo.Message(), before));
        if (!undo) CHECK(Names(archive.CheckUndo(stored).Message(), before));
    }
}

TEST_CASE("another block at the place, and undo data of another block, are errors")
{
    const TempDir dir;
    const auto store = OpenStore(dir);
    const Bytes block = RandomBlock(100);
    StoredBlock stored;
    stored.hash = HashOf(block);
    stored.prev_hash = HashOf(RandomBlock(1));
    stored.data = Must(store->WriteBlock(block, 0, 0));
    stored.undo = Must(store->WriteUndo(0, RandomUndo().Encode(), stored.prev_hash, 0));
    const BlockArchive archive(*store);
    CHECK(archive.Block(stored));
    CHECK(archive.Undo(stored));
    stored.hash = HashOf(RandomBlock(2));
    stored.prev_hash = stored.hash;
    CHECK_FALSE(archive.Block(stored));
    CHECK_FALSE(archive.Undo(stored));
    CHECK_FALSE(archive.CheckUndo(stored));
}

} // namespace ibd::test
