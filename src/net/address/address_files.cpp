// See address_files.h.
#include "net/address/address_files.h"

#include "util/bounded_file.h"
#include "util/found.h"

#include <algorithm>

namespace ibd {

namespace {

// Formerly the program's version and a flag: the written value, and the ignored bits of a read one.
constexpr uint32_t kDiskVersion = 220000;
constexpr uint32_t kDiskVersionIgnored = 0x0007ffff;
constexpr uint32_t kDiskV2 = uint32_t{1} << 29;

constexpr const char* kPeersFile = "peers.dat";
constexpr const char* kAnchorsFile = "anchors.dat";
constexpr const char* kEndOfFile = "AutoFile::read: end of file: iostream error";
constexpr const char* kBugReport = "https://github.com/bitcoin/bitcoin/issues";

Hash32 NewSeed(Env& env)
{
    Hash32 seed;
    env.RandomBytes(seed);
    return seed;
}

/** Whether the file starts with our magic; reads on after it. */
bool ReadMagic(PayloadReader& reader, const NetworkMagic& magic)
{
    const ByteSpan read = reader.Span(magic.size());
    if (reader.Ok() && std::equal(read.begin(), read.end(), magic.begin())) return true;
    reader.Refuse("Invalid network magic number");
    return false;
}

/** Checks that the hash of the bytes read so far follows. */
void ReadChecksum(PayloadReader& reader, ByteSpan file)
{
    const Uint256 hash(Sha256d(file.first(reader.Position())));
    const Uint256 written = reader.Hash();
    if (reader.Ok() && written != hash) reader.Refuse("Checksum mismatch, data corrupted");
}

std::string Reason(const PayloadReader& reader)
{
    return reader.HasReason() ? reader.GetError().message : kEndOfFile;
}

/** True: read. False: a later format. */
Result<bool> ParsePeers(ByteSpan file, const NetworkMagic& magic, AddrMan& out)
{
    PayloadReader reader(file);
    if (ReadMagic(reader, magic)) {
        const auto read = out.Deserialize(reader);
        if (read && !*read) return false;
        if (!read && reader.Ok()) return read.GetError();
        ReadChecksum(reader, file);
    }
    if (!reader.Ok()) return BadData("{}", Reason(reader));
    return true;
}

/** A file without permission counts as absent, as in Bitcoin Core. A path that is not a regular
 *  file counts as openable: opening it then gives the error. */
bool CanBeOpened(Env& env, const Path& path)
{
    const auto kind = env.KindOf(path);
    if (!kind || *kind == FileKind::kNothing || *kind == FileKind::kDeadLink) return false;
    return *kind != FileKind::kRegular || env.OpenRead(path).Ok();
}

} // namespace

void WriteDiskAddress(Writer& writer, const PeerAddress& address)
{
    writer.U32(kDiskVersion | kDiskV2);
    address.EncodeV2(writer);
}

PeerAddress ReadDiskAddress(PayloadReader& reader, bool v2)
{
    const uint32_t version = reader.U32() & ~kDiskVersionIgnored;
    if (version == 0) return PeerAddress::DecodeV1(reader);
    if (version == kDiskV2 && v2) return PeerAddress::DecodeV2(reader);
    reader.Refuse("Unsupported CAddress disk format version: iostream error");
    return {};
}

Bytes FrameAddressFile(const NetworkMagic& magic, ByteSpan contents)
{
    Bytes out(magic.begin(), magic.end());
    Append(out, contents);
    const Hash32 hash = Sha256d(out);
    Append(out, hash);
    CHECK(out.size() <= kMaxAddressFile); // more would not be read
    return out;
}

Bytes PeersFile(const NetworkMagic& magic, const AddrMan& addresses)
{
    Bytes contents;
    Writer writer(contents);
    addresses.Serialize(writer);
    return FrameAddressFile(magic, contents);
}

Result<> SavePeers(const AddressFileContext& files, ByteSpan whole_file)
{
    return WriteFileAtomically(files.env, files.folder / kPeersFile, whole_file);
}

Result<std::unique_ptr<AddrMan>> LoadPeers(const AddressFileContext& files,
                                           const AddrManOptions& options)
{
    const Path path = files.folder / kPeersFile;
    const auto make = [&] {
        return std::make_unique<AddrMan>(options.groups, NewSeed(files.env), files.logger,
                                         options.check_ratio, options.fixed_key);
    };
    if (!CanBeOpened(files.env, path)) {
        files.logger.Info("Creating peers.dat because the file was not found (\"{}\")",
                          path.string());
    } else {
        const int64_t start = files.env.MonotonicMicros();
        auto out = make();
        const auto file = ReadBoundedFile(files.env, path, kMaxAddressFile);
        IBD_RETURN_IF_SYSTEM_ERROR(file);
        const Result<bool> read =
            file ? ParsePeers(*file, files.magic, *out) : Result<bool>(file.GetError());
        if (!read) {
            return BadData(
                "Invalid or corrupt peers.dat ({}). If you believe this is a bug, please "
                "report it to {}. As a workaround, you can move the file (\"{}\") out of "
                "the way (rename, move, or delete) to have a new one created on the next "
                "start.",
                read.Message(), kBugReport, path.string());
        }
        if (*read) {
            files.logger.Info("Loaded {} addresses from peers.dat {}ms", out->Size(),
                              (files.env.MonotonicMicros() - start) / 1000);
            return out;
        }
        if (!files.env.Rename(path, path.string() + ".bak")) {
            return SystemError("Failed to rename invalid peers.dat file. Please move or delete it "
                               "and try again.");
        }
        files.logger.Warning("Creating new peers.dat because the file version was not compatible "
                             "(\"{}\"). Original backed up to peers.dat.bak",
                             path.string());
    }
    auto fresh = make();
    const Result<> saved =
        SavePeers(files, PeersFile(files.magic, *fresh)); // tried again while the node runs
    if (!saved) files.logger.Error("{}", saved.Message());
    return fresh;
}

std::vector<PeerAddress> TakeAnchors(const AddressFileContext& files)
{
    const Path path = files.folder / kAnchorsFile;
    const auto file = ReadBoundedFile(files.env, path, kMaxAddressFile);
    if (!file) return {};
    (void)files.env.Remove(path); // if this fails, these peers are tried once more
    PayloadReader reader(*file);
    if (!ReadMagic(reader, files.magic)) return {};
    std::vector<PeerAddress> out;
    const uint64_t count = reader.CompactSize();
    for (uint64_t i = 0; i < count && reader.Ok(); ++i) {
        out.push_back(ReadDiskAddress(reader, true));
    }
    ReadChecksum(reader, *file);
    if (!reader.Ok()) return {};
    files.logger.Info("Loaded {} addresses from \"{}\"", out.size(), kAnchorsFile);
    return out;
}

Result<> SaveAnchors(const AddressFileContext& files, const std::vector<PeerAddress>& anchors)
{
    Bytes contents;
    Writer writer(contents);
    writer.CompactSize(anchors.size());
    for (const PeerAddress& anchor : anchors) WriteDiskAddress(writer, anchor);
    const std::string what =
        fmt::format("DumpAnchors: Flush {} outbound block-relay-only peer addresses to anchors.dat",
                    anchors.size());
    files.logger.Info("{} started", what);
    const int64_t start = files.env.MonotonicMicros();
    IBD_RETURN_IF_ERROR(WriteFileAtomically(files.env, files.folder / kAnchorsFile,
                                            FrameAddressFile(files.magic, contents)));
    files.logger.Info("{} completed ({:.2f}s)", what,
                   static_cast<double>(files.env.MonotonicMicros() - start) / 1e6);
    return {};
}

} // namespace ibd
