// SPDX-License-Identifier: GPL-3.0-or-later
// The queries that alter a network's passes: what it loses without a part, and under interventions on its streams.
#include "engine/base/api/matrix_name.h"
#include "engine/compute/queries/base/query.h"
#include "engine/compute/queries/measures/interventions.h"
#include "engine/compute/queries/measures/loaded_model.h"
#include "engine/compute/train/knockout.h"
#include "engine/runs/results/effects.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/text.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/shared_mix.h"
#include "projects/nodes/towers.h"
#include "projects/transfer/retrofit.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {
namespace {

/// Measures alterations of a network on its held-out batches.
template <class Request>
class EffectsQuery : public Query {
public:
    explicit EffectsQuery(Request request) : m_request(std::move(request)) {}
    QueryTag tag() const final { return m_request.tag; }

    /// First the number of passes, after the unaltered one the memory that it keeps, then the share that is done.
    std::optional<Event> takeNews() final
    {
        const std::int64_t done = m_knockout ? m_knockout->passesDone() : -1;
        if (m_told < 0 && done >= 0) {
            m_told = 0;
            return QueryProgress{m_request.tag, -1,
                                 groupedText(m_passes) + " passes of a batch at most: on " +
                                     groupedText(m_passes / (std::ssize(m_knockout->subjects()) + 1)) +
                                     " batches, of " + subjectsText(std::ssize(m_knockout->subjects()))};
        }
        if (m_told >= done) {
            return std::nullopt;
        }
        if (m_told == 0) {
            m_told = 1;
            return QueryProgress{m_request.tag, -1, memoryText()};
        }
        m_told = done;
        return QueryProgress{
            m_request.tag, std::min(1.0, static_cast<double>(m_told) / static_cast<double>(m_passes)), {}};
    }

protected:
    [[nodiscard]] virtual std::string subjectsText(std::int64_t subjects) const = 0;
    [[nodiscard]] virtual LoadAs loadAs() const { return LoadAs::AsTrained; }
    /// Returns an answer that needs no measurement.
    [[nodiscard]] virtual std::optional<Event> known() { return std::nullopt; }
    [[nodiscard]] virtual Result<std::vector<projects::KnockoutSubject>> subjects(const projects::Project& project) = 0;
    /// Prepares the knock-out, which has begun.
    [[nodiscard]] virtual Status prepare() { return Done{}; }
    /// Called after the first pass, which is unaltered.
    virtual void passed() {}
    [[nodiscard]] virtual Event answer() const = 0;

    /// Returns the answer without its rows.
    template <class Ready>
    [[nodiscard]] Ready begun() const
    {
        Ready ready;
        ready.tag = m_request.tag;
        ready.loss = m_knockout->loss();
        ready.batches = m_knockout->batchesDone();
        ready.borderBytes = m_knockout->borderBytes();
        ready.step = m_model->step;
        ready.notes = m_model->notes;
        return ready;
    }

    const Request m_request;
    std::optional<LoadedModel> m_model;
    std::optional<Knockout> m_knockout;

private:
    std::optional<Event> work() final
    {
        if (std::optional<Event> answer = m_model ? std::nullopt : known()) {
            return answer;
        }
        const Status done = m_knockout ? m_knockout->advance() : begin();
        if (!done) {
            return QueryFailed{m_request.tag, done.error(), {}, m_model ? m_model->notes : std::vector<std::string>()};
        }
        if (m_knockout->passesDone() == 1) {
            passed();
        }
        return m_knockout->atEnd() ? std::optional<Event>(answer()) : std::nullopt;
    }

    Status begin()
    {
        LoadedModel model = RESIDUA_TRY(loadToMeasure(m_request.of, watch(), m_request.tower, loadAs()));
        m_model.emplace(std::move(model));
        TrainerParts& parts = m_model->parts;
        auto altered = RESIDUA_TRY(subjects(parts.project));
        const projects::TrainingPlan& plan = parts.project.training;
        const std::int64_t units =
            std::max<std::int64_t>(parts.dataset->schema().units(plan.batch, plan.sequenceLength), 1);
        const std::int64_t all = (parts.dataset->size(Split::Validation) + units - 1) / units;
        const std::int64_t wanted = std::max<std::int64_t>(batchesFor(m_request.batches, *m_model), 0);
        m_passes = (std::ssize(altered) + 1) * (wanted > 0 ? std::min(wanted, all) : all);
        m_knockout.emplace(*parts.network, *parts.dataset, parts.project, parts.device, wanted, m_model->step,
                           std::move(altered));
        return prepare();
    }

    [[nodiscard]] std::string memoryText() const
    {
        const auto bytes = static_cast<double>(m_knockout->borderBytes());
        if (bytes == 0) {
            return "no values are kept: every pass is a whole one";
        }
        return "the passes start from kept values of " + bytesText(bytes) +
               (m_knockout->bordersAreFull() ? ", some earlier than at the first change: all values need more than " +
                                                   bytesText(AlteredPasses::kMostBorderBytes)
                                             : "");
    }

    std::int64_t m_passes = 0; ///< to do
    std::int64_t m_told = -1;  ///< passes that were reported
};

class KnockoutQuery final : public EffectsQuery<KnockoutRequest> {
public:
    using EffectsQuery::EffectsQuery;

private:
    std::string subjectsText(std::int64_t subjects) const override
    {
        return m_request.by == projects::KnockoutBy::Visits
                   ? "the whole network and with " + groupedText(subjects) + " other numbers of visits"
                   : "the whole network and without each of " + groupedText(subjects) + " parts";
    }
    std::optional<Event> known() override
    {
        m_leftOut.clear();
        const auto key = m_request.again ? std::nullopt : effectsKeyOf(m_request);
        auto kept = key ? keptEffects(m_request.of.runDirectory, *key, &m_leftOut) : std::nullopt;
        if (!kept) {
            return std::nullopt;
        }
        kept->measured.tag = m_request.tag;
        kept->measured.notes = {"as the run has kept it from an earlier knock-out; --again measures anew"};
        return std::move(kept->measured);
    }
    LoadAs loadAs() const override
    {
        return m_request.by == projects::KnockoutBy::Term     ? LoadAs::WithTerms
               : m_request.by == projects::KnockoutBy::Visits ? LoadAs::WithMoreVisits
                                                              : LoadAs::AsTrained;
    }
    Result<std::vector<projects::KnockoutSubject>> subjects(const projects::Project& project) override
    {
        const std::filesystem::path directory = checkpointDirectory(m_request.of.runDirectory, m_model->step);
        const Result<StateFile> state = readState(directory, m_model->step);
        m_checkpoint = state ? state->modelChecksum : std::string();
        auto subjects = projects::knockoutSubjects(project, m_request.by, m_request.renormalise);
        auto chosen = subjects ? projects::chosenSubjects(std::move(*subjects), m_request.only) : std::move(subjects);
        if (!chosen && m_request.by == projects::KnockoutBy::Visits && !projects::sharesMix(project.stack())) {
            return Error{chosen.error().place, chosen.error().message + projects::curesOfVisits(project.stack())};
        }
        return chosen;
    }
    /// Mixes whose weights visits share read other entries if there are other visits, so that each number of visits has
    /// a network of its own, with the weights of this one.
    Status prepare() override
    {
        TrainerParts& parts = m_model->parts;
        if (m_request.by != projects::KnockoutBy::Visits || !projects::sharesMix(parts.project.stack())) {
            return Done{};
        }
        std::map<std::string, at::Tensor> weights;
        for (const NamedParameter& parameter : parts.network->parameters()) {
            weights.emplace(parameter.name, parameter.tensor);
        }
        for (std::size_t i = 0; i < m_knockout->subjects().size(); ++i) {
            projects::Project project = parts.project;
            for (const auto& [loop, visits] : m_knockout->subjects()[i].alteration.visits) {
                project.stack() = projects::withVisits(std::move(project.stack()), loop, visits);
            }
            const std::map<std::string, projects::CarriedRows> carried =
                projects::carriedRows(parts.project, project, sameVisits(parts.project.stack(), project.stack()));
            const projects::SoundProject sound =
                RESIDUA_TRY(projects::soundProject(projects::viewOf(std::move(project), m_model->tower)));
            auto network = RESIDUA_TRY(CompiledNetwork::compile(sound, parts.dataset->schema(), parts.device.str(),
                                                                SumOrder::ByHalf, {m_model->tower, {}}));
            const at::NoGradGuard noGrad;
            for (NamedParameter& parameter : network->parameters()) {
                const auto rows = carried.find(parameter.name); // fewer visits may lack some
                const at::Tensor& from = weights.at(rows == carried.end() ? parameter.name : rows->second.from);
                parameter.tensor.copy_(rows == carried.end() || rows->second.rows.empty()
                                           ? from // in its place: products may read several at once
                                           : from.index_select(0, at::tensor(rows->second.rows).to(from.device())));
            }
            m_knockout->use(i, std::move(network));
        }
        return Done{};
    }
    /// Returns the number in `before` of each executed layer of `after`: the same visit, or the last one.
    static std::vector<std::int64_t> sameVisits(const projects::Stack& before, const projects::Stack& after)
    {
        std::vector<std::int64_t> layers;
        for (const projects::LayerVisit& at : projects::executionOf(after)) {
            const std::vector<std::int64_t> visits = before.visitsOf(at.layer);
            layers.push_back(visits[std::min<std::size_t>(static_cast<std::size_t>(at.visit), visits.size()) - 1]);
        }
        return layers;
    }
    void passed() override { m_weights = weights(); } // the weights per token are those of the whole network

    /// Returns the answer, and keeps it with the run if it is a complete one of the run's own data.
    Event answer() const override
    {
        KnockoutReady ready = measured();
        std::ranges::copy(m_leftOut, std::back_inserter(ready.notes));
        if (m_request.only.empty() && !m_model->hasOtherData) {
            EffectsKey key = effectsKeyFor(m_request, m_model->parts.project, m_model->step);
            if (m_model->tower == 0) {
                key.tower.clear();
            }
            if (const Status kept = keepEffects(m_request.of.runDirectory, {key, ready}); !kept) {
                ready.notes.push_back("the result is not kept with the run: " + kept.error().text());
            }
        }
        return ready;
    }

    [[nodiscard]] KnockoutReady measured() const
    {
        auto ready = begun<KnockoutReady>();
        ready.checkpoint = m_checkpoint;
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
        const auto isMix = [](const Matrix& matrix) { return matrix.name.kind == matrix::kMix; };
        const bool hasMix = std::ranges::any_of(matrices, isMix);
        if (mix != nullptr && mix->weight == projects::WeightKind::Fixed && !hasMix) {
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

    std::vector<Matrix> m_weights;
    std::string m_checkpoint;           ///< KnockoutReady::checkpoint
    std::vector<std::string> m_leftOut; ///< notes on a kept result that could not be used
};

class InterventionQuery final : public EffectsQuery<InterventionRequest> {
public:
    using EffectsQuery::EffectsQuery;

private:
    std::string subjectsText(std::int64_t subjects) const override
    {
        return groupedText(subjects - 1) + " interventions and twice without any";
    }
    Result<std::vector<projects::KnockoutSubject>> subjects(const projects::Project& project) override
    {
        m_interventions = RESIDUA_TRY(interventionsFor(project, m_request));
        std::vector<projects::KnockoutSubject> subjects{{"unaltered", 0, 0, {}}};
        for (const Intervention& each : m_interventions) {
            subjects.push_back({each.row.name, 0, 0, each.alteration});
        }
        return subjects;
    }

    Event answer() const override
    {
        auto ready = begun<InterventionReady>();
        const std::vector<KnockoutEffect> effects = m_knockout->effects();
        std::vector<Intervention> measured = m_interventions;
        for (std::size_t i = 0; i < measured.size(); ++i) {
            measured[i].row.rise = effects[i + 1].rise;
            measured[i].row.error = effects[i + 1].error;
            measured[i].row.divergence = effects[i + 1].divergence;
        }
        const bool isDouble = m_model->parts.project.training.precision == projects::Precision::Fp64;
        const double rounding =
            isDouble ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
        ready.noise = effects.front().divergence;
        if (!std::isnan(ready.noise)) {
            ready.noise = std::max(std::abs(ready.noise), rounding);
        }
        ready.rows = derivedRows(measured, ready.noise);
        return ready;
    }

    std::vector<Intervention> m_interventions;
};

} // namespace

template <>
std::unique_ptr<Query> queryFor(const KnockoutRequest& request)
{
    return std::make_unique<KnockoutQuery>(request);
}

template <>
std::unique_ptr<Query> queryFor(const InterventionRequest& request)
{
    return std::make_unique<InterventionQuery>(request);
}

} // namespace residua::engine
