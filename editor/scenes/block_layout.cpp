// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/block_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>

namespace residua::editor {

namespace {

constexpr float kColumnGap = 32;
constexpr float kLaneWidth = 8;
constexpr int kSweeps = 6;
// Far below the weight of a box, so that lanes move instead of boxes.
constexpr double kBoxWeight = 1;
constexpr double kLaneWeight = 1e-6;
/// The most lanes over all rows. Further wires get none.
constexpr std::size_t kMostLanes = 20'000;
constexpr double kLaneOrderWeight =
    0.2; ///< in the order of a row; keeps boxes that are wired to each other close together

struct WireEnd {
    std::size_t other = 0;
    float ownPort = 0; ///< x of the port relative to its box's centre
    float otherPort = 0;
};

// A box, or the lane of a long wire through one row.
struct Vertex {
    std::size_t row = 0;
    float width = 0;
    bool lane = false;
    std::vector<WireEnd> below;
    std::vector<WireEnd> above;
};

class Layering {
public:
    Layering(const std::vector<LayoutBox>& boxes, const std::vector<LayoutWire>& wires) : m_boxes(boxes)
    {
        for (const LayoutBox& box : boxes) {
            m_vertices.push_back({0, box.width, false, {}, {}});
        }
        assignRows(wires);
        for (const LayoutWire& wire : wires) {
            addWire(wire);
        }
        fillRows();
        for (int i = 0; i < kSweeps; ++i) {
            orderRows(i % 2 == 0);
        }
    }

    std::vector<Point> places()
    {
        m_centres.assign(m_vertices.size(), 0);
        for (const std::vector<std::size_t>& row : m_rows) {
            placeRow(row);
        }
        std::vector<Point> corners(m_boxes.size());
        float bottom = 0;
        for (const std::vector<std::size_t>& row : m_rows) {
            float height = 0;
            for (const std::size_t v : row) {
                height = std::max(height, m_vertices[v].lane ? 0 : m_boxes[v].height);
            }
            for (const std::size_t v : row) {
                if (!m_vertices[v].lane) {
                    const auto left = static_cast<float>(m_centres[v]) - m_boxes[v].width / 2;
                    corners[v] = {std::round(left / kBlockGrid) * kBlockGrid,
                                  std::round(bottom - (height + m_boxes[v].height) / 2)};
                }
            }
            bottom -= height + kBlockRowGap;
        }
        return corners;
    }

private:
    // A row is the length of the longest path from below. A box in a cycle is placed in the order of the document.
    void assignRows(const std::vector<LayoutWire>& wires)
    {
        std::vector<std::size_t> waiting(m_boxes.size(), 0);
        std::vector<std::vector<std::size_t>> followers(m_boxes.size());
        for (const LayoutWire& wire : wires) {
            ++waiting[wire.to];
            followers[wire.from].push_back(wire.to);
        }
        std::vector<bool> done(m_boxes.size(), false);
        for (std::size_t left = m_boxes.size(); left > 0; --left) {
            std::size_t next = m_boxes.size();
            for (std::size_t v = 0; v < m_boxes.size(); ++v) {
                if (!done[v] && (next == m_boxes.size() || (waiting[v] == 0 && waiting[next] != 0))) {
                    next = v;
                }
            }
            done[next] = true;
            for (const std::size_t follower : followers[next]) {
                --waiting[follower];
                if (!done[follower]) {
                    m_vertices[follower].row = std::max(m_vertices[follower].row, m_vertices[next].row + 1);
                }
            }
        }
    }

    void connect(std::size_t lower, float lowerPort, std::size_t upper, float upperPort)
    {
        m_vertices[lower].above.push_back({upper, lowerPort, upperPort});
        m_vertices[upper].below.push_back({lower, upperPort, lowerPort});
    }

    void addWire(const LayoutWire& wire)
    {
        const std::size_t top = m_vertices[wire.to].row;
        if (m_vertices[wire.from].row >= top) {
            return;
        }
        if (top - m_vertices[wire.from].row > kMostLanes + m_boxes.size() - m_vertices.size()) {
            return;
        }
        std::size_t lower = wire.from;
        float port = wire.fromPort - m_boxes[wire.from].width / 2;
        for (std::size_t row = m_vertices[wire.from].row + 1; row < top; ++row) {
            m_vertices.push_back({row, kLaneWidth, true, {}, {}});
            connect(lower, port, m_vertices.size() - 1, 0);
            lower = m_vertices.size() - 1;
            port = 0;
        }
        connect(lower, port, wire.to, wire.toPort - m_boxes[wire.to].width / 2);
    }

    void fillRows()
    {
        for (std::size_t v = 0; v < m_vertices.size(); ++v) {
            m_rows.resize(std::max(m_rows.size(), m_vertices[v].row + 1));
            m_rows[m_vertices[v].row].push_back(v);
        }
    }

    // Orders each row by the mean position of the neighbours in the row before. Others keep their place.
    void orderRows(bool upwards)
    {
        std::vector<double> place(m_vertices.size(), 0);
        const auto number = [&](const std::vector<std::size_t>& row) {
            for (std::size_t i = 0; i < row.size(); ++i) {
                place[row[i]] = static_cast<double>(i);
            }
        };
        for (std::size_t i = 0; i < m_rows.size(); ++i) {
            std::vector<std::size_t>& row = m_rows[upwards ? i : m_rows.size() - 1 - i];
            number(row);
            std::vector<double> wanted = place;
            for (const std::size_t v : row) {
                const std::vector<WireEnd>& wires = upwards ? m_vertices[v].below : m_vertices[v].above;
                double sum = 0;
                double weight = 0;
                for (const WireEnd& wire : wires) {
                    const Vertex& other = m_vertices[wire.other];
                    const double counts = other.lane ? kLaneOrderWeight : 1;
                    sum += counts * (place[wire.other] + wire.otherPort / (other.width + 1));
                    weight += counts;
                }
                wanted[v] = wires.empty() ? place[v] : sum / weight;
            }
            std::ranges::stable_sort(row, {}, [&](std::size_t v) { return wanted[v]; });
            number(row);
        }
    }

    // Returns the position above the boxes that feed it: the middle one, or between the two middle ones. Lanes count
    // only if there is no box.
    double wantedCentre(std::size_t v) const
    {
        std::vector<double> wanted;
        for (const bool lanes : {false, true}) {
            for (const WireEnd& wire : m_vertices[v].below) {
                if (m_vertices[wire.other].lane == lanes) {
                    wanted.push_back(m_centres[wire.other] + wire.otherPort - wire.ownPort);
                }
            }
            if (!wanted.empty()) {
                break;
            }
        }
        if (wanted.empty()) {
            return 0;
        }
        std::ranges::sort(wanted);
        return (wanted[(wanted.size() - 1) / 2] + wanted[wanted.size() / 2]) / 2;
    }

    // Places a row at the centres nearest to the wanted ones (least squares) that keep order and distances. Neighbours
    // that would overlap are pooled, and a pool is placed at the weighted mean of its members' wishes.
    void placeRow(const std::vector<std::size_t>& row)
    {
        struct Pool {
            double centre = 0;
            double weight = 0;
            std::size_t members = 0;
        };
        std::vector<Pool> pools;
        std::vector<double> offset(row.size(), 0);
        for (std::size_t i = 0; i < row.size(); ++i) {
            const Vertex& vertex = m_vertices[row[i]];
            if (i > 0) {
                offset[i] = offset[i - 1] + (m_vertices[row[i - 1]].width + vertex.width) / 2 + kColumnGap;
            }
            pools.push_back({wantedCentre(row[i]) - offset[i], vertex.lane ? kLaneWeight : kBoxWeight, 1});
            while (pools.size() > 1 && pools[pools.size() - 2].centre > pools.back().centre) {
                const Pool upper = pools.back();
                pools.pop_back();
                Pool& pool = pools.back();
                const double weight = pool.weight + upper.weight;
                pool = {(pool.centre * pool.weight + upper.centre * upper.weight) / weight, weight,
                        pool.members + upper.members};
            }
        }
        std::size_t i = 0;
        for (const Pool& pool : pools) {
            for (std::size_t member = 0; member < pool.members; ++member, ++i) {
                m_centres[row[i]] = pool.centre + offset[i];
            }
        }
    }

    const std::vector<LayoutBox>& m_boxes;
    std::vector<Vertex> m_vertices; ///< the boxes, then the lanes
    std::vector<std::vector<std::size_t>> m_rows;
    std::vector<double> m_centres;
};

} // namespace

std::vector<Point> layoutBlock(const std::vector<LayoutBox>& boxes, const std::vector<LayoutWire>& wires)
{
    return Layering(boxes, wires).places();
}

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
