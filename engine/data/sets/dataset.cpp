// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/sets/dataset.h"

#include "engine/data/codec/text_codec.h"
#include "engine/data/sets/boolean_polynomial.h"
#include "engine/data/sets/denoising_dataset.h"
#include "engine/data/sets/labelled_dataset.h"
#include "engine/data/sets/latent_dataset.h"
#include "engine/data/sets/masked_dataset.h"
#include "engine/data/sets/mixture_order.h"
#include "engine/data/sets/nested_agreement.h"
#include "engine/data/sets/noised_dataset.h"
#include "engine/data/sets/picture_dataset.h"
#include "engine/data/sets/regression.h"
#include "engine/data/sets/token_dataset.h"
#include "engine/data/sets/world_dataset.h"
#include "engine/data/text/data_files.h"
#include "engine/data/text/folder_files.h"
#include "engine/data/text/text_files.h"
#include "engine/data/tokens/text_corpus.h"
#include "engine/data/tokens/token_cache.h"
#include "engine/data/tokens/token_files.h"
#include "projects/base/random.h"
#include "projects/base/text.h"
#include "projects/check/validate.h"

#include <iterator>

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

    /// True if rows are made of documents.
    [[nodiscard]] bool hasRows() const { return projects::rowsOf(project.data) != projects::DocumentRows::Stream; }

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
        if (documents && hasRows() && project.data.documents.lines &&
            std::holds_alternative<projects::TextData>(project.data.source)) {
            documents = linesOf(*documents, watch);
        }
        if (!documents) {
            return documents.error();
        }
        DocumentTokens read;
        auto codec = RESIDUA_TRY(codecFor(*documents, tokeniser, directory, place, watch));
        read.tokens = RESIDUA_TRY(
            tokensOf(*documents, *codec, tokeniser, directory, place, watch, hasRows() ? &read.ends : nullptr));
        return TokenDataset::create(partOf(std::move(read), project, place), std::move(codec), tokeniser.vocabulary,
                                    project, std::move(notes));
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
        RESIDUA_TRY(checkParts(path));
        return openText(readTextFiles(path, watch, TextMemory(), reading.version), source.tokeniser, path.string(),
                        notesOn(path, DataKind::Text, source.tokeniser));
    }

    Opened operator()(const projects::JsonLinesData& source) const
    {
        const auto path = resolved(source.path);
        RESIDUA_TRY(checkParts(path));
        return openText(readRecords(path, source.field, watch, TextMemory(), reading.version), source.tokeniser,
                        path.string(), notesOn(path, DataKind::Records, source.tokeniser));
    }

    Opened operator()(const projects::MixtureData& source) const
    {
        for (const projects::MixturePart& part : source.parts) {
            RESIDUA_TRY(checkParts(resolved(part.path)));
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

    /// Returns the tokens as documents that end with the token `end`, if rows are made of documents.
    [[nodiscard]] Result<DocumentTokens> ended(TokenSequence tokens, std::int64_t end) const
    {
        DocumentTokens documents{std::move(tokens)};
        if (hasRows()) {
            documents.ends = RESIDUA_TRY(endsAfter(documents.tokens, end, watch));
        }
        return documents;
    }

    Opened operator()(const projects::TokenFileData& source) const
    {
        const auto path = resolved(source.path);
        RESIDUA_TRY(checkTokens(source));
        const auto append = [&](TokenFiles& files, const std::filesystem::path& from) {
            return appendTokenFiles(files, from, source.tokenWidth, source.vocabulary, watch, reading.version);
        };
        TokenFiles files;
        RESIDUA_TRY(append(files, path));
        std::ranges::move(lookAt(path, DataKind::Tokens, reading.version).notes, std::back_inserter(files.notes));
        const std::int64_t before = files.tokens.size();
        if (!source.validationPath.empty()) {
            RESIDUA_TRY(append(files, resolved(source.validationPath)));
        }
        DocumentTokens documents = RESIDUA_TRY(ended(std::move(files.tokens), project.data.documents.end));
        TokenPart part;
        if (source.validationPath.empty()) {
            part = partOf(std::move(documents), project, path.string());
        } else { // the held-out files begin a document of their own
            std::vector<std::int64_t>& ends = documents.ends;
            const auto first = std::ranges::lower_bound(ends, before);
            const auto training = std::ssize(ends) == 0 ? 0 : first - ends.begin() + 1;
            if (first != ends.end() && *first != before) {
                ends.insert(first, before);
            }
            part = {std::move(documents.tokens),
                    hasRows() ? splitDocuments(std::span(ends).first(static_cast<std::size_t>(training)), 0,
                                               project.data.testFraction)
                              : splitTokens(before, 0, project.data.testFraction),
                    path.string()};
            part.ranges[static_cast<std::size_t>(Split::Validation)] = {before, part.tokens.size() - before};
            planRows(part, ends, project);
        }
        return TokenDataset::create(std::move(part), idCodec(source.vocabulary), source.vocabulary, project,
                                    std::move(files.notes));
    }

    Opened operator()(const projects::SyntheticLanguage& source) const
    {
        // If the objective hides tokens, the last token is the mask; a mixture of denoisers adds its tokens.
        const bool hides = projects::traitsOf(project.network.objective).targetOf == projects::TargetOf::Hidden;
        projects::SyntheticLanguage spoken = source;
        const bool denoises = projects::traitsOf(project.network.objective).denoises;
        spoken.vocabulary -= hides ? 1 : denoises ? projects::tokensAdded(project.data.denoising) : 0;
        const NestedAgreement language(spoken);
        std::vector<std::string> words = language.words();
        if (hides) {
            words.emplace_back("[MASK]");
        }
        TokenSequence tokens;
        tokens.append(language.generate(project.seeds.data, source.tokens), source.vocabulary);
        DocumentTokens documents = RESIDUA_TRY(ended(std::move(tokens), NestedAgreement::kFullStop));
        return TokenDataset::create(partOf(std::move(documents), project, kSyntheticLanguage),
                                    wordCodec(std::move(words)), source.vocabulary, project);
    }

    Opened operator()(const projects::LabelledTextData& source) const
    {
        if (!source.validationPath.empty() && !reading.isFirst()) {
            RESIDUA_TRY(refuseShared({resolved(source.path)}, {resolved(source.validationPath)}));
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

    Opened operator()(const projects::LatentData& source) const
    {
        return LatentDataset::open(source, project, directory, reading);
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

    Opened operator()(const projects::WorldData& source) const { return WorldDataset::open(source, directory); }
};

Result<DataOutline> outlineOf(const projects::SyntheticLanguage& source, const projects::Project& project)
{
    const SplitRanges ranges = splitTokens(source.tokens, project.data.validationFraction, project.data.testFraction);
    RESIDUA_TRY(checkSplits(ranges, project.training.sequenceLength, kSyntheticLanguage));
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
                return projects::rowsOf(project.data) == projects::DocumentRows::Stream
                           ? std::optional(outlineOf(source, project))
                           : std::nullopt;
            } else {
                DataOutline outline = outlineOf(source, project.data);
                const projects::ExampleSchema trained = projects::examplesOf(project);
                outline.schema = trained.isNoised() ? trained : std::move(outline.schema);
                return Result<DataOutline>(std::move(outline));
            }
        },
        project.data.source);
}

Result<std::unique_ptr<Dataset>> Dataset::open(const projects::Project& project,
                                               const std::filesystem::path& projectDirectory,
                                               const PreparationWatch& watch, const Reading& reading)
{
    RESIDUA_TRY(projects::checkData(project));
    Opened dataset = std::visit(Opener{project, projectDirectory, watch, reading}, project.data.source);
    if (!dataset) {
        return withPlainPlace(dataset.error());
    }
    const projects::ObjectiveTraits& objective = projects::traitsOf(project.network.objective);
    if (projects::examplesOf(project).isNoised()) {
        return std::unique_ptr<Dataset>(
            std::make_unique<NoisedDataset>(*std::move(dataset), project.data.diffusion, project.seeds.data));
    }
    const bool hides =
        objective.targetOf == projects::TargetOf::Hidden && projects::fits(objective, (*dataset)->schema());
    if (objective.denoises && projects::fits(objective, (*dataset)->schema())) {
        return DenoisingDataset::create(*std::move(dataset), project.data.denoising, project.seeds.data);
    }
    return hides ? MaskedDataset::create(*std::move(dataset), project.data.masking, project.seeds.data)
                 : std::move(dataset);
}

} // namespace residua::engine
