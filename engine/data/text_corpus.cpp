// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/text_corpus.h"

#include "engine/data/utf8.h"
#include "engine/record/files.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string_view asText(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The text of one JSON line; `place` is "path:line".
Result<std::string> readLine(std::string_view line, const std::string& field, const std::string& place)
{
    const Json json = Json::parse(line.begin(), line.end(), nullptr, false);
    if (json.is_discarded()) {
        return Error{place, "is not valid JSON; expected one object per line"};
    }
    if (!json.is_object()) {
        return Error{place, "is a JSON " + std::string(json.type_name()) + ", expected an object"};
    }
    const auto value = json.find(field);
    if (value == json.end()) {
        std::string fields;
        for (const auto& item : json.items()) {
            fields += (fields.empty() ? "" : ", ") + item.key();
        }
        return Error{place, "has no field \"" + field + "\"; its fields are: " + (fields.empty() ? "none" : fields)};
    }
    if (!value->is_string()) {
        return Error{place, "field \"" + field + "\" is a " + value->type_name() + ", expected a string"};
    }
    return value->get<std::string>();
}

/// All code points of the corpus, sorted.
std::vector<char32_t> alphabetOf(const std::vector<Document>& documents)
{
    std::vector<bool> seen(0x110000);
    for (const Document& document : documents) {
        for (std::size_t at = 0; at < document.text.size();) {
            seen[nextCodePoint(document.text, at)] = true;
        }
    }
    std::vector<char32_t> alphabet;
    for (char32_t codePoint = 0; codePoint < seen.size(); ++codePoint) {
        if (seen[codePoint]) {
            alphabet.push_back(codePoint);
        }
    }
    return alphabet;
}

Result<std::unique_ptr<TextCodec>> codecFor(const std::vector<Document>& documents,
                                            const projects::Tokeniser& tokeniser, const fs::path& projectDirectory)
{
    switch (tokeniser.kind) {
    case projects::TokeniserKind::Bytes:
        return byteCodec();
    case projects::TokeniserKind::Characters:
        return characterCodec(alphabetOf(documents));
    case projects::TokeniserKind::SentencePiece:
        return sentencePieceCodec(projectDirectory / tokeniser.model);
    }
    return Error{{}, "unknown tokeniser"};
}

/// What is being encoded, and who watches.
struct Progress {
    const PreparationWatch& watch;
    std::size_t total = 0; ///< bytes of all documents
    std::size_t done = 0;

    [[nodiscard]] Status add(std::size_t bytes)
    {
        done += bytes;
        return stillWanted(watch, static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(total, 1)));
    }
};

Status encodePieces(const Document& document, const TextCodec& codec, Progress& progress,
                    std::vector<std::uint32_t>& ids)
{
    constexpr std::size_t kLongest = std::size_t{1} << 20;
    std::string_view rest = document.text;
    if (rest.ends_with('\n')) {
        rest.remove_suffix(1);
    }
    while (!rest.empty()) {
        std::size_t cut = rest.size();
        if (cut > kLongest) {
            const std::size_t newline = rest.rfind('\n', kLongest);
            cut = newline == std::string_view::npos ? rest.size() : newline + 1;
        }
        if (auto status = codec.encode(rest.substr(0, cut), ids); !status) {
            return status;
        }
        if (auto wanted = progress.add(cut); !wanted) {
            return wanted;
        }
        rest.remove_prefix(cut);
    }
    if (codec.endOfText() >= 0) {
        ids.push_back(static_cast<std::uint32_t>(codec.endOfText()));
    }
    return Done{};
}

} // namespace

Result<std::vector<fs::path>> filesAt(const fs::path& path, const std::string& extension)
{
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status)) {
        return systemError(path, "cannot open the data", code ? code.value() : ENOENT);
    }
    if (!fs::is_directory(status)) {
        return std::vector<fs::path>{path};
    }
    std::vector<fs::path> files;
    fs::recursive_directory_iterator entry(path, code);
    for (const fs::recursive_directory_iterator end; !code && entry != end; entry.increment(code)) {
        std::error_code ignored;
        if (entry->path().extension() == extension && entry->is_regular_file(ignored)) {
            files.push_back(entry->path());
        }
    }
    if (code) {
        return systemError(path, "cannot list the folder", code.value());
    }
    if (files.empty()) {
        return Error{path.string(), "the folder holds no file that ends in " + extension};
    }
    std::sort(files.begin(), files.end());
    return files;
}

Result<std::vector<Document>> readTextFiles(const fs::path& path)
{
    const auto files = filesAt(path, ".txt");
    if (!files) {
        return files.error();
    }
    std::vector<Document> documents;
    for (const fs::path& file : *files) {
        auto mapped = MappedFile::open(file);
        if (!mapped) {
            return mapped.error();
        }
        auto owner = std::make_shared<const MappedFile>(std::move(*mapped));
        const std::string_view text = asText(owner->bytes());
        if (auto status = checkUtf8(text, file.string()); !status) {
            return status.error();
        }
        if (!text.empty()) {
            documents.push_back({text, std::move(owner)});
        }
    }
    if (documents.empty()) {
        return Error{path.string(), files->size() == 1 ? "is empty, expected text" : "all its files are empty"};
    }
    return documents;
}

Result<std::vector<Document>> readJsonLines(const fs::path& path, const std::string& field,
                                            const PreparationWatch& watch)
{
    auto mapped = MappedFile::open(path);
    if (!mapped) {
        return mapped.error();
    }
    const std::string_view file = asText(mapped->bytes());
    if (auto status = checkUtf8(file, path.string()); !status) {
        return status.error();
    }
    const auto texts = std::make_shared<std::string>();
    std::vector<std::size_t> ends;
    std::size_t line = 1;
    for (std::size_t begin = 0; begin < file.size(); ++line) {
        const std::size_t end = std::min(file.find('\n', begin), file.size());
        const std::string_view text = file.substr(begin, end - begin);
        begin = end + 1;
        if (text.find_first_not_of(" \t\r") == std::string_view::npos) {
            continue;
        }
        auto value = readLine(text, field, path.string() + ":" + std::to_string(line));
        if (!value) {
            return value.error();
        }
        constexpr std::size_t kLinesBetween = 4096;
        if (line % kLinesBetween == 0) {
            if (auto wanted = stillWanted(watch, 0); !wanted) {
                return wanted.error();
            }
        }
        *texts += *value + "\n";
        ends.push_back(texts->size());
    }
    if (ends.empty()) {
        return Error{path.string(), "is empty, expected one JSON object per line"};
    }
    std::vector<Document> documents;
    documents.reserve(ends.size());
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
        documents.push_back({std::string_view(*texts).substr(begin, end - begin), texts});
        begin = end;
    }
    return documents;
}

Result<TokenisedText> tokenise(const std::vector<Document>& documents, const projects::Tokeniser& tokeniser,
                               const fs::path& projectDirectory, const std::string& place,
                               const PreparationWatch& watch)
{
    auto codec = codecFor(documents, tokeniser, projectDirectory);
    if (!codec) {
        return codec.error();
    }
    if ((*codec)->vocabulary() > tokeniser.vocabulary) {
        const bool characters = tokeniser.kind == projects::TokeniserKind::Characters;
        return Error{place, (characters ? "the text has " : "the tokeniser has ") +
                                std::to_string((*codec)->vocabulary()) +
                                (characters ? " distinct characters" : " tokens") + ", the project's vocabulary is " +
                                std::to_string(tokeniser.vocabulary)};
    }
    TokenisedText result;
    result.codec = std::move(*codec);
    if (tokeniser.kind == projects::TokeniserKind::Bytes) {
        for (const Document& document : documents) {
            result.tokens.append(std::as_bytes(std::span(document.text)), TokenSize::One, document.owner);
        }
        return result;
    }
    Progress progress{watch};
    for (const Document& document : documents) {
        progress.total += document.text.size();
    }
    std::vector<std::uint32_t> ids;
    for (const Document& document : documents) {
        const bool pieces = tokeniser.kind == projects::TokeniserKind::SentencePiece;
        auto status =
            pieces ? encodePieces(document, *result.codec, progress, ids) : result.codec->encode(document.text, ids);
        if (!status) {
            return Error{place, status.error().text()};
        }
        if (auto wanted = progress.add(pieces ? 0 : document.text.size()); !wanted) {
            return wanted.error();
        }
    }
    result.tokens.append(ids, result.codec->vocabulary());
    return result;
}

} // namespace residua::engine
