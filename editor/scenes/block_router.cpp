// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/block_router.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>

namespace residua::editor {
namespace {

// Costs of a route, as lengths.
constexpr float kBend = 16;
constexpr float kCrossing = 10;
constexpr float kOnOther = 30;  ///< cost per length on the wire of another group
constexpr float kOnSame = 0.7F; ///< cost per length on a wire of the same group

/// The most crossings of grid lines that routes are searched on. For more, wires are straight.
constexpr std::size_t kMostCrossings = 2'000'000;

constexpr std::uint32_t kNobody = 0;
constexpr std::uint32_t kSeveral = UINT32_MAX;

std::vector<float> distinct(std::vector<float> values)
{
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end(), [](float a, float b) { return b - a < 0.5F; }),
                 values.end());
    return values;
}

std::size_t nearestTo(const std::vector<float>& values, float value)
{
    const auto at = std::ranges::lower_bound(values, value - 0.5F);
    return std::min(static_cast<std::size_t>(at - values.begin()), values.size() - 1);
}

enum Heading : std::size_t { Level, Upright };

// The grid of lines along the edges of boxes and through ports, and the cheapest routes over its crossings (A*).
class Grid {
public:
    Grid(const std::vector<Rect>& boxes, const std::vector<RouteEnds>& wires, float clearance) : m_clearance(clearance)
    {
        for (const Rect& box : boxes) {
            for (const float lane : {clearance, 2 * clearance}) {
                m_x.insert(m_x.end(), {box.left - lane, box.right + lane});
                m_y.insert(m_y.end(), {box.top - lane, box.bottom + lane});
            }
            m_x.push_back(box.centre().x); // without it, a single step of the search could cross a box
            m_y.push_back(box.centre().y);
        }
        for (const RouteEnds& wire : wires) {
            m_x.insert(m_x.end(), {wire.from.x, wire.to.x});
            m_y.insert(m_y.end(), {wire.from.y - clearance, wire.to.y + clearance});
        }
        m_x = distinct(std::move(m_x));
        m_y = distinct(std::move(m_y));
        m_blocked.assign(m_x.size() * m_y.size(), 0);
        for (const Rect& box : boxes) {
            block(box);
        }
        m_taken.assign(2 * m_blocked.size(), kNobody);
        m_price.assign(2 * m_blocked.size(), 0);
        m_from.assign(2 * m_blocked.size(), 0);
        m_seen.assign(2 * m_blocked.size(), 0);
    }

    /// Returns an upper bound of the number of crossings, which memory and time grow with.
    static std::size_t crossings(const std::vector<Rect>& boxes, const std::vector<RouteEnds>& wires)
    {
        return (5 * boxes.size() + 2 * wires.size()) * (5 * boxes.size() + 2 * wires.size());
    }

    std::optional<std::vector<Point>> route(const RouteEnds& wire)
    {
        const std::size_t start = crossing(wire.from.x, wire.from.y - m_clearance);
        const std::size_t goal = crossing(wire.to.x, wire.to.y + m_clearance);
        if (m_blocked[start] != 0 || m_blocked[goal] != 0) {
            return std::nullopt;
        }
        ++m_round;
        m_group = static_cast<std::uint32_t>(wire.group) + 1;
        m_open = {};
        m_goal = goal;
        offer(start * 2 + Upright, start * 2 + Upright, 0);
        while (!m_open.empty()) {
            const auto [estimate, state] = m_open.top();
            m_open.pop();
            if (state == goal * 2 + Upright) {
                return walkBack(wire, state, start * 2 + Upright);
            }
            if (estimate <= m_price[state] + remaining(state / 2) + 1e-3F) {
                expand(state);
            }
        }
        return std::nullopt;
    }

private:
    using Candidate = std::pair<float, std::size_t>;

    std::size_t crossing(float x, float y) const { return nearestTo(m_y, y) * m_x.size() + nearestTo(m_x, x); }
    Point pointOf(std::size_t at) const { return {m_x[at % m_x.size()], m_y[at / m_x.size()]}; }
    // Returns a lower bound of the remaining cost, without the discount for the wire's own group: with it, A* would
    // search everywhere.
    float remaining(std::size_t at) const
    {
        const Point a = pointOf(at);
        const Point b = pointOf(m_goal);
        const float dx = std::abs(a.x - b.x);
        return dx + std::abs(a.y - b.y) + (dx < 0.5F ? 0 : kBend);
    }

    void block(const Rect& box)
    {
        const float near = m_clearance - 0.5F;
        const auto first = [](const std::vector<float>& values, float above) {
            return static_cast<std::size_t>(std::ranges::upper_bound(values, above) - values.begin());
        };
        const std::size_t left = first(m_x, box.left - near);
        const std::size_t top = first(m_y, box.top - near);
        for (std::size_t row = top; row < m_y.size() && m_y[row] < box.bottom + near; ++row) {
            for (std::size_t column = left; column < m_x.size() && m_x[column] < box.right + near; ++column) {
                m_blocked[row * m_x.size() + column] = 1;
            }
        }
    }

    void offer(std::size_t state, std::size_t from, float price)
    {
        if (m_seen[state] == m_round && m_price[state] <= price) {
            return;
        }
        m_seen[state] = m_round;
        m_price[state] = price;
        m_from[state] = from;
        m_open.emplace(price + remaining(state / 2), state);
    }

    void expand(std::size_t state)
    {
        const std::size_t at = state / 2;
        const auto heading = static_cast<Heading>(state % 2);
        offer(at * 2 + (1 - heading), state, m_price[state] + kBend);
        const std::size_t column = at % m_x.size();
        const std::size_t row = at / m_x.size();
        if (heading == Level) {
            if (column > 0) {
                step(state, at - 1, at - 1);
            }
            if (column + 1 < m_x.size()) {
                step(state, at + 1, at);
            }
        } else {
            if (row > 0) {
                step(state, at - m_x.size(), at - m_x.size());
            }
            if (row + 1 < m_y.size()) {
                step(state, at + m_x.size(), at);
            }
        }
    }

    // `edge` is the lower of the two crossings and identifies the piece between them.
    void step(std::size_t state, std::size_t to, std::size_t edge)
    {
        if (m_blocked[to] != 0) {
            return;
        }
        const std::size_t heading = state % 2;
        const Point a = pointOf(state / 2);
        const Point b = pointOf(to);
        const float length = std::abs(a.x - b.x) + std::abs(a.y - b.y);
        const std::uint32_t owner = m_taken[edge * 2 + heading];
        const std::uint32_t across = m_taken[to * 2 + (1 - heading)];
        const float price = length * (owner == kNobody ? 1 : owner == m_group ? kOnSame : kOnOther);
        offer(to * 2 + heading, state,
              m_price[state] + price + (across != kNobody && across != m_group ? kCrossing : 0));
    }

    void take(std::size_t edge, std::size_t heading)
    {
        std::uint32_t& owner = m_taken[edge * 2 + heading];
        owner = owner == kNobody || owner == m_group ? m_group : kSeveral;
    }

    std::vector<Point> walkBack(const RouteEnds& wire, std::size_t state, std::size_t start)
    {
        std::vector<Point> path{wire.to};
        const auto add = [&path](Point p) {
            const std::size_t n = path.size();
            const auto level = [](Point a, Point b) { return std::abs(a.y - b.y) < 0.5F; };
            const auto upright = [](Point a, Point b) { return std::abs(a.x - b.x) < 0.5F; };
            if (n >= 2 && ((level(path[n - 2], path[n - 1]) && level(path[n - 1], p)) ||
                           (upright(path[n - 2], path[n - 1]) && upright(path[n - 1], p)))) {
                path.back() = p;
            } else if (!level(path.back(), p) || !upright(path.back(), p)) {
                path.push_back(p);
            }
        };
        add(pointOf(state / 2));
        while (state != start) {
            const std::size_t from = m_from[state];
            if (from / 2 != state / 2) {
                take(std::min(from / 2, state / 2), state % 2);
            }
            state = from;
            add(pointOf(state / 2));
        }
        add(wire.from);
        std::ranges::reverse(path);
        return path;
    }

    float m_clearance;
    std::vector<float> m_x;
    std::vector<float> m_y;
    std::vector<std::uint8_t> m_blocked; ///< by crossing
    // The next four are indexed by crossing and heading.
    std::vector<std::uint32_t> m_taken; ///< the group whose wires use the piece that begins there
    std::vector<float> m_price;
    std::vector<std::size_t> m_from;
    std::vector<std::uint32_t> m_seen; ///< the round in which the two above were written
    std::uint32_t m_round = 0;
    std::uint32_t m_group = kNobody;
    std::size_t m_goal = 0;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> m_open;
};

float spanOf(const RouteEnds& wire)
{
    return std::abs(wire.from.x - wire.to.x) + std::abs(wire.from.y - wire.to.y);
}

} // namespace

std::vector<std::vector<Point>> routeWires(const std::vector<Rect>& boxes, const std::vector<RouteEnds>& wires)
{
    constexpr float kTightClearance = 3;
    std::vector<std::size_t> order(wires.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return spanOf(wires[i]); });
    std::vector<std::vector<Point>> paths(wires.size());
    if (Grid::crossings(boxes, wires) > kMostCrossings) {
        std::vector<std::vector<Point>> straight;
        for (const RouteEnds& wire : wires) {
            straight.push_back({wire.from, wire.to});
        }
        return straight;
    }
    Grid grid(boxes, wires, kWireClearance);
    std::optional<Grid> tight; // made only if a wire finds no way on the wide grid
    for (const std::size_t i : order) {
        auto path = grid.route(wires[i]);
        if (!path) {
            if (!tight) {
                tight.emplace(boxes, wires, kTightClearance);
            }
            path = tight->route(wires[i]);
        }
        paths[i] = path ? *std::move(path) : std::vector{wires[i].from, wires[i].to};
    }
    return paths;
}

} // namespace residua::editor
