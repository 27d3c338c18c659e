// SPDX-License-Identifier: GPL-3.0-or-later
// The errors of factored weights against the full ones, by method, for weights drawn by the document or learned by a
// run. The fits have threads of their own, so that a run can continue beside them.
#include "engine/compute/queries/measures/network_queries.h"

#include "engine/compute/init/factor_fits.h"
#include "engine/compute/init/fit_cache.h"
#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/queries/base/staged_query.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/fit_inputs.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/transfer_plan.h"
#include "engine/maths/lowrank/low_rank_fit.h"
#include "projects/base/random.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>

namespace residua::engine {
namespace {

using projects::LowRankInputs;
using projects::Project;

constexpr std::chrono::milliseconds kTell{100};

/// Fits weights by methods on separate threads, which the constructor starts. The destructor stops them.
class GapFits {
public:
    GapFits(std::vector<LowRankProblem> problems, std::vector<LowRankMethod> methods)
        : m_problems(std::move(problems)),
          m_methods(std::move(methods)),
          m_thread(
              [this, threads = std::max(at::get_num_threads(), 1)](const std::stop_token& stop) { run(threads, stop); })
    {
    }

    struct Fit {
        std::size_t weight = 0;
        std::size_t method = 0;
        Result<LowRankFit> fit;
    };
    /// Returns the fits that have ended since the last call.
    [[nodiscard]] std::vector<Fit> take()
    {
        const std::scoped_lock lock(m_mutex);
        return std::exchange(m_ended, {});
    }
    /// Returns the cache's errors; empty if it has none.
    [[nodiscard]] std::string faults() const { return m_cache.faults(); }

private:
    void run(int threads, const std::stop_token& stop)
    {
        LayerFitsWatch watch;
        watch.stop = stop;
        watch.fit = [this](const LowRankProblem& problem, LowRankMethod method, const LowRankWatch& fitting) {
            return fitKept(problem, method, m_cache, fitting);
        };
        watch.finished = [this](std::size_t weight, std::size_t method, const Result<LowRankFit>& fit) {
            const std::scoped_lock lock(m_mutex);
            m_ended.push_back({weight, method, fit});
        };
        (void)fitLayers(m_problems, m_methods, threads, watch);
    }

    std::vector<LowRankProblem> m_problems;
    std::vector<LowRankMethod> m_methods;
    std::mutex m_mutex; ///< protects the members below
    std::vector<Fit> m_ended;
    CachedFits m_cache{userFitCache()};
    std::jthread m_thread; ///< last, because it uses the other members
};

class GapQuery final : public StagedQuery<GapQuery, GapRequest, GapReady> {
public:
    using StagedQuery::StagedQuery;
    bool waits() const override { return m_fitting != nullptr; }

    std::optional<Event> takeNews() override
    {
        const auto now = std::chrono::steady_clock::now();
        if (!m_told || now < m_tellAt) {
            return std::nullopt;
        }
        m_told = false;
        m_tellAt = now + kTell;
        return GapProgress{m_request.tag, m_gap};
    }

private:
    std::span<const Stage> stages() const override
    {
        static constexpr Stage kStages[] = {&GapQuery::open,      &GapQuery::compile,  &GapQuery::runFull,
                                            &GapQuery::startFits, &GapQuery::takeFits, &GapQuery::tryMethod};
        return kStages;
    }
    bool hasMore(Stage stage) const override
    {
        return stage == &GapQuery::takeFits ? m_fitting != nullptr
                                            : stage == &GapQuery::tryMethod && m_method < m_gap.methods.size();
    }

    [[nodiscard]] bool ofRun() const { return !m_request.runDirectory.empty(); }

    Status open()
    {
        if (m_request.methods.empty()) {
            return Error{"methods", "names none, expected spectral, exact or the like"};
        }
        Project project = m_request.project;
        if (ofRun()) {
            Result<OpenedCheckpoint> opened = openCheckpoint(useOf(m_request), m_request.step, watch());
            if (!opened) {
                return opened.error();
            }
            m_checkpoint.emplace(std::move(opened->checkpoint));
            m_dataset = std::move(opened->dataset);
            m_gap.step = m_checkpoint->state.step;
            m_gap.notes = std::move(opened->run.notes);
            project = std::move(opened->run.project);
        }
        m_fullProject = ofRun() ? project : fullRank(project);
        if (m_request.rank) {
            project.network.rank = *m_request.rank;
        }
        m_gap.inputs = m_request.inputs.value_or(project.initialisation.lowRankInputs);
        m_gap.methods = m_request.methods;
        m_gap.outputs.resize(m_gap.methods.size());
        project = unfitted(std::move(project));
        if (const Status sound = checkProject(project); !sound) {
            return sound.error();
        }
        if (!ofRun()) {
            Result<std::unique_ptr<Dataset>> dataset = Dataset::open(project, m_request.projectDirectory, watch());
            if (!dataset) {
                return dataset.error();
            }
            m_dataset = std::move(*dataset);
        }
        m_project = std::move(project);
        return Done{};
    }

    /// Compiles the network with its weights in factors, as drawn. It lists the weights and the activation after each.
    Status compile()
    {
        auto network = CompiledNetwork::compile(m_project, m_dataset->schema(), "cpu");
        if (!network) {
            return network.error();
        }
        m_network = std::move(*network);
        std::ranges::copy_if(m_network->initPlan().factored(), std::back_inserter(m_weights),
                             [this](const FactoredWeight& weight) {
                                 return !ofRun() || m_checkpoint->model.tensors().contains(weight.name);
                             });
        if (m_weights.empty() && attentions().empty()) {
            return Error{"network", ofRun()
                                        ? "the run holds no weight whole that is of lower rank here: expected a rank "
                                          "for a run of full rank, or the project of a factored run"
                                        : "no weight is below full rank: expected a rank, of the network or of a node"};
        }
        if (!ofRun()) {
            return m_network->initialise(watch(), {});
        }
        TransferPlan kept;
        for (const NamedParameter& parameter : m_network->parameters()) {
            if (m_checkpoint->model.tensors().contains(parameter.name)) {
                kept.copy(parameter.name, Moments::Fresh);
            }
        }
        return kept.apply(m_checkpoint->model, *m_network, watch());
    }

    /// Runs the network of full weights: its outputs on held-out data, and its weights' inputs on the training data.
    Status runFull()
    {
        auto full = CompiledNetwork::compile(m_fullProject, m_dataset->schema(), "cpu");
        if (!full) {
            return full.error();
        }
        const Status weights =
            ofRun() ? loadParameters(m_checkpoint->model, (*full)->parameters()) : (*full)->initialise(watch(), {});
        if (!weights) {
            return weights.error();
        }
        if (m_gap.inputs == LowRankInputs::Data) {
            const Result<WeightInputs> inputs = readInputs(**full, *m_dataset, m_project.training, at::kCPU,
                                                           passAfter(m_gap.step), fitLengthOf(m_project));
            if (!inputs) {
                return inputs.error();
            }
            m_moments = momentsByName(*inputs, (*full)->parameters());
            m_attentionInputs = inputs->sequences();
        }
        Result<at::Tensor> output = outputOf(**full);
        if (!output) {
            return output.error();
        }
        m_fullOutput = std::move(*output);
        return Done{};
    }

    /// Returns the output on the first batch of the validation split, or of the training split if there is no
    /// validation split.
    Result<at::Tensor> outputOf(CompiledNetwork& network)
    {
        const at::NoGradGuard noGrad;
        const Split split = m_dataset->size(Split::Validation) > 0 ? Split::Validation : Split::Train;
        SplitBatches batches(*m_dataset, split, m_project.training, at::kCPU, 1);
        const Result<std::optional<DeviceBatch>> batch = batches.next();
        if (!batch) {
            return batch.error();
        }
        if (!*batch) {
            return Error{"data", "there is no example to compare the networks' outputs on"};
        }
        return network.forward(**batch, passAfter(m_gap.step));
    }

    Status startFits()
    {
        const at::NoGradGuard noGrad;
        std::vector<LowRankProblem> problems;
        InitPlan& plan = m_network->initPlan();
        for (const FactoredWeight& weight : m_weights) {
            const Result<at::Tensor> whole =
                ofRun() ? readTensor(m_checkpoint->model, weight.name) : Result<at::Tensor>(plan.wholeOf(weight));
            if (!whole) {
                return whole.error();
            }
            const auto moments = m_moments.find(weight.name);
            std::optional<FactorFit> fit =
                plan.fitOf(weight, *whole, moments == m_moments.end() ? at::Tensor() : moments->second);
            if (!fit) {
                continue; // its factors are exact by every method
            }
            m_gap.weights.push_back(gapWeightOf(*fit));
            problems.push_back(problemOf(*fit));
            fit->whole = at::Tensor(); // the problem has its numbers
            m_fits.push_back(*std::move(fit));
        }
        for (const AttentionFeatures& attention : attentions()) {
            const NamedParameter& features = m_network->parameters()[attention.parameter];
            const at::IntArrayRef sizes = features.tensor.sizes();
            m_gap.weights.push_back(
                {features.name, sizes[0] * sizes[1], sizes[2], sizes[1], {}, GapWeight::Subject::Features});
            m_startFeatures.push_back(features.tensor.detach().clone());
        }
        if (!attentions().empty()) {
            m_network->initPlan().setFits(
                {.attentionInputs = m_attentionInputs, .attentionLength = fitLengthOf(m_project)});
        }
        m_gap.fits.resize(m_gap.weights.size() * m_gap.methods.size());
        m_factors.resize(m_gap.fits.size());
        m_fitting = std::make_unique<GapFits>(std::move(problems), m_gap.methods);
        m_told = true;
        return Done{};
    }

    Status takeFits()
    {
        for (GapFits::Fit& ended : m_fitting->take()) {
            GapFit& gap = m_gap.fit(ended.weight, ended.method);
            if (ended.fit) {
                gap = gapOf(*ended.fit);
                m_factors[ended.weight * m_gap.methods.size() + ended.method] = std::move(*ended.fit);
            } else {
                gap.state = GapFit::State::Failed;
                gap.note = ended.fit.error().text();
            }
            m_told = true;
        }
        if (const std::string faults = m_fitting->faults(); !faults.empty() && !std::exchange(m_faulty, true)) {
            m_gap.notes.push_back(faults);
        }
        if (m_gap.done() == m_fits.size() * m_gap.methods.size()) {
            m_fitting.reset();
        }
        return Done{};
    }

    /// Executes a piece of one method's evaluation: its factors, its features head by head, or its output.
    Status tryMethod()
    {
        if (!std::exchange(m_isPlaced, true)) {
            placeFactors();
            return Done{};
        }
        if (m_attention < attentions().size()) {
            return fitFeatures();
        }
        if (const Status measured = measureOutput(); !measured) {
            return measured;
        }
        m_isPlaced = false;
        m_told = ++m_method < m_gap.methods.size(); // the answer includes the last method
        return Done{};
    }

    /// Writes the next method's factors into the network.
    void placeFactors()
    {
        m_isWhole = true;
        for (std::size_t weight = 0; weight < m_fits.size(); ++weight) {
            if (m_gap.fit(weight, m_method).state != GapFit::State::Fitted) {
                m_isWhole = false;
                continue;
            }
            const LowRankFit& fit = m_factors[weight * m_gap.methods.size() + m_method];
            writeFactors(m_fits[weight], fit.left, fit.right);
        }
        m_attention = 0;
        m_head = 0;
    }

    [[nodiscard]] const std::vector<AttentionFeatures>& attentions() const
    {
        return m_network->initPlan().attentions();
    }

    /// Sets the features of one head, for the queries and keys of the method's factors. A method that uses the
    /// activation fits them, starting from the drawn or learned features; other methods keep these.
    Status fitFeatures()
    {
        const AttentionFeatures& attention = attentions()[m_attention];
        const at::NoGradGuard noGrad;
        const at::Tensor features = m_network->parameters()[attention.parameter].tensor;
        if (m_head == 0) {
            features.copy_(m_startFeatures[m_attention]);
            m_problems = m_network->initPlan().problemsOf(attention);
        }
        const AttentionProblem& problem = m_problems[m_head];
        GapFit& gap = m_gap.fit(m_fits.size() + m_attention, m_method);
        if (const Status fitted = fitHead(problem, gap, features.select(0, std::int64_t(m_head))); !fitted) {
            gap.state = GapFit::State::Failed;
            gap.note = fitted.error().text();
            m_isWhole = false;
            m_head = m_problems.size();
        } else if (++m_head == m_problems.size()) {
            gap.state = GapFit::State::Fitted;
            gap.meanCorrelation /= double(m_problems.size());
        }
        if (m_head == m_problems.size()) {
            m_head = 0;
            ++m_attention;
            m_told = true;
        }
        return Done{};
    }

    Status fitHead(const AttentionProblem& problem, GapFit& gap, const at::Tensor& features)
    {
        AttentionError left;
        // Features have one search, Adam on samples, for all methods that use the activation; the other methods keep
        // the start.
        if (projects::traitsOf(m_gap.methods[m_method]).looksAtWhatFollows) {
            std::stop_source stop;
            const auto goOn = [&](const LowRankProgress& progress) {
                if (!stillWanted(watch(), progress.fraction)) {
                    stop.request_stop();
                }
            };
            Result<AttentionFit> fit = fitKept(problem, m_cache, {goOn, stop.get_token()});
            if (!fit) {
                return fit.error();
            }
            features.copy_(at::from_blob(fit->features.data(), features.sizes(), at::kDouble));
            left = fit->after;
            gap.seconds += fit->seconds;
            gap.converged = gap.converged && fit->converged;
            gap.note = fit->converged ? gap.note : "of a head: " + fit->note;
            for (std::size_t i = 0; i < problem.start.size(); ++i) {
                gap.weightError += std::pow(fit->features[i] - problem.start[i], 2);
            }
        } else {
            const Result<AttentionError> measured = measureAttention(problem, problem.start);
            if (!measured) {
                return measured.error();
            }
            left = *measured;
        }
        gap.functionError += left.error;
        gap.fullFunction += left.full;
        const double norms = std::sqrt(left.own * left.full);
        gap.meanCorrelation += norms > 0 ? (left.own + left.full - left.error) / (2 * norms) : 0;
        return Done{};
    }

    /// Measures the output of the network with one method's factors. Unknown if one of the method's fits has failed.
    Status measureOutput()
    {
        if (!m_isWhole) {
            return Done{};
        }
        const Result<at::Tensor> output = outputOf(*m_network);
        if (!output) {
            return output.error();
        }
        const at::NoGradGuard noGrad;
        const double full = m_fullOutput.to(at::kDouble).norm().item<double>();
        const double rest = (*output - m_fullOutput).to(at::kDouble).norm().item<double>();
        if (full > 0) {
            m_gap.outputs[m_method] = rest * rest / (full * full);
        }
        return Done{};
    }

    Gap& m_gap = m_ready.gap;
    bool m_told = false; ///< there is news
    bool m_faulty = false;
    std::chrono::steady_clock::time_point m_tellAt{};
    Project m_project;     ///< with its weights in factors
    Project m_fullProject; ///< with full weights in place of the factors
    std::optional<CheckpointFiles> m_checkpoint;
    std::unique_ptr<Dataset> m_dataset;
    std::unique_ptr<CompiledNetwork> m_network; ///< of m_project
    std::vector<FactoredWeight> m_weights;
    std::map<std::string, at::Tensor> m_moments; ///< by the full weight's name
    at::Tensor m_fullOutput;
    std::vector<FactorFit> m_fits; ///< for each weight, without the full weight
    InputsByAttention m_attentionInputs;
    std::vector<at::Tensor> m_startFeatures;  ///< for each attention with features, as drawn or learned
    std::vector<AttentionProblem> m_problems; ///< for the heads of the attention that is being fitted
    std::size_t m_attention = 0;
    std::size_t m_head = 0;
    bool m_isPlaced = false; ///< the method's factors are in the network
    bool m_isWhole = true;   ///< all fits of the method have succeeded
    CachedFits m_cache{userFitCache()};
    std::unique_ptr<GapFits> m_fitting;
    std::vector<LowRankFit> m_factors; ///< as Gap::fits
    std::size_t m_method = 0;          ///< the method whose output is measured next
};

} // namespace

std::unique_ptr<Query> queryFor(const GapRequest& request)
{
    return std::make_unique<GapQuery>(request);
}

} // namespace residua::engine
