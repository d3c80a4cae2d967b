// See resolver.h.
#include "net/address/resolver.h"

#include "net/address/socket_address.h"

#include <netdb.h>

namespace ibd {

void Resolver::Start()
{
    m_thread = NamedThread("net-dns", [this] {
        while (const auto question = m_queue.Pop()) {
            question->answer(m_look_up(question->name, question->most));
        }
    });
}

void Resolver::Stop()
{
    m_queue.Abort();
    m_thread.Join();
}

bool Resolver::Ask(std::string name, size_t most, Answer answer)
{
    return m_queue.TryPush({std::move(name), most, std::move(answer)}, 1);
}

std::vector<NetAddress> SystemLookUp(const std::string& name, size_t most)
{
    if (name.empty() || name.find('\0') != std::string::npos) return {};
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* list = nullptr;
    if (::getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return {};
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(list, ::freeaddrinfo);
    std::vector<NetAddress> out;
    for (const addrinfo* entry = list; entry && out.size() < most; entry = entry->ai_next) {
        const auto endpoint = FromSocketAddress(entry->ai_addr);
        if (endpoint && !endpoint->address.IsInternal()) out.push_back(endpoint->address);
    }
    return out;
}

} // namespace ibd
