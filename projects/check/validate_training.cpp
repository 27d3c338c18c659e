// SPDX-License-Identifier: GPL-3.0-or-later
// Data, initialisation, training plan and seeds.
#include "projects/check/problems.h"

#include "projects/base/real.h"
#include "projects/base/text.h"
#include "projects/model/data_source.h"
#include "projects/nodes/example_schema.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace residua::projects {
namespace {

const std::string kData = "/data";
const std::string kSource = "/data/source";
const std::string kTraining = "/training";

void checkTokeniser(const Tokeniser& tokeniser, Problems& problems)
{
    if (hasModel(tokeniser.kind) && tokeniser.model.empty()) {
        const bool json = tokeniser.kind == TokeniserKind::TokenizerJson;
        problems.error(kSource + "/tokeniser/model", json ? "names no tokenizer.json" : "names no SentencePiece model");
    }
    if (!hasVocabulary(tokeniser.kind) && tokeniser.vocabulary != kByteVocabulary) {
        problems.error(kSource + "/tokeniser/vocabulary", "got " + std::to_string(tokeniser.vocabulary) +
                                                              ", expected " + std::to_string(kByteVocabulary) +
                                                              ": text as bytes has that many tokens");
    }
}

void checkPath(const std::string& path, Problems& problems, const std::string& owner = kSource)
{
    if (path.empty()) {
        problems.error(owner + "/path", "names no file");
    }
}

void checkKey(const std::string& key, Problems& problems, const std::string& owner = kSource)
{
    if (key.empty()) {
        problems.error(owner + "/field", "names no key");
    }
}

void checkSource(const TextData& source, Problems& problems)
{
    checkPath(source.path, problems);
    checkTokeniser(source.tokeniser, problems);
}

void checkSource(const JsonLinesData& source, Problems& problems)
{
    checkPath(source.path, problems);
    checkKey(source.field, problems);
    checkTokeniser(source.tokeniser, problems);
}

void checkSource(const MixtureData& source, Problems& problems)
{
    const std::string parts = kSource + "/parts";
    if (source.parts.empty()) {
        problems.error(parts, "there are none, expected at least one text to draw from");
    }
    for (std::size_t i = 0; i < source.parts.size(); ++i) {
        const MixturePart& part = source.parts[i];
        const std::string owner = parts + "/" + std::to_string(i);
        checkPath(part.path, problems, owner);
        if (mayBeJsonLines(part.path)) {
            checkKey(part.field, problems, owner);
        }
        if (std::holds_alternative<TokenFileData>(sourceAt(part.path))) {
            problems.error(owner + "/path", "\"" + part.path +
                                                "\" is ready-made tokens, expected text or JSON Lines, which the "
                                                "tokeniser of the mixture reads");
        }
    }
    checkTokeniser(source.tokeniser, problems);
}

void checkSource(const LabelledTextData& source, Problems& problems)
{
    checkPath(source.path, problems);
    for (const auto& [key, name] : {std::pair("/text", &source.text), std::pair("/label", &source.label)}) {
        if (name->empty()) {
            problems.error(kSource + key, "names no column");
        }
    }
    checkTokeniser(source.tokeniser, problems);
}

void checkSource(const TokenFileData& source, Problems& problems)
{
    checkPath(source.path, problems);
}

void checkSource(const PictureData& source, Problems& problems)
{
    checkPath(source.path, problems);
    if (source.channels == 2) {
        problems.error(kSource + "/channels", "got 2, expected 1 for grey or 3 for colour");
    }
}

void checkSource(const WorldData& source, Problems& problems)
{
    if (source.kind == WorldKind::Mujoco) {
        if (source.path.empty()) {
            problems.error(kSource + "/path", "names no folder, expected one with world.json and a model of MuJoCo");
        }
        problems.atMost(kSource + "/goals", source.goals, source.states);
    }
    problems.atMost(kSource + "/prefill", source.prefill, source.replay);
    constexpr double kMiB = 1024.0 * 1024.0;
    const double bytes = replayBytes(source);
    if (bytes > static_cast<double>(source.memory) * kMiB) {
        problems.error(kSource + "/memory", "allows " + std::to_string(source.memory) +
                                                " MiB, but the replay buffer of " +
                                                std::to_string(source.environments) + " environments and " +
                                                std::to_string(source.replay) + " steps takes " + bytesText(bytes) +
                                                "; expected fewer steps or environments, or more memory");
    }
}

void checkSource(const LatentData& source, Problems& problems)
{
    checkPath(source.path, problems);
}

void checkSource(const DrawnPictures&, Problems&) {}
void checkSource(const SyntheticLanguage&, Problems&) {}
void checkSource(const LinearRegression&, Problems&) {}

void checkSource(const LowRankRegression& source, Problems& problems)
{
    problems.atMost(kSource + "/rank", source.rank, source.dim);
}

/// Returns the number of subsets of `size` elements of a set of `all`, or any number ≥ `enough` if it is at least
/// `enough`.
double subsets(std::int64_t all, std::int64_t size, double enough)
{
    double count = 1;
    for (std::int64_t i = 1; i <= std::min(size, all - size) && count < enough; ++i) {
        count *= static_cast<double>(all - i + 1) / static_cast<double>(i);
    }
    return std::round(count);
}

void checkSource(const BooleanPolynomial& source, Problems& problems)
{
    problems.atMost(kSource + "/variables", source.variables, source.dim);
    problems.atMost(kSource + "/degree", source.degree, source.variables);
    if (source.degree < 1 || source.degree > source.variables) {
        return;
    }
    // Binomial coefficients are smallest at the two ends of 1..degree.
    const auto wanted = static_cast<double>(source.termsPerDegree);
    const double most =
        std::min(subsets(source.variables, 1, wanted), subsets(source.variables, source.degree, wanted));
    if (most < wanted) {
        problems.atMost(kSource + "/terms_per_degree", source.termsPerDegree, static_cast<std::int64_t>(most));
    }
}

bool isEndless(const DataSource& data)
{
    return std::holds_alternative<BooleanPolynomial>(data.source) || std::holds_alternative<WorldData>(data.source);
}

bool hasValidationPart(const DataSource& data)
{
    const auto* const tokens = std::get_if<TokenFileData>(&data.source);
    const auto* const texts = std::get_if<LabelledTextData>(&data.source);
    const auto* const pictures = std::get_if<PictureData>(&data.source);
    return data.validationFraction > 0 || isEndless(data) || (tokens && !tokens->validationPath.empty()) ||
           (texts && !texts->validationPath.empty()) || (pictures && !pictures->validationPath.empty());
}

void checkMasking(const Project& project, Problems& problems)
{
    const Masking& masking = project.data.masking;
    if (traitsOf(project.network.objective).targetOf != TargetOf::Hidden) {
        if (!examplesOf(project).furtherOutputs().empty()) {
            problems.error(kData + "/masking/next_sentence",
                           "is of hidden tokens, got the objective " +
                               std::string(traitsOf(project.network.objective).title));
        }
        return;
    }
    if (masking.nextSentence && project.training.sequenceLength < kShortestPair) {
        problems.error("/training/sequence_length", "got " + std::to_string(project.training.sequenceLength) +
                                                        ", expected at least " + std::to_string(kShortestPair) +
                                                        " for two texts and their marks");
    }
    const auto* const language = std::get_if<SyntheticLanguage>(&project.data.source);
    if (language && language->vocabulary <= kFewestWords) {
        problems.error(kSource + "/vocabulary", "got " + std::to_string(language->vocabulary) + ", expected at least " +
                                                    std::to_string(kFewestWords + 1) +
                                                    ": one of the tokens is the mask");
    }
    if (masking.masked + masking.random > 1) {
        problems.error(kData + "/masking/random", "and the share that becomes the mask are " +
                                                      numberText(masking.masked + masking.random) +
                                                      " of the chosen tokens, expected at most 1");
    }
}

void checkDenoising(const Project& project, Problems& problems)
{
    const ObjectiveTraits& objective = traitsOf(project.network.objective);
    if (!objective.denoises || !fits(objective, examplesOf(project))) {
        return;
    }
    const Denoising& denoising = project.data.denoising;
    const std::string place = kData + "/denoising";
    const std::int64_t time = project.training.sequenceLength;
    if (time < kShortestDenoised) {
        problems.error("/training/sequence_length", "got " + std::to_string(time) + ", expected at least " +
                                                        std::to_string(kShortestDenoised) +
                                                        " for a text, its spans and their marks");
        return;
    }
    if (denoising.regular <= 0 && denoising.extreme <= 0 && denoising.sequential <= 0) {
        problems.error(place + "/regular", "all three weights are 0, expected one that is positive");
    }
    const std::array<double, kDenoiserModes> weights{denoising.regular, denoising.extreme, denoising.sequential};
    std::int64_t spans = 1;
    for (const Denoiser& denoiser : kDenoisers) {
        const bool drawn = weights[static_cast<std::size_t>(denoiser.mode)] > 0;
        spans = drawn ? std::max(spans, longestSpans(denoiser, time, time).spans) : spans;
    }
    if (denoising.sentinels < spans) {
        problems.error(place + "/sentinels", "got " + std::to_string(denoising.sentinels) + ", expected at least " +
                                                 std::to_string(spans) + " for the spans of a row of " +
                                                 std::to_string(time) + " tokens");
    }
    const auto* const language = std::get_if<SyntheticLanguage>(&project.data.source);
    if (language && language->vocabulary < kFewestWords + tokensAdded(denoising)) {
        problems.error(kSource + "/vocabulary", "got " + std::to_string(language->vocabulary) + ", expected at least " +
                                                    std::to_string(kFewestWords + tokensAdded(denoising)) + ": " +
                                                    std::to_string(tokensAdded(denoising)) +
                                                    " of the tokens are sentinels, modes and the end");
    }
    if (rowsOf(project.data) == DocumentRows::Packed) {
        problems.error(kData + "/documents/rows", "a row with hidden spans has one text: expected a stream, or one "
                                                  "document");
    }
}

void checkDiffusion(const Project& project, Problems& problems)
{
    if (!examplesOf(project).isNoised()) {
        return;
    }
    const Diffusion& diffusion = project.data.diffusion;
    if (diffusion.last < diffusion.first) {
        problems.error(kData + "/diffusion/last", "got " + numberText(diffusion.last) +
                                                      ", expected at least the first variance, " +
                                                      numberText(diffusion.first));
    }
    if (project.data.augmentation.mixup > 0) {
        problems.error(kData + "/augmentation/mixup", "mixes the classes of two pictures, but the objective denoising "
                                                      "diffusion reads one: expected 0");
    }
}

void checkDocuments(const Project& project, Problems& problems)
{
    if (rowsOf(project.data) == DocumentRows::Stream) {
        return;
    }
    const std::string documents = kData + "/documents";
    const auto* const tokens = std::get_if<TokenFileData>(&project.data.source);
    const std::int64_t end = project.data.documents.end;
    if (tokens != nullptr && (end < 0 || end >= tokens->vocabulary)) {
        problems.error(documents + "/end", "got " + std::to_string(end) +
                                               ", expected the token that ends each document, less than the "
                                               "vocabulary of " +
                                               std::to_string(tokens->vocabulary) + ", or rows of a stream");
    }
    if (project.data.masking.nextSentence && traitsOf(project.network.objective).targetOf == TargetOf::Hidden) {
        problems.error(documents + "/rows", "pairs of texts are cut from windows: expected a stream, or no next "
                                            "sentence");
    }
}

void checkRate(const TrainingPlan& plan, Problems& problems)
{
    if (plan.steps >= 1 && plan.learningRate.warmupSteps >= plan.steps) {
        problems.warning(kTraining + "/learning_rate/warmup_steps",
                         "warm-up of " + std::to_string(plan.learningRate.warmupSteps) + " steps fills all " +
                             std::to_string(plan.steps));
    }
}

/// Checks that a synthetic language is long enough for its splits. The length of a file is known only when it is
/// opened; its reader then makes the same check.
void checkSplits(const Project& project, Problems& problems)
{
    const DataSource& data = project.data;
    const auto* const source = std::get_if<SyntheticLanguage>(&data.source);
    if (source == nullptr || rowsOf(data) != DocumentRows::Stream || data.validationFraction + data.testFraction >= 1) {
        return;
    }
    const SplitSizes sizes = splitSizes(source->tokens, data.validationFraction, data.testFraction);
    const std::int64_t length = project.training.sequenceLength;
    for (const auto& [name, size, use] : {std::tuple{"training", sizes.training, SplitUse::Training},
                                          {"validation", sizes.validation, SplitUse::HeldOut},
                                          {"test", sizes.test, SplitUse::HeldOut}}) {
        if (isTooShort(size, use, length)) {
            problems.error(kSource + "/tokens", "leave " + std::to_string(size) + " for the " + name +
                                                    " split, expected at least " + std::to_string(length + 1) +
                                                    ": one sequence and the token after it");
            return;
        }
    }
}

/// Checks the sizes of one micro-batch and of all data that training reads.
void checkAmounts(const Project& project, Problems& problems)
{
    constexpr double kMostBatchBytes = 4.0 * 1024 * 1024 * 1024;
    constexpr double kMostUnits = real(kMostExactWhole); // counts are also stored in doubles
    const TrainingPlan& plan = project.training;
    const ExampleSchema examples = examplesOf(project);
    const double units = unitsPerBatch(project.data, plan);
    const double unitBytes = 8 * static_cast<double>(examples.numbersPerUnit());
    // A full batch is never larger than the data set, whose size is checked with the data.
    if (plan.batching != BatchKind::Full && units * unitBytes > kMostBatchBytes) {
        problems.error(kTraining + "/batch", "one micro-batch takes " + bytesText(units * unitBytes) +
                                                 ", expected at most " + bytesText(kMostBatchBytes) +
                                                 ": make it smaller and accumulate more of them");
    }
    const double all = units * static_cast<double>(plan.accumulate) * static_cast<double>(plan.steps);
    if (all > kMostUnits) {
        problems.error(kTraining + "/steps", "come to " + numberText(all) + " " + unitWord(project.data) + "s" +
                                                 ", expected at most " + numberText(kMostUnits));
    }
}

void checkBatching(const Project& project, Problems& problems)
{
    const TrainingPlan& plan = project.training;
    if (plan.batching != BatchKind::Full) {
        return;
    }
    const ExampleSchema examples = examplesOf(project);
    if (examples.hasTime() || examples.target().isTokens() || isEndless(project.data)) {
        problems.error(kTraining + "/batching",
                       std::string("the full set as one batch is for regression on a fixed set, the data is ") +
                           (isEndless(project.data) ? "drawn without end"
                            : examples.hasTime()    ? "a language"
                                                    : "labelled"));
    } else if (plan.accumulate != 1) {
        problems.error(kTraining + "/accumulate",
                       "got " + std::to_string(plan.accumulate) + ", expected 1 where the full set is one batch");
    }
}

void checkCadences(const Project& project, Problems& problems)
{
    const TrainingPlan& plan = project.training;
    if (plan.keepBest > 0 && plan.validateEvery == 0) {
        problems.warning(
            kTraining + "/keep_best",
            "keeps the checkpoints of least validation loss, but nothing is validated: see validate every");
    }
    if (plan.validateEvery > 0 && !hasValidationPart(project.data)) {
        problems.error(kTraining + "/validate_every",
                       "got " + std::to_string(plan.validateEvery) +
                           " steps, expected 0 where no data is set apart for validation");
    }
    const bool acts = std::holds_alternative<WorldData>(project.data.source); // its validation has no examples
    if (plan.stabilityEvery > 0 && (acts || !hasValidationPart(project.data))) {
        problems.error(kTraining + "/stability_every",
                       "got " + std::to_string(plan.stabilityEvery) +
                           " steps, expected 0 where no data is set apart for validation, which it is measured on");
    }
}

} // namespace

void validateData(const Project& project, Problems& problems)
{
    const DataSource& data = project.data;
    problems.checkRanges(kData);
    std::visit([&](const auto& source) { checkSource(source, problems); }, data.source);
    if (const Status size = checkGeneratedSize(data); !size) {
        problems.error(kSource, size.error().place, size.error().message);
    }
    checkMasking(project, problems);
    checkDocuments(project, problems);
    checkDenoising(project, problems);
    checkDiffusion(project, problems);
    if (data.validationFraction + data.testFraction >= 1 && data.validationFraction < 1 && data.testFraction < 1) {
        problems.error(kData, "validation and test take " + numberText(data.validationFraction + data.testFraction) +
                                  " of the data, expected less than 1");
    }
}

Status checkData(const Project& project)
{
    Problems problems(project);
    validateData(project, problems);
    if (examplesOf(project).hasTime()) {
        problems.checkRanges(kTraining + "/sequence_length");
    }
    checkBatching(project, problems);
    const std::optional<Error> error = problems.firstError();
    return error ? Status(*error) : Status(Done{});
}

void validateStepSizes(Problems& problems)
{
    for (const char* const field : {"/batch", "/accumulate", "/sequence_length"}) {
        problems.checkRanges(kTraining + field);
    }
}

void validateTraining(const Project& project, Problems& problems)
{
    for (const char* const part : {"/initialisation", "/training", "/schedule", "/seeds"}) {
        problems.checkRanges(part);
    }
    checkAmounts(project, problems);
    checkBatching(project, problems);
    checkSplits(project, problems);
    checkRate(project.training, problems);
    checkCadences(project, problems);
    validateSchedule(project, problems);
}

} // namespace residua::projects
