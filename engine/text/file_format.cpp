// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/data_files.h"

#include "projects/base/utf8.h"
#include "projects/model/data_endings.h"

#include <algorithm>
#include <array>

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
    ContentMark{"\x88\xd8\x34\x01"sv, FileContent::HeadedTokens},  // 20240520, llm.c's GPT-2
    ContentMark{"\xa1\xd9\x34\x01"sv, FileContent::HeadedTokens}}; // 20240801, llm.c's Llama 3

/// Formats that cannot be read.
struct Foreign {
    std::size_t offset;
    std::string_view bytes;
    std::string_view is;
    std::string_view wayOn;
};
constexpr std::array kForeign{
    Foreign{0, "\x93NUMPY"sv, "a NumPy array",
            "write its tokens bare, such as with python3 -c \"import numpy; "
            "numpy.load('IN.npy').astype('uint16').tofile('OUT.bin')\""},
    Foreign{0, "PK\3\4"sv, "a ZIP archive", "unpack it"},
    Foreign{257, "ustar"sv, "a tar archive", "unpack it with tar -xf into a folder"},
    Foreign{0, "7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive", "unpack it"},
    Foreign{0, "\x89HDF"sv, "an HDF5 file", "write its text or its tokens into a file of their own"},
    Foreign{0, "ARROW1"sv, "an Arrow file", "write it as Parquet"},
    Foreign{0, "%PDF-"sv, "a PDF document", "write its text into a .txt"},
    Foreign{0, "version https://git-lfs"sv, "a pointer of Git LFS and not the data", "fetch them with git lfs pull"}};

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
    std::error_code ignored;
    constexpr std::array<std::string_view, 1> kBare{".bin"}; // the ids of tokens may look like any mark
    const std::string name = path.filename().string();
    if (projects::endsIn(name, kBare) && projects::compressedEnding(name).empty()) {
        return FileFormat{.empty = fs::file_size(path, ignored) == 0};
    }
    const auto compression = compressionOf(path);
    const auto head = compression ? headOf(path, *compression, kHeadBytes) : Result<std::string>(compression.error());
    if (!head) {
        return head.error();
    }
    for (const Foreign& foreign : kForeign) {
        if (head->size() > foreign.offset &&
            std::string_view(*head).substr(foreign.offset).starts_with(foreign.bytes)) {
            return Error{path.string(), "is " + std::string(foreign.is) +
                                            ", expected text, records or tokens: " + std::string(foreign.wayOn)};
        }
    }
    const auto mark =
        std::ranges::find_if(kContentMarks, [&](const ContentMark& one) { return head->starts_with(one.bytes); });
    return FileFormat{*compression,
                      mark != kContentMarks.end() ? mark->content
                      : beginsWithObject(*head)   ? FileContent::JsonLines
                                                  : FileContent::Other,
                      head->empty()};
}

} // namespace residua::engine
