// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/worlds/built_in_worlds.h"
#include "projects/base/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace residua::engine {
namespace {

using projects::kArmLinks;
using Pair = std::array<double, 2>;

constexpr double kTorque = 2.0; ///< of a full action
constexpr double kFriction = 0.5;
constexpr double kPart = 0.01; ///< duration of one of the parts of a step
constexpr int kParts = 5;

Pair tipOf(const Pair& angles)
{
    const double both = angles[0] + angles[1];
    return {kArmLinks[0] * std::cos(angles[0]) + kArmLinks[1] * std::cos(both),
            kArmLinks[0] * std::sin(angles[0]) + kArmLinks[1] * std::sin(both)};
}

/// Returns the accelerations of both angles, from the equations of motion M·q″ + c = τ with a mass of 1 at the end of
/// each link.
Pair accelerations(const Pair& angles, const Pair& speeds, const Pair& torques)
{
    const auto [a, b] = kArmLinks;
    const double across = a * b * std::cos(angles[1]);
    const double turning = a * b * std::sin(angles[1]);
    const double first = 2 * a * a + b * b + 2 * across;
    const double between = b * b + across;
    const double second = b * b;
    const double left = torques[0] + turning * (2 * speeds[0] * speeds[1] + speeds[1] * speeds[1]);
    const double right = torques[1] - turning * speeds[0] * speeds[0];
    const double determinant = first * second - between * between;
    return {(second * left - between * right) / determinant, (first * right - between * left) / determinant};
}

class Arm final : public World {
public:
    void begin(std::uint64_t draw) override
    {
        RandomStream random(draw, 0);
        const auto drawn = [&random] {
            return Pair{2 * std::numbers::pi * random.uniform(), 2 * std::numbers::pi * random.uniform()};
        };
        m_angles = drawn();
        m_speeds = {};
        m_goal = tipOf(drawn());
    }

    void step(std::span<const float> action) override
    {
        for (int part = 0; part < kParts; ++part) {
            Pair torques{};
            for (std::size_t joint = 0; joint < 2; ++joint) {
                torques[joint] =
                    kTorque * std::clamp(static_cast<double>(action[joint]), -1.0, 1.0) - kFriction * m_speeds[joint];
            }
            const Pair change = accelerations(m_angles, m_speeds, torques);
            for (std::size_t joint = 0; joint < 2; ++joint) {
                m_speeds[joint] += kPart * change[joint];
                m_angles[joint] = std::remainder(m_angles[joint] + kPart * m_speeds[joint], 2 * std::numbers::pi);
            }
        }
    }

    void observe(std::span<float> state) const override
    {
        const Pair tip = tipOf(m_angles);
        const std::array<double, 8> values{tip[0],
                                           tip[1],
                                           std::cos(m_angles[0]),
                                           std::sin(m_angles[0]),
                                           std::cos(m_angles[1]),
                                           std::sin(m_angles[1]),
                                           m_speeds[0],
                                           m_speeds[1]};
        std::ranges::transform(values, state.begin(), [](double value) { return static_cast<float>(value); });
    }
    void goal(std::span<float> place) const override
    {
        std::ranges::transform(m_goal, place.begin(), [](double value) { return static_cast<float>(value); });
    }
    [[nodiscard]] bool isAtGoal() const override
    {
        const Pair tip = tipOf(m_angles);
        return std::hypot(tip[0] - m_goal[0], tip[1] - m_goal[1]) < kArmRadius;
    }
    [[nodiscard]] std::vector<double> values() const override
    {
        return {m_angles[0], m_angles[1], m_speeds[0], m_speeds[1], m_goal[0], m_goal[1]};
    }
    void setValues(std::span<const double> values) override
    {
        m_angles = {values[0], values[1]};
        m_speeds = {values[2], values[3]};
        m_goal = {values[4], values[5]};
    }

private:
    Pair m_angles{};
    Pair m_speeds{};
    Pair m_goal{};
};

} // namespace

std::unique_ptr<World> makeArm()
{
    return std::make_unique<Arm>();
}

} // namespace residua::engine
