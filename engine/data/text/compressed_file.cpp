// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/compressed_file.h"

#include "projects/model/data_source.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace residua::engine {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kReadAtOnce = std::size_t{1} << 18;
constexpr Compression kGzip{"gzip", ".gz", "gunzip"};
constexpr Compression kZstd{"zstd", ".zst", "zstd -d --long=31"};
constexpr Compression kXz{"xz", ".xz", "unxz"};
constexpr Compression kBzip2{"bzip2", ".bz2", "bunzip2"};

struct Mark {
    std::string_view bytes;
    const Compression& compression;
};
/// The first bytes of compressed files. A zstd file may begin with a skippable frame.
constexpr std::array kMarks{Mark{"\x1f\x8b"sv, kGzip}, Mark{"\x28\xb5\x2f\xfd"sv, kZstd},
                            Mark{"\x50\x2a\x4d\x18"sv, kZstd}, Mark{"\xfd\x37zXZ\0"sv, kXz},
                            Mark{"BZh91AY&SY"sv, kBzip2}};
constexpr std::size_t kLevel = 3; ///< offset of the digit in the mark of bzip2

const Compression* compressionIn(std::string head)
{
    if (head.starts_with("BZh") && head.size() > kLevel && head[kLevel] >= '1' && head[kLevel] <= '9') {
        head[kLevel] = '9';
    }
    const auto found = std::ranges::find_if(kMarks, [&](const Mark& mark) { return head.starts_with(mark.bytes); });
    return found != kMarks.end() ? &found->compression : nullptr;
}

/// The file that libarchive reads; stores errors of the disk itself.
struct Input {
    explicit Input(InputFile opened) : file(std::move(opened)) {}

    InputFile file;
    std::uint64_t done = 0;
    Status status = Done{};
    std::array<std::byte, kReadAtOnce> buffer{};
};

la_ssize_t readInput(archive*, void* data, const void** bytes)
{
    Input& input = *static_cast<Input*>(data);
    const std::size_t size = std::min<std::uint64_t>(kReadAtOnce, input.file.size() - input.done);
    input.status = input.file.read(input.done, std::span(input.buffer).first(size));
    input.done += size;
    *bytes = input.buffer.data();
    return input.status ? static_cast<la_ssize_t>(size) : -1;
}

class ArchiveDecompressor : public Decompressor {
public:
    ArchiveDecompressor(InputFile file, const Compression& compression)
        : m_compression(compression), m_input(std::move(file)), m_reader(archive_read_new(), &archive_read_free)
    {
        if (!m_reader) {
            throw std::bad_alloc();
        }
        archive_read_support_format_raw(m_reader.get());
        archive_read_support_format_empty(m_reader.get());
        &compression == &kGzip ? archive_read_support_filter_gzip(m_reader.get())
        : &compression == &kXz ? archive_read_support_filter_xz(m_reader.get())
                               : archive_read_support_filter_bzip2(m_reader.get());
    }

    Result<std::size_t> read(std::span<char> out) override
    {
        if (!m_opened) {
            m_opened = true;
            archive_entry* entry = nullptr;
            m_state = archive_read_open(m_reader.get(), &m_input, nullptr, &readInput, nullptr);
            m_state = m_state == ARCHIVE_OK ? archive_read_next_header(m_reader.get(), &entry) : m_state;
        }
        if (m_state == ARCHIVE_EOF) {
            return std::size_t{0};
        }
        const la_ssize_t got =
            m_state == ARCHIVE_OK ? archive_read_data(m_reader.get(), out.data(), out.size()) : la_ssize_t{-1};
        if (got < 0) {
            return m_input.status
                       ? notDecompressed(m_input.file, m_compression.name, archive_error_string(m_reader.get()))
                       : m_input.status.error();
        }
        return static_cast<std::size_t>(got);
    }

private:
    const Compression& m_compression;
    Input m_input;
    std::unique_ptr<archive, decltype(&archive_read_free)> m_reader;
    bool m_opened = false;
    int m_state = ARCHIVE_OK;
};

std::unique_ptr<Decompressor> decompressorOf(InputFile file, const Compression& compression, std::uint64_t mostWindow)
{
    if (&compression == &kZstd) {
        return zstdDecompressor(std::move(file), mostWindow);
    }
    return std::make_unique<ArchiveDecompressor>(std::move(file), compression);
}

} // namespace

Error notDecompressed(const InputFile& file, std::string_view kind, const char* reason)
{
    return Error{file.path().string(), "cannot be decompressed: cut off, damaged, or not made by " + std::string(kind) +
                                           " (" + (reason != nullptr ? reason : "no reason given") + ")"};
}

Result<const Compression*> compressionOf(const std::filesystem::path& path)
{
    constexpr std::size_t kLongestMark = 10;
    const auto head = RESIDUA_TRY(headOf(path, nullptr, kLongestMark));
    const Compression* const found = compressionIn(head);
    const std::string_view said = projects::compressedEnding(path.filename().native());
    if (said.empty() || head.empty() || (found != nullptr && found->ending == said)) {
        return found;
    }
    const auto named = std::ranges::find_if(kMarks, [&](const Mark& mark) { return mark.compression.ending == said; });
    return Error{path.string(), "is not compressed by " + std::string(named->compression.name) +
                                    ", as its name says: give it the name of what it is"};
}

Result<Bytes> decompressed(const std::filesystem::path& path, const Compression& compression,
                           const PreparationWatch& watch, const TextMemory& memory)
{
    auto file = RESIDUA_TRY(InputFile::open(path));
    const auto stream = decompressorOf(std::move(file), compression, memory.left());
    std::string text;
    std::string block(kReadAtOnce, '\0');
    TextShare share(memory);
    for (;;) {
        const std::size_t got = RESIDUA_TRY(stream->read(block));
        if (got == 0) {
            return bytesInMemory(std::move(text), std::move(share));
        }
        if (!share.grow(got)) {
            return memory.refusal(path, "unpack it with " + std::string(compression.unpack) +
                                            ", for plain text that is not compressed is read where it lies");
        }
        text.append(block, 0, got);
        RESIDUA_TRY(stillWanted(watch, 0));
    }
}

Result<std::string> headOf(const std::filesystem::path& path, const Compression* compression, std::size_t most)
{
    auto file = RESIDUA_TRY(InputFile::open(path));
    std::string head(compression != nullptr ? most : std::min<std::uint64_t>(most, file.size()), '\0');
    if (compression == nullptr) {
        const Status read = file.read(0, std::as_writable_bytes(std::span(head)));
        return read ? Result<std::string>(std::move(head)) : Result<std::string>(read.error());
    }
    const auto stream = decompressorOf(std::move(file), *compression, mostTextInMemory());
    std::size_t filled = 0;
    while (filled < most) {
        const Result<std::size_t> got = stream->read(std::span(head).subspan(filled));
        if (!got || *got == 0) {
            break;
        }
        filled += *got;
    }
    head.resize(filled);
    return head;
}

} // namespace residua::engine
