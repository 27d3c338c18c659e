// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/base/query.h"

#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/queries/measures/sampler.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/evaluation.h"
#include "engine/compute/train/knockout.h"
#include "engine/compute/train/stability.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/trainer.h"
#include "engine/data/codec/text_codec.h"
#include "engine/runs/results/effects.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"
#include "projects/depth/depth_plan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPromptFromData = 16; ///< the number of tokens taken from the data if the prompt is empty

/// The network of a checkpoint, with the checkpoint's step.
struct Model {
    TrainerParts parts;
    std::int64_t step = 0;
    std::vector<std::string> notes;
    bool hasOtherData = false; ///< the data are not the run's, which was accepted
};

/// The network as the run has it, or with a weight for each shortcut (projects::withTerms).
enum class Opened { AsTrained, WithTerms };

/// Loads a checkpoint's network on the device that its run used, or else on the CPU.
Result<Model> loadModel(const RunRef& of, const PreparationWatch& watch, Opened as = Opened::AsTrained)
{
    Result<OpenedRun> opened = openRun(of, LargeFiles::AsKnown, watch);
    if (!opened) {
        return opened.error();
    }
    const Result<CheckpointFiles> checkpoint = findCheckpoint(of.runDirectory, of.step, &opened->notes);
    if (!checkpoint) {
        return checkpoint.error();
    }
    if (as == Opened::WithTerms) {
        projects::Wiring& wiring = opened->project.stack().topology.wiring;
        Result<projects::Wiring> withTerms = projects::withTerms(wiring, opened->project.network.depth());
        if (!withTerms) {
            return withTerms.error();
        }
        wiring = std::move(*withTerms);
    }
    const std::string device = openDevice(opened->info.device) ? opened->info.device : "cpu";
    Result<TrainerParts> parts = openParts(opened->project, opened->projectDirectory, device, FirstWeights::Loaded,
                                           {.data = watch, .weights = {}}, opened->reading());
    if (!parts) {
        return parts.error();
    }
    if (const Status loaded = loadParameters(checkpoint->model, parts->network->parameters()); !loaded) {
        return loaded.error();
    }
    noteNotFinite(parts->network->parameters(), opened->notes);
    return Model{std::move(*parts), checkpoint->state.step, std::move(opened->notes), opened->otherData.has_value()};
}

/// Loads a checkpoint's network to measure it on the validation split, which it must have.
Result<Model> loadToMeasure(const RunRef& of, const PreparationWatch& watch, Opened as = Opened::AsTrained)
{
    Result<Model> model = loadModel(of, watch, as);
    if (model && model->parts.dataset->size(Split::Validation) == 0) {
        return Error{"data", "the run has no validation split to measure on: give it a fraction in the project"};
    }
    return model;
}

/// Returns the number of batches: the run's if none is asked for; 0 means all.
std::int64_t batchesFor(std::int64_t asked, const Model& model)
{
    return asked > 0 ? asked : model.parts.project.training.validationBatches;
}

class SampleQuery final : public Query {
public:
    explicit SampleQuery(SampleRequest request) : m_request(std::move(request)) {}
    QueryTag tag() const override { return m_request.tag; }

private:
    std::optional<Event> work() override
    {
        if (!m_model) {
            const Status begun = begin();
            return begun ? std::nullopt : std::optional<Event>(QueryFailed{m_request.tag, begun.error()});
        }
        if (m_model->parts.dataset->maskToken()) {
            return filled();
        }
        if (m_labelled.batch > 0) {
            return classified();
        }
        if (m_left <= 0) {
            return SampleReady{
                m_request.tag, m_model->parts.dataset->decode(m_tokens), m_model->step, m_model->notes, {}, {}};
        }
        m_sampler->extend(m_tokens);
        --m_left;
        return std::nullopt;
    }

    Status begin()
    {
        Result<Model> model = loadModel(m_request.of, watch());
        if (!model) {
            return model.error();
        }
        const TrainerParts& parts = model->parts;
        const projects::ObjectiveTraits& objective = projects::traitsOf(parts.project.network.objective);
        if (projects::sampleUseOf(parts.project.network.objective) == projects::SampleUse::Classify) {
            const Status filled = fillLabelled(*parts.dataset);
            m_model.emplace(std::move(*model));
            return filled;
        }
        if (!parts.dataset->schema().input().isTokens()) {
            return Error{"sample", "the run \"" + parts.project.name + "\" is no language model: its data are vectors"};
        }
        const std::optional<std::int64_t> mask = parts.dataset->maskToken();
        if (!mask && !projects::continuesText(objective, parts.dataset->schema())) {
            return Error{"sample", "the run \"" + parts.project.name + "\" continues no text: its objective is " +
                                       std::string(objective.title)};
        }
        Result<std::vector<std::int64_t>> prompt = promptTokens(*parts.dataset);
        if (!prompt) {
            return prompt.error();
        }
        m_tokens = std::move(*prompt);
        const std::int64_t longest = parts.project.training.sequenceLength;
        if (mask && std::ssize(m_tokens) > longest) {
            return Error{"prompt", "it has " + std::to_string(m_tokens.size()) + " tokens, expected at most " +
                                       std::to_string(longest) + ", the sequence length"};
        }
        if (mask && std::ranges::find(m_tokens, *mask) == m_tokens.end()) {
            return Error{"prompt", "it hides no token; expected a text with [MASK] in it"};
        }
        m_left = std::max<std::int64_t>(m_request.tokens, 0);
        m_model.emplace(std::move(*model));
        const projects::TrainingPlan& plan = m_model->parts.project.training;
        m_sampler.emplace(*m_model->parts.network, m_model->parts.device,
                          SamplerOptions{.window = plan.sequenceLength,
                                         .temperature = m_request.temperature,
                                         .topK = m_request.topK,
                                         .seed = m_request.seed,
                                         .step = m_model->step});
        return Done{};
    }

    /// Takes the prompt, or without one examples of the validation split, or else of the training split.
    Status fillLabelled(const Dataset& dataset)
    {
        constexpr std::int64_t kShown = 8;
        if (!m_request.prompt.empty()) {
            return dataset.fillText(m_labelled, m_request.prompt);
        }
        const Status filled = dataset.fillShown(m_labelled, Split::Validation, kShown);
        return !filled || m_labelled.batch > 0 ? filled : dataset.fillShown(m_labelled, Split::Train, kShown);
    }

    /// Predicts the classes of all of m_labelled.
    Event classified()
    {
        const TrainerParts& parts = m_model->parts;
        const std::vector<std::string> names = parts.dataset->classes();
        const auto nameOf = [&](std::int64_t label) {
            const auto at = static_cast<std::size_t>(label);
            return at < names.size() ? names[at] : std::to_string(label);
        };
        const projects::ExampleSchema schema = parts.dataset->schema();
        const DeviceBatch batch =
            upload(m_labelled, schema, parts.device, parameterType(parts.project.training.precision));
        const std::int64_t wanted = m_request.topK > 0 ? m_request.topK : kCandidates;
        SampleReady ready{m_request.tag, {}, m_model->step, m_model->notes, {}, {}};
        for (const FilledToken& each : classesOf(*parts.network, parts.device, batch, wanted, m_model->step)) {
            MaskedPosition place{each.position, {}};
            for (const auto& [label, probability] : each.candidates) {
                place.candidates.push_back({nameOf(label), probability});
            }
            ready.masked.push_back(std::move(place));
        }
        const bool given = !m_request.prompt.empty();
        if (!given || !schema.input().isTokens()) { // a picture is shown as the network receives it
            ready.classified = fedBatch(*parts.dataset, m_labelled, parts.project.data, m_labelled.batch);
        }
        if (given) {
            ready.text = ready.masked.front().candidates.front().token;
            for (FedExample& example : ready.classified.examples) {
                example.target.clear(); // its class is unknown
            }
        }
        return ready;
    }

    /// Predicts the hidden tokens of the prompt at once.
    Event filled()
    {
        const Dataset& dataset = *m_model->parts.dataset;
        const std::int64_t wanted = m_request.topK > 0 ? m_request.topK : kCandidates;
        SampleReady ready{m_request.tag, {}, m_model->step, m_model->notes, {}, {}};
        const std::vector<FilledToken> found = candidatesFor(*m_model->parts.network, m_model->parts.device, m_tokens,
                                                             *dataset.maskToken(), wanted, m_model->step);
        for (const FilledToken& each : found) {
            MaskedPosition place{each.position, {}};
            for (const auto& [token, probability] : each.candidates) {
                place.candidates.push_back({dataset.codec()->piece(token), probability});
            }
            ready.masked.push_back(std::move(place));
            m_tokens[static_cast<std::size_t>(each.position)] = each.candidates.front().first;
        }
        const DocumentMarks marks = dataset.codec()->marks();
        ready.text =
            dataset.decode({m_tokens.begin() + std::ssize(marks.before), m_tokens.end() - std::ssize(marks.behind)});
        return ready;
    }

    Result<std::vector<std::int64_t>> promptTokens(const Dataset& dataset) const
    {
        if (!m_request.prompt.empty() || dataset.maskToken()) {
            Result<std::vector<std::int64_t>> tokens = dataset.encode(m_request.prompt);
            if (tokens && tokens->empty()) {
                return Error{"prompt", "it has no tokens"};
            }
            return tokens;
        }
        Batch batch;
        if (const Status filled = dataset.fillSequential(batch, Split::Train, 0, 1); !filled) {
            return filled.error();
        }
        auto& tokens = batch.values<std::int64_t>(0);
        if (tokens.empty()) {
            return Error{"prompt", "it is empty, and the data has no beginning to take instead"};
        }
        tokens.resize(std::min<std::size_t>(tokens.size(), kPromptFromData));
        return std::move(tokens);
    }

    SampleRequest m_request;
    Batch m_labelled; ///< the examples that a classifier is asked about
    std::optional<Model> m_model;
    std::optional<Sampler> m_sampler;
    std::vector<std::int64_t> m_tokens;
    std::int64_t m_left = 0;
};

class EvaluateQuery final : public Query {
public:
    explicit EvaluateQuery(EvaluateRequest request) : m_request(std::move(request)) {}
    QueryTag tag() const override { return m_request.tag; }

private:
    std::optional<Event> work() override
    {
        if (!m_evaluation) {
            const Status begun = begin();
            return begun ? std::nullopt : std::optional<Event>(QueryFailed{m_request.tag, begun.error()});
        }
        if (const Status added = m_evaluation->advance(passAfter(m_model->step)); !added) {
            return QueryFailed{m_request.tag, added.error()};
        }
        if (!m_evaluation->atEnd()) {
            return std::nullopt;
        }
        return EvaluationReady{m_request.tag, m_evaluation->means(), m_evaluation->batchesDone(), m_model->step,
                               m_model->notes};
    }

    Status begin()
    {
        Result<Model> model = loadModel(m_request.of, watch());
        if (!model) {
            return model.error();
        }
        if (model->parts.dataset->size(m_request.split) == 0) {
            return Error{"split", "the data has no " + std::string(nameOf(m_request.split).word) +
                                      " part: give it a fraction in the project"};
        }
        m_model.emplace(std::move(*model));
        TrainerParts& parts = m_model->parts;
        m_evaluation.emplace(*parts.network, *parts.dataset, m_request.split, parts.project.training, parts.device,
                             m_request.batches);
        return Done{};
    }

    EvaluateRequest m_request;
    std::optional<Model> m_model;
    std::optional<Evaluation> m_evaluation;
};

class StabilityQuery final : public Query {
public:
    explicit StabilityQuery(StabilityRequest request) : m_request(std::move(request)) {}
    QueryTag tag() const override { return m_request.tag; }

private:
    std::optional<Event> work() override
    {
        if (!m_stability) {
            const Status begun = begin();
            return begun ? std::nullopt : std::optional<Event>(QueryFailed{m_request.tag, begun.error()});
        }
        if (const Status added = m_stability->advance(); !added) {
            return QueryFailed{m_request.tag, added.error()};
        }
        if (!m_stability->atEnd()) {
            return std::nullopt;
        }
        return StabilityReady{m_request.tag, m_stability->matrices(), m_stability->loss(), m_stability->batchesDone(),
                              m_model->step, m_model->notes};
    }

    Status begin()
    {
        Result<Model> model = loadToMeasure(m_request.of, watch());
        if (!model) {
            return model.error();
        }
        m_model.emplace(std::move(*model));
        TrainerParts& parts = m_model->parts;
        m_stability.emplace(*parts.network, *parts.dataset, parts.project, parts.device,
                            batchesFor(m_request.batches, *m_model), m_model->step);
        return Done{};
    }

    StabilityRequest m_request;
    std::optional<Model> m_model;
    std::optional<Stability> m_stability;
};

class KnockoutQuery final : public Query {
public:
    explicit KnockoutQuery(KnockoutRequest request) : m_request(std::move(request)) {}
    QueryTag tag() const override { return m_request.tag; }

    /// First the number of passes, then the share of them that is done.
    std::optional<Event> takeNews() override
    {
        if (!m_knockout || m_told == m_knockout->passesDone()) {
            return std::nullopt;
        }
        m_told = m_knockout->passesDone();
        if (m_told == 0) {
            const std::string passes = groupedText(m_passes);
            const std::string subjects = groupedText(std::ssize(m_knockout->subjects()));
            return QueryProgress{m_request.tag, -1, passes + " passes of a batch at most, for " + subjects + " parts"};
        }
        return QueryProgress{
            m_request.tag, std::min(1.0, static_cast<double>(m_told) / static_cast<double>(m_passes)), {}};
    }

private:
    std::optional<Event> work() override
    {
        const Status done = m_knockout ? m_knockout->advance() : begin();
        if (!done) {
            return QueryFailed{m_request.tag, done.error(), {}, m_model ? m_model->notes : std::vector<std::string>()};
        }
        if (m_knockout->passesDone() == 1) { // the weights per token are those of the whole network
            m_weights = weights();
        }
        return m_knockout->atEnd() ? std::optional<Event>(answer()) : std::nullopt;
    }

    Status begin()
    {
        Result<Model> model = loadToMeasure(
            m_request.of, watch(), m_request.by == projects::KnockoutBy::Term ? Opened::WithTerms : Opened::AsTrained);
        if (!model) {
            return model.error();
        }
        m_model.emplace(std::move(*model));
        TrainerParts& parts = m_model->parts;
        auto subjects = projects::knockoutSubjects(parts.project, m_request.by, m_request.renormalise);
        subjects = subjects ? projects::chosenSubjects(std::move(*subjects), m_request.only) : std::move(subjects);
        if (!subjects) {
            return subjects.error();
        }
        const std::int64_t batch = std::max<std::int64_t>(parts.project.training.batch, 1);
        const std::int64_t all = (parts.dataset->size(Split::Validation) + batch - 1) / batch;
        m_wanted = std::max<std::int64_t>(batchesFor(m_request.batches, *m_model), 0);
        m_passes = (std::ssize(*subjects) + 1) * (m_wanted > 0 ? std::min(m_wanted, all) : all);
        const fs::path directory = checkpointDirectory(m_request.of.runDirectory, m_model->step);
        const Result<StateFile> state = readState(directory, m_model->step);
        m_checkpoint = state ? state->modelChecksum : std::string();
        m_knockout.emplace(*parts.network, *parts.dataset, parts.project, parts.device, m_wanted, m_model->step,
                           std::move(*subjects));
        return Done{};
    }

    /// Returns the answer, and keeps it with the run if it is a complete one of the run's own data.
    [[nodiscard]] KnockoutReady answer() const
    {
        KnockoutReady ready = measured();
        if (m_request.only.empty() && !m_model->hasOtherData) {
            const EffectsKey key{m_model->step, m_request.by, m_request.renormalise, m_wanted};
            if (const Status kept = keepEffects(m_request.of.runDirectory, {key, ready}); !kept) {
                ready.notes.push_back("the result is not kept with the run: " + kept.error().text());
            }
        }
        return ready;
    }

    [[nodiscard]] KnockoutReady measured() const
    {
        KnockoutReady ready{.tag = m_request.tag,
                            .rows = {},
                            .loss = m_knockout->loss(),
                            .batches = m_knockout->batchesDone(),
                            .borderBytes = m_knockout->borderBytes(),
                            .step = m_model->step,
                            .checkpoint = m_checkpoint,
                            .notes = m_model->notes};
        const std::vector<KnockoutEffect> effects = m_knockout->effects();
        for (std::size_t i = 0; i < effects.size(); ++i) {
            const projects::KnockoutSubject& subject = m_knockout->subjects()[i];
            ready.rows.push_back({subject.name, subject.first, subject.reader, weightOf(subject), effects[i].rise,
                                  effects[i].error, effects[i].divergence});
        }
        return ready;
    }

    /// Returns the matrices of the applied weights, also of a wiring whose weights are fixed.
    [[nodiscard]] std::vector<Matrix> weights() const
    {
        const projects::Project& project = m_model->parts.project;
        std::vector<Matrix> matrices = m_model->parts.network->coefficients(m_model->step);
        const auto* const mix = std::get_if<projects::DepthMix>(&project.stack().topology.wiring);
        if (mix != nullptr && mix->weight == projects::WeightKind::Fixed && matrices.empty()) {
            const projects::DepthPlan plan = projects::planOf(*mix, project.network.depth());
            const projects::MixNumbers applied = projects::appliedWeights(*mix, plan, {1, plan.start});
            const std::vector<float> values(applied.values.begin(), applied.values.end());
            addMatrices(matrices, matrix::kMix, plan, values, m_model->step);
        }
        return matrices;
    }

    /// Returns the mean of the shortcut's weights over its reader's mixes; NaN for other parts.
    [[nodiscard]] double weightOf(const projects::KnockoutSubject& subject) const
    {
        double sum = 0;
        double count = 0;
        for (const Matrix& matrix : m_weights) {
            const bool has = matrix.name.kind == matrix::kMix && subject.reader > 0 && subject.reader <= matrix.rows &&
                             subject.first < matrix.columns;
            const float weight = has ? matrix.at(subject.reader - 1, subject.first) : std::nanf("");
            if (!std::isnan(weight)) {
                sum += weight;
                ++count;
            }
        }
        return sum / count;
    }

    KnockoutRequest m_request;
    std::optional<Model> m_model;
    std::optional<Knockout> m_knockout;
    std::vector<Matrix> m_weights;
    std::string m_checkpoint;  ///< KnockoutReady::checkpoint
    std::int64_t m_wanted = 0; ///< batches; 0: all
    std::int64_t m_passes = 0; ///< to do
    std::int64_t m_told = -1;  ///< passes that were reported
};

} // namespace

std::unique_ptr<Query> queryFor(const SampleRequest& request)
{
    return std::make_unique<SampleQuery>(request);
}

std::unique_ptr<Query> queryFor(const EvaluateRequest& request)
{
    return std::make_unique<EvaluateQuery>(request);
}

std::unique_ptr<Query> queryFor(const KnockoutRequest& request)
{
    return std::make_unique<KnockoutQuery>(request);
}

std::unique_ptr<Query> queryFor(const StabilityRequest& request)
{
    return std::make_unique<StabilityQuery>(request);
}

} // namespace residua::engine
