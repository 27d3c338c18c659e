// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/worlds/built_in_worlds.h"
#include "projects/base/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace residua::engine {
namespace {

using projects::kLargeMaze;
using projects::kMazeCell;

constexpr double kPush = 1.0;     ///< change of the speed by a full action in one step
constexpr double kKept = 0.8;     ///< share of the speed that a step keeps
constexpr double kDuration = 0.1; ///< of a step
constexpr double kStartSpread = 0.5;

struct Cell {
    std::size_t row = 0;
    std::size_t column = 0;
};

std::vector<Cell> cellsOf(char kind)
{
    std::vector<Cell> cells;
    for (std::size_t row = 0; row < kLargeMaze.size(); ++row) {
        for (std::size_t column = 0; column < kLargeMaze[row].size(); ++column) {
            if (kLargeMaze[row][column] == kind) {
                cells.push_back({row, column});
            }
        }
    }
    return cells;
}

std::array<double, 2> centreOf(const Cell& cell)
{
    return {static_cast<double>(cell.column) * kMazeCell, static_cast<double>(cell.row) * kMazeCell};
}

class PointMaze final : public World {
public:
    void begin(std::uint64_t draw) override
    {
        static const std::vector<Cell> starts = cellsOf('r');
        static const std::vector<Cell> goals = cellsOf('g');
        RandomStream random(draw, 0);
        m_place = centreOf(starts[static_cast<std::size_t>(random.below(std::ssize(starts)))]);
        for (double& coordinate : m_place) {
            coordinate += kStartSpread * (2 * random.uniform() - 1);
        }
        m_speed = {};
        m_goal = centreOf(goals[static_cast<std::size_t>(random.below(std::ssize(goals)))]);
    }

    void step(std::span<const float> action) override
    {
        for (std::size_t axis = 0; axis < 2; ++axis) {
            const double push = std::clamp(static_cast<double>(action[axis]), -1.0, 1.0);
            m_speed[axis] = kKept * m_speed[axis] + kPush * push;
            std::array<double, 2> next = m_place;
            next[axis] += kDuration * m_speed[axis];
            if (isMazeWall(next[0], next[1])) {
                m_speed[axis] = 0;
            } else {
                m_place = next;
            }
        }
    }

    void observe(std::span<float> state) const override
    {
        for (std::size_t axis = 0; axis < 2; ++axis) {
            state[axis] = static_cast<float>(m_place[axis]);
            state[2 + axis] = static_cast<float>(m_speed[axis]);
        }
    }
    void goal(std::span<float> place) const override
    {
        std::ranges::transform(m_goal, place.begin(), [](double value) { return static_cast<float>(value); });
    }
    [[nodiscard]] bool isAtGoal() const override
    {
        return std::hypot(m_place[0] - m_goal[0], m_place[1] - m_goal[1]) < kMazeRadius;
    }
    [[nodiscard]] std::vector<double> values() const override
    {
        return {m_place[0], m_place[1], m_speed[0], m_speed[1], m_goal[0], m_goal[1]};
    }
    void setValues(std::span<const double> values) override
    {
        m_place = {values[0], values[1]};
        m_speed = {values[2], values[3]};
        m_goal = {values[4], values[5]};
    }

private:
    std::array<double, 2> m_place{};
    std::array<double, 2> m_speed{};
    std::array<double, 2> m_goal{};
};

} // namespace

bool isMazeWall(double x, double y)
{
    if (!std::isfinite(x) || !std::isfinite(y)) {
        return false;
    }
    const auto indexOf = [](double place) { return static_cast<std::int64_t>(std::lround(place / kMazeCell)); };
    const std::int64_t row = indexOf(y);
    const std::int64_t column = indexOf(x);
    return row < 0 || column < 0 || row >= std::ssize(kLargeMaze) || column >= std::ssize(kLargeMaze.front()) ||
           kLargeMaze[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] == '1';
}

std::unique_ptr<World> makePointMaze()
{
    return std::make_unique<PointMaze>();
}

} // namespace residua::engine
