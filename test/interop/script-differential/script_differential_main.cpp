// Our script engine against Bitcoin Core's on generated spends: the same verdict, and the same
// error. The seed and the number of the case make every one again.
//
//   script_differential --oracle PATH [--seed N] [--count N]   exit 1 on the first disagreements
//   script_differential --answer                              verify-scripts lines on stdin
#include "spend_maker.h"
#include "util/check.h"

#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace ibd;
using namespace ibd::differential;

namespace {

constexpr size_t kBatch = 1024; //!< verdicts of a batch fit into a pipe: no deadlock
constexpr size_t kMaxShown = 10;

/** The oracle as a child that reads lines and answers each. */
class Oracle {
public:
    explicit Oracle(const char* path)
    {
        int in[2], out[2];
        CHECK(pipe(in) == 0 && pipe(out) == 0);
        m_pid = fork();
        CHECK(m_pid >= 0);
        if (m_pid == 0) {
            dup2(in[0], 0);
            dup2(out[1], 1);
            for (const int fd : {in[0], in[1], out[0], out[1]}) close(fd);
            execl(path, path, "verify-scripts", nullptr);
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        m_to = fdopen(in[1], "w");
        m_from = fdopen(out[0], "r");
        CHECK(m_to && m_from);
    }
    ~Oracle()
    {
        fclose(m_to);
        fclose(m_from);
        waitpid(m_pid, nullptr, 0);
    }
    Oracle(const Oracle&) = delete;
    Oracle& operator=(const Oracle&) = delete;

    void Send(const std::string& lines)
    {
        CHECK(fwrite(lines.data(), 1, lines.size(), m_to) == lines.size());
        CHECK(fflush(m_to) == 0);
    }
    std::string Receive()
    {
        char line[256];
        CHECK(fgets(line, sizeof line, m_from));
        line[std::strcspn(line, "\n")] = 0;
        return line;
    }

private:
    pid_t m_pid = -1;
    FILE* m_to = nullptr;
    FILE* m_from = nullptr;
};

struct Statistics {
    std::map<std::string, size_t> verdicts;
    std::map<std::string, std::pair<size_t, size_t>> kinds; //!< all, valid
    size_t differences = 0;

    void Add(const SpendCase& spend, const std::string& verdict)
    {
        ++verdicts[verdict];
        auto& kind = kinds[spend.kind];
        ++kind.first;
        kind.second += verdict == "OK" ? 1 : 0;
    }
    void Print() const
    {
        for (const auto& [kind, counts] : kinds) {
            std::printf("%-14s %8zu, valid %zu\n", kind.c_str(), counts.first, counts.second);
        }
        for (const auto& [verdict, count] : verdicts) {
            std::printf("  %-40s %8zu\n", verdict.c_str(), count);
        }
    }
};

void RunBatch(SpendMaker& maker, Oracle& oracle, size_t first, size_t size, Statistics& all)
{
    std::vector<SpendCase> cases;
    std::string lines;
    for (size_t i = 0; i < size; ++i) {
        cases.push_back(maker.Next());
        lines += ToLine(cases.back()) + "\n";
    }
    std::thread sender([&] { oracle.Send(lines); }); // the oracle works while we do
    std::vector<std::string> ours;
    for (const SpendCase& spend : cases) ours.push_back(OurVerdict(spend));
    sender.join();
    for (size_t i = 0; i < size; ++i) {
        const std::string theirs = oracle.Receive();
        all.Add(cases[i], theirs);
        if (theirs == ours[i] || ++all.differences > kMaxShown) continue;
        std::printf("case %zu (%s): Core says %s, we say %s\n  %s\n", first + i, cases[i].kind,
                    theirs.c_str(), ours[i].c_str(), ToLine(cases[i]).c_str());
    }
}

int Compare(const char* oracle_path, uint64_t seed, size_t count)
{
    std::printf("seed %llu, %zu spends\n", static_cast<unsigned long long>(seed), count);
    std::fflush(stdout);
    Oracle oracle(oracle_path);
    SpendMaker maker(seed);
    Statistics all;
    for (size_t done = 0; done < count && all.differences <= kMaxShown; done += kBatch) {
        RunBatch(maker, oracle, done, std::min(kBatch, count - done), all);
    }
    all.Print();
    std::printf("%zu differences\n", all.differences);
    return all.differences == 0 ? 0 : 1;
}

int Answer()
{
    for (std::string line; std::getline(std::cin, line);) {
        std::cout << AnswerLine(line) << std::endl;
    }
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    const char* oracle = nullptr;
    uint64_t seed = std::random_device{}();
    size_t count = 20'000;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (option == "--answer") return Answer();
        if (i + 1 >= argc) break;
        if (option == "--oracle")
            oracle = argv[++i];
        else if (option == "--seed")
            seed = std::stoull(argv[++i]);
        else if (option == "--count")
            count = std::stoull(argv[++i]);
    }
    if (!oracle) {
        std::cerr << "usage: script_differential --oracle PATH [--seed N] [--count N] | --answer\n";
        return 2;
    }
    return Compare(oracle, seed, count);
}
