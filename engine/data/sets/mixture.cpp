// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/mixture_order.h"

#include "engine/data/sets/token_dataset.h"
#include "engine/data/text/data_files.h"
#include "engine/data/text/text_files.h"
#include "engine/data/tokens/text_corpus.h"
#include "engine/data/tokens/token_cache.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

namespace residua::engine {

namespace {

namespace fs = std::filesystem;
using Documents = std::vector<Document>;

constexpr const char* kPlace = "data";
/// The number of passes through a text up to which repetition is about as good as new text (Muennighoff et al., 2023).
constexpr double kGoodPasses = 4;
/// The largest share of a split's windows that may be left out without a note.
constexpr double kUnsaid = 0.1;

std::string rounded(double value)
{
    constexpr int kDigits = 3;
    return numberText(value, kDigits);
}

std::string partName(std::size_t index, const std::string& path)
{
    return "part " + std::to_string(index + 1) + " (" + path + ")";
}

/// Reads and tokenises the parts of one mixture.
class Preparation {
public:
    Preparation(const projects::MixtureData& mixture, const projects::Project& project, const fs::path& directory,
                const PreparationWatch& watch, ReadingVersion reading)
        : m_mixture(mixture), m_project(project), m_directory(directory), m_watch(watch), m_reading(reading)
    {
    }

    /// Returns the codec for all parts.
    Result<std::unique_ptr<TextCodec>> codec()
    {
        Documents all;
        if (m_mixture.tokeniser.kind == projects::TokeniserKind::Characters) {
            for (std::size_t i = 0; i < m_mixture.parts.size(); ++i) {
                auto documents = RESIDUA_TRY(read(i, watchOf(0)));
                all.insert(all.end(), documents.begin(), documents.end());
                m_read.push_back(std::move(documents));
            }
        }
        return codecFor(all, m_mixture.tokeniser, m_directory, std::string(kPlace) + " · tokeniser", watchOf(0));
    }

    Result<std::vector<TokenPart>> parts(const TextCodec& codec)
    {
        const std::vector<double> shares = projects::sharesOf(m_mixture);
        std::vector<TokenPart> parts;
        for (std::size_t i = 0; i < m_mixture.parts.size(); ++i) {
            auto tokens = RESIDUA_TRY(tokensOf(i, codec));
            const std::string& path = m_mixture.parts[i].path;
            TokenPart part = partOf(std::move(tokens), m_project, placeOf(i) + (m_directory / path).string());
            part.name = path;
            part.share = shares[i];
            parts.push_back(std::move(part));
        }
        return parts;
    }

private:
    static std::string placeOf(std::size_t index)
    {
        return std::string(kPlace) + " · part " + std::to_string(index + 1) + " · ";
    }

    /// Returns the watch for part `index`. It reports the progress of the whole preparation to m_watch; all parts count
    /// equally.
    [[nodiscard]] PreparationWatch watchOf(std::size_t index) const
    {
        if (!m_watch) {
            return {};
        }
        const auto parts = static_cast<double>(m_mixture.parts.size());
        return
            [this, done = static_cast<double>(index), parts](double share) { return m_watch((done + share) / parts); };
    }

    [[nodiscard]] static Error ofPart(std::size_t index, const Error& error)
    {
        const bool givenUp = error == preparationGivenUp();
        return givenUp ? error : Error{placeOf(index) + error.place, error.message};
    }

    [[nodiscard]] Result<Documents> read(std::size_t index, const PreparationWatch& watch) const
    {
        const projects::MixturePart& part = m_mixture.parts[index];
        auto documents = readTexts(m_directory / part.path, part.field, watch, m_memory, m_reading);
        const projects::Documents& rules = m_project.data.documents;
        const bool plain = kindAt(m_directory / part.path, m_reading) == DataKind::Text;
        if (documents && plain && rules.lines && rules.rows != projects::DocumentRows::Stream) {
            documents = linesOf(*documents, watch);
        }
        return documents ? std::move(documents) : Result<Documents>(ofPart(index, documents.error()));
    }

    [[nodiscard]] Result<DocumentTokens> tokensOf(std::size_t index, const TextCodec& codec)
    {
        const PreparationWatch watch = watchOf(index);
        const auto documents =
            RESIDUA_TRY(m_read.empty() ? read(index, watch) : Result<Documents>(std::move(m_read[index])));
        const std::string path = (m_directory / m_mixture.parts[index].path).string();
        const bool rows = m_project.data.documents.rows != projects::DocumentRows::Stream;
        DocumentTokens result;
        auto tokens = engine::tokensOf(documents, codec, m_mixture.tokeniser, m_directory, path, watch,
                                       rows ? &result.ends : nullptr);
        if (!tokens) {
            return ofPart(index, tokens.error());
        }
        result.tokens = *std::move(tokens);
        return result;
    }

    const projects::MixtureData& m_mixture;
    const projects::Project& m_project;
    const fs::path& m_directory;
    const PreparationWatch& m_watch;
    ReadingVersion m_reading;
    TextMemory m_memory;           ///< shared by all parts
    std::vector<Documents> m_read; ///< the documents of all parts, if tokens are characters
};

/// Adds notes for the user about a held-out split.
void tellSplit(const std::vector<DataPartOutline>& parts, Split split, std::int64_t length,
               std::vector<std::string>& notes)
{
    const auto at = static_cast<std::size_t>(split);
    std::int64_t all = 0;
    std::int64_t taken = 0;
    std::string scarcest;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::int64_t windows = parts[i].windows[at];
        all += windows;
        taken += parts[i].evaluated[at] / length;
        if (parts[i].evaluated[at] == windows * length && scarcest.empty()) {
            scarcest = partName(i, parts[i].name);
        }
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (taken > 0 && parts[i].evaluated[at] == 0) {
            notes.push_back(partName(i, parts[i].name) + " has none of the " + std::to_string(taken) + " windows of " +
                            std::string(nameOf(split).title) + ": its share is too small for that many");
        }
    }
    if (static_cast<double>(taken) < (1 - kUnsaid) * static_cast<double>(all)) {
        notes.push_back(std::string(nameOf(split).title) + " goes through " + std::to_string(taken) + " of the " +
                        std::to_string(all) + " windows that are set apart, in proportion to the weights: " + scarcest +
                        " has no more for its share");
    }
}

std::vector<std::string> notesOf(const std::vector<DataPartOutline>& parts, const projects::TrainingPlan& plan)
{
    std::vector<std::string> notes;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (const double passes = passesOf(parts[i], plan); passes > kGoodPasses) {
            notes.push_back(partName(i, parts[i].name) + " is gone through " + rounded(passes) +
                            " times: beyond about " + rounded(kGoodPasses) +
                            ", repeated text teaches less than new text");
        }
    }
    tellSplit(parts, Split::Validation, plan.sequenceLength, notes);
    tellSplit(parts, Split::Test, plan.sequenceLength, notes);
    return notes;
}

} // namespace

double passesOf(const DataPartOutline& part, const projects::TrainingPlan& plan)
{
    const double fed = static_cast<double>(plan.steps) * static_cast<double>(plan.accumulate) *
                       static_cast<double>(plan.batch) * static_cast<double>(plan.sequenceLength);
    return fed * part.share / static_cast<double>(part.sizes[static_cast<std::size_t>(Split::Train)]);
}

std::string textOf(const DataPartOutline& part, std::size_t index, const projects::TrainingPlan& plan)
{
    return partName(index, part.name) + ": " + rounded(100 * part.share) + " % of the examples, " +
           std::to_string(part.sizes[static_cast<std::size_t>(Split::Train)]) + " tokens to train on, gone through " +
           rounded(passesOf(part, plan)) + " times";
}

Result<std::unique_ptr<Dataset>> openMixture(const projects::MixtureData& mixture, const projects::Project& project,
                                             const fs::path& projectDirectory, const PreparationWatch& watch,
                                             ReadingVersion reading)
{
    Preparation preparation(mixture, project, projectDirectory, watch, reading);
    auto codec = RESIDUA_TRY(preparation.codec());
    auto parts = RESIDUA_TRY(preparation.parts(*codec));
    const std::int64_t length = project.training.sequenceLength;
    std::vector<std::string> notes =
        notesOf(outlinesOf(parts, projects::rowsOf(project.data), length), project.training);
    for (const projects::MixturePart& part : mixture.parts) {
        const fs::path path = projectDirectory / part.path;
        std::ranges::move(lookAt(path, kindAt(path, reading), reading).notes, std::back_inserter(notes));
    }
    std::ranges::move(tokenCacheFaults(mixture.tokeniser.kind), std::back_inserter(notes));
    return TokenDataset::create(std::move(parts), std::move(codec), mixture.tokeniser.vocabulary, project,
                                std::move(notes));
}

MixtureOrder::MixtureOrder(std::vector<double> shares, const std::vector<std::int64_t>& windows)
    : m_shares(std::move(shares)), m_taken(m_shares.size())
{
    if (m_shares.empty()) {
        return;
    }
    const std::size_t scarcest = next(windows); // it runs out first
    const double end = turnOf(scarcest, windows[scarcest]);
    for (std::size_t part = 0; part < m_shares.size(); ++part) {
        const std::int64_t count = before(part, end);
        // If two parts have windows at the same turn, the earlier part's window comes first, so it is before the end.
        m_taken[part] = count + (part < scarcest && turnOf(part, count) == end ? 1 : 0);
    }
    m_size = std::accumulate(m_taken.begin(), m_taken.end(), std::int64_t{0});
}

double MixtureOrder::turnOf(std::size_t part, std::int64_t number) const
{
    return (static_cast<double>(number) + 0.5) / m_shares[part];
}

std::int64_t MixtureOrder::before(std::size_t part, double turn) const
{
    // The rounded product is off by one at most; turnOf() decides, as everywhere else.
    auto count = static_cast<std::int64_t>(std::max(0.0, std::floor(turn * m_shares[part])));
    while (count > 0 && turnOf(part, count - 1) >= turn) {
        --count;
    }
    while (turnOf(part, count) < turn) {
        ++count;
    }
    return count;
}

std::size_t MixtureOrder::next(const std::vector<std::int64_t>& taken) const
{
    std::size_t first = 0;
    for (std::size_t part = 1; part < m_shares.size(); ++part) {
        if (turnOf(part, taken[part]) < turnOf(first, taken[first])) {
            first = part;
        }
    }
    return first;
}

std::vector<MixtureOrder::Window> MixtureOrder::windows(std::int64_t first, std::int64_t count) const
{
    // Before turn t there are at most t + parts / 2 windows, so the rest are enumerated one by one.
    const double start = std::max(0.0, static_cast<double>(first) - static_cast<double>(m_shares.size()));
    std::vector<std::int64_t> taken(m_shares.size());
    std::int64_t done = 0;
    for (std::size_t part = 0; part < m_shares.size(); ++part) {
        taken[part] = before(part, start);
        done += taken[part];
    }
    std::vector<Window> windows;
    windows.reserve(static_cast<std::size_t>(count));
    for (; done < first + count; ++done) {
        const std::size_t part = next(taken);
        if (done >= first) {
            windows.push_back({part, taken[part]});
        }
        ++taken[part];
    }
    return windows;
}

} // namespace residua::engine
