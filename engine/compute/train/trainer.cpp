// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/trainer.h"

#include "engine/compute/depth/layer_magnitudes.h"
#include "engine/compute/ranks/tensor_exchange.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/evaluation.h"
#include "engine/compute/train/fit_inputs.h"
#include "engine/compute/train/stopwatch.h"
#include "engine/compute/train/tensor_io.h"
#include "projects/base/text.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/kept_parts.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kDrawsCursor = "draws";

Result<std::int64_t> cursorIn(const CheckpointState& state, const std::string& name)
{
    const auto found = state.cursors.find(name);
    const std::string text = found == state.cursors.end() ? std::string() : found->second;
    const auto value = numberFrom<std::int64_t>(text);
    if (!value || *value < 0) {
        return Error{"checkpoint · state.json · cursors",
                     "\"" + name + "\" is " + (text.empty() ? "missing" : "\"" + text.substr(0, 40) + "\"") +
                         ", expected a whole number from 0 on: go on from an earlier checkpoint"};
    }
    return *value;
}

/// True if the plan clips the gradients of each group of losses, and there are several groups.
bool clipsByLoss(const TrainerParts& parts)
{
    const projects::TrainingPlan& plan = parts.project.training;
    return plan.clipScope == projects::ClipScope::Losses && plan.clipNorm > 0 && parts.network->lossGroups() > 1;
}

/// Returns the plan that the optimiser follows.
projects::TrainingPlan planOfOptimiser(const TrainerParts& parts)
{
    projects::TrainingPlan plan = parts.project.training;
    plan.clipNorm = clipsByLoss(parts) ? 0 : plan.clipNorm;
    return plan;
}

bool growsAnywhere(const projects::Project& project)
{
    return projects::grows(project.stack().schedule) ||
           std::ranges::any_of(project.towers, [](const projects::Tower& tower) {
               return projects::grows(tower.network.stack().schedule);
           });
}

/// Returns the division of the optimiser's states among the ranks; null if each keeps all.
std::unique_ptr<ParameterShares> sharesOf(const TrainerParts& parts, Ranks* ranks)
{
    const projects::TrainingPlan& plan = parts.project.training;
    if (ranks == nullptr || plan.rankStates == projects::RankStates::Whole) {
        return nullptr;
    }
    const bool grows = growsAnywhere(parts.project);
    const bool readsAll = grows || plan.weightAverage > 0; // all values in full, on each rank
    return std::make_unique<ParameterShares>(*ranks, parts.network->parameters(),
                                             grows ? ParameterShares::Together::Siblings
                                                   : ParameterShares::Together::Nothing,
                                             readsAll ? nullptr : parts.network->initPlan().compute().rounded);
}

/// Returns a small tensor of the host on the device, without waiting.
at::Tensor onDevice(const at::Tensor& values, c10::Device device)
{
    return device.is_cpu() ? values : values.pin_memory().to(device, /*non_blocking=*/true);
}

} // namespace

Result<TrainerParts> openParts(const projects::Project& project, const std::filesystem::path& projectDirectory,
                               const std::string& device, FirstWeights weights, const PreparationWatches& watches,
                               const Reading& reading, const CompiledNetwork::About& about)
{
    Result<c10::Device> opened = openDevice(device);
    if (!opened) {
        return opened.error();
    }
    Result<std::unique_ptr<Dataset>> dataset = Dataset::open(project, projectDirectory, watches.data, reading);
    if (!dataset) {
        return dataset.error();
    }
    const SumOrder sums = reading.version < ReadingVersion::Third ? SumOrder::ByBranch : SumOrder::ByHalf;
    const Result<projects::SoundProject> sound = projects::soundProject(project);
    Result<std::unique_ptr<CompiledNetwork>> network =
        sound ? CompiledNetwork::compile(*sound, (*dataset)->schema(), device, sums, about)
              : Result<std::unique_ptr<CompiledNetwork>>(sound.error());
    if (!network) {
        return network.error();
    }
    if (weights == FirstWeights::Initialised) {
        if (const Status prepared = prepareFits(project, **dataset, device, **network, watches.weights); !prepared) {
            return prepared.error();
        }
        if (const Status started = (*network)->initialise(watches.weights, {}); !started) {
            return started.error();
        }
    }
    return TrainerParts{projects::viewOf(project, about.tower), std::move(*dataset), std::move(*network), *opened,
                        reading.version};
}

Trainer::Trainer(TrainerParts parts, Ranks* ranks)
    : m_parts(std::move(parts)),
      m_ranks(ranks),
      m_schema(m_parts.dataset->schema()),
      m_optimiser(planOfOptimiser(m_parts), m_parts.network->parameters(), sharesOf(m_parts, ranks),
                  m_parts.network->initPlan().compute().rounded),
      m_average(m_parts.project.training, m_parts.network->parameters()),
      m_exchange(ranks == nullptr
                     ? nullptr
                     : std::make_unique<GradientExchange>(*ranks, m_parts.network->parameters(), m_parts.device)),
      m_courses(coursesOf(m_parts.project)),
      m_graphs(m_parts.device, *m_parts.network),
      m_ring(m_parts.device, kMostWaiting)
{
    const projects::TrainingPlan& plan = m_parts.project.training;
    const projects::ObjectiveTraits& objective = projects::traitsOf(m_parts.project.network.objective);
    const bool leavesOut = objective.targetOf == projects::TargetOf::Hidden || objective.denoises;
    m_readsAhead = drawsByExample() && (leavesOut || m_schema.hasLayout());
    m_batches.resize(m_readsAhead ? static_cast<std::size_t>(plan.accumulate) : 1);
    if (const auto* const world = dynamic_cast<const WorldDataset*>(m_parts.dataset.get())) {
        Result<std::unique_ptr<Acting>> acting =
            Acting::make(m_parts.project, *world, *m_parts.network, m_parts.device);
        TORCH_CHECK(acting.ok(), acting ? "" : acting.error().text()); // the data set has made such a world
        m_acting = *std::move(acting);
        m_graphs.leaveOut("the first tower acts in a world between them");
    }
    if (ranks != nullptr) {
        m_batchParts = {ranks->count(), [ranks, device = m_parts.device](const at::Tensor& values) {
                            ranks->exchange(device).sum(values);
                            ranks->finish();
                        }};
    }
    if (clipsByLoss(m_parts)) {
        m_clipping.emplace(plan.clipNorm, m_parts.network->parameters(), m_parts.network->lossGroups());
    }
    m_lossGradient.value = 1 / static_cast<double>(plan.accumulate);
    m_lossGradient.tensor =
        at::full({}, m_lossGradient.value, at::TensorOptions(m_parts.device).dtype(parameterType(plan.precision)));
    if (plan.batching == projects::BatchKind::Full) {
        m_parts.dataset->fillAll(m_batches.front(), Split::Train);
        m_fullBatch = upload(m_batches.front(), m_schema, m_parts.device, parameterType(plan.precision));
    }
    resetPeakBytes(m_parts.device);
}

Status Trainer::restore(const CheckpointFiles& checkpoint)
{
    const Result<std::int64_t> draws = cursorIn(checkpoint.state, kDrawsCursor);
    if (!draws) {
        return draws.error();
    }
    if (Status loaded = loadParameters(checkpoint.model, m_parts.network->parameters()); !loaded) {
        return loaded;
    }
    // Imported weights have none before the first step; later, missing moments mean that they are those of another
    // optimiser.
    if (checkpoint.optimiser.tensors().empty() && checkpoint.state.step > 0 && m_optimiser.keepsStates()) {
        return Error{"checkpoint · optimiser", "holds no moments, expected those of the run's optimiser: go on from an "
                                               "earlier checkpoint"};
    }
    m_graphs.clear();
    if (Status loaded = m_optimiser.load(checkpoint.optimiser); !loaded) {
        return loaded;
    }
    if (Status loaded = m_average.load(checkpoint.optimiser, checkpoint.state.step); !loaded) {
        return loaded;
    }
    if (const Status loaded = m_acting ? m_acting->load(checkpoint.optimiser, checkpoint.state.step + 1) : Done{};
        !loaded) {
        return loaded;
    }
    m_draws = *draws;
    m_step = checkpoint.state.step;
    m_units = checkpoint.state.units;
    m_seconds = checkpoint.state.seconds;
    m_judged = checkpoint.state.judged;
    return Done{};
}

std::map<std::string, std::string> Trainer::firstCursors()
{
    return {{kDrawsCursor, "0"}};
}

Status Trainer::writeCheckpoint(const std::filesystem::path& runDirectory) const
{
    if (m_optimiser.shares() != nullptr && m_ranks->isInStep()) {
        return Error{"checkpoint", "needs the optimiser's states of the other ranks, which are still in the step that "
                                   "failed on this one"};
    }
    CheckpointState state;
    state.step = m_step;
    state.units = m_units;
    state.seconds = m_seconds;
    state.cursors[kDrawsCursor] = std::to_string(m_draws);
    state.judged = m_judged;
    if (m_optimiser.shares() != nullptr) {
        (void)m_ranks->share(kRankStates);
    }
    HostTensors optimiser = m_optimiser.state();
    const HostTensors model = hostTensors(m_parts.network->parameters());
    m_average.addTo(optimiser);
    if (m_acting) {
        m_acting->addTo(optimiser);
    }
    if (m_ranks != nullptr) {
        m_ranks->finish(); // throws if the last step did not end on all ranks
    }
    const projects::TrainingPlan& plan = m_parts.project.training;
    return engine::writeCheckpoint(runDirectory, state, model.stored(), optimiser.stored(),
                                   {.newest = plan.keepCheckpoints,
                                    .every = plan.keepEvery,
                                    .best = plan.keepBest,
                                    .judge = projects::judgeOfRuns(m_parts.project),
                                    .onlyNewest = m_acting ? Acting::kPrefix : ""});
}

Status Trainer::readNext(Batch& batch, Part part)
{
    const projects::TrainingPlan& plan = m_parts.project.training;
    const bool divided = m_ranks != nullptr && part == Part::OfRank;
    const std::int64_t parts = divided ? m_ranks->count() : 1;
    if (m_acting) {
        if (const Status acted = m_acting->actBefore(m_step + 1); !acted) {
            return acted;
        }
        m_acting->fill(batch, m_draws, plan.batch);
    } else if (plan.batching == projects::BatchKind::Random) {
        const std::int64_t number = m_draws * parts + (divided ? m_ranks->rank() : 0);
        const Status filled =
            m_parts.dataset->fill(batch, Split::Train, m_parts.project.seeds.order, number, plan.batch / parts);
        if (!filled) {
            return filled;
        }
    }
    ++m_draws;
    m_units += parts * unitsIn(batch, m_schema);
    return Done{};
}

DeviceBatch Trainer::uploaded(Batch& batch)
{
    const projects::TrainingPlan& plan = m_parts.project.training;
    return plan.batching == projects::BatchKind::Full
               ? m_fullBatch
               : upload(batch, m_schema, m_parts.device, parameterType(plan.precision));
}

Status Trainer::readStep()
{
    m_weights.clear();
    double all = 0;
    for (Batch& batch : m_batches) {
        if (const Status read = readNext(batch, Part::OfRank); !read) {
            return read;
        }
        m_weights.push_back(static_cast<double>(targetsIn(batch, m_schema)));
        all += m_weights.back();
    }
    const double ranks = m_ranks == nullptr ? 1 : m_ranks->count();
    const double mean =
        (m_ranks == nullptr ? all : m_ranks->sum(all)) / (ranks * static_cast<double>(m_batches.size()));
    for (double& weight : m_weights) {
        weight /= std::max(mean, std::numeric_limits<double>::min()); // without targets, the loss is 0
    }
    return Done{};
}

Result<DeviceBatch> Trainer::partOfStep(std::int64_t micro, const Pass& pass)
{
    Batch& held = m_batches[m_readsAhead ? static_cast<std::size_t>(micro) : 0];
    if (!m_readsAhead) {
        if (const Status read = readNext(held, Part::OfRank); !read) {
            return read.error();
        }
    }
    DeviceBatch batch = uploaded(held);
    if (m_readsAhead) {
        const bool wide = m_parts.project.training.precision == projects::Precision::Fp64;
        batch.weight =
            onDevice(at::scalar_tensor(m_weights[static_cast<std::size_t>(micro)], wide ? at::kDouble : at::kFloat),
                     m_parts.device);
    }
    if (drawsByExample() && m_parts.network->drops()) {
        const std::int64_t rows = held.batch;
        const std::int64_t first =
            m_ranks == nullptr ? micro * rows : (micro * m_ranks->count() + m_ranks->rank()) * rows;
        batch.draws =
            onDevice(at::tensor({std::bit_cast<std::int64_t>(pass.random.key()), first}, at::kLong), m_parts.device);
    }
    return batch;
}

Status Trainer::accumulateGradients(const Pass& pass)
{
    const std::int64_t parts = m_parts.project.training.accumulate;
    Pass training = pass;
    training.lossGradient = m_lossGradient;
    training.parts = m_ranks == nullptr ? nullptr : &m_batchParts;
    const auto share = [parts](const at::Tensor& loss) {
        return parts > 1 ? loss.detach().div(static_cast<double>(parts)) : loss.detach();
    };
    const StepGraphs::Gradients gradients = [this, training, share](const DeviceBatch& batch) {
        return addGradients(batch, training, share);
    };
    StepGraphs::Graph* const graph = !m_exchange && pass.magnitudes == nullptr && m_parts.network->isRecordable()
                                         ? m_graphs.forStep(pass.layers, m_courses.front().course.expectedRepeats(pass))
                                         : nullptr;
    if (m_readsAhead) {
        if (const Status read = readStep(); !read) {
            return read;
        }
    }
    at::Tensor sum; // of the losses, if they are shared
    for (std::int64_t micro = 0; micro < parts; ++micro) {
        const Result<DeviceBatch> batch = partOfStep(micro, pass);
        if (!batch) {
            return batch.error();
        }
        if (graph != nullptr) {
            m_graphs.feed(static_cast<std::size_t>(micro), *batch);
        } else if (!m_exchange) {
            m_ring.addLoss(gradients(*batch));
        } else {
            addGradients(*batch, training, share, [&](const at::Tensor& judged) {
                sum = sum.defined() ? sum + judged : judged;
                if (micro + 1 == parts && !m_clipping) {
                    m_exchange->begin(sum);
                }
            });
        }
    }
    if (graph != nullptr) {
        m_ring.addLoss(m_graphs.run(*graph, pass, gradients));
    }
    if (m_exchange) {
        if (m_clipping) { // which keeps the gradients of each group until they are clipped
            m_exchange->begin(sum);
            m_clipping->beginMeans(m_ranks->exchange(m_parts.device));
        }
        m_ring.addLoss(m_exchange->finish());
        exchangeBuffers();
    }
    if (m_clipping) {
        m_clipping->finish();
    }
    return Done{};
}

at::Tensor Trainer::addGradients(const DeviceBatch& batch, const Pass& training,
                                 const std::function<at::Tensor(const at::Tensor&)>& share,
                                 const std::function<void(const at::Tensor&)>& beforeLast)
{
    at::Tensor judged;
    SharedValues shared;
    for (std::size_t group = 0; group < m_parts.network->lossGroups(); ++group) {
        const GroupLoss loss = m_parts.network->lossOfGroup(group, batch, training, &shared);
        if (loss.judged.defined()) {
            judged = share(loss.judged);
        }
        if (beforeLast && group + 1 == m_parts.network->lossGroups()) {
            beforeLast(judged);
        }
        if (!loss.trained.defined() || !loss.trained.requires_grad()) {
            continue;
        }
        if (m_clipping) {
            m_clipping->exchange(group);
        }
        if (ParameterShares* const shares = m_optimiser.shares()) {
            shares->noteReads(loss.trained);
        }
        loss.trained.backward(m_lossGradient.tensor.to(loss.trained.scalar_type()));
        if (m_clipping) {
            m_clipping->exchange(group);
        }
    }
    return judged;
}

void Trainer::exchangeBuffers()
{
    std::vector<at::Tensor> buffers;
    for (const NamedParameter& parameter : m_parts.network->parameters()) {
        if (parameter.isBuffer) {
            buffers.push_back(parameter.tensor);
        }
    }
    if (!buffers.empty()) {
        m_ranks->exchange(m_parts.device).mean(std::move(buffers));
        m_ranks->finish();
    }
}

std::vector<MetricRow> Trainer::takeRankRows()
{
    std::vector<MetricRow> rows;
    if (m_ranks == nullptr) {
        return rows;
    }
    const RankTimes times = m_ranks->takeTimes();
    const double units = static_cast<double>(times.steps * unitsPerStep()) / m_ranks->count();
    for (std::size_t rank = 0; rank < times.computing.size(); ++rank) {
        const double computing = times.computing[rank];
        const std::string name = std::to_string(rank);
        rows.push_back({metric::kRankThroughput + name, m_step, units / computing});
        rows.push_back({metric::kRankWaiting + name, m_step, std::max(0.0, 1 - computing / times.seconds)});
        rows.push_back({metric::kRankExchange + name, m_step, times.exchanging[rank] / times.seconds});
    }
    return rows;
}

Pass Trainer::passOf(std::int64_t step)
{
    Pass pass;
    pass.mode = Mode::Training;
    pass.step = step;
    pass.random = RandomStreams(m_parts.project.seeds.stages, step);
    pass.layers = m_parts.network->layersOf(pass);
    return pass;
}

Status Trainer::step(LayerMagnitudes* magnitudes)
{
    double enqueuing = 0; // on a GPU, where takeRecords() adds the device's time
    const Stopwatch stopwatch(m_parts.device.is_cpu() ? m_seconds : enqueuing);
    const c10::DeviceGuard current(m_parts.device); // the custom kernels run on the current device
    if (m_ranks != nullptr) {
        m_ranks->enterStep();
        if (m_ranks->rank() == 0) {
            (void)m_ranks->share(kRankStep);
        }
    }
    m_ring.begin();
    const projects::TrainingPlan& plan = m_parts.project.training;
    applyDeterminism(plan.determinism); // process-wide: another project may have been evaluated since the last step
    Pass pass = passOf(m_step + 1);
    pass.magnitudes = magnitudes;
    // LibTorch's generators draw the dropout of attention on a GPU, inside its operator: each rank's for itself.
    const auto rank = static_cast<std::uint64_t>(m_ranks != nullptr && drawsByExample() ? m_ranks->rank() : 0);
    seedGenerators(m_parts.device, rank == 0 ? pass.random.key() : splitMix(pass.random.key() + rank));
    const std::int64_t draws = m_draws;
    const std::int64_t units = m_units;
    if (Status status = accumulateGradients(pass); !status) {
        m_draws = draws;
        m_units = units;
        m_ring.dropLoss();
        m_optimiser.clearGradients();
        if (m_clipping) {
            m_clipping->clear();
        }
        return status;
    }
    if (magnitudes != nullptr) {
        const std::vector<NamedParameter>& parameters = m_parts.network->parameters();
        magnitudes->sawGradients(parameters, m_parts.project.stack());
        for (const projects::Tower& tower : m_parts.project.towers) {
            const std::string& name = tower.network.name;
            magnitudes->ofTower(name).sawGradients(parameters, tower.network.stack(), name + ".");
        }
    }
    std::vector<HeldSlice> untouched;
    for (Course& each : m_courses) {
        const Pass own = passOf(each, pass);
        each.course.fillAbsent(own, m_parts.network->parameters());
        std::ranges::move(each.course.untouched(own, m_parts.network->parameters()), std::back_inserter(untouched));
    }
    ++m_step;
    m_isGrownAhead = false;
    const double rate = projects::learningRateAt(plan, m_parts.project.stack().schedule, m_step);
    const at::Tensor norm = m_optimiser.step(rate, untouched);
    m_optimiser.clearGradients();
    m_average.update();
    if (m_ranks != nullptr) {
        m_ranks->leaveStep();
    }
    m_ring.commit(norm, {.step = m_step, .learningRate = rate, .tokens = m_units, .seconds = stopwatch.total()});
    return Done{};
}

std::vector<StepRecord> Trainer::takeRecords()
{
    std::vector<StepRecord> records = m_ring.take();
    if (!m_parts.device.is_cpu()) {
        for (StepRecord& record : records) {
            m_seconds += record.seconds;
            record.seconds = m_seconds;
        }
    }
    return records;
}

TrainedState Trainer::state()
{
    return {.network = *m_parts.network,
            .dataset = *m_parts.dataset,
            .project = m_parts.project,
            .device = m_parts.device,
            .step = m_step,
            .drawsLayers = drawsAt(std::max<std::int64_t>(m_step, 1)),
            .partOf = [this](std::int64_t step) { return partOf(step); }};
}

Result<Measured> Trainer::measure(const Measure& measure)
{
    applyDeterminism(m_parts.project.training.determinism); // a resumed run may be measured before its first step
    if (m_optimiser.shares() != nullptr && !m_optimiser.shares()->areComplete()) {
        (void)m_ranks->share(kRankValues);
        completeValues();
    }
    const WeightAverage::Evaluated evaluated(m_average);
    Measured measured;
    if (const Status taken = measure.measure(state(), measured); !taken) {
        return taken.error();
    }
    const projects::Judge& judge = projects::judgeOfRuns(m_parts.project);
    for (const MetricRow& row : measured.rows) {
        if (row.name == std::string(judge.quantity) + "/validation") {
            m_judged = std::isfinite(row.value) ? std::optional(row.value) : std::nullopt;
        }
    }
    return measured;
}

std::int64_t Trainer::parameterCount() const
{
    return countOf(m_parts.network->parameters());
}

std::int64_t Trainer::unitsPerStep() const
{
    const projects::TrainingPlan& plan = m_parts.project.training;
    return static_cast<std::int64_t>(unitsPerBatch(m_parts.project.data, plan)) * plan.accumulate;
}

} // namespace residua::engine
