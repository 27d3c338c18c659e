// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/dataset.h"

#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/boolean_polynomial.h"
#include "engine/data/sets/labelled_dataset.h"
#include "engine/data/sets/masked_dataset.h"
#include "engine/data/sets/mixture_order.h"
#include "engine/data/sets/nested_agreement.h"
#include "engine/data/sets/picture_dataset.h"
#include "engine/data/sets/regression.h"
#include "engine/data/sets/token_dataset.h"
#include "engine/data/text/data_files.h"
#include "engine/data/text/folder_files.h"
#include "engine/data/text/text_files.h"
#include "engine/data/tokens/text_corpus.h"
#include "engine/data/tokens/token_cache.h"
#include "engine/data/tokens/token_files.h"
#include "projects/base/random.h"
#include "projects/base/text.h"
#include "projects/check/validate.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace residua::engine {
namespace {

using Opened = Result<std::unique_ptr<Dataset>>;

constexpr const char* kSyntheticLanguage = "synthetic language";

/// Opens each kind of source.
struct Opener {
    const projects::Project& project;
    const std::filesystem::path& directory;
    const PreparationWatch& watch;
    const Reading& reading;

    /// A relative path starts at the project's directory; an absolute path is unchanged.
    [[nodiscard]] std::filesystem::path resolved(const std::string& path) const { return directory / path; }

    [[nodiscard]] SplitRanges split(std::int64_t tokens) const
    {
        return splitTokens(tokens, project.data.validationFraction, project.data.testFraction);
    }

    /// Returns notes for the user about the reading of text.
    [[nodiscard]] std::vector<std::string> notesOn(const std::filesystem::path& path, DataKind kind,
                                                   const projects::Tokeniser& tokeniser) const
    {
        std::vector<std::string> notes = lookAt(path, kind, reading.version).notes;
        std::ranges::move(tokenCacheFaults(tokeniser.kind), std::back_inserter(notes));
        return notes;
    }

    [[nodiscard]] Opened openText(Result<std::vector<Document>> documents, const projects::Tokeniser& tokeniser,
                                  const std::string& place, std::vector<std::string> notes) const
    {
        if (!documents) {
            return documents.error();
        }
        auto codec = codecFor(*documents, tokeniser, directory, place, watch);
        auto tokens = codec ? tokensOf(*documents, **codec, tokeniser, directory, place, watch)
                            : Result<TokenSequence>(codec.error());
        if (!tokens) {
            return tokens.error();
        }
        const SplitRanges ranges = split(tokens->size());
        return TokenDataset::create(*std::move(tokens), ranges, *std::move(codec), tokeniser.vocabulary,
                                    project.training.sequenceLength, place, std::move(notes));
    }

    /// Refuses a folder of texts that are parts of a data set, such as train and test.
    [[nodiscard]] Status checkParts(const std::filesystem::path& path) const
    {
        return reading.isFirst() ? Status(Done{})
                                 : refuseParts(path, "name one of them as the path, or several as parts of a mixture");
    }

    Opened operator()(const projects::TextData& source) const
    {
        const auto path = resolved(source.path);
        if (const Status whole = checkParts(path); !whole) {
            return whole.error();
        }
        return openText(readTextFiles(path, watch, TextMemory(), reading.version), source.tokeniser, path.string(),
                        notesOn(path, DataKind::Text, source.tokeniser));
    }

    Opened operator()(const projects::JsonLinesData& source) const
    {
        const auto path = resolved(source.path);
        if (const Status whole = checkParts(path); !whole) {
            return whole.error();
        }
        return openText(readRecords(path, source.field, watch, TextMemory(), reading.version), source.tokeniser,
                        path.string(), notesOn(path, DataKind::Records, source.tokeniser));
    }

    Opened operator()(const projects::MixtureData& source) const
    {
        for (const projects::MixturePart& part : source.parts) {
            if (const Status whole = checkParts(resolved(part.path)); !whole) {
                return whole.error();
            }
        }
        return openMixture(source, project, directory, watch, reading.version);
    }

    /// Refuses training tokens with the parts of a data set, and held-out tokens that are trained on.
    [[nodiscard]] Status checkTokens(const projects::TokenFileData& source) const
    {
        const auto path = resolved(source.path);
        const std::vector<NamedParts> sets = reading.isFirst() ? std::vector<NamedParts>() : partsIn(path);
        if (!sets.empty()) {
            return refuseParts(path, "set path to " + sets.front().training.front().string() +
                                         " and validation_path to " + sets.front().heldOut().front().string());
        }
        if (reading.isFirst() || source.validationPath.empty()) {
            return Done{};
        }
        const auto training = filesAt(path, projects::kTokenEndings);
        const auto heldOut = filesAt(resolved(source.validationPath), projects::kTokenEndings);
        return training && heldOut ? refuseShared(*training, *heldOut) : Status(Done{});
    }

    Opened operator()(const projects::TokenFileData& source) const
    {
        const auto path = resolved(source.path);
        if (const Status checked = checkTokens(source); !checked) {
            return checked.error();
        }
        const auto append = [&](TokenFiles& files, const std::filesystem::path& from) {
            return appendTokenFiles(files, from, source.tokenWidth, source.vocabulary, watch, reading.version);
        };
        TokenFiles files;
        if (auto status = append(files, path); !status) {
            return status.error();
        }
        std::ranges::move(lookAt(path, DataKind::Tokens, reading.version).notes, std::back_inserter(files.notes));
        SplitRanges ranges = split(files.tokens.size());
        if (!source.validationPath.empty()) {
            const std::int64_t before = files.tokens.size();
            ranges = splitTokens(before, 0.0, project.data.testFraction);
            if (auto status = append(files, resolved(source.validationPath)); !status) {
                return status.error();
            }
            ranges[static_cast<std::size_t>(Split::Validation)] = {before, files.tokens.size() - before};
        }
        return TokenDataset::create(std::move(files.tokens), ranges, idCodec(source.vocabulary), source.vocabulary,
                                    project.training.sequenceLength, path.string(), std::move(files.notes));
    }

    Opened operator()(const projects::SyntheticLanguage& source) const
    {
        // If the objective hides tokens, the last token is the mask.
        const bool hides = projects::traitsOf(project.network.objective).targetOf == projects::TargetOf::Hidden;
        projects::SyntheticLanguage spoken = source;
        spoken.vocabulary -= hides ? 1 : 0;
        const NestedAgreement language(spoken);
        std::vector<std::string> words = language.words();
        if (hides) {
            words.emplace_back("[MASK]");
        }
        TokenSequence tokens;
        tokens.append(language.generate(project.seeds.data, source.tokens), source.vocabulary);
        const SplitRanges ranges = split(tokens.size());
        return TokenDataset::create(std::move(tokens), ranges, wordCodec(std::move(words)), source.vocabulary,
                                    project.training.sequenceLength, kSyntheticLanguage);
    }

    Opened operator()(const projects::LabelledTextData& source) const
    {
        if (!source.validationPath.empty() && !reading.isFirst()) {
            if (const Status apart = refuseShared({resolved(source.path)}, {resolved(source.validationPath)}); !apart) {
                return apart.error();
            }
        }
        return LabelledDataset::open(source, project, directory, reading, watch);
    }

    Opened operator()(const projects::PictureData& source) const
    {
        return PictureDataset::open(source, project, directory, reading, watch);
    }

    Opened operator()(const projects::DrawnPictures& source) const
    {
        return PictureDataset::open(source, project, reading, watch);
    }

    Opened operator()(const projects::LinearRegression& source) const
    {
        return makeLinearRegression(source, project.data, project.seeds.data);
    }

    Opened operator()(const projects::LowRankRegression& source) const
    {
        return makeLowRankRegression(source, project.data, project.seeds.data);
    }

    Opened operator()(const projects::BooleanPolynomial& source) const
    {
        return BooleanPolynomialDataset::create(source, project.data, project.seeds.data);
    }
};

Result<DataOutline> outlineOf(const projects::SyntheticLanguage& source, const projects::Project& project)
{
    const SplitRanges ranges = splitTokens(source.tokens, project.data.validationFraction, project.data.testFraction);
    if (const Status status = checkSplits(ranges, project.training.sequenceLength, kSyntheticLanguage); !status) {
        return status.error();
    }
    return DataOutline{projects::ExampleSchema::nextToken(source.vocabulary),
                       {ranges[0].size, ranges[1].size, ranges[2].size}};
}

} // namespace

std::int64_t shuffledRow(std::int64_t draw, std::int64_t rows, Split split, std::int64_t seed)
{
    const std::uint64_t stream = streamOf(Stream::Order, static_cast<std::uint64_t>(split));
    const auto epoch = static_cast<std::uint64_t>(draw / rows);
    return permuted(draw % rows, rows, drawBits(static_cast<std::uint64_t>(seed), stream, epoch));
}

Error withPlainPlace(Error error)
{
    if (error.place.find("/../") != std::string::npos || error.place.find("/./") != std::string::npos) {
        error.place = std::filesystem::path(error.place).lexically_normal().string();
    }
    return error;
}

std::string orderNote(const std::string& what, const std::vector<std::string>& names)
{
    constexpr std::size_t kShown = 20;
    return "the " + what +
           " in the order of the outputs: " + joinedText(std::span(names).first(std::min(kShown, names.size()))) +
           (names.size() > kShown ? " …" : "");
}

void Dataset::fillAll(Batch& batch, Split) const
{
    batch = {};
}

Result<std::vector<std::int64_t>> Dataset::encode(const std::string&) const
{
    return Error{"data", "the examples are no text: there is nothing to encode"};
}

Result<std::string> Dataset::fillText(Batch&, const std::string&) const
{
    return Error{"data", "the examples are neither labelled texts nor pictures: leave the text out"};
}

std::string Dataset::decode(const std::vector<std::int64_t>&) const
{
    return {};
}

std::optional<Result<DataOutline>> Dataset::outline(const projects::Project& project)
{
    return std::visit(
        [&](const auto& source) -> std::optional<Result<DataOutline>> {
            constexpr bool language = requires
            {
                outlineOf(source, project);
            };
            constexpr bool vectors = requires
            {
                outlineOf(source, project.data);
            };
            if constexpr (!language && !vectors) {
                return std::nullopt;
            } else if (const Status status = projects::checkData(project); !status) {
                return Result<DataOutline>(status.error());
            } else if constexpr (language) {
                return outlineOf(source, project);
            } else {
                return Result<DataOutline>(outlineOf(source, project.data));
            }
        },
        project.data.source);
}

Result<std::unique_ptr<Dataset>> Dataset::open(const projects::Project& project,
                                               const std::filesystem::path& projectDirectory,
                                               const PreparationWatch& watch, const Reading& reading)
{
    if (auto status = projects::checkData(project); !status) {
        return status.error();
    }
    Opened dataset = std::visit(Opener{project, projectDirectory, watch, reading}, project.data.source);
    if (!dataset) {
        return withPlainPlace(dataset.error());
    }
    const projects::ObjectiveTraits& objective = projects::traitsOf(project.network.objective);
    const bool hides =
        objective.targetOf == projects::TargetOf::Hidden && projects::fits(objective, (*dataset)->schema());
    return hides ? MaskedDataset::create(*std::move(dataset), project.data.masking, project.seeds.data)
                 : std::move(dataset);
}

} // namespace residua::engine
