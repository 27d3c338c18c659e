// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/compressed_file.h"

#include "projects/base/files.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kGzip = ".gz";
constexpr const char* kZstd = ".zst";
constexpr std::size_t kReadAtOnce = std::size_t{1} << 18;

/// The file that libarchive reads; it says itself what goes wrong with the disk.
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

Error notDecompressed(archive* reader, const Input& input, const std::string& kind)
{
    if (!input.status) {
        return input.status.error();
    }
    const char* const why = archive_error_string(reader);
    return Error{input.file.path().string(), "cannot be decompressed: cut off, damaged, or not made by " + kind + " (" +
                                                 (why != nullptr ? why : "no reason given") + ")"};
}

Error tooMuch(const Input& input, const std::string& kind, const TextMemory& memory)
{
    return memory.refusal(input.file.path(), std::string("unpack it with ") + (kind == "gzip" ? "gunzip" : "zstd -d") +
                                                 ", for plain text that is not compressed is read where it lies");
}

/// Appends all that is compressed in the file, as much as `memory` has left.
Status readAll(archive* reader, Input& input, const std::string& kind, const PreparationWatch& watch,
               const TextMemory& memory, TextShare& share, std::string& text)
{
    archive_entry* entry = nullptr;
    if (archive_read_open(reader, &input, nullptr, &readInput, nullptr) != ARCHIVE_OK) {
        return notDecompressed(reader, input, kind);
    }
    const int begun = archive_read_next_header(reader, &entry);
    if (begun != ARCHIVE_OK && begun != ARCHIVE_EOF) {
        return notDecompressed(reader, input, kind);
    }
    if (archive_filter_code(reader, 0) == ARCHIVE_FILTER_NONE) {
        return Error{input.file.path().string(), "is not compressed by " + kind +
                                                     ", as its name says: give it the name "
                                                     "of what it is"};
    }
    std::string block(kReadAtOnce, '\0');
    while (begun == ARCHIVE_OK) {
        const la_ssize_t got = archive_read_data(reader, block.data(), block.size());
        if (got < 0) {
            return notDecompressed(reader, input, kind);
        }
        if (got == 0) {
            break;
        }
        if (!share.grow(static_cast<std::uint64_t>(got))) {
            return tooMuch(input, kind, memory);
        }
        text.append(block, 0, static_cast<std::size_t>(got));
        if (Status wanted = stillWanted(watch, 0); !wanted) {
            return wanted;
        }
    }
    return Done{};
}

} // namespace

bool isCompressed(const std::filesystem::path& path)
{
    return path.extension() == kGzip || path.extension() == kZstd;
}

Result<Bytes> decompressed(const std::filesystem::path& path, const PreparationWatch& watch, const TextMemory& memory)
{
    auto file = InputFile::open(path);
    if (!file) {
        return file.error();
    }
    const bool gzip = path.extension() == kGzip;
    const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(), &archive_read_free);
    if (!reader) {
        throw std::bad_alloc();
    }
    archive_read_support_format_raw(reader.get());
    archive_read_support_format_empty(reader.get());
    gzip ? archive_read_support_filter_gzip(reader.get()) : archive_read_support_filter_zstd(reader.get());
    const auto input = std::make_unique<Input>(*std::move(file));
    std::string text;
    TextShare share(memory);
    if (Status status = readAll(reader.get(), *input, gzip ? "gzip" : "zstd", watch, memory, share, text); !status) {
        return status.error();
    }
    return bytesInMemory(std::move(text), std::move(share));
}

} // namespace residua::engine
