// A server on a thread of its own that answers each connection with the next bytes of a script, as
// they are, and keeps what was asked.
#pragma once

#include "util/strings.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "support/catch.h"

namespace ibd::test {

/** "HTTP/1.1 200 ..." with a length. */
inline std::string HttpReply(int status, const std::string& body)
{
    return fmt::format("HTTP/1.1 {} Some\r\nContent-Length: {}\r\n\r\n{}", status, body.size(),
                       body);
}

class ScriptedHttp {
public:
    explicit ScriptedHttp(std::vector<std::string> answers) : m_answers(std::move(answers))
    {
        m_listener = ::socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(m_listener >= 0);
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* const plain = reinterpret_cast<sockaddr*>(&address);
        REQUIRE(::bind(m_listener, plain, size) == 0);
        REQUIRE(::listen(m_listener, 8) == 0);
        REQUIRE(::getsockname(m_listener, plain, &size) == 0);
        m_port = ntohs(address.sin_port);
        m_thread = std::thread([this] { Serve(); });
    }
    ~ScriptedHttp()
    {
        ::shutdown(m_listener, SHUT_RDWR); // ends accept(): a script may be longer than the test
        m_thread.join();
        ::close(m_listener);
    }
    ScriptedHttp(const ScriptedHttp&) = delete;
    ScriptedHttp& operator=(const ScriptedHttp&) = delete;

    std::string PortOption() const { return fmt::format("-rpcport={}", m_port); }
    /** Heads and bodies; after the client has its last answer. */
    const std::vector<std::string>& Requests() const { return m_requests; }

private:
    void Serve()
    {
        for (const std::string& answer : m_answers) {
            const int line = ::accept(m_listener, nullptr, nullptr);
            if (line < 0) return;
            m_requests.push_back(ReadRequest(line));
            // In two parts, so that the client sees an incomplete answer first.
            const size_t half = answer.size() / 2;
            for (const std::string_view part : {std::string_view(answer).substr(0, half),
                                                std::string_view(answer).substr(half)}) {
                if (!part.empty()) (void)!::send(line, part.data(), part.size(), MSG_NOSIGNAL);
            }
            ::close(line);
        }
    }

    static std::string ReadRequest(int line)
    {
        constexpr std::string_view kLength = "Content-Length: ";
        std::string text;
        for (;;) {
            const size_t head = text.find("\r\n\r\n");
            if (head != std::string::npos) {
                const size_t at = text.find(kLength) + kLength.size();
                const auto size = LenientInteger(std::string_view(text).substr(at));
                if (text.size() >= head + 4 + static_cast<size_t>(size)) return text;
            }
            char bytes[4096];
            const ssize_t n = ::recv(line, bytes, sizeof(bytes), 0);
            if (n <= 0) return text;
            text.append(bytes, static_cast<size_t>(n));
        }
    }

    const std::vector<std::string> m_answers;
    std::vector<std::string> m_requests;
    int m_listener = -1;
    uint16_t m_port = 0;
    std::thread m_thread;
};

} // namespace ibd::test
