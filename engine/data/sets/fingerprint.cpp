// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/fingerprint.h"

#include "engine/base/files/content_hash.h"
#include "engine/data/codec/text_codec.h"
#include "engine/data/text/data_files.h"
#include "projects/base/files.h"
#include "projects/model/data_source.h"
#include "projects/schema/describe_data.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <type_traits>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBlock = std::int64_t{1} << 20;
constexpr std::int64_t kBlocks = 256;
constexpr std::int64_t kWhole = kBlock * kBlocks; ///< up to this size, one hash covers every byte

struct SizedFile {
    fs::path path;
    std::string name; ///< relative to the data's path
    std::int64_t size = 0;
};

/// A range in the concatenation of the files.
struct Range {
    std::int64_t begin = 0;
    std::int64_t size = 0;
};

std::vector<Range> rangesOf(std::int64_t total)
{
    std::vector<Range> ranges;
    if (total <= kWhole) {
        for (std::int64_t begin = 0; begin < total; begin += kBlock) {
            ranges.push_back({begin, std::min(kBlock, total - begin)});
        }
        return ranges;
    }
    for (std::int64_t i = 0; i < kBlocks; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(kBlocks - 1);
        ranges.push_back({static_cast<std::int64_t>(share * static_cast<double>(total - kBlock)), kBlock});
    }
    return ranges;
}

/// Adds `size` bytes of a file from `offset`. Adds less if the file has become shorter; the hash also contains its
/// size.
Status addPiece(const FileDescriptor& file, const fs::path& path, std::int64_t offset, std::int64_t size,
                std::vector<std::byte>& buffer, ContentHash& hash)
{
    buffer.resize(static_cast<std::size_t>(size));
    const auto filled = RESIDUA_TRY(readFrom(file, path, static_cast<std::uint64_t>(offset), buffer));
    hash.add(std::span(buffer).first(filled));
    return Done{};
}

Status addContent(const std::vector<SizedFile>& files, std::int64_t total, const PreparationWatch& watch,
                  ContentHash& hash)
{
    const std::vector<Range> ranges = rangesOf(total);
    std::vector<std::byte> buffer;
    std::size_t next = 0; // the first range that may overlap the file
    std::int64_t begin = 0;
    for (const SizedFile& file : files) {
        const std::int64_t end = begin + file.size;
        FileDescriptor opened;
        for (std::size_t at = next; at < ranges.size() && ranges[at].begin < end; ++at) {
            const std::int64_t from = std::max(begin, ranges[at].begin);
            const std::int64_t to = std::min(end, ranges[at].begin + ranges[at].size);
            if (from < to) {
                if (!opened.isOpen()) {
                    opened = RESIDUA_TRY(openRegularFile(file.path));
                }
                RESIDUA_TRY(addPiece(opened, file.path, from - begin, to - from, buffer, hash));
            }
            next = ranges[at].begin + ranges[at].size <= end ? at + 1 : at;
            RESIDUA_TRY(stillWanted(watch, 0));
        }
        begin = end;
    }
    return Done{};
}

/// Computes the fingerprints of the files that a project names.
class Reader {
public:
    Reader(const fs::path& directory, const PreparationWatch& watch, LargeFiles large = LargeFiles::EveryByte,
           ReadingVersion reading = kNewestReading)
        : m_directory(directory), m_watch(watch), m_large(large), m_reading(reading)
    {
    }

    /// Adds the file at `path`, or the files of that folder with one of `endings`.
    Status add(const std::string& path, std::span<const std::string_view> endings)
    {
        const fs::path place = m_directory / path;
        const auto found = RESIDUA_TRY(filesAt(place, endings, m_reading));
        DataPart part{path, static_cast<std::int64_t>(found.size()), 0, {}, {}};
        std::vector<SizedFile> files;
        ContentHash hash;
        for (const fs::path& file : found) {
            const auto opened = RESIDUA_TRY(InputFile::open(file));
            SizedFile sized{file, file.lexically_relative(place).generic_string(),
                            static_cast<std::int64_t>(opened.size())};
            hash.add(asBytes(sized.name));
            hash.add(std::as_bytes(std::span(&sized.size, 1)));
            part.bytes += sized.size;
            files.push_back(std::move(sized));
        }
        RESIDUA_TRY(addContent(files, part.bytes, m_watch, hash));
        part.content = hash.text();
        if (part.bytes > kWhole) {
            part.everyByte = RESIDUA_TRY(everyByte(files));
        }
        m_parts.push_back(std::move(part));
        return Done{};
    }

    Status add(const projects::Tokeniser& tokeniser)
    {
        for (const fs::path& file : tokeniserFiles(tokeniser, m_directory)) {
            RESIDUA_TRY(add(file.string(), {}));
        }
        return Done{};
    }

    /// Adds the texts at `path`, which may be JSON Lines or plain text.
    Status addText(const std::string& path) { return add(path, endingsOf(kindAt(m_directory / path, m_reading))); }

    [[nodiscard]] DataFingerprint take() { return std::move(m_parts); }

private:
    /// Returns the hash of every byte; empty if a file would have to be read and must not be.
    [[nodiscard]] Result<std::string> everyByte(const std::vector<SizedFile>& files) const
    {
        ContentHash hash;
        for (const SizedFile& file : files) {
            auto digest = RESIDUA_TRY(m_large == LargeFiles::EveryByte
                                          ? digestOfFile(file.path, m_watch)
                                          : Result<std::string>(knownDigestOfFile(file.path).value_or(std::string())));
            if (digest.empty()) {
                return std::string();
            }
            hash.add(asBytes(digest));
        }
        if (m_large == LargeFiles::EveryByte) {
            trimDigests();
        }
        return hash.text();
    }

    const fs::path& m_directory;
    const PreparationWatch& m_watch;
    LargeFiles m_large;
    ReadingVersion m_reading;
    DataFingerprint m_parts;
};

/// Adds the parameters of a generator as text: "dim 16, samples 16, target random".
template <class Generator>
void addParameters(std::ostringstream& text, const Generator& generator)
{
    projects::Fields<Generator>::visit([&](const projects::Field& field, auto member) {
        using Value = std::remove_cvref_t<decltype(std::invoke(member, generator))>;
        text << (text.tellp() > 0 ? ", " : "") << field.key << ' ';
        if constexpr (std::is_enum_v<Value>) {
            text << projects::nameOf(std::invoke(member, generator));
        } else {
            text << std::invoke(member, generator);
        }
    });
}

/// Returns the part for generated data.
DataPart generatedPart(const projects::Project& project)
{
    std::ostringstream text;
    text.precision(17);
    std::visit(
        [&]<class Data>(const Data& source) {
            constexpr bool hasFiles = requires
            {
                source.path;
            }
            || requires
            {
                source.parts;
            };
            if constexpr (!hasFiles || std::is_same_v<Data, projects::WorldData>) { // those of a built-in world
                addParameters(text, source);
            }
        },
        project.data.source);
    text << ", validation " << project.data.validationFraction << ", test " << project.data.testFraction << ", seed "
         << project.seeds.data;
    return {std::string(projects::nameOf(project.data.source)), 0, 0, text.str(), {}};
}

Status addSource(const projects::Source& source, Reader& reader)
{
    Status added = Done{};
    projects::forEachPath(source, [&](const std::string& path) {
        if (added && !path.empty()) {
            added = std::holds_alternative<projects::MixtureData>(source)
                        ? reader.addText(path)
                        : reader.add(path, projects::folderEndingsOf(source));
        }
    });
    const projects::Tokeniser* const tokeniser = projects::tokeniserOf(source);
    return added && tokeniser != nullptr ? reader.add(*tokeniser) : added;
}

std::string described(const DataPart& part)
{
    if (part.files == 0) {
        return part.content;
    }
    return std::to_string(part.files) + (part.files == 1 ? " file of " : " files of ") + std::to_string(part.bytes) +
           " bytes, hash " + part.content + (part.everyByte.empty() ? "" : " " + part.everyByte);
}

} // namespace

Result<DataFingerprint> fingerprintOf(const projects::Project& project, const fs::path& projectDirectory,
                                      const PreparationWatch& watch, LargeFiles large, ReadingVersion reading)
{
    RESIDUA_TRY(stillWanted(watch, 0));
    Reader reader(projectDirectory, watch, large, reading);
    if (projects::folderEndingsOf(project.data.source).empty()) {
        return DataFingerprint{generatedPart(project)};
    }
    const Status added = addSource(project.data.source, reader);
    return added ? Result<DataFingerprint>(reader.take()) : Result<DataFingerprint>(added.error());
}

bool isSameContent(const DataPart& one, const DataPart& other)
{
    const bool both = one.everyByte.empty() == other.everyByte.empty();
    return one.files == other.files && one.bytes == other.bytes && one.content == other.content &&
           (!both || one.everyByte == other.everyByte);
}

Result<DataFingerprint> tokeniserFingerprint(const projects::Project& project, const fs::path& projectDirectory)
{
    const PreparationWatch nobody;
    Reader reader(projectDirectory, nobody);
    const projects::Tokeniser* const tokeniser = projects::tokeniserOf(project.data.source);
    const Status added = tokeniser != nullptr ? reader.add(*tokeniser) : Done{};
    return added ? Result<DataFingerprint>(reader.take()) : Result<DataFingerprint>(added.error());
}

std::optional<Error> differenceOf(const DataFingerprint& expected, const DataFingerprint& got)
{
    const auto same = [](const DataPart& one, const DataPart& other) {
        return one.name == other.name && isSameContent(one, other);
    };
    const auto [left, right] = std::ranges::mismatch(expected, got, same);
    if (left == expected.end() && right == got.end()) {
        return std::nullopt;
    }
    const std::string name = left != expected.end() ? left->name : right->name;
    return Error{"data · " + name, "expected " + (left != expected.end() ? described(*left) : "nothing") + "; got " +
                                       (right != got.end() ? described(*right) : "nothing")};
}

} // namespace residua::engine
