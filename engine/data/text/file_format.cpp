// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text/data_files.h"

#include "projects/base/utf8.h"
#include "projects/model/data_source.h"

#include <algorithm>
#include <array>
#include <optional>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr std::size_t kHeadBytes = std::size_t{1} << 16;

struct ContentMark {
    std::string_view bytes;
    FileContent content;
};
constexpr std::array kContentMarks{
    ContentMark{"PAR1"sv, FileContent::Parquet}, ContentMark{"PARE"sv, FileContent::Parquet},
    ContentMark{kNumpyMark, FileContent::HeadedTokens},
    ContentMark{"\x88\xd8\x34\x01"sv, FileContent::HeadedTokens},  // 20240520, llm.c's GPT-2
    ContentMark{"\xa1\xd9\x34\x01"sv, FileContent::HeadedTokens}}; // 20240801, llm.c's Llama 3

/// Formats that cannot be read.
struct Foreign {
    std::size_t offset;
    std::string_view bytes;
    std::string_view is;
    std::string_view wayOn;
    bool certain = false; ///< true if the bytes are too many to be ids of tokens by chance
};
constexpr std::string_view kAsTokens = "write its tokens bare, such as with numpy's astype('uint16').tofile('OUT.bin')";
constexpr std::array kForeign{
    Foreign{0, "PK\3\4"sv, "a ZIP archive", "unpack it"},
    Foreign{257, "ustar"sv, "a tar archive", "unpack it with tar -xf into a folder", true},
    Foreign{0, "7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive", "unpack it", true},
    Foreign{0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file", "write its text or its tokens into a file of their own", true},
    Foreign{0, "\x80\2\x8a\nl\xfc\x9c\x46\xf9"sv, "a PyTorch file", kAsTokens, true},
    Foreign{0, "\x80\4\x95"sv, "a pickle of Python", kAsTokens},
    Foreign{0, "\x80\5\x95"sv, "a pickle of Python", kAsTokens},
    Foreign{0, "ARROW1\0\0"sv, "an Arrow file", "write it as Parquet", true},
    Foreign{0, "%PDF-1."sv, "a PDF document", "write its text into a .txt", true},
    Foreign{0, "version https://git-lfs"sv, "a pointer of Git LFS and not the data", "fetch them with git lfs pull",
            true}};

/// Returns what a ZIP archive is by the name of its first file: a NumPy archive or a PyTorch file; empty for another
/// archive and for other files.
std::string_view archiveKind(std::string_view head)
{
    constexpr std::size_t kNameSize = 26;
    constexpr std::size_t kName = 30;
    if (!head.starts_with("PK\3\4"sv) || head.size() < kName) {
        return {};
    }
    const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(head[at])}; };
    const std::string_view name = head.substr(kName, byte(kNameSize) + 256 * byte(kNameSize + 1));
    return name.ends_with(".npy") ? "a NumPy archive (.npz)"sv
           : name.ends_with("/data.pkl") || name.find(".data/") != std::string_view::npos ||
                   name.ends_with("/byteorder") || name.ends_with("/version")
               ? "a PyTorch file"sv
               : std::string_view();
}

/// Returns the error for a format that no source reads, nullopt for others. `bare`: the ids of tokens may look like a
/// short mark.
std::optional<Error> foreignAt(const fs::path& path, std::string_view head, bool bare)
{
    const auto refusal = [&](std::string_view is, std::string_view wayOn) {
        return Error{path.string(),
                     "is " + std::string(is) + ", expected text, records or tokens: " + std::string(wayOn)};
    };
    if (const std::string_view kind = archiveKind(head); !kind.empty()) {
        return refusal(kind, kAsTokens);
    }
    for (const Foreign& foreign : kForeign) {
        if (head.size() > foreign.offset && (foreign.certain || !bare) &&
            head.substr(foreign.offset).starts_with(foreign.bytes)) {
            return refusal(foreign.is, foreign.wayOn);
        }
    }
    return std::nullopt;
}

/// True if the first nonblank line is an object with a key, as far as the head shows.
bool beginsWithObject(std::string_view head)
{
    if (head.starts_with(kByteOrderMark)) {
        head.remove_prefix(kByteOrderMark.size());
    }
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t begin = head.find_first_not_of(kBlank);
    if (begin == std::string_view::npos || head[begin] != '{') {
        return false;
    }
    const std::size_t end = head.find('\n', begin);
    const std::string_view line = head.substr(begin, end == std::string_view::npos ? end : end - begin);
    const std::size_t key = line.find_first_not_of(" \t", 1);
    const bool whole = end == std::string_view::npos && head.size() >= kHeadBytes;
    return key != std::string_view::npos && line[key] == '"' && (whole || line[line.find_last_not_of(" \t\r")] == '}');
}

} // namespace

Result<FileFormat> formatOf(const fs::path& path)
{
    constexpr std::array<std::string_view, 1> kBare{".bin"}; // the ids of tokens may look like a short mark
    const std::string name = path.filename().string();
    if (projects::endsIn(name, kBare) && projects::compressedEnding(name).empty()) {
        const auto head = RESIDUA_TRY(headOf(path, nullptr, kHeadBytes));
        const auto foreign = foreignAt(path, head, true);
        return foreign ? Result<FileFormat>(*foreign)
                       : FileFormat{.content =
                                        head.starts_with(kNumpyMark) ? FileContent::HeadedTokens : FileContent::Other,
                                    .empty = head.empty()};
    }
    const auto compression = compressionOf(path);
    const auto head =
        RESIDUA_TRY(compression ? headOf(path, *compression, kHeadBytes) : Result<std::string>(compression.error()));
    if (const auto foreign = foreignAt(path, head, false)) {
        return *foreign;
    }
    const auto mark =
        std::ranges::find_if(kContentMarks, [&](const ContentMark& one) { return head.starts_with(one.bytes); });
    return FileFormat{*compression,
                      mark != kContentMarks.end() ? mark->content
                      : beginsWithObject(head)    ? FileContent::JsonLines
                                                  : FileContent::Other,
                      head.empty()};
}

} // namespace residua::engine
