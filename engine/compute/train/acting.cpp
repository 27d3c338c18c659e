// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/acting.h"

#include "engine/base/api/matrix_name.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/measures.h"
#include "engine/data/worlds/built_in_worlds.h"
#include "projects/base/random.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kWorlds = "worlds/values";
constexpr const char* kStates = "worlds/replay.states";
constexpr const char* kActions = "worlds/replay.actions";
constexpr const char* kEpisodes = "worlds/replay.episodes";
constexpr const char* kAdded = "worlds/replay.added";
constexpr std::uint64_t kOfValidation = 1; ///< part of Stream::Acting

bool areFinite(std::span<const float> values)
{
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

/// Returns the actions [count, actions] of the first tower for the current states and goals.
Result<std::vector<float>> actionsOf(const Environments& worlds, const projects::ExampleSchema& schema,
                                     CompiledNetwork& network, const Pass& pass, const at::Tensor& draws,
                                     c10::Device device, at::ScalarType type)
{
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(device);
    Batch batch;
    batch.batch = worlds.count();
    const auto actions = static_cast<std::size_t>(worlds.count() * schema.target().shape.features());
    batch.values<float>(0).assign(worlds.states().begin(), worlds.states().end());
    batch.values<float>(1).assign(actions, 0);
    batch.values<float>(2).assign(worlds.goals().begin(), worlds.goals().end());
    batch.values<float>(3).assign(actions, 0);
    DeviceBatch given = upload(batch, schema, device, type);
    given.draws = draws;
    const at::Tensor made = network.forward(given, pass).to(at::kCPU, at::kFloat).contiguous();
    const std::span values(made.const_data_ptr<float>(), static_cast<std::size_t>(made.numel()));
    if (!areFinite(values)) {
        return Error{"data · world", "the first tower gives an action that is not finite: lower the learning rate, or "
                                     "go on from an earlier checkpoint"};
    }
    return std::vector<float>(values.begin(), values.end());
}

/// Returns a tensor on the memory of `values`.
template <class Value>
at::Tensor viewOn(std::vector<Value>& values)
{
    return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())},
                         at::TensorOptions().dtype(c10::CppTypeToScalarType<Value>::value));
}

constexpr std::size_t kMostShown = 4; ///< episodes in a picture

struct Place {
    double x = 0;
    double y = 0;
};

/// Returns the first two numbers of a row of `width` numbers; y is 0 if it has one.
Place placeIn(std::span<const float> values, std::int64_t width, std::size_t row)
{
    const std::span<const float> own = values.subspan(row * static_cast<std::size_t>(width));
    return {own[0], width > 1 ? own[1] : 0.0F};
}

/// A square of the plane.
struct Extent {
    Place corner; ///< with the smallest coordinates
    double side = 1;
};

/// Returns the square of a built-in world, or the smallest one around all places.
Extent extentOf(const projects::WorldData& world, const std::vector<Place>& places)
{
    if (world.kind == projects::WorldKind::PointMaze) {
        const double half = projects::kMazeCell / 2;
        return {{-half, -half}, projects::kMazeCell * static_cast<double>(projects::kLargeMaze.size())};
    }
    if (world.kind == projects::WorldKind::Arm) {
        const double reach = 1.1 * (projects::kArmLinks[0] + projects::kArmLinks[1]);
        return {{-reach, -reach}, 2 * reach};
    }
    const auto [left, right] = std::ranges::minmax(places, {}, &Place::x);
    const auto [low, high] = std::ranges::minmax(places, {}, &Place::y);
    return {{left.x, low.y}, std::max({right.x - left.x, high.y - low.y, 1e-6}) * (1 + 1e-6)};
}

/// Returns matrix::kRollout.
Matrix pictureOf(const projects::WorldData& world, const std::vector<Place>& places, const std::vector<Place>& goals,
                 std::int64_t step)
{
    constexpr std::int64_t kSide = matrix::kRolloutSide;
    std::vector<Place> all = places;
    all.insert(all.end(), goals.begin(), goals.end());
    const Extent extent = extentOf(world, all);
    Matrix picture{matrix::kRollout, step, kSide, kSide, std::vector<float>(kSide * kSide, matrix::kFree)};
    const double cell = extent.side / static_cast<double>(kSide);
    if (world.kind == projects::WorldKind::PointMaze) {
        for (std::int64_t i = 0; i < kSide * kSide; ++i) {
            const double x = extent.corner.x + (static_cast<double>(i % kSide) + 0.5) * cell;
            const double y = extent.corner.y + (static_cast<double>(i / kSide) + 0.5) * cell;
            picture.values[static_cast<std::size_t>(i)] = isMazeWall(x, y) ? matrix::kWall : matrix::kFree;
        }
    }
    const auto mark = [&](const std::vector<Place>& marked, float value) {
        for (const Place& place : marked) {
            const auto indexOf = [&](double from, double at) {
                return std::clamp(static_cast<std::int64_t>((at - from) / cell), std::int64_t{0}, kSide - 1);
            };
            const std::int64_t row = indexOf(extent.corner.y, place.y);
            picture.values[static_cast<std::size_t>(row * kSide + indexOf(extent.corner.x, place.x))] = value;
        }
    };
    mark(places, matrix::kPath);
    mark(goals, matrix::kGoal);
    return picture;
}

} // namespace

Result<std::unique_ptr<Acting>> Acting::make(const projects::Project& project, const WorldDataset& dataset,
                                             CompiledNetwork& network, c10::Device device)
{
    const projects::WorldData& world = dataset.source();
    Environments worlds = RESIDUA_TRY(
        Environments::make(world, dataset.directory(), world.environments,
                           drawBits(static_cast<std::uint64_t>(project.seeds.data), streamOf(Stream::Acting), 0)));
    return std::unique_ptr<Acting>(new Acting(project, world, network, device, std::move(worlds)));
}

Acting::Acting(const projects::Project& project, const projects::WorldData& world, CompiledNetwork& network,
               c10::Device device, Environments worlds)
    : m_world(world),
      m_schema(projects::examplesOf(project.data)),
      m_seeds(project.seeds),
      m_depth(project.network.depth()),
      m_type(parameterType(project.training.precision)),
      m_network(network),
      m_device(device),
      m_environments(std::move(worlds)),
      m_buffer(world)
{
}

Status Acting::actBefore(std::int64_t step)
{
    while (m_skipped + m_buffer.added() < projects::stepsActedBefore(m_world, step)) {
        RESIDUA_TRY(actOnce(step));
    }
    return Done{};
}

Status Acting::actOnce(std::int64_t step)
{
    Pass pass;
    pass.mode = Mode::Training; // draws the noise of actions
    pass.step = step;
    pass.random = RandomStreams(m_seeds.stages, step);
    pass.layers.resize(static_cast<std::size_t>(m_depth));
    pass.holdsBuffers = true;
    const std::uint64_t key = drawBits(static_cast<std::uint64_t>(m_seeds.order), streamOf(Stream::Acting),
                                       static_cast<std::uint64_t>(m_skipped + m_buffer.added()));
    const at::Tensor draws = at::tensor({std::bit_cast<std::int64_t>(key), std::int64_t{0}}, at::kLong).to(m_device);
    const std::vector<float> actions =
        RESIDUA_TRY(actionsOf(m_environments, m_schema, m_network, pass, draws, m_device, m_type));
    const std::vector<float> states(m_environments.states().begin(), m_environments.states().end());
    const std::vector<std::int64_t> episodes(m_environments.episodes().begin(), m_environments.episodes().end());
    RESIDUA_TRY(m_environments.step(actions));
    m_buffer.add(states, actions, episodes);
    return Done{};
}

void Acting::fill(Batch& batch, std::int64_t number, std::int64_t count) const
{
    RandomStream random(drawBits(static_cast<std::uint64_t>(m_seeds.order), streamOf(Stream::Order),
                                 static_cast<std::uint64_t>(number)),
                        streamOf(Stream::Acting));
    fillFrom(m_buffer, random, count, batch);
}

void Acting::addTo(HostTensors& tensors) const
{
    if (m_world.onResume == projects::ReplayOnResume::Collected) {
        return;
    }
    const ReplayBuffer::Contents contents = m_buffer.contents();
    tensors.add(kStates, viewOn(contents.states));
    tensors.add(kActions, viewOn(contents.actions));
    tensors.add(kEpisodes, viewOn(contents.episodes));
    tensors.add(kAdded, at::tensor({m_skipped, m_buffer.added()}, at::kLong).clone());
    tensors.add(kWorlds, at::tensor(m_environments.values(), at::kDouble).clone());
}

Status Acting::load(const TensorFiles& stored, std::int64_t step)
{
    m_whyAnew.clear();
    if (!stored.tensors().contains(kWorlds)) {
        m_whyAnew = "the replay buffer is collected anew, so that this run differs from one without an interruption: " +
                    std::string(m_world.onResume == projects::ReplayOnResume::Kept
                                    ? "only the newest checkpoint of a run has it"
                                    : "data.source.on_resume is \"collected\"");
        m_skipped =
            std::max<std::int64_t>(projects::stepsActedBefore(m_world, step) - m_world.prefill - m_world.unroll, 0);
        return Done{};
    }
    const ReplayBuffer::Contents contents = m_buffer.contents();
    const at::Tensor added = at::tensor({std::int64_t{0}, std::int64_t{0}}, at::kLong);
    std::vector<double> values = m_environments.values();
    for (const auto& [name, tensor] :
         {std::pair(kStates, viewOn(contents.states)), std::pair(kActions, viewOn(contents.actions)),
          std::pair(kEpisodes, viewOn(contents.episodes)), std::pair(kAdded, added),
          std::pair(kWorlds, viewOn(values))}) {
        RESIDUA_TRY(loadTensor(stored, name, tensor));
    }
    m_skipped = added[0].item<std::int64_t>();
    m_buffer.setAdded(added[1].item<std::int64_t>());
    const std::int64_t due = projects::stepsActedBefore(m_world, step);
    if (m_skipped < 0 || m_skipped >= due || m_buffer.added() < 0 || m_buffer.added() > due - m_skipped) {
        return Error{std::string("checkpoint · ") + kAdded, "counts " + std::to_string(m_skipped) + " and " +
                                                                std::to_string(m_buffer.added()) +
                                                                " steps, expected at most " + std::to_string(due) +
                                                                " in all: go on from an earlier checkpoint"};
    }
    for (const auto& [name, numbers] : {std::pair(kStates, &contents.states), std::pair(kActions, &contents.actions)}) {
        if (!areFinite(*numbers)) {
            return Error{std::string("checkpoint · ") + name,
                         "has numbers that are not finite: go on from an earlier checkpoint"};
        }
    }
    return m_environments.setValues(values);
}

Result<ActedEpisodes> actEpisodes(const projects::Project& project, const WorldDataset& dataset,
                                  CompiledNetwork& network, c10::Device device, std::int64_t step)
{
    const projects::WorldData& world = dataset.source();
    Environments worlds = RESIDUA_TRY(Environments::make(
        world, dataset.directory(), world.judged,
        drawBits(static_cast<std::uint64_t>(project.seeds.data), streamOf(Stream::Acting), kOfValidation)));
    const projects::WorldSizes sizes = projects::sizesOf(world);
    const std::size_t shown = std::min(kMostShown, static_cast<std::size_t>(worlds.count()));
    std::vector<Place> goals;
    std::vector<Place> places;
    for (std::size_t episode = 0; episode < shown; ++episode) {
        goals.push_back(placeIn(worlds.goals(), sizes.goals, episode));
    }
    std::vector<std::int64_t> atGoal(static_cast<std::size_t>(worlds.count()));
    std::vector<bool> hasEnded(atGoal.size());
    for (std::int64_t done = 0; done < world.episode; ++done) {
        for (std::size_t episode = 0; episode < shown; ++episode) {
            if (!hasEnded[episode]) {
                places.push_back(placeIn(worlds.states(), sizes.states, episode));
            }
        }
        const std::vector<float> actions =
            RESIDUA_TRY(actionsOf(worlds, projects::examplesOf(project.data), network, passAfter(step), {}, device,
                                  parameterType(project.training.precision)));
        RESIDUA_TRY(worlds.step(actions));
        for (std::size_t i = 0; i < atGoal.size(); ++i) {
            atGoal[i] += !hasEnded[i] && worlds.atGoal()[i] != 0 ? 1 : 0;
            hasEnded[i] = hasEnded[i] || worlds.episodes()[i] > 1;
        }
    }
    ActedEpisodes acted;
    for (const std::int64_t steps : atGoal) {
        acted.timeAtGoal += static_cast<double>(steps) / static_cast<double>(atGoal.size());
        acted.reached += (steps > 0 ? 1.0 : 0.0) / static_cast<double>(atGoal.size());
    }
    acted.shown = pictureOf(world, places, goals, step);
    return acted;
}

Status measureActing(const TrainedState& state, Measured& measured)
{
    const auto* const dataset = dynamic_cast<const WorldDataset*>(&state.dataset);
    if (dataset == nullptr) {
        return Done{};
    }
    ActedEpisodes acted = RESIDUA_TRY(actEpisodes(state.project, *dataset, state.network, state.device, state.step));
    measured.rows.push_back({kTimeAtGoal, state.step, acted.timeAtGoal});
    measured.rows.push_back({"reached_goal/validation", state.step, acted.reached});
    measured.rows.push_back({metric::kEnvironmentSteps, state.step,
                             static_cast<double>(projects::environmentStepsAt(dataset->source(), state.step))});
    measured.matrices.push_back(std::move(acted.shown));
    return Done{};
}

} // namespace residua::engine
