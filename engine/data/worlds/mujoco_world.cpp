// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/machine/machine.h"
#include "engine/data/worlds/built_in_worlds.h"
#include "engine/data/worlds/mujoco_model.h"
#include "projects/base/random.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/file/world_model.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMujocoLibrary = "libresidua_mujoco.so";
constexpr std::uint64_t kMostOfFile = std::uint64_t{4} << 20U; ///< bytes of a model, or of its description

struct Mujoco {
    LoadMujoco load = nullptr;
};

Result<Mujoco> openMujoco()
{
    const std::string place = "data · world";
    const fs::path path = findOwnLibrary(kMujocoLibrary, "RESIDUA_MUJOCO", "engine");
    if (path.empty()) {
        return Error{place,
                     "is a model of MuJoCo, which this program was built without: install libmujoco-dev (Debian) "
                     "and build it again; the worlds point_maze and arm need nothing"};
    }
    const Result<void*> library = openLibrary(path, SymbolScope::Program);
    void* const load = library ? dlsym(*library, kLoadMujoco) : nullptr;
    if (load == nullptr) {
        return Error{place, "is a model of MuJoCo, and " + path.string() +
                                (library ? " is not of this version of the program: install both again"
                                         : " does not load (" + library.error().message + "): install libmujoco2.2.2")};
    }
    return Mujoco{reinterpret_cast<LoadMujoco>(load)};
}

/// Returns an error if an MJCF text would make MuJoCo read another file, run a plugin, or repeat a part. Comments
/// count.
Status checkMjcf(const std::string& text, const std::string& place)
{
    constexpr std::string_view kElements[] = {"include", "composite", "flexcomp",  "replicate",
                                              "attach",  "plugin",    "extension", "!doctype"};
    const auto isOfName = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '!';
    };
    std::string word;
    char before = ' '; // the character before the word
    for (std::size_t at = 0; at <= text.size(); ++at) {
        const char c = at < text.size() ? text[at] : ' ';
        if (isOfName(c)) {
            before = word.empty() && at > 0 ? text[at - 1] : before;
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            continue;
        }
        const std::size_t next = text.find_first_not_of(" \t\r\n", at);
        const bool isAttribute = next != std::string::npos && text[next] == '=';
        if ((isAttribute && word.starts_with("file")) || (before == '<' && std::ranges::count(kElements, word) > 0)) {
            return Error{place, "has " + std::string(isAttribute ? "the attribute " : "the element ") + word +
                                    "; expected a model in this one file, without includes, meshes and pictures from "
                                    "files, composites and plugins"};
        }
        word.clear();
    }
    return Done{};
}

/// The parts that all environments of a model share.
struct Shared {
    projects::WorldModel world;
    projects::WorldSizes sizes;
    std::unique_ptr<MujocoModel> model;
    std::vector<std::pair<double, double>> controls; ///< at actions of -1 and 1
};

class MujocoWorld final : public World {
public:
    MujocoWorld(std::shared_ptr<const Shared> shared, std::unique_ptr<MujocoState> state)
        : m_shared(std::move(shared)),
          m_state(std::move(state)),
          m_moved(m_state->part("qpos").size() + m_state->part("qvel").size()),
          m_goal(static_cast<std::size_t>(m_shared->sizes.goals)),
          m_controls(m_shared->controls.size())
    {
        for (const std::string& name : m_shared->world.observation) {
            m_parts.push_back(m_state->part(name));
        }
    }

    void begin(std::uint64_t draw) override
    {
        RandomStream random(draw, 0);
        const auto within = [&](double most) { return most * (2 * random.uniform() - 1); };
        std::ranges::generate(m_moved, [&] { return within(m_shared->world.noise); });
        const projects::WorldGoal& goal = m_shared->world.goal;
        m_goal = goal.places[static_cast<std::size_t>(random.below(std::ssize(goal.places)))];
        std::ranges::for_each(m_goal, [&](double& coordinate) { coordinate += within(goal.spread); });
        if (!goal.radius.empty()) {
            const double distance = goal.radius[0] + (goal.radius[1] - goal.radius[0]) * random.uniform();
            const double angle = 2 * std::numbers::pi * random.uniform();
            m_goal[0] += distance * std::cos(angle);
            m_goal[1] += distance * std::sin(angle);
        }
        m_state->reset(m_moved);
        m_isSound = true;
    }

    void step(std::span<const float> action) override
    {
        for (std::size_t i = 0; i < m_controls.size(); ++i) {
            const auto& [low, high] = m_shared->controls[i];
            m_controls[i] = low + (high - low) * (std::clamp(static_cast<double>(action[i]), -1.0, 1.0) + 1) / 2;
        }
        m_isSound = m_isSound && m_state->step(m_controls, m_shared->world.frames);
    }

    void observe(std::span<float> state) const override
    {
        if (!m_isSound) {
            std::ranges::fill(state, std::numeric_limits<float>::quiet_NaN());
            return;
        }
        auto next = state.begin();
        for (const auto& part : m_parts) {
            next = std::ranges::transform(part, next, [](double value) { return static_cast<float>(value); }).out;
        }
    }
    void goal(std::span<float> place) const override
    {
        std::ranges::transform(m_goal, place.begin(), [](double value) { return static_cast<float>(value); });
    }
    [[nodiscard]] bool isAtGoal() const override
    {
        double squares = 0;
        for (std::size_t i = 0; i < m_goal.size(); ++i) {
            squares += std::pow(featureAt(i) - m_goal[i], 2);
        }
        return std::sqrt(squares) < m_shared->world.success;
    }
    [[nodiscard]] bool hasFailed() const override
    {
        const projects::WorldBounds& alive = m_shared->world.alive;
        const double value = alive.feature < 0 ? 0 : featureAt(static_cast<std::size_t>(alive.feature));
        return alive.feature >= 0 && (value < alive.low || value > alive.high);
    }
    [[nodiscard]] std::vector<double> values() const override
    {
        std::vector<double> values = m_state->values();
        values.insert(values.end(), m_goal.begin(), m_goal.end());
        return values;
    }
    void setValues(std::span<const double> values) override
    {
        std::ranges::copy(values.last(m_goal.size()), m_goal.begin());
        m_state->setValues(values.first(values.size() - m_goal.size()));
        m_isSound = true;
    }

private:
    [[nodiscard]] double featureAt(std::size_t feature) const
    {
        std::size_t part = 0;
        while (feature >= m_parts[part].size()) {
            feature -= m_parts[part++].size();
        }
        return m_parts[part][feature];
    }

    std::shared_ptr<const Shared> m_shared;
    std::unique_ptr<MujocoState> m_state;
    std::vector<std::span<const double>> m_parts; ///< of m_state
    std::vector<double> m_moved;
    std::vector<double> m_goal;
    std::vector<double> m_controls;
    bool m_isSound = true;
};

/// Sets the controls at actions of -1 and 1.
Status setControls(Shared& shared, const std::string& place)
{
    const std::vector<MujocoActuator> actuators = shared.model->actuators();
    if (std::ssize(actuators) != shared.sizes.actions) {
        return Error{place + " · /model", "has " + std::to_string(actuators.size()) +
                                              " actuators; expected the project's features of an action, " +
                                              std::to_string(shared.sizes.actions)};
    }
    const std::vector<double>& control = shared.world.control;
    for (const MujocoActuator& actuator : actuators) {
        if (control.empty() && !std::isfinite(actuator.least)) {
            return Error{place + " · /control",
                         "is missing, and the actuator \"" + actuator.name + "\" has no range; expected two numbers"};
        }
        if (!control.empty() && (control[0] < actuator.least || control[1] > actuator.most)) {
            return Error{place + " · /control", "is " + numberText(control[0]) + " to " + numberText(control[1]) +
                                                    "; expected numbers within those of the actuator \"" +
                                                    actuator.name + "\", " + numberText(actuator.least) + " to " +
                                                    numberText(actuator.most)};
        }
        shared.controls.emplace_back(control.empty() ? actuator.least : control[0],
                                     control.empty() ? actuator.most : control[1]);
    }
    return Done{};
}

/// Checks that a state has each part of an observation, and as many features as the project says.
Status checkObservation(const Shared& shared, const MujocoState& state, const std::string& place)
{
    std::size_t features = 0;
    for (std::size_t i = 0; i < shared.world.observation.size(); ++i) {
        const std::string& name = shared.world.observation[i];
        std::vector<std::string> known{"qpos", "qvel", "act", "qfrc_actuator", "cinert", "cvel", "sensordata"};
        for (const std::string& body : shared.model->bodies()) {
            known.push_back("body:" + body);
        }
        const std::size_t size = state.part(name).size();
        if (size == 0) {
            return Error{place + " · /observation/" + std::to_string(i),
                         "is \"" + name + "\", which the model does not have; expected one of " +
                             joinedText(known, ", ", [](const std::string& each) { return each; }).substr(0, 500) +
                             meantHint(name, known)};
        }
        features += size;
    }
    return static_cast<std::int64_t>(features) == shared.sizes.states
               ? Status(Done{})
               : Error{place + " · /observation", "has " + std::to_string(features) +
                                                      " numbers; expected the project's features of a state, " +
                                                      std::to_string(shared.sizes.states)};
}

Result<projects::WorldModel> readWorldModel(const fs::path& file, const projects::WorldSizes& sizes)
{
    const std::string text = RESIDUA_TRY(readFile(file, kMostOfFile));
    Result<projects::WorldModel> world = projects::worldModelFromJson(text, sizes);
    if (!world) {
        return Error{file.string() + " · " + world.error().place, world.error().message};
    }
    const fs::path model = file.parent_path() / world->model;
    const std::string mjcf = RESIDUA_TRY(readFile(model, kMostOfFile));
    const Status sound = checkMjcf(mjcf, model.string());
    return sound ? std::move(world) : sound.error();
}

} // namespace

Result<std::vector<std::unique_ptr<World>>> makeMujocoWorlds(const projects::WorldData& data, const fs::path& directory,
                                                             std::int64_t count)
{
    const fs::path file = directory / data.path / projects::kWorldFile;
    auto shared = std::make_shared<Shared>();
    shared->sizes = projects::sizesOf(data);
    shared->world = RESIDUA_TRY(readWorldModel(file, shared->sizes));
    static const Result<Mujoco> mujoco = openMujoco();
    if (!mujoco) {
        return mujoco.error();
    }
    const fs::path model = file.parent_path() / shared->world.model;
    std::string reason;
    shared->model.reset(mujoco->load(model.c_str(), reason));
    if (!shared->model) {
        return Error{model.string(), "is not a model that MuJoCo reads: " + reason};
    }
    RESIDUA_TRY(setControls(*shared, file.string()));
    const double bytes = shared->model->stateBytes() * static_cast<double>(count);
    const MachineMemory memory = machineMemory();
    if (memory.totalBytes > 0 && bytes > static_cast<double>(memory.freeBytes)) {
        return Error{model.string(), "takes " + bytesText(bytes) + " for " + std::to_string(count) +
                                         " environments, and " + bytesText(static_cast<double>(memory.freeBytes)) +
                                         " of memory are free; expected fewer environments"};
    }
    std::vector<std::unique_ptr<World>> worlds;
    for (std::int64_t i = 0; i < count; ++i) {
        std::unique_ptr<MujocoState> state = shared->model->state();
        if (!state) {
            return Error{model.string(), "cannot be simulated: MuJoCo has no memory for its state"};
        }
        if (i == 0) {
            RESIDUA_TRY(checkObservation(*shared, *state, file.string()));
        }
        worlds.push_back(std::make_unique<MujocoWorld>(shared, std::move(state)));
    }
    return worlds;
}

} // namespace residua::engine
