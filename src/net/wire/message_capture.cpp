// See message_capture.h.
#include "net/wire/message_capture.h"

#include "net/wire/protocol.h"
#include "primitives/serialize.h"
#include "util/check.h"

namespace ibd {

void MessageCapture::Keep(const Endpoint& peer, bool received, std::string_view type,
                          ByteSpan payload, int64_t now)
{
    CHECK(type.size() <= kMaxMessageType);
    Bytes record;
    Writer writer(record);
    writer.I64(now);
    writer.Raw(AsBytes(type));
    writer.Raw(Bytes(kMaxMessageType - type.size()));
    writer.U32(static_cast<uint32_t>(payload.size()));
    writer.Raw(payload);
    const auto written = Append(peer, received ? "msgs_recv.dat" : "msgs_sent.dat", record);
    if (!written) m_log.Error("Message of a peer was not captured: {}", written.Message());
}

Result<> MessageCapture::Append(const Endpoint& peer, const char* file, ByteSpan record)
{
    std::string name = peer.ToString();
    std::replace(name.begin(), name.end(), ':', '_'); // not allowed in folder names on Windows
    const Path folder = m_folder / name;
    IBD_RETURN_IF_ERROR(m_env.CreateDirectories(folder));
    IBD_ASSIGN_OR_RETURN(const auto out, m_env.OpenWrite(folder / file, false));
    IBD_ASSIGN_OR_RETURN(const uint64_t size, out->Size());
    return out->WriteAt(size, record);
}

} // namespace ibd
