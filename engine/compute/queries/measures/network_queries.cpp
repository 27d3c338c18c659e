// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/base/query.h"

#include "engine/compute/queries/measures/choices.h"
#include "engine/compute/queries/measures/image_features.h"
#include "engine/compute/queries/measures/loaded_model.h"
#include "engine/compute/queries/measures/recorded_means.h"
#include "engine/compute/queries/measures/sampler.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/evaluation.h"
#include "engine/compute/train/image_generation.h"
#include "engine/compute/train/stability.h"
#include "engine/compute/train/trainer.h"
#include "engine/data/codec/text_codec.h"
#include "projects/base/text.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

constexpr std::int64_t kPromptFromData = 16; ///< the number of tokens taken from the data if the prompt is empty

/// Returns an error if tokens are to leave early and the network has no exit gate.
Status checkExits(const projects::Project& project, double exitAt)
{
    if (exitAt == 0 || projects::gatedLoop(project.network.stack())) {
        return Done{};
    }
    return Error{"exit-at", "the run \"" + project.name +
                                "\" has no loop with an exit gate, by which tokens would leave; "
                                "expected such a run, or 0"};
}

/// Returns a pass of the checkpoint's network in which tokens leave early if `exitAt` is not 0.
Pass passOf(const LoadedModel& model, double exitAt)
{
    Pass pass = passAfter(model.step);
    pass.exitAt = exitAt;
    return pass;
}

class SampleQuery final : public Query {
public:
    explicit SampleQuery(SampleRequest request) : m_request(std::move(request)) {}
    QueryTag tag() const override { return m_request.tag; }
    std::optional<Event> takeNews() override { return m_generation ? m_news.take(*m_generation) : std::nullopt; }

private:
    std::optional<Event> work() override
    {
        if (!m_model) {
            const Status begun = begin();
            return begun ? std::nullopt : std::optional<Event>(QueryFailed{m_request.tag, begun.error()});
        }
        if (m_generation) {
            return generated();
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
        LoadedModel model = RESIDUA_TRY(loadModel(m_request.of, watch()));
        const TrainerParts& parts = model.parts;
        RESIDUA_TRY(checkExits(parts.project, m_request.exitAt));
        const projects::ObjectiveTraits& objective = projects::traitsOf(parts.project.network.objective);
        if (projects::sampleUseOf(parts.project.network.objective) == projects::SampleUse::Generate) {
            const Status can = checkGeneration(parts.project, m_request.generation);
            m_model.emplace(std::move(model));
            m_generation.emplace(stateOf(*m_model), m_request.generation, m_request.seed, kSampledImages);
            return can;
        }
        if (projects::sampleUseOf(parts.project.network.objective) == projects::SampleUse::Classify) {
            const Status filled = fillLabelled(*parts.dataset);
            m_model.emplace(std::move(model));
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
        m_tokens = RESIDUA_TRY(promptTokens(*parts.dataset));
        const std::int64_t longest = parts.project.training.sequenceLength;
        if (mask && std::ssize(m_tokens) > longest) {
            return Error{"prompt", "it has " + std::to_string(m_tokens.size()) + " tokens, expected at most " +
                                       std::to_string(longest) + ", the sequence length"};
        }
        if (mask && std::ranges::find(m_tokens, *mask) == m_tokens.end()) {
            return Error{"prompt", "it hides no token; expected a text with [MASK] in it"};
        }
        m_left = std::max<std::int64_t>(m_request.tokens, 0);
        m_model.emplace(std::move(model));
        const projects::TrainingPlan& plan = m_model->parts.project.training;
        m_sampler.emplace(*m_model->parts.network, m_model->parts.device,
                          SamplerOptions{.window = plan.sequenceLength,
                                         .temperature = m_request.temperature,
                                         .topK = m_request.topK,
                                         .seed = m_request.seed,
                                         .prefix = objective.denoises ? std::ssize(m_tokens) : 0,
                                         .pass = passOf(*m_model, m_request.exitAt)});
        return Done{};
    }

    /// Makes a step, and answers with the images after the last one.
    std::optional<Event> generated()
    {
        m_generation->advance();
        if (!m_generation->atEnd()) {
            return std::nullopt;
        }
        SampleReady ready{m_request.tag, {}, m_model->step, m_model->notes, {}, {}};
        ready.made = m_generation->shown();
        ready.values = m_generation->asData();
        return ready;
    }

    /// Takes the prompt, or without one examples of the validation split, or else of the training split.
    Status fillLabelled(const Dataset& dataset)
    {
        constexpr std::int64_t kShown = 8;
        if (!m_request.prompt.empty()) {
            const Result<std::string> note = dataset.fillText(m_labelled, m_request.prompt);
            if (note && !note->empty()) {
                m_model->notes.push_back(*note);
            }
            return note ? Status(Done{}) : Status(note.error());
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
        for (const FilledToken& each :
             classesOf(*parts.network, parts.device, batch, wanted, passOf(*m_model, m_request.exitAt))) {
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
        const std::vector<FilledToken> found =
            candidatesFor(*m_model->parts.network, m_model->parts.device, m_tokens, *dataset.maskToken(), wanted,
                          passOf(*m_model, m_request.exitAt));
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
        RESIDUA_TRY(dataset.fillSequential(batch, Split::Train, 0, 1));
        auto& tokens = batch.values<std::int64_t>(0);
        if (tokens.empty()) {
            return Error{"prompt", "it is empty, and the data has no beginning to take instead"};
        }
        tokens.resize(std::min<std::size_t>(tokens.size(), kPromptFromData));
        return std::move(tokens);
    }

    SampleRequest m_request;
    Batch m_labelled; ///< the examples that a classifier is asked about
    std::optional<LoadedModel> m_model;
    std::optional<ImageGeneration> m_generation; ///< of a diffusion model
    GenerationNews m_news{m_request.tag, GenerationNews::Shows::Images};
    std::optional<Sampler> m_sampler;
    std::vector<std::int64_t> m_tokens;
    std::int64_t m_left = 0;
};

class EvaluateQuery final : public Query {
public:
    explicit EvaluateQuery(EvaluateRequest request) : m_request(std::move(request)) {}
    QueryTag tag() const override { return m_request.tag; }
    std::optional<Event> takeNews() override { return m_generation ? m_news.take(*m_generation) : std::nullopt; }

private:
    std::optional<Event> work() override
    {
        if (!m_model) {
            const Status begun = begin();
            return begun ? std::nullopt : std::optional<Event>(QueryFailed{m_request.tag, begun.error()});
        }
        if (m_generation) {
            return compared();
        }
        if (m_choices) {
            if (const Status asked = m_choices->advance(); !asked) {
                return QueryFailed{m_request.tag, asked.error()};
            }
            return m_choices->atEnd() ? std::optional<Event>(answered()) : std::nullopt;
        }
        if (const Status added = m_evaluation->advance(passOf(*m_model, m_request.exitAt)); !added) {
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
        const bool asks = !m_request.choices.empty() || m_request.questions > 0;
        if (m_request.shots > 0 && !asks) {
            return Error{"shots", "precede the prompts of questions, expected --choices FILE or --questions N"};
        }
        if (m_request.features.empty() && ((m_request.record && !asks) || m_request.generation != Generation{})) {
            return Error{"features", "images are made to compare them alone, expected --features RUN with a run that "
                                     "classifies such images"};
        }
        if (!m_request.choices.empty() && m_request.questions > 0) {
            return Error{"questions", "take the place of --choices, expected one of them"};
        }
        std::vector<Question> questions = RESIDUA_TRY(
            m_request.choices.empty() ? std::vector<Question>() : questionsIn(m_request.choices, m_request.shots));
        LoadedModel model = RESIDUA_TRY(loadModel(m_request.of, watch()));
        RESIDUA_TRY(checkExits(model.parts.project, m_request.exitAt));
        if (asks) {
            return beginQuestions(std::move(model), std::move(questions));
        }
        if (model.parts.dataset->size(m_request.split) == 0) {
            return withoutPart(*model.parts.dataset, m_request.split, "split");
        }
        if (!m_request.features.empty()) {
            return beginImages(std::move(model));
        }
        m_model.emplace(std::move(model));
        TrainerParts& parts = m_model->parts;
        m_evaluation.emplace(*parts.network, *parts.dataset, m_request.split, parts.project.training, parts.device,
                             m_request.batches);
        return Done{};
    }

    /// Begins to ask the questions of a file, or those of the part's own text.
    Status beginQuestions(LoadedModel model, std::vector<Question> questions)
    {
        const projects::Project& project = model.parts.project;
        const projects::ObjectiveTraits& objective = projects::traitsOf(project.network.objective);
        if (!projects::continuesText(objective, model.parts.dataset->schema())) {
            return Error{"choices", "the run \"" + project.name + "\" continues no text: its objective is " +
                                        std::string(objective.title)};
        }
        if (questions.empty()) {
            questions = RESIDUA_TRY(questionsOf(*model.parts.dataset, m_request.split, m_request.questions,
                                                m_request.shots, project.training.sequenceLength));
        }
        m_model.emplace(std::move(model));
        m_choices.emplace(m_model->parts, passOf(*m_model, m_request.exitAt), std::move(questions), m_request.shots);
        return Done{};
    }

    EvaluationReady answered() const
    {
        EvaluationReady ready{m_request.tag, m_choices->means(), m_choices->counted(), m_model->step, m_model->notes};
        record(ready, "choice_",
               countText(static_cast<std::size_t>(ready.batches), "question") + " with " +
                   countText(static_cast<std::size_t>(m_request.shots), "shot"));
        return ready;
    }

    /// Records an answer with the run, if that is asked for.
    void record(EvaluationReady& ready, const std::string& prefix, const std::string& what) const
    {
        if (!m_request.record) {
            return;
        }
        if (const Status kept = recordMeans(m_request.of.runDirectory, m_request.split, ready, prefix, what); !kept) {
            ready.notes.push_back("the result is not recorded: " + kept.error().text());
        }
    }

    /// Loads the network whose features are compared.
    Status beginImages(LoadedModel model)
    {
        const projects::Project& project = model.parts.project;
        if (projects::sampleUseOf(project.network.objective) != projects::SampleUse::Generate) {
            return Error{"features", "the run \"" + project.name + "\" makes no images: its objective is " +
                                         std::string(projects::traitsOf(project.network.objective).title)};
        }
        constexpr std::int64_t kFewestImages = 4; // each needs a third neighbour
        const std::int64_t available = model.parts.dataset->size(m_request.split);
        const std::int64_t asked = m_request.generation.samples;
        const std::int64_t images = asked > 0 ? asked : std::min(kMeasuredImages, available);
        if (images < kFewestImages || images > available) {
            return Error{"samples", "got " + std::to_string(images) + ", expected " + std::to_string(kFewestImages) +
                                        " to " + std::to_string(available) + ", the images of the " +
                                        std::string(nameOf(m_request.split).word) + " part to compare with"};
        }
        RESIDUA_TRY(checkGeneration(project, m_request.generation));
        ImageFeatures features = RESIDUA_TRY(ImageFeatures::load({m_request.features}, project, watch()));
        m_features.emplace(std::move(features));
        m_model.emplace(std::move(model));
        m_generation.emplace(stateOf(*m_model), m_request.generation, m_request.seed, images);
        return Done{};
    }

    /// Makes a step, and answers with the comparison after the last one.
    std::optional<Event> compared()
    {
        m_generation->advance();
        if (!m_generation->atEnd()) {
            return std::nullopt;
        }
        const auto made = std::ssize(m_generation->classes());
        Result<DenseMatrix> real = m_features->ofSplit(*m_model->parts.dataset, m_request.split, made);
        if (!real) {
            return QueryFailed{m_request.tag, real.error()};
        }
        const DenseMatrix features = m_features->of(m_generation->values());
        if (!real->allFinite() || !features.allFinite()) {
            return QueryFailed{m_request.tag,
                               {"features", "are not finite numbers, so that no distance is defined; expected a "
                                            "checkpoint of each run from before its numbers diverged"}};
        }
        EvaluationReady ready{m_request.tag, comparedFeatures(*real, features), made, m_model->step, m_model->notes};
        ready.features = m_features->text();
        if (made <= features.cols()) {
            ready.notes.push_back(groupedText(made) + " images are few for " + groupedText(features.cols()) +
                                  " features: the Fréchet distance is too large; expected more images than features");
        }
        record(ready, "", groupedText(made) + " images against as many, by " + ready.features);
        return ready;
    }

    EvaluateRequest m_request;
    std::optional<LoadedModel> m_model;
    std::optional<ImageFeatures> m_features;
    std::optional<ImageGeneration> m_generation; ///< with EvaluateRequest::features
    GenerationNews m_news{m_request.tag, GenerationNews::Shows::Share};
    std::optional<Evaluation> m_evaluation;
    std::optional<ChoiceEvaluation> m_choices; ///< with EvaluateRequest::choices
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
        LoadedModel model = RESIDUA_TRY(loadToMeasure(m_request.of, watch(), m_request.tower));
        m_model.emplace(std::move(model));
        TrainerParts& parts = m_model->parts;
        m_stability.emplace(*parts.network, *parts.dataset, parts.project, parts.device,
                            batchesFor(m_request.batches, *m_model), m_model->step);
        return Done{};
    }

    StabilityRequest m_request;
    std::optional<LoadedModel> m_model;
    std::optional<Stability> m_stability;
};

} // namespace

template <>
std::unique_ptr<Query> queryFor(const SampleRequest& request)
{
    return std::make_unique<SampleQuery>(request);
}

template <>
std::unique_ptr<Query> queryFor(const EvaluateRequest& request)
{
    return std::make_unique<EvaluateQuery>(request);
}

template <>
std::unique_ptr<Query> queryFor(const StabilityRequest& request)
{
    return std::make_unique<StabilityQuery>(request);
}

} // namespace residua::engine
