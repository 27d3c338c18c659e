// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/codec/sentence_piece_table.h"

#include "engine/data/tokeniser/base/characters.h"
#include "projects/base/whole_file.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace residua::engine {
namespace {

constexpr std::uint64_t kLargestModel = std::uint64_t{256} << 20;

// Fields of the messages of sentencepiece_model.proto.
constexpr std::uint64_t kPieces = 1;
constexpr std::uint64_t kNormaliser = 3;
constexpr std::uint64_t kDenormaliser = 5;
constexpr std::uint64_t kCharactersMap = 2; ///< of a normaliser

/// Reads the fields of a protocol buffer message one after another.
class FieldReader {
public:
    explicit FieldReader(std::string_view message) : m_rest(message) {}

    struct Field {
        std::uint64_t number = 0;
        std::string_view bytes; ///< of a field that has a length; else empty
    };
    [[nodiscard]] bool atEnd() const { return m_rest.empty(); }
    /// Returns the next field; nullopt if the message is truncated or malformed.
    [[nodiscard]] std::optional<Field> next()
    {
        enum Kind { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };
        const auto key = varint();
        if (!key || *key >> 3 == 0) {
            return std::nullopt;
        }
        Field field{*key >> 3, {}};
        switch (*key & 7) {
        case Varint:
            return varint() ? std::optional(field) : std::nullopt;
        case Fixed64:
            return take(8) ? std::optional(field) : std::nullopt;
        case Fixed32:
            return take(4) ? std::optional(field) : std::nullopt;
        case Length: {
            const auto size = varint();
            const auto bytes = size ? take(*size) : std::nullopt;
            field.bytes = bytes.value_or(std::string_view());
            return bytes ? std::optional(field) : std::nullopt;
        }
        default:
            return std::nullopt;
        }
    }

private:
    std::optional<std::uint64_t> varint()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !m_rest.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(m_rest.front());
            m_rest.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) {
                return value;
            }
        }
        return std::nullopt;
    }

    std::optional<std::string_view> take(std::uint64_t size)
    {
        if (size > m_rest.size()) {
            return std::nullopt;
        }
        const std::string_view bytes = m_rest.substr(0, size);
        m_rest.remove_prefix(size);
        return bytes;
    }

    std::string_view m_rest;
};

/// Calls `take` with every field of a message. Returns false if the message is malformed or `take` returns false.
bool forEachField(std::string_view message, const std::function<bool(const FieldReader::Field&)>& take)
{
    FieldReader fields(message);
    while (!fields.atEnd()) {
        const auto field = fields.next();
        if (!field || !take(*field)) {
            return false;
        }
    }
    return true;
}

/// Returns the first error in a model, or an empty string.
std::string flawIn(std::string_view model)
{
    bool anyPiece = false;
    bool mapsHold = true;
    const bool whole = forEachField(model, [&](const FieldReader::Field& field) {
        anyPiece = anyPiece || field.number == kPieces;
        if (field.number != kNormaliser && field.number != kDenormaliser) {
            return true;
        }
        return forEachField(field.bytes, [&](const FieldReader::Field& part) {
            mapsHold = mapsHold && (part.number != kCharactersMap || isSoundCharsmap(part.bytes));
            return true;
        });
    });
    if (!whole || !anyPiece) {
        return whole ? "it has no pieces" : "it is cut off, damaged, or another kind of file";
    }
    return mapsHold ? "" : "its table of characters points outside of itself, or to what is no text (damaged)";
}

} // namespace

Result<std::string> readSentencePieceModel(const std::filesystem::path& path)
{
    Result<std::string> bytes = readFile(path, kLargestModel);
    if (const std::string flaw = bytes ? flawIn(*bytes) : std::string(); !flaw.empty()) {
        return Error{path.string(), "is not a readable SentencePiece model: " + flaw};
    }
    return bytes;
}

} // namespace residua::engine
