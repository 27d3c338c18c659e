// SPDX-License-Identifier: GPL-3.0-or-later
// Data, initialisation, training plan, stage schedule and seeds.
#include "projects/check/problems.h"

#include "projects/model/text_forms.h"
#include "projects/schedule/stage_schedule.h"

#include <algorithm>
#include <cmath>

namespace residua::projects {
namespace {

const std::string kData = "/data";
const std::string kSource = "/data/source";
const std::string kTraining = "/training";

void checkTokeniser(const Tokeniser& tokeniser, Problems& problems)
{
    if (tokeniser.kind == TokeniserKind::SentencePiece && tokeniser.model.empty()) {
        problems.error(kSource + "/tokeniser/model", "data · tokeniser · model", "names no SentencePiece model");
    }
    if (tokeniser.kind != TokeniserKind::Bytes) {
        problems.within(kSource + "/tokeniser/vocabulary", "data · tokeniser · vocabulary", tokeniser.vocabulary, 2,
                        10'000'000);
    }
}

void checkPath(const std::string& path, Problems& problems)
{
    if (path.empty()) {
        problems.error(kSource + "/path", "data · path", "names no file");
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
    if (source.field.empty()) {
        problems.error(kSource + "/field", "data · field", "names no field");
    }
    checkTokeniser(source.tokeniser, problems);
}

void checkSource(const TokenFileData& source, Problems& problems)
{
    checkPath(source.path, problems);
    problems.within(kSource + "/vocabulary", "data · vocabulary", source.vocabulary, 2, 10'000'000);
}

void checkSource(const SyntheticLanguage& source, Problems& problems)
{
    problems.within(kSource + "/vocabulary", "data · vocabulary", source.vocabulary, 11, 1'000'000);
    problems.within(kSource + "/levels", "data · levels", source.levels, 1, 64);
    problems.atLeast(kSource + "/tokens", "data · tokens", source.tokens, 1);
}

void checkSource(const LinearRegression& source, Problems& problems)
{
    problems.within(kSource + "/dim", "data · dimension", source.dim, 1, 100'000);
    problems.atLeast(kSource + "/samples", "data · samples", source.samples, 1);
}

void checkSource(const LowRankRegression& source, Problems& problems)
{
    problems.within(kSource + "/dim", "data · dimension", source.dim, 1, 100'000);
    problems.within(kSource + "/rank", "data · rank", source.rank, 1, std::max<std::int64_t>(1, source.dim));
    problems.atLeast(kSource + "/samples", "data · samples", source.samples, 1);
    problems.atLeast(kSource + "/noise", "data · noise", source.noise, 0.0);
}

/// How many subsets of `size` elements a set of `all` has, as far as that is below a million.
double subsets(std::int64_t all, std::int64_t size)
{
    double count = 1;
    for (std::int64_t i = 1; i <= std::min(size, all - size) && count < 1e6; ++i) {
        count *= static_cast<double>(all - i + 1) / static_cast<double>(i);
    }
    return std::round(count);
}

void checkSource(const BooleanPolynomial& source, Problems& problems)
{
    problems.within(kSource + "/dim", "data · dimension", source.dim, 1, 100'000);
    problems.within(kSource + "/variables", "data · variables", source.variables, 1,
                    std::max<std::int64_t>(1, source.dim));
    problems.within(kSource + "/degree", "data · degree", source.degree, 1,
                    std::max<std::int64_t>(1, source.variables));
    const bool sound = source.degree >= 1 && source.degree <= source.variables;
    // Binomial coefficients are smallest at the two ends of 1..degree.
    const double most = sound ? std::min(subsets(source.variables, 1), subsets(source.variables, source.degree)) : 1e6;
    problems.within(kSource + "/terms_per_degree", "data · terms per degree", source.termsPerDegree, 1,
                    static_cast<std::int64_t>(std::min(most, 1e6)));
}

bool isEndless(const DataSource& data)
{
    return std::holds_alternative<BooleanPolynomial>(data.source);
}

bool hasValidationPart(const DataSource& data)
{
    const auto* const tokens = std::get_if<TokenFileData>(&data.source);
    return data.validationFraction > 0 || isEndless(data) || (tokens && !tokens->validationPath.empty());
}

void checkOptimiser(const AdamW& adam, Problems& problems)
{
    const std::string path = kTraining + "/optimiser";
    problems.belowOne(path + "/beta1", "training · optimiser · beta1", adam.beta1);
    problems.belowOne(path + "/beta2", "training · optimiser · beta2", adam.beta2);
    problems.positive(path + "/epsilon", "training · optimiser · epsilon", adam.epsilon);
    problems.atLeast(path + "/weight_decay", "training · optimiser · weight decay", adam.weightDecay, 0.0);
}

void checkOptimiser(const Sgd& sgd, Problems& problems)
{
    const std::string path = kTraining + "/optimiser";
    problems.belowOne(path + "/momentum", "training · optimiser · momentum", sgd.momentum);
    problems.atLeast(path + "/weight_decay", "training · optimiser · weight decay", sgd.weightDecay, 0.0);
}

void checkRate(const TrainingPlan& plan, Problems& problems)
{
    const std::string path = kTraining + "/learning_rate";
    problems.positive(path + "/peak", "training · learning rate · peak", plan.rate.peak);
    problems.atLeast(path + "/warmup_steps", "training · learning rate · warm-up", plan.rate.warmupSteps, 0);
    problems.within(path + "/final_fraction", "training · learning rate · final fraction", plan.rate.finalFraction, 0,
                    1);
    if (plan.steps >= 1 && plan.rate.warmupSteps >= plan.steps) {
        problems.warning(path + "/warmup_steps", "training · learning rate · warm-up",
                         "warm-up of " + std::to_string(plan.rate.warmupSteps) + " steps fills all " +
                             std::to_string(plan.steps));
    }
}

/// One micro-batch as the data fills it, and all that training sees.
void checkAmounts(const Project& project, Problems& problems)
{
    constexpr double kMostBatchBytes = 4.0 * 1024 * 1024 * 1024;
    constexpr double kMostUnits = 9007199254740992.0; // counted in doubles too, exactly
    const TrainingPlan& plan = project.training;
    const bool language = isLanguage(project.data);
    const VectorWidths widths = vectorWidthsOf(project.data);
    const auto units = static_cast<double>(plan.batch) * static_cast<double>(language ? plan.sequenceLength : 1);
    const double unitBytes = 8 * static_cast<double>(language ? 2 : widths.in + widths.out);
    if (plan.batching != BatchKind::Full && units * unitBytes > kMostBatchBytes) {
        problems.error(kTraining + "/batch", "training · batch",
                       "one micro-batch takes " + bytesText(units * unitBytes) + ", expected at most " +
                           bytesText(kMostBatchBytes) + ": make it smaller and accumulate more of them");
    }
    const double all = units * static_cast<double>(plan.accumulate) * static_cast<double>(plan.steps);
    if (all > kMostUnits) {
        problems.error(kTraining + "/steps", "training · steps",
                       "come to " + numberText(all) + (language ? " tokens" : " samples") + ", expected at most " +
                           numberText(kMostUnits));
    }
}

void checkBatches(const Project& project, Problems& problems)
{
    const TrainingPlan& plan = project.training;
    problems.atLeast(kTraining + "/steps", "training · steps", plan.steps, 1);
    validateStepSizes(plan, problems);
    checkAmounts(project, problems);
    if (plan.batching != BatchKind::Full) {
        return;
    }
    const std::string place = "training · batching";
    if (isLanguage(project.data) || isEndless(project.data)) {
        problems.error(kTraining + "/batching", place,
                       std::string("the full set as one batch is for regression on a fixed set, the data is ") +
                           (isEndless(project.data) ? "drawn without end" : "a language"));
    } else if (plan.accumulate != 1) {
        problems.error(kTraining + "/accumulate", "training · accumulate",
                       "got " + std::to_string(plan.accumulate) + ", expected 1 where the full set is one batch");
    }
}

void checkCadences(const Project& project, Problems& problems)
{
    const TrainingPlan& plan = project.training;
    problems.atLeast(kTraining + "/clip_norm", "training · clip norm", plan.clipNorm, 0.0);
    problems.atLeast(kTraining + "/validate_every", "training · validate every", plan.validateEvery, 0);
    problems.atLeast(kTraining + "/validation_batches", "training · validation batches", plan.validationBatches, 1);
    problems.atLeast(kTraining + "/checkpoint_every", "training · checkpoint every", plan.checkpointEvery, 0);
    problems.atLeast(kTraining + "/keep_checkpoints", "training · keep checkpoints", plan.keepCheckpoints, 0);
    problems.atLeast(kTraining + "/keep_every", "training · keep every", plan.keepEvery, 0);
    problems.atLeast(kTraining + "/keep_best", "training · keep best", plan.keepBest, 0);
    if (plan.keepBest > 0 && plan.validateEvery == 0) {
        problems.warning(
            kTraining + "/keep_best", "training · keep best",
            "keeps the checkpoints of least validation loss, but nothing is validated: see validate every");
    }
    problems.atLeast(kTraining + "/observe_every", "training · observe every", plan.observeEvery, 1);
    if (plan.validateEvery > 0 && !hasValidationPart(project.data)) {
        problems.error(kTraining + "/validate_every", "training · validate every",
                       "got " + std::to_string(plan.validateEvery) +
                           " steps, expected 0 where no data is set apart for validation");
    }
}

void checkInitialisation(const Initialisation& initialisation, Problems& problems)
{
    problems.within("/initialisation/scale", "initialisation · scale", initialisation.scale, 0, 1000);
}

void checkStage(const Stage& stage, std::size_t index, const Project& project, Problems& problems)
{
    const std::string path = "/schedule/stages/" + std::to_string(index);
    const std::string place = "schedule · stage " + std::to_string(index + 1);
    const std::int64_t depth = project.network.depth();
    problems.within(path + "/start", place + " · start", stage.start, 0,
                    std::max<std::int64_t>(project.training.steps, 1) - 1);
    problems.within(path + "/average_length", place + " · average length", stage.averageLength,
                    std::max(1.0, static_cast<double>(stage.always.size())),
                    static_cast<double>(std::max<std::int64_t>(depth, 1)));
    for (std::size_t i = 0; i < stage.always.size(); ++i) {
        if (stage.always[i] < 1 || stage.always[i] > depth) {
            problems.error(path + "/always", place + " · always",
                           "got layer " + std::to_string(stage.always[i]) + ", expected 1 to " + std::to_string(depth));
        }
        if (i > 0 && stage.always[i] <= stage.always[i - 1]) {
            problems.error(path + "/always", place + " · always", "layers are not in ascending order, each once");
        }
    }
}

std::string percent(double share)
{
    return numberText(std::round(share * 1000) / 10) + " %";
}

void checkGrowth(const StageSchedule& schedule, std::size_t index, std::int64_t depth, Problems& problems)
{
    const Stage& before = schedule.stages[index - 1];
    const Stage& stage = schedule.stages[index];
    const std::string path = "/schedule/stages/" + std::to_string(index);
    const std::string place = "schedule · stage " + std::to_string(index + 1);
    if (stage.start <= before.start) {
        problems.error(path + "/start", place + " · start",
                       "got step " + std::to_string(stage.start) + ", expected one after " +
                           std::to_string(before.start));
    }
    constexpr double kRounding = 1e-9;
    if (keepProbability(stage, depth) < keepProbability(before, depth) - kRounding) {
        problems.error(path + "/average_length", place + " · average length",
                       "keep probability falls from " + percent(keepProbability(before, depth)) + " to " +
                           percent(keepProbability(stage, depth)) + ", expected it to stay or grow");
    }
    if (!std::ranges::includes(stage.always, before.always)) {
        problems.error(path + "/always", place + " · always", "leaves out a layer that the stage before always keeps");
    }
}

void checkSchedule(const Project& project, Problems& problems)
{
    const StageSchedule& schedule = project.stages;
    for (std::size_t i = 0; i < schedule.stages.size(); ++i) {
        checkStage(schedule.stages[i], i, project, problems);
        if (i > 0) {
            checkGrowth(schedule, i, project.network.depth(), problems);
        }
    }
    problems.within("/schedule/full_model_steps", "schedule · full model steps", schedule.fullModelSteps, 0,
                    std::max<std::int64_t>(project.training.steps, 0));
}

void checkSeeds(const Seeds& seeds, Problems& problems)
{
    problems.atLeast("/seeds/data", "seeds · data", seeds.data, 0);
    problems.atLeast("/seeds/init", "seeds · init", seeds.init, 0);
    problems.atLeast("/seeds/order", "seeds · order", seeds.order, 0);
    problems.atLeast("/seeds/stages", "seeds · stages", seeds.stages, 0);
}

} // namespace

void validateData(const Project& project, Problems& problems)
{
    const DataSource& data = project.data;
    std::visit([&](const auto& source) { checkSource(source, problems); }, data.source);
    if (const Status size = checkGeneratedSize(data); !size) {
        problems.error(kSource, size.error().place, size.error().message);
    }
    problems.belowOne(kData + "/validation_fraction", "data · validation fraction", data.validationFraction);
    problems.belowOne(kData + "/test_fraction", "data · test fraction", data.testFraction);
    if (data.validationFraction + data.testFraction >= 1 && data.validationFraction < 1 && data.testFraction < 1) {
        problems.error(kData, "data",
                       "validation and test take " + numberText(data.validationFraction + data.testFraction) +
                           " of the data, expected less than 1");
    }
}

void validateStepSizes(const TrainingPlan& plan, Problems& problems)
{
    problems.within(kTraining + "/batch", "training · batch", plan.batch, 1, 10'000'000);
    problems.within(kTraining + "/accumulate", "training · accumulate", plan.accumulate, 1, 1'000'000);
    problems.within(kTraining + "/sequence_length", "training · sequence length", plan.sequenceLength, 1, 10'000'000);
}

void validateTraining(const Project& project, Problems& problems)
{
    checkInitialisation(project.initialisation, problems);
    checkBatches(project, problems);
    std::visit([&](const auto& optimiser) { checkOptimiser(optimiser, problems); }, project.training.optimiser);
    checkRate(project.training, problems);
    checkCadences(project, problems);
    checkSchedule(project, problems);
    checkSeeds(project.seeds, problems);
}

} // namespace residua::projects
