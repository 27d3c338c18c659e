// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/block_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

    // Orders each row by the mean position of the neighbours in the row before. A box without neighbours there keeps
    // its place.
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

} // namespace residua::editor
