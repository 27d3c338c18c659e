// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <ctime>
#include <new>
#include <utility>

#include <sys/stat.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockRead = std::size_t{1} << 18;

struct EntryDeleter {
    void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

/// Returns the kind of an entry that is not a regular file, or an empty string for a regular file.
std::string otherKind(archive_entry* entry)
{
    static_assert(AE_IFREG == S_IFREG && AE_IFLNK == S_IFLNK && AE_IFDIR == S_IFDIR && AE_IFIFO == S_IFIFO &&
                  AE_IFSOCK == S_IFSOCK);
    return archive_entry_hardlink(entry) != nullptr ? "a link" : otherKindOf(archive_entry_filetype(entry));
}

} // namespace

void ArchiveDeleter::operator()(archive* handle) const
{
    archive_free(handle);
}

Result<ArchiveWriter> ArchiveWriter::create(const fs::path& file)
{
    ArchiveWriter writer;
    writer.m_file = file;
    writer.m_descriptor = createNewFile(file);
    if (!writer.m_descriptor.isOpen()) {
        return systemError(file, "cannot be written", errno);
    }
    writer.m_archive.reset(archive_write_new());
    archive* const handle = writer.m_archive.get();
    if (handle == nullptr) {
        throw std::bad_alloc();
    }
    // GNU's format keeps names as bytes in any locale; pax would convert them to UTF-8.
    if (archive_write_set_format_gnutar(handle) != ARCHIVE_OK || archive_write_add_filter_zstd(handle) != ARCHIVE_OK ||
        archive_write_open_fd(handle, writer.m_descriptor.get()) != ARCHIVE_OK) {
        return writer.failure();
    }
    return writer;
}

Error ArchiveWriter::failure() const
{
    const int code = archive_errno(m_archive.get());
    if (code == ENOSPC || code == EDQUOT || code == EFBIG) {
        return systemError(m_file, "cannot be written", code);
    }
    const char* const text = archive_error_string(m_archive.get());
    return {m_file.string(), std::string("cannot be written: ") + (text != nullptr ? text : "unknown reason")};
}

Status ArchiveWriter::begin(const std::string& path, std::int64_t bytes)
{
    const std::unique_ptr<archive_entry, EntryDeleter> entry(archive_entry_new());
    archive_entry_copy_pathname(entry.get(), path.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), bytes);
    archive_entry_set_mtime(entry.get(), std::time(nullptr), 0);
    return archive_write_header(m_archive.get(), entry.get()) == ARCHIVE_OK ? Status(Done{}) : Status(failure());
}

Status ArchiveWriter::write(std::span<const std::byte> bytes)
{
    const la_ssize_t written = archive_write_data(m_archive.get(), bytes.data(), bytes.size());
    return std::cmp_equal(written, bytes.size()) ? Status(Done{}) : Status(failure());
}

Result<std::int64_t> ArchiveWriter::finish()
{
    if (archive_write_close(m_archive.get()) != ARCHIVE_OK) {
        return failure();
    }
    struct stat status {};
    if (::fstat(m_descriptor.get(), &status) != 0 || !finishFile(m_descriptor)) {
        return systemError(m_file, "cannot be written", errno);
    }
    return static_cast<std::int64_t>(status.st_size);
}

Result<ArchiveReader> ArchiveReader::open(const fs::path& file)
{
    auto descriptor = RESIDUA_TRY(openRegularFile(file));
    ArchiveReader reader;
    reader.m_file = file;
    reader.m_descriptor = std::move(descriptor);
    reader.m_archive.reset(archive_read_new());
    archive* const handle = reader.m_archive.get();
    if (handle == nullptr) {
        throw std::bad_alloc();
    }
    // Supports only the format that pack() writes, because each further parser could be attacked by an untrusted file.
    if (archive_read_support_format_tar(handle) != ARCHIVE_OK ||
        archive_read_support_filter_zstd(handle) != ARCHIVE_OK ||
        archive_read_open_fd(handle, reader.m_descriptor.get(), kBlockRead) != ARCHIVE_OK) {
        return reader.failure();
    }
    return reader;
}

Error ArchiveReader::failure() const
{
    const char* const text = archive_error_string(m_archive.get());
    return {m_file.string(), std::string("is no bundle, damaged or cut off: ") + (text != nullptr ? text : "unknown")};
}

Result<std::optional<ArchiveEntry>> ArchiveReader::next()
{
    archive_entry* entry = nullptr;
    const int found = archive_read_next_header(m_archive.get(), &entry);
    if (found == ARCHIVE_EOF) {
        return std::optional<ArchiveEntry>();
    }
    if (found != ARCHIVE_OK) {
        return failure();
    }
    const char* const path = archive_entry_pathname(entry);
    if (path == nullptr) {
        return Error{m_file.string(), "holds an entry whose name cannot be read"};
    }
    if (const std::string kind = otherKind(entry); !kind.empty()) {
        return Error{m_file.string(), "holds " + kind + " among its entries, expected plain files alone"};
    }
    return std::optional(ArchiveEntry{path, archive_entry_size(entry)});
}

Result<std::size_t> ArchiveReader::read(std::span<std::byte> out)
{
    const la_ssize_t got = archive_read_data(m_archive.get(), out.data(), out.size());
    return got < 0 ? Result<std::size_t>(failure()) : Result<std::size_t>(static_cast<std::size_t>(got));
}

} // namespace residua::engine
