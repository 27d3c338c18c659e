// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokens/token_files.h"

#include "engine/data/text/data_files.h"
#include "engine/data/text/text_files.h"
#include "engine/data/tokens/numpy_array.h"
#include "projects/base/text.h"

#include <algorithm>
#include <array>
#include <span>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using projects::TokenWidth;

constexpr std::size_t kHeaderWords = 256;
constexpr std::size_t kHeaderBytes = kHeaderWords * sizeof(std::int32_t);

struct HeaderKind {
    std::int32_t magic;
    std::int32_t version;
    TokenSize size;
};
constexpr std::array kHeaders{HeaderKind{20240520, 1, TokenSize::Two}, HeaderKind{20240801, 7, TokenSize::Four}};

/// The tokens of a file, after its header if it has one.
struct Body {
    ByteRange bytes;
    TokenSize size = TokenSize::Two;
    std::string note; ///< for the user, about how the file is read
};

Result<Body> headedBody(const Bytes& file, const HeaderKind& kind, TokenWidth width, const std::string& place)
{
    std::array<std::int32_t, kHeaderWords> header{};
    RESIDUA_TRY(file->read(0, std::as_writable_bytes(std::span(header))));
    if (header[1] != kind.version) {
        return Error{place, "its header has version " + std::to_string(header[1]) + ", expected " +
                                std::to_string(kind.version) + " with magic " + std::to_string(kind.magic)};
    }
    if (width != TokenWidth::Detect && (width == TokenWidth::Uint16) != (kind.size == TokenSize::Two)) {
        return Error{place, "its header says " + toString(kind.size) + " tokens, the project says otherwise"};
    }
    const auto claimed = static_cast<std::uint64_t>(static_cast<std::uint32_t>(header[2]));
    const ByteRange bytes{file, kHeaderBytes, file->size() - kHeaderBytes};
    if (claimed * static_cast<std::uint64_t>(kind.size) != bytes.size) {
        return Error{place, "its header says " + std::to_string(claimed) + " tokens of " + toString(kind.size) +
                                ", the file holds " + std::to_string(bytes.size) + " bytes of them (truncated?)"};
    }
    return Body{bytes, kind.size, {}};
}

/// Returns the tokens of an array that numpy.save wrote.
Result<Body> numpyBody(const Bytes& file, TokenWidth width, const std::string& place)
{
    const NumpyArray array = RESIDUA_TRY(readNumpy(file, place));
    const bool two = array.type == "<u2";
    if (!two && array.type != "<u4" && array.type != "<i4") {
        return Error{place, "is a NumPy array of " + (array.type.empty() ? "unknown" : "'" + array.type + "'") +
                                ", expected '<u2', '<u4' or '<i4': write it with numpy.save('OUT.npy', "
                                "numpy.load('IN.npy').astype('uint32'))"};
    }
    if (array.isColumnMajor) {
        return Error{place, "is a NumPy array in Fortran's order, expected rows one after another"};
    }
    std::int64_t elements = 1;
    for (const std::int64_t size : array.shape) {
        elements *= size;
    }
    const auto size = two ? TokenSize::Two : TokenSize::Four;
    if (static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(size) != array.bytes.size) {
        return Error{place, "is a NumPy array whose header says " + std::to_string(elements) + " tokens of " +
                                toString(size) + ", the file holds " + std::to_string(array.bytes.size) +
                                " bytes of them (truncated?)"};
    }
    if (width != TokenWidth::Detect && (width == TokenWidth::Uint16) != two) {
        return Error{place, "its header says " + toString(size) + " tokens, the project says otherwise"};
    }
    return Body{array.bytes, size, {}};
}

Result<Body> bodyOf(const Bytes& file, TokenWidth width, std::int64_t vocabulary, const std::string& place,
                    ReadingVersion reading)
{
    if (reading != ReadingVersion::First) {
        const Result<bool> numpy = isNumpy(file);
        if (!numpy || *numpy) {
            return numpy ? numpyBody(file, width, place) : numpy.error();
        }
    }
    if (file->size() >= kHeaderBytes) {
        std::int32_t magic = 0;
        RESIDUA_TRY(file->read(0, std::as_writable_bytes(std::span(&magic, 1))));
        for (const HeaderKind& kind : kHeaders) {
            if (magic == kind.magic) {
                return headedBody(file, kind, width, place);
            }
        }
    }
    auto found = RESIDUA_TRY(tokenWidthOf(file, width, vocabulary, place));
    if (file->size() % static_cast<std::size_t>(found.size) != 0) {
        return Error{place, std::to_string(file->size()) + " bytes are not a whole number of " + toString(found.size) +
                                " tokens"};
    }
    return Body{{file, 0, file->size()}, found.size, std::move(found.note)};
}

/// Combines equal notes of several files.
class Notes {
public:
    void add(const fs::path& file, const std::string& note)
    {
        if (note.empty()) {
            return;
        }
        const auto known = std::ranges::find(m_notes, note, &Note::text);
        if (known != m_notes.end()) {
            ++known->more;
        } else {
            m_notes.push_back({note, file, 0});
        }
    }
    void moveTo(std::vector<std::string>& lines) const
    {
        for (const Note& note : m_notes) {
            const std::string more = note.more > 0 ? " (and " + std::to_string(note.more) + " more files)" : "";
            lines.push_back(note.first.string() + more + ": " + note.text);
        }
    }

private:
    struct Note {
        std::string text;
        fs::path first;
        std::int64_t more = 0;
    };
    std::vector<Note> m_notes;
};

/// Checks every token of a file.
Status checkTokens(const Body& body, std::int64_t vocabulary, const fs::path& file, const PreparationWatch& watch)
{
    TokenSequence one;
    one.append(body.bytes, body.size);
    const auto found = RESIDUA_TRY(one.firstBeyond(vocabulary, watch));
    if (found) {
        return Error{file.string(), "token " + std::to_string(found->position) + " is " + std::to_string(found->token) +
                                        ", expected one below the vocabulary of " + std::to_string(vocabulary) +
                                        " (read as " + toString(body.size) + ")"};
    }
    return Done{};
}

} // namespace

Status appendTokenFiles(TokenFiles& files, const fs::path& path, TokenWidth width, std::int64_t vocabulary,
                        const PreparationWatch& watch, ReadingVersion reading)
{
    const auto names = RESIDUA_TRY(filesAt(path, projects::kTokenEndings, reading));
    const std::int64_t before = files.tokens.size();
    Notes notes;
    for (std::size_t index = 0; index < names.size(); ++index) {
        const fs::path& name = names[index];
        const auto format = formatOf(name);
        if (!projects::compressedEnding(name.native()).empty() || (format && format->compression != nullptr)) {
            return Error{name.string(), "is compressed, expected ready-made tokens as they are, which are read where "
                                        "they lie: decompress it"};
        }
        if (!format) {
            return format.error();
        }
        auto file = RESIDUA_TRY(openAmong(name, index));
        auto body = RESIDUA_TRY(bodyOf(bytesOfFile(std::move(file)), width, vocabulary, name.string(), reading));
        RESIDUA_TRY(checkTokens(body, vocabulary, name, watch));
        notes.add(name, body.note);
        files.tokens.append(std::move(body.bytes), body.size);
    }
    if (files.tokens.size() == before) {
        return Error{path.string(), "is empty, expected tokens"};
    }
    notes.moveTo(files.notes);
    return Done{};
}

} // namespace residua::engine
