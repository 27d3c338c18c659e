// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/mutate_data.h"

#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <cstring>
#include <fstream>

namespace residua::fuzz {
namespace {

namespace fs = std::filesystem;
using projects::TokeniserKind;
using projects::TokenWidth;

constexpr std::uintmax_t kSparse = std::uintmax_t{64} << 20;

void write(const fs::path& path, const std::string& bytes)
{
    fs::create_directories(path.parent_path());
    std::error_code ignored;
    fs::remove(path, ignored);
    std::ofstream(path, std::ios::binary) << bytes;
}

std::string sentences(std::mt19937_64& random)
{
    constexpr std::array kWords{"the", "größe", "世界", "🌍", "a", "\t", "number", "\\u00e9", "e\xcc\x81", "ﬁ"};
    std::string text;
    for (std::size_t left = below(random, 400); left > 0; --left) {
        text += oneOf(random, kWords);
        text += below(random, 12) == 0 ? "\n" : " ";
    }
    return text;
}

/// Every character in two bytes.
std::string asUtf16(const std::string& text, bool bigEndian)
{
    std::string wide = bigEndian ? "\xfe\xff" : "\xff\xfe";
    for (const char c : text) {
        wide += bigEndian ? std::string(1, '\0') + c : c + std::string(1, '\0');
    }
    return wide;
}

/// Half of the time as it is.
std::string damaged(std::string bytes, std::mt19937_64& random)
{
    switch (below(random, 12)) {
    case 0:
        return "\xef\xbb\xbf" + bytes;
    case 1:
        return asUtf16(bytes, below(random, 2) == 0);
    case 2:
        return std::string(below(random, 3 << 20), 'x') + bytes; // no line ends in it
    case 3:
        return bytes.substr(0, below(random, bytes.size() + 1));
    case 4:
    case 5:
    case 6:
        return withRandomBytes(std::move(bytes), random);
    default:
        return bytes;
    }
}

/// Now and then a hole at the file's end.
void stretch(const fs::path& file, std::mt19937_64& random)
{
    if (below(random, 30) == 0) {
        fs::resize_file(file, kSparse + below(random, 8));
    }
}

template <class T>
std::string packed(std::mt19937_64& random, std::size_t count, std::uint64_t most)
{
    std::string bytes(count * sizeof(T), '\0');
    for (std::size_t i = 0; i < count; ++i) {
        const auto value = static_cast<T>(random() % most);
        std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
    return bytes;
}

} // namespace

projects::Source DataMutator::makeText(std::mt19937_64& random, fs::path& file) const
{
    const bool folder = below(random, 3) == 0;
    file = m_folder / (folder ? "corpus/b.txt" : "t.txt");
    write(file, damaged(sentences(random), random));
    stretch(file, random);
    const auto kind = below(random, 2) == 0 ? TokeniserKind::Bytes : TokeniserKind::Characters;
    return projects::TextData{folder ? "corpus" : "t.txt", {kind, {}, 256}};
}

projects::Source DataMutator::makeLines(std::mt19937_64& random, fs::path& file) const
{
    file = m_folder / "t.jsonl";
    std::string lines;
    for (std::size_t left = below(random, 40); left > 0; --left) {
        std::string text = sentences(random);
        std::erase_if(text, [](char c) { return c == '\n' || c == '\t'; });
        switch (below(random, 20)) {
        case 0:
            text.clear();
            break;
        case 1:
            lines += std::string(below(random, 20000), '['); // as deep as it goes
            break;
        default:
            break;
        }
        lines += "{\"text\": \"" + text + "\"}\n";
    }
    write(file, damaged(std::move(lines), random));
    stretch(file, random);
    return projects::JsonLinesData{"t.jsonl", "text", {TokeniserKind::Characters, {}, 256}};
}

projects::Source DataMutator::makeParquet(std::mt19937_64& random, fs::path& file) const
{
    file = m_folder / "t.parquet";
    std::string bytes = oneOf(random, m_parquets);
    // The file's description is at its end, and the four bytes before the last four are its length.
    const std::size_t footer = std::min<std::size_t>(bytes.size(), 900);
    for (std::size_t count = below(random, 6); count > 0; --count) {
        const std::size_t from = below(random, 2) == 0 ? bytes.size() - footer : 0;
        bytes[from + below(random, bytes.size() - from)] = static_cast<char>(below(random, 256));
    }
    write(file, below(random, 4) == 0 ? withRandomBytes(bytes, random) : bytes);
    stretch(file, random);
    const char* const column = below(random, 6) == 0 ? "origin.title" : "text";
    return projects::JsonLinesData{"t.parquet", column, {TokeniserKind::Characters, {}, 256}};
}

projects::Source DataMutator::makeTokens(std::mt19937_64& random, fs::path& file) const
{
    constexpr std::array<std::int64_t, 6> kVocabularies{1, 2, 500, 65536, 128256, std::int64_t{1} << 40};
    const std::int64_t vocabulary = oneOf(random, kVocabularies);
    const auto most = static_cast<std::uint64_t>(std::min<std::int64_t>(vocabulary, 500));
    const std::size_t count = below(random, 3000);
    file = m_folder / "t.bin";
    std::string bytes;
    switch (below(random, 3)) {
    case 0:
        bytes = packed<std::uint16_t>(random, count, most);
        break;
    case 1:
        bytes = packed<std::uint32_t>(random, count, most);
        break;
    default: {
        const std::array<std::int32_t, 3> words{20240520, 1, static_cast<std::int32_t>(count)};
        bytes.assign(1024, '\0');
        std::memcpy(bytes.data(), words.data(), sizeof(words));
        bytes += packed<std::uint16_t>(random, count, most);
    }
    }
    write(file, below(random, 2) == 0 ? withRandomBytes(bytes, random) : bytes);
    stretch(file, random);
    return projects::TokenFileData{"t.bin", below(random, 4) == 0 ? "t.bin" : "",
                                   static_cast<TokenWidth>(below(random, 3)), vocabulary};
}

projects::Source DataMutator::makeModel(std::mt19937_64& random, fs::path& file) const
{
    file = m_folder / "m.model";
    std::string bytes = oneOf(random, m_models);
    for (std::size_t count = below(random, 40); count > 0; --count) {
        bytes[below(random, bytes.size())] = static_cast<char>(below(random, 256));
    }
    write(file, below(random, 4) == 0 ? withRandomBytes(bytes, random) : bytes);
    write(m_folder / "text.txt", sentences(random) + sentences(random));
    return projects::TextData{"text.txt", {TokeniserKind::SentencePiece, "m.model", 1000}};
}

/// Up to three of the same kinds, one of them changed.
projects::Source DataMutator::makeMixture(std::mt19937_64& random, fs::path& file) const
{
    constexpr std::array kWeights{1.0, 0.25, 57.0, 1e-9, 5e-324, 1e308, 0.0, -1.0};
    constexpr std::array kPaths{"t.txt", "corpus", "t.jsonl"};
    fs::path other;
    static_cast<void>(makeText(random, below(random, 2) == 0 ? file : other));
    static_cast<void>(makeLines(random, file.empty() ? file : other));
    projects::MixtureData mixture;
    for (std::size_t count = below(random, 4); count > 0; --count) {
        const std::size_t usual = below(random, 8) == 0 ? kWeights.size() : 4;
        mixture.parts.push_back(
            {oneOf(random, kPaths), below(random, 20) == 0 ? "none" : "text", kWeights[below(random, usual)]});
    }
    const auto kind = below(random, 2) == 0 ? TokeniserKind::Bytes : TokeniserKind::Characters;
    mixture.tokeniser = {kind, {}, 256};
    return mixture;
}

projects::Project DataMutator::make(std::mt19937_64& random, fs::path& file) const
{
    write(m_folder / "corpus/a.txt", sentences(random));
    projects::Project project;
    switch (below(random, m_parquets.empty() ? 6 : 8)) {
    case 6:
    case 7:
        project.data.source = makeParquet(random, file);
        break;
    case 0:
        project.data.source = makeText(random, file);
        break;
    case 1:
        project.data.source = makeLines(random, file);
        break;
    case 2:
        project.data.source = makeTokens(random, file);
        break;
    case 3:
        project.data.source = makeMixture(random, file);
        break;
    default:
        project.data.source = makeModel(random, file);
    }
    constexpr std::array kFractions{0.0, 0.1, 0.45};
    project.data.validationFraction = oneOf(random, kFractions);
    project.data.testFraction = oneOf(random, kFractions);
    project.training.sequenceLength = 1 + static_cast<std::int64_t>(below(random, 40));
    return project;
}

void disturb(const fs::path& file, std::mt19937_64& random)
{
    std::error_code ignored;
    const std::uintmax_t size = fs::file_size(file, ignored);
    if (ignored) {
        return;
    }
    switch (below(random, 4)) {
    case 0:
        fs::resize_file(file, below(random, size + 1), ignored);
        break;
    case 1:
        fs::resize_file(file, size + 1 + below(random, 1 << 20), ignored);
        break;
    case 2: {
        std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
        stream.seekp(static_cast<std::streamoff>(below(random, size + 1)));
        stream << std::string(1 + below(random, 300), '\xfe');
        break;
    }
    default: {
        const fs::path other = file.string() + ".new";
        std::ofstream(other, std::ios::binary) << std::string(below(random, 5000), 'y');
        fs::rename(other, file, ignored);
    }
    }
}

} // namespace residua::fuzz
