// A coins cache over the database, and an overlay over the cache, against plain maps. Each byte
// pair of the input is an operation on one of 32 outpoints. The database stays open between inputs;
// every input has outpoints of its own.
#include "validation/coins_cache.h"

#include <cstdlib>
#include <filesystem>
#include <map>

using namespace ibd;

namespace {

using Model = std::map<OutPoint, Coin>;

CoinsDb& Database()
{
    static const std::unique_ptr<Env> env = MakePosixEnv();
    static const std::unique_ptr<Logger> log = MakeNullLogger();
    static const std::unique_ptr<CoinsDb> db = [] {
        std::string name = (std::filesystem::temp_directory_path() / "ibd-fuzz-XXXXXX").string();
        CHECK(mkdtemp(name.data()));
        CoinsDbOptions options;
        options.directory = name;
        options.batch_bytes = 200;
        auto opened = CoinsDb::Open(*env, *log, options);
        CHECK(opened.Ok());
        return std::move(*opened);
    }();
    return *db;
}

class Run {
public:
    explicit Run(uint64_t number)
        : m_number(number), m_base(Database()), m_cache(m_base, OutPointHasher({number, 1})),
          m_overlay(std::make_unique<CoinsCache>(m_cache, OutPointHasher({2, number})))
    {
    }

    void Step(uint8_t what, uint8_t which)
    {
        const OutPoint name = Name(which % 32);
        const Coin coin{int64_t{which} << 20, ScriptBytes(Bytes(which, what)), 7, (which & 1) != 0};
        switch (what % 8) {
        case 0: Add(m_cache, m_model, name, coin, which & 64); break;
        case 1: Spend(m_cache, m_model, name); break;
        case 2: Add(*m_overlay, m_above, name, coin, which & 64); break;
        case 3: Spend(*m_overlay, m_above, name); break;
        case 4: Compare(m_cache, m_model, name); break;
        case 5: Compare(*m_overlay, m_above, name); break;
        case 6: Write(which & 1); break;
        case 7: DropOverlay(); break;
        }
        // The overlay must not outlive what it lies on.
        if (what % 8 < 2) DropOverlay();
    }

    void Finish()
    {
        Write(true);
        for (uint8_t i = 0; i < 32; ++i) Compare(m_cache, m_model, Name(i));
    }

private:
    OutPoint Name(uint8_t which) const
    {
        OutPoint outpoint;
        std::memcpy(outpoint.txid.data(), &m_number, sizeof m_number);
        outpoint.txid.data()[31] = which % 4;
        outpoint.vout = which / 4;
        return outpoint;
    }

    static void Add(CoinsCache& cache, Model& model, const OutPoint& name, const Coin& coin,
                    bool may_exist)
    {
        if (!may_exist && model.contains(name)) return;
        cache.Add(name, coin, may_exist);
        model[name] = coin;
    }
    static void Spend(CoinsCache& cache, Model& model, const OutPoint& name)
    {
        Coin spent;
        const auto there = cache.Spend(name, &spent);
        CHECK(there.Ok());
        CHECK(*there == model.contains(name));
        if (*there) CHECK(spent == model[name]);
        model.erase(name);
    }
    static void Compare(CoinsCache& cache, const Model& model, const OutPoint& name)
    {
        const auto known = model.find(name);
        const auto read = cache.Read(name);
        CHECK(read.Ok());
        CHECK(read->has_value() == (known != model.end()));
        if (*read) CHECK(**read == known->second);
        const auto got = cache.Get(name);
        CHECK(got.Ok());
        CHECK((*got != nullptr) == (known != model.end()));
        if (*got) CHECK(**got == known->second);
    }
    void Write(bool forget)
    {
        BlockHash best;
        std::memcpy(best.data(), &++m_writes, sizeof m_writes);
        const auto done = forget ? m_cache.Flush(Database(), best) : m_cache.Sync(Database(), best);
        CHECK(done.Ok());
        for (const auto& [name, coin] : m_model) {
            const auto stored = Database().Get(name);
            CHECK(stored.Ok() && stored->has_value() && **stored == coin);
        }
    }
    void DropOverlay()
    {
        m_overlay = std::make_unique<CoinsCache>(m_cache, OutPointHasher({2, m_number}));
        m_above = m_model;
    }

    const uint64_t m_number;
    CoinsDbReader m_base;
    CoinsCache m_cache;
    std::unique_ptr<CoinsCache> m_overlay;
    Model m_model, m_above;
    uint64_t m_writes = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static uint64_t number = 0;
    Run run(++number);
    for (size_t i = 0; i + 1 < size && i < 2000; i += 2) run.Step(data[i], data[i + 1]);
    run.Finish();
    return 0;
}
