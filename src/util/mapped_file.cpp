// See mapped_file.h.
#include "util/mapped_file.h"

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <mutex>

#include <sys/mman.h>

namespace ibd {

namespace {

/** The point at which this thread continues if its current copy fails; null: it is not copying. */
thread_local sigjmp_buf* volatile t_copy = nullptr;

extern "C" void OnBusError(int)
{
    if (t_copy) siglongjmp(*t_copy, 1);
    (void)std::signal(SIGBUS, SIG_DFL); // not ours: it is raised again and ends the process
}

void HandleBusErrors()
{
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction action = {};
        action.sa_handler = OnBusError;
        CHECK(::sigaction(SIGBUS, &action, nullptr) == 0);
    });
}

/** False: a page of `from` is unavailable; `out` is then unspecified. */
bool CopyFromMap(MutableByteSpan out, const uint8_t* from)
{
    sigjmp_buf here;
    // Saves the signal mask: a jump out of the handler would leave its signals blocked.
    if (sigsetjmp(here, 1) != 0) {
        t_copy = nullptr;
        return false;
    }
    t_copy = &here;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::memcpy(out.data(), from, out.size());
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_copy = nullptr;
    return true;
}

class MappedFile final : public ReadableFile {
public:
    MappedFile(std::unique_ptr<ReadableFile> file, void* data, uint64_t size)
        : m_file(std::move(file)), m_data(data), m_size(size)
    {
    }
    ~MappedFile() override { ::munmap(m_data, m_size); }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) const override
    {
        if (out.empty() || offset >= m_size) return size_t{0};
        const MutableByteSpan wanted = out.first(std::min<uint64_t>(out.size(), m_size - offset));
        const auto* from = static_cast<const uint8_t*>(m_data) + offset;
        if (!CopyFromMap(wanted, from)) return m_file->ReadAt(offset, wanted);
        // The rest of a file's last page reads as zeros: the size shows whether the read was valid.
        IBD_ASSIGN_OR_RETURN(const uint64_t size, m_file->Size());
        return size >= offset + wanted.size() ? wanted.size() : m_file->ReadAt(offset, wanted);
    }
    Result<uint64_t> Size() const override { return m_size; }
    void WillNeed(uint64_t offset, uint64_t n) const override { m_file->WillNeed(offset, n); }
    void DontNeed(uint64_t offset, uint64_t n) const override { m_file->DontNeed(offset, n); }

private:
    const std::unique_ptr<ReadableFile> m_file;
    void* const m_data;
    const uint64_t m_size;
};

} // namespace

std::unique_ptr<ReadableFile> MapForReading(std::unique_ptr<ReadableFile> file, int fd,
                                            uint64_t size)
{
    HandleBusErrors();
    void* const data = size == 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) return file;
    return std::make_unique<MappedFile>(std::move(file), data, size);
}

} // namespace ibd
