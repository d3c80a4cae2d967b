// See http_client.h.
#include "cli/http_client.h"
#include "util/base64.h"

#include <memory>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

namespace ibd {

namespace {

constexpr int kVeryLong = 5 * 365 * 24 * 3600; //!< seconds

struct Free {
    void operator()(event_base* p) const { event_base_free(p); }
    void operator()(evhttp_connection* p) const { evhttp_connection_free(p); }
};

const char* FailureText(evhttp_request_error error)
{
    switch (error) {
    case EVREQ_HTTP_TIMEOUT: return "no answer in time";
    case EVREQ_HTTP_EOF: return "the server closed the connection";
    case EVREQ_HTTP_INVALID_HEADER: return "the server's answer is no HTTP";
    case EVREQ_HTTP_BUFFER_ERROR: return "reading or writing failed";
    case EVREQ_HTTP_REQUEST_CANCEL: return "the request was cancelled";
    case EVREQ_HTTP_DATA_TOO_LONG: return "the answer is too long";
    }
    return "unknown failure";
}

struct Pending {
    HttpAnswer answer;
    std::string failure;
};

void OnDone(evhttp_request* request, void* arg)
{
    auto* pending = static_cast<Pending*>(arg);
    if (request == nullptr || evhttp_request_get_response_code(request) == 0) return;
    pending->answer.status = evhttp_request_get_response_code(request);
    evbuffer* input = evhttp_request_get_input_buffer(request);
    pending->answer.body.resize(evbuffer_get_length(input));
    evbuffer_remove(input, pending->answer.body.data(), pending->answer.body.size());
}

void OnError(evhttp_request_error error, void* arg)
{
    static_cast<Pending*>(arg)->failure = FailureText(error);
}

} // namespace

Result<HttpAnswer> Post(const HttpTarget& target, const std::string& path, const std::string& body)
{
    const std::unique_ptr<event_base, Free> base(event_base_new());
    if (!base) return SystemError("cannot set up the HTTP client");
    const std::unique_ptr<evhttp_connection, Free> connection(
        evhttp_connection_base_new(base.get(), nullptr, target.host.c_str(), target.port));
    if (!connection) return SystemError("cannot set up a connection to {}", target.host);
    const int timeout = target.timeout_seconds > 0 ? target.timeout_seconds : kVeryLong;
    evhttp_connection_set_timeout(connection.get(), timeout);

    Pending pending;
    evhttp_request* request = evhttp_request_new(OnDone, &pending);
    if (request == nullptr) return SystemError("cannot make an HTTP request");
    evhttp_request_set_error_cb(request, OnError);
    evkeyvalq* headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Host", target.host.c_str());
    evhttp_add_header(headers, "Connection", "close");
    evhttp_add_header(headers, "Content-Type", "application/json");
    const std::string login = "Basic " + ToBase64(AsBytes(target.login));
    evhttp_add_header(headers, "Authorization", login.c_str());
    evbuffer_add(evhttp_request_get_output_buffer(request), body.data(), body.size());
    // The connection owns the request from here on, whatever happens.
    if (evhttp_make_request(connection.get(), request, EVHTTP_REQ_POST, path.c_str()) != 0) {
        return SystemError("cannot send an HTTP request");
    }
    event_base_dispatch(base.get());
    if (pending.answer.status == 0) pending.answer.body = pending.failure;
    return pending.answer;
}

} // namespace ibd
