// SPDX-License-Identifier: GPL-3.0-or-later
// What is known about a project's data before it trains.
#include "engine/base/api/data_summary.h"

#include "engine/base/machine/failure.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/sets/labelled_dataset.h"
#include "engine/data/sets/numbered_pictures.h"
#include "engine/data/text/data_files.h"
#include "engine/data/text/text_files.h"
#include "engine/data/tokens/token_files.h"
#include "projects/model/data_source.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <system_error>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "/data/source";
constexpr const char* kClasses = "/data/source/classes";

constexpr std::uintmax_t kSmall = std::uintmax_t{256} << 20; ///< the most bytes that a check of small data reads
constexpr std::uintmax_t kBytesOfFile = 4096;                ///< for which a smaller file counts

/// Adds the bytes of the files at a path to `bytes`, until they are more than kSmall. Enters links to folders, each
/// folder behind one once.
void addBytes(const fs::path& path, std::uintmax_t& bytes)
{
    std::error_code code;
    const auto add = [&](const fs::path& file) {
        const std::uintmax_t size = fs::file_size(file, code);
        bytes += std::max(code ? 0 : size, kBytesOfFile);
    };
    if (!fs::is_directory(path, code)) {
        add(path);
        return;
    }
    constexpr auto kEntered =
        fs::directory_options::follow_directory_symlink | fs::directory_options::skip_permission_denied;
    std::set<fs::path> linked;
    for (fs::recursive_directory_iterator at(path, kEntered, code), end; at != end && bytes <= kSmall;
         at.increment(code)) {
        if (at->is_symlink(code) && !linked.insert(fs::canonical(at->path(), code)).second) {
            at.disable_recursion_pending();
        }
        add(at->path());
    }
}

bool isSmall(const projects::Project& project, const fs::path& directory)
{
    std::uintmax_t bytes = 0;
    projects::forEachPath(project.data.source, [&](const std::string& path) {
        if (!path.empty()) {
            addBytes(directory / path, bytes);
        }
    });
    return bytes <= kSmall;
}

/// Returns the problem of a network with fewer outputs than the data have classes, if that is the case.
std::optional<projects::Problem> tooFewOutputs(const projects::Project& project, const fs::path& directory,
                                               const std::function<bool()>& wanted)
{
    const std::int64_t* const classes = projects::classCountOf(project.data.source);
    const auto count = classes ? countClasses(project.data.source, directory, wanted)
                               : Result<std::optional<std::int64_t>>(std::nullopt);
    if (!count || !*count || **count <= *classes) {
        return std::nullopt;
    }
    return projects::Problem{projects::Severity::Error, kClasses, "data · classes",
                             "got " + std::to_string(*classes) + ", expected " + std::to_string(**count) +
                                 ", the number of different labels in the data",
                             **count};
}

/// Returns a warning if the network has more outputs than the data have classes. Data whose classes have no names, such
/// as latents, do not say how many they are.
std::optional<projects::Problem> tooManyOutputs(const projects::Project& project, const Dataset& dataset)
{
    const std::int64_t* const classes = projects::classCountOf(project.data.source);
    const std::int64_t named = std::max<std::int64_t>(std::ssize(dataset.classes()), 2);
    if (classes == nullptr || dataset.classes().empty() || named >= *classes) {
        return std::nullopt;
    }
    return projects::Problem{projects::Severity::Warning, kClasses, "data · classes",
                             "the data have " + std::to_string(named) + " classes, the network has " +
                                 std::to_string(*classes) + " outputs, the last of which no example trains",
                             named};
}

/// Reads the first parts of a source's files.
class FirstReading {
public:
    FirstReading(const fs::path& directory, const std::function<bool()>& wanted)
        : m_directory(directory), m_watch([&wanted](double) { return !wanted || wanted(); })
    {
    }

    Status operator()(const projects::TextData& source) const
    {
        return begun([&](const PreparationWatch& watch) { return readTextFiles(m_directory / source.path, watch); });
    }
    Status operator()(const projects::JsonLinesData& source) const
    {
        const Status begin = begun(
            [&](const PreparationWatch& watch) { return readRecords(m_directory / source.path, source.field, watch); });
        return begin ? checkFirstRecords(m_directory / source.path, source.field) : begin;
    }
    Status operator()(const projects::MixtureData& source) const
    {
        Status status = Done{};
        for (auto part = source.parts.begin(); status && part != source.parts.end(); ++part) {
            const fs::path path = m_directory / part->path;
            status = begun([&](const PreparationWatch& watch) { return readTexts(path, part->field, watch); });
            if (status && kindAt(path) == DataKind::Records) {
                status = checkFirstRecords(path, part->field);
            }
        }
        return status;
    }
    Status operator()(const projects::TokenFileData& source) const
    {
        const Status training = tokens(source, source.path);
        return !training || source.validationPath.empty() ? training : tokens(source, source.validationPath);
    }
    template <class Labelled>
    Status operator()(const Labelled& source) const
    {
        if constexpr (requires { checkReadable(source, m_directory, m_watch); }) {
            return checkReadable(source, m_directory, m_watch);
        } else {
            return Done{};
        }
    }

private:
    static constexpr std::int64_t kVocabularyOfTwoBytes = 65536;

    /// The vocabulary of a project may be too small for the tokens.
    Status tokens(const projects::TokenFileData& source, const std::string& path) const
    {
        const auto read = [&](std::int64_t vocabulary) {
            return begun([&](const PreparationWatch& watch) {
                TokenFiles files;
                return appendTokenFiles(files, m_directory / path, source.tokenWidth, vocabulary, watch);
            });
        };
        const Status status = read(std::max(source.vocabulary, kVocabularyOfTwoBytes));
        return status || read(projects::kMostVocabulary) ? Status(Done{}) : status;
    }
    /// Reads until the watch was called a few times, between parts of about a MiB.
    template <class Read>
    Status begun(Read read) const
    {
        constexpr int kParts = 8;
        int parts = 0;
        const auto result = read([&](double) { return ++parts <= kParts && m_watch(0); });
        const bool enough = parts > kParts;
        return result || (enough && result.error() == preparationGivenUp()) ? Status(Done{}) : Status(result.error());
    }

    const fs::path& m_directory;
    PreparationWatch m_watch;
};

} // namespace

Status checkReadable(const projects::Source& source, const fs::path& projectDirectory,
                     const std::function<bool()>& wanted)
{
    Status status = Done{};
    const auto failure = attemptStandard([&] { status = std::visit(FirstReading(projectDirectory, wanted), source); });
    return failure ? Status(Error{"data", failure->text}) : status ? status : Status(withPlainPlace(status.error()));
}

DataJudgement judgeData(const projects::Project& project, const fs::path& projectDirectory, CheckedData checked,
                        const std::function<bool()>& wanted)
{
    DataJudgement judgement;
    if (checked == CheckedData::Small && !isSmall(project, projectDirectory)) {
        if (auto few = tooFewOutputs(project, projectDirectory, wanted)) {
            judgement.problems.push_back(*std::move(few));
            judgement.whole = true;
        }
        return judgement;
    }
    judgement.whole = true;
    if (Dataset::outline(project)) { // generated data have no classes to count
        const Result<DataSummary> summary = summariseData(project, projectDirectory);
        if (summary) {
            judgement.summary = *summary;
        } else {
            judgement.problems.push_back(
                {projects::Severity::Error, kSource, summary.error().place, summary.error().message});
        }
        return judgement;
    }
    const auto failure = attemptStandard([&] {
        const Result<std::unique_ptr<Dataset>> opened =
            Dataset::open(project, projectDirectory, [&wanted](double) { return !wanted || wanted(); });
        if (!opened) {
            auto few = tooFewOutputs(project, projectDirectory, wanted); // which has a cure
            judgement.problems.push_back(few ? *std::move(few)
                                             : projects::Problem{projects::Severity::Error, kSource,
                                                                 opened.error().place, opened.error().message});
            return;
        }
        if (auto many = tooManyOutputs(project, **opened)) {
            judgement.problems.push_back(*std::move(many));
        }
        judgement.summary = summaryOf(project, projectDirectory, **opened);
    });
    if (failure) {
        judgement.problems.push_back({projects::Severity::Error, kSource, "data", failure->text});
    }
    return judgement;
}

} // namespace residua::engine
