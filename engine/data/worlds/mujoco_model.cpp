// SPDX-License-Identifier: GPL-3.0-or-later
// The library residua_mujoco, which alone is linked with MuJoCo.
#include "engine/data/worlds/mujoco_model.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdlib>
#include <limits>

namespace residua::engine {
namespace {

constexpr std::size_t kReason = 1000; ///< bytes of an error

/// The place where an error of MuJoCo, which must not return, continues. Null outside of guarded().
thread_local std::jmp_buf* g_way = nullptr;
thread_local std::array<char, kReason> g_reason{};

void onError(const char* message)
{
    if (g_way == nullptr) {
        std::abort();
    }
    const std::string_view text(message);
    g_reason.fill('\0');
    std::ranges::copy(text.substr(0, kReason - 1), g_reason.begin());
    std::longjmp(*g_way, 1); // NOLINT(cert-err52-cpp): through frames of C
}

/// Calls a function that has no destructors to run. Returns false after an error, whose text is in g_reason.
template <class Work>
bool guarded(Work work)
{
    std::jmp_buf way;
    g_way = &way;
    const bool isDone = setjmp(way) == 0; // NOLINT(cert-err52-cpp)
    if (isDone) {
        work();
    }
    g_way = nullptr;
    return isDone;
}

std::string nameIn(const mjModel& model, mjtObj kind, int number)
{
    const char* const name = mj_id2name(&model, kind, number);
    return name != nullptr ? name : std::to_string(number);
}

class State final : public MujocoState {
public:
    State(const mjModel& model, mjData* data) : m_model(model), m_data(data) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() override { mj_deleteData(m_data); }

    [[nodiscard]] std::span<const double> part(std::string_view name) const override
    {
        const auto numbers = [](const mjtNum* first, int count) {
            return std::span(first, static_cast<std::size_t>(count));
        };
        constexpr std::string_view kBody = "body:";
        if (name.starts_with(kBody)) {
            const int body = mj_name2id(&m_model, mjOBJ_BODY, std::string(name.substr(kBody.size())).c_str());
            return body < 0 ? std::span<const double>() : numbers(m_data->xpos + 3 * body, 3);
        }
        return name == "qpos"            ? numbers(m_data->qpos, m_model.nq)
               : name == "qvel"          ? numbers(m_data->qvel, m_model.nv)
               : name == "act"           ? numbers(m_data->act, m_model.na)
               : name == "qfrc_actuator" ? numbers(m_data->qfrc_actuator, m_model.nv)
               : name == "cinert"        ? numbers(m_data->cinert, 10 * m_model.nbody)
               : name == "cvel"          ? numbers(m_data->cvel, 6 * m_model.nbody)
               : name == "sensordata"    ? numbers(m_data->sensordata, m_model.nsensordata)
                                         : std::span<const double>();
    }

    void reset(std::span<const double> moved) override
    {
        m_isSound = guarded([&] {
            mj_resetData(&m_model, m_data);
            for (int i = 0; i < m_model.nq + m_model.nv; ++i) {
                (i < m_model.nq ? m_data->qpos[i] : m_data->qvel[i - m_model.nq]) += moved[static_cast<std::size_t>(i)];
            }
            mj_normalizeQuat(&m_model, m_data->qpos);
            derive();
        });
    }

    [[nodiscard]] bool step(std::span<const double> controls, std::int64_t frames) override
    {
        m_isSound = m_isSound && guarded([&] {
                        std::copy(controls.begin(), controls.end(), m_data->ctrl);
                        for (std::int64_t frame = 0; frame < frames; ++frame) {
                            mj_step(&m_model, m_data);
                        }
                        derive();
                    });
        // MuJoCo begins a state anew that has bad numbers, and counts a warning.
        for (const int warning : {mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC, mjWARN_BADCTRL}) {
            m_isSound = m_isSound && m_data->warning[warning].number == 0;
        }
        return m_isSound;
    }

    [[nodiscard]] std::vector<double> values() const override
    {
        std::vector<double> values;
        for (const auto& part : kept()) {
            values.insert(values.end(), part.begin(), part.end());
        }
        return values;
    }
    void setValues(std::span<const double> values) override
    {
        m_isSound = guarded([&] {
            mj_resetData(&m_model, m_data);
            for (const auto& part : kept()) {
                std::ranges::copy(values.first(part.size()), part.begin());
                values = values.subspan(part.size());
            }
            derive();
        });
    }

private:
    /// Computes what a step leaves as it was before the last frame. Changes none of the kept numbers.
    void derive()
    {
        mj_fwdPosition(&m_model, m_data);
        mj_sensorPos(&m_model, m_data);
        mj_fwdVelocity(&m_model, m_data);
        mj_sensorVel(&m_model, m_data);
        mj_fwdActuation(&m_model, m_data);
    }
    [[nodiscard]] std::array<std::span<double>, 6> kept() const
    {
        const auto numbers = [](mjtNum* first, int count) { return std::span(first, static_cast<std::size_t>(count)); };
        return {numbers(m_data->qpos, m_model.nq), numbers(m_data->qvel, m_model.nv),
                numbers(m_data->act, m_model.na),  numbers(m_data->ctrl, m_model.nu),
                numbers(&m_data->time, 1),         numbers(m_data->qacc_warmstart, m_model.nv)};
    }

    const mjModel& m_model;
    mjData* m_data;
    bool m_isSound = true;
};

class Model final : public MujocoModel {
public:
    explicit Model(mjModel* model) : m_model(model) {}
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    ~Model() override { mj_deleteModel(m_model); }

    [[nodiscard]] std::vector<MujocoActuator> actuators() const override
    {
        constexpr double kNoEnd = std::numeric_limits<double>::infinity();
        std::vector<MujocoActuator> all;
        for (int i = 0; i < m_model->nu; ++i) {
            const bool isBounded = m_model->actuator_ctrllimited[i] != 0;
            const mjtNum* const range = m_model->actuator_ctrlrange + 2 * i;
            all.push_back(
                {nameIn(*m_model, mjOBJ_ACTUATOR, i), isBounded ? range[0] : -kNoEnd, isBounded ? range[1] : kNoEnd});
        }
        return all;
    }
    [[nodiscard]] std::vector<std::string> bodies() const override
    {
        std::vector<std::string> all;
        for (int i = 0; i < m_model->nbody; ++i) {
            all.push_back(nameIn(*m_model, mjOBJ_BODY, i));
        }
        return all;
    }
    [[nodiscard]] double stateBytes() const override
    {
        const mjModel& model = *m_model;
        const double ofRow = sizeof(mjtNum) * (4.0 * model.nv + 32);
        return sizeof(mjtNum) * static_cast<double>(model.nstack) + model.njmax * ofRow +
               static_cast<double>(sizeof(mjContact)) * model.nconmax + model.nbuffer;
    }
    [[nodiscard]] std::unique_ptr<MujocoState> state() const override
    {
        mjData* volatile data = nullptr;
        const bool isMade = guarded([&] { data = mj_makeData(m_model); });
        return isMade && data != nullptr ? std::make_unique<State>(*m_model, data) : nullptr;
    }

private:
    mjModel* m_model;
};

} // namespace
} // namespace residua::engine

extern "C" __attribute__((visibility("default"))) residua::engine::MujocoModel* residua_load_mujoco(const char* path,
                                                                                                    std::string& reason)
{
    using namespace residua::engine;
    mju_user_error = onError;
    mju_user_warning = [](const char* /*message*/) {}; // the default writes a file
    std::array<char, kReason> text{};
    mjModel* volatile model = nullptr;
    if (!guarded([&] { model = mj_loadXML(path, nullptr, text.data(), static_cast<int>(text.size())); })) {
        text = g_reason;
    }
    reason = text.data();
    return model != nullptr ? new Model(model) : nullptr;
}
