// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/unpack.h"

#include "engine/base/files/content_hash.h"
#include "engine/link/bundle/manifest.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/statvfs.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = std::size_t{1} << 20;
/// The bytes of the disk to keep free, for folders and other files written meanwhile.
constexpr std::int64_t kSpare = std::int64_t{16} << 20;

/// Creates a new file. Fails if the path exists, even as a link.
Result<FileDescriptor> createNew(const fs::path& path)
{
    std::error_code code;
    fs::create_directories(path.parent_path(), code);
    if (code) {
        return systemError(path.parent_path(), "cannot be made", code.value());
    }
    FileDescriptor file = createNewFile(path);
    if (file.isOpen()) {
        return file;
    }
    return errno == EEXIST
               ? Error{path.string(), "is there already: this file system takes two names of the bundle for one"}
               : systemError(path, "cannot be written", errno);
}

/// Fills `buffer`, or less of it if the entry ends. Returns the number of bytes read.
Result<std::size_t> readUpTo(ArchiveReader& reader, std::span<std::byte> buffer)
{
    std::size_t filled = 0;
    while (filled < buffer.size()) {
        const auto got = reader.read(buffer.subspan(filled));
        if (!got || *got == 0) {
            return got ? Result<std::size_t>(filled) : got;
        }
        filled += *got;
    }
    return filled;
}

class Extractor {
public:
    Extractor(ArchiveReader& reader, const fs::path& file, const BundleContents& contents, const BundleWatch& watch)
        : m_reader(reader), m_file(file), m_watch(watch), m_total(std::max<std::int64_t>(contents.bytes(), 1))
    {
    }

    Status extract(const BundledFile& listed, const fs::path& folder)
    {
        const auto entry = RESIDUA_TRY(m_reader.next());
        const std::string wanted = "\"" + listed.path + "\"";
        if (!entry) {
            return Error{m_file.string(), "is cut off: it ends before " + wanted};
        }
        if (entry->path != listed.path || entry->bytes != listed.bytes) {
            return Error{m_file.string(), "has another entry where its list has " + wanted + " of " +
                                              std::to_string(listed.bytes) +
                                              " bytes: it is damaged, or no work of Residua"};
        }
        const fs::path path = folder / listed.path;
        auto out = RESIDUA_TRY(createNew(path));
        const auto checksum = RESIDUA_TRY(copy(listed, out, path));
        if (checksum != listed.checksum) {
            return Error{m_file.string(), "is damaged: the bytes of " + wanted + " are not those that were packed"};
        }
        return finishFile(out) ? Status(Done{}) : Status(systemError(path, "cannot be written", errno));
    }

private:
    Result<std::uint32_t> copy(const BundledFile& listed, const FileDescriptor& out, const fs::path& path)
    {
        std::uint32_t checksum = 0;
        for (std::int64_t left = listed.bytes; left > 0;) {
            m_buffer.resize(static_cast<std::size_t>(std::min<std::int64_t>(left, kChunk)));
            const auto got = RESIDUA_TRY(readUpTo(m_reader, m_buffer));
            if (got != m_buffer.size()) {
                return Error{m_file.string(), "is cut off within \"" + listed.path + "\""};
            }
            if (!writeBytes(out.get(), m_buffer)) {
                return systemError(path, "cannot be written", errno);
            }
            checksum = crc32c(m_buffer, checksum);
            left -= static_cast<std::int64_t>(got);
            m_done += static_cast<std::int64_t>(got);
            if (m_watch && !m_watch(static_cast<double>(m_done) / static_cast<double>(m_total))) {
                return Error{"", "given up: nothing is unpacked"};
            }
        }
        return checksum;
    }

    ArchiveReader& m_reader;
    const fs::path& m_file;
    const BundleWatch& m_watch;
    std::int64_t m_total = 1;
    std::int64_t m_done = 0;
    std::vector<std::byte> m_buffer;
};

} // namespace

Result<BundleContents> readContents(ArchiveReader& reader, const fs::path& file)
{
    const auto entry = RESIDUA_TRY(reader.next());
    if (!entry || entry->path != kManifest) {
        return Error{file.string(), std::string("is no bundle of Residua: it does not begin with ") + kManifest};
    }
    if (entry->bytes < 0 || std::cmp_greater(entry->bytes, kLongestManifest)) {
        return Error{file.string(), "has a list of " + std::to_string(entry->bytes) + " bytes, expected at most " +
                                        std::to_string(kLongestManifest)};
    }
    std::vector<std::byte> text(static_cast<std::size_t>(entry->bytes));
    const auto got = readUpTo(reader, text);
    if (!got || *got != text.size()) {
        return got ? Error{file.string(), "is cut off within its list"} : got.error();
    }
    return manifestFrom(file, {reinterpret_cast<const char*>(text.data()), text.size()});
}

Status extractFiles(ArchiveReader& reader, const fs::path& file, const BundleContents& contents, const fs::path& folder,
                    const BundleWatch& watch)
{
    Extractor extractor(reader, file, contents, watch);
    for (const BundledFile& listed : contents.files) {
        RESIDUA_TRY(extractor.extract(listed, folder));
    }
    const auto more = RESIDUA_TRY(reader.next());
    return more ? Status(Error{file.string(), "holds " + shown(more->path) + ", which its list has not"})
                : Status(Done{});
}

Status checkGrowth(const BundleContents& contents, const fs::path& file)
{
    constexpr std::int64_t kAlways = std::int64_t{1} << 30; // bytes; harmless whatever the contents
    std::error_code code;
    const std::uintmax_t size = fs::file_size(file, code);
    if (code) {
        return systemError(file, "cannot be read", code.value());
    }
    const auto bytes = static_cast<double>(contents.bytes());
    if (contents.bytes() <= kAlways || bytes <= static_cast<double>(size) * static_cast<double>(kMostGrowth)) {
        return Done{};
    }
    return Error{file.string(), "has " + bytesText(static_cast<double>(size)) + " and would become " +
                                    bytesText(bytes) + ", more than " + std::to_string(kMostGrowth) +
                                    " times as much: it was made to fill a disk, or holds almost nothing but one "
                                    "repeated byte. Where that is meant: residua-cli unpack --any-size"};
}

Status checkRoom(const BundleContents& contents, const fs::path& folder)
{
    struct statvfs disk {};
    if (::statvfs(folder.c_str(), &disk) != 0) {
        return systemError(folder, "cannot be used", errno);
    }
    const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
    const auto needed = static_cast<double>(contents.bytes() + kSpare);
    if (free >= needed) {
        return Done{};
    }
    return Error{folder.string(), "has " + bytesText(free) + " free, and unpacked the bundle takes " +
                                      bytesText(static_cast<double>(contents.bytes()))};
}

} // namespace residua::engine
