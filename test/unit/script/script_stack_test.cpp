// Items of the interpreter's stack: which bytes they hold, and every operation that moves items,
// against a stack of vectors.
#include "script/interpreter.h"
#include "script/no_signatures.h"
#include "script/script.h"
#include "support/testdata.h"

#include <algorithm>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

using Model = std::vector<Bytes>;

constexpr size_t kSizes[] = {0, 1, 4, 20, 31, 32, 33, 71, 520};

Bytes Own(ByteSpan bytes) { return {bytes.begin(), bytes.end()}; }

struct Operation {
    uint8_t op;
    size_t needs; //!< items
    void (*run)(Model& stack, Model& alt);
};

Bytes& At(Model& stack, size_t depth) { return stack[stack.size() - depth]; }

/** Copies the items at `depth`, again and again, onto the top. */
void Copy(Model& stack, size_t depth, size_t count)
{
    for (size_t i = 0; i < count; ++i) stack.push_back(Bytes(At(stack, depth)));
}

/** Moves the item at `depth` to the top. */
void Raise(Model& stack, size_t depth)
{
    Copy(stack, depth, 1);
    stack.erase(stack.end() - static_cast<std::ptrdiff_t>(depth) - 1);
}

const Operation kOperations[] = {
    {OP_TOALTSTACK, 1,
     [](Model& s, Model& alt) {
         alt.push_back(s.back());
         s.pop_back();
     }},
    {OP_2DROP, 2, [](Model& s, Model&) { s.resize(s.size() - 2); }},
    {OP_2DUP, 2, [](Model& s, Model&) { Copy(s, 2, 2); }},
    {OP_3DUP, 3, [](Model& s, Model&) { Copy(s, 3, 3); }},
    {OP_2OVER, 4, [](Model& s, Model&) { Copy(s, 4, 2); }},
    {OP_2ROT, 6,
     [](Model& s, Model&) {
         Raise(s, 6);
         Raise(s, 6);
     }},
    {OP_2SWAP, 4,
     [](Model& s, Model&) {
         Raise(s, 4);
         Raise(s, 4);
     }},
    {OP_DROP, 1, [](Model& s, Model&) { s.pop_back(); }},
    {OP_DUP, 1, [](Model& s, Model&) { Copy(s, 1, 1); }},
    {OP_NIP, 2, [](Model& s, Model&) { s.erase(s.end() - 2); }},
    {OP_OVER, 2, [](Model& s, Model&) { Copy(s, 2, 1); }},
    {OP_ROT, 3, [](Model& s, Model&) { Raise(s, 3); }},
    {OP_SWAP, 2, [](Model& s, Model&) { Raise(s, 2); }},
    {OP_TUCK, 2,
     [](Model& s, Model&) {
         const Bytes top = s.back();
         s.insert(s.end() - 2, top);
     }},
};

/** Adds a random operation to `script` and does the same to the model. */
void AddOperation(Bytes& script, Model& stack, Model& alt)
{
    const size_t choice = TestRng()() % (std::size(kOperations) + 6);
    if (choice < std::size(kOperations)) {
        const Operation& operation = kOperations[choice];
        if (stack.size() < operation.needs) return;
        script.push_back(operation.op);
        operation.run(stack, alt);
    } else if (choice == std::size(kOperations) && !alt.empty()) {
        script.push_back(OP_FROMALTSTACK);
        stack.push_back(alt.back());
        alt.pop_back();
    } else if (choice <= std::size(kOperations) + 2 && !stack.empty()) {
        const bool rolls = TestRng()() % 2 == 0;
        const size_t n = TestRng()() % stack.size();
        AppendPushInt(script, static_cast<int64_t>(n));
        script.push_back(rolls ? OP_ROLL : OP_PICK);
        rolls ? Raise(stack, n + 1) : Copy(stack, n + 1, 1);
    } else {
        const Bytes data = RandomBytes(kSizes[TestRng()() % std::size(kSizes)]);
        AppendPush(script, data);
        stack.push_back(data);
    }
}

} // namespace

TEST_CASE("a stack item holds short bytes and refers to longer ones")
{
    for (const size_t size : kSizes) {
        Bytes bytes = RandomBytes(size);
        const Bytes before = bytes;
        const StackItem item = StackItem::Of(bytes);
        const StackItem copy = item;
        CAPTURE(size);
        REQUIRE(item.size() == size);
        CHECK(item.empty() == (size == 0));
        CHECK(std::ranges::equal(ByteSpan(copy), before));
        CHECK((item.data() == bytes.data()) == (size > StackItem::kInline));
        for (uint8_t& byte : bytes) byte ^= 0xff;
        CHECK(std::ranges::equal(ByteSpan(copy), size > StackItem::kInline ? bytes : before));
    }
    CHECK(StackItem().empty());
}

TEST_CASE("operations that move items do as with vectors")
{
    for (int round = 0; round < 3'000; ++round) {
        Bytes script;
        Model expected, alt, given;
        ScriptStack stack;
        for (size_t i = TestRng()() % 8; i > 0; --i) {
            given.push_back(RandomBytes(kSizes[TestRng()() % std::size(kSizes)]));
        }
        for (const Bytes& item : given) stack.push_back(StackItem::Of(item));
        expected = given;
        for (int i = 0; i < 120; ++i) AddOperation(script, expected, alt);
        REQUIRE(EvalScript(stack, script, 0, NoSignatures(), SigVersion::kBase) ==
                ScriptError::kOk);
        REQUIRE(stack.size() == expected.size());
        for (size_t i = 0; i < stack.size(); ++i) REQUIRE(Own(stack[i]) == expected[i]);
    }
}
