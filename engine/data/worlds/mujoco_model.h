// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The program's interface to MuJoCo: defined by a separate shared library (libresidua_mujoco.so) that is opened with
// the first model. The program therefore starts and runs without MuJoCo.

namespace residua::engine {

/// The state of one body, or of several, in a model. A function of its values and the controls alone. One thread.
class MujocoState {
public:
    virtual ~MujocoState() = default;
    /// Returns a part of the state by its name, valid as long as this: "qpos", "qvel", "act", "qfrc_actuator",
    /// "cinert", "cvel", "sensordata" or "body:NAME". Empty if it is unknown or has no numbers.
    [[nodiscard]] virtual std::span<const double> part(std::string_view name) const = 0;
    /// Sets the model's own state and adds these numbers: one for each of "qpos", then one for each of "qvel".
    virtual void reset(std::span<const double> moved) = 0;
    /// Advances by `frames` steps of the simulation. Returns false if it does not give sound numbers.
    [[nodiscard]] virtual bool step(std::span<const double> controls, std::int64_t frames) = 0;
    /// The numbers that determine everything. Their count is fixed.
    [[nodiscard]] virtual std::vector<double> values() const = 0;
    virtual void setValues(std::span<const double> values) = 0;
};

struct MujocoActuator {
    std::string name;
    double least = 0; ///< of its control; -infinity if it has no bounds
    double most = 0;
};

/// Immutable; any thread. Must outlive its states.
class MujocoModel {
public:
    virtual ~MujocoModel() = default;
    [[nodiscard]] virtual std::vector<MujocoActuator> actuators() const = 0;
    [[nodiscard]] virtual std::vector<std::string> bodies() const = 0;
    /// Returns about how many bytes a state takes.
    [[nodiscard]] virtual double stateBytes() const = 0;
    /// Null if MuJoCo cannot make one.
    [[nodiscard]] virtual std::unique_ptr<MujocoState> state() const = 0;
};

/// Loads an MJCF file. Null with MuJoCo's reason. Writes no file.
using LoadMujoco = MujocoModel* (*)(const char* path, std::string& reason);
inline constexpr const char* kLoadMujoco = "residua_load_mujoco";

} // namespace residua::engine
