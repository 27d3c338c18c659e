// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace residua::resources {

/// One series of points by ascending x, with a pyramid of minima and maxima. Any part of it is drawn with a few points
/// per pixel column, and no spike is lost. Appending costs only the new points. A change of axis costs nothing, because
/// a point has its x on each axis. No thread of its own.
class Curve {
public:
    struct Point {
        double x = 0;
        double y = 0;
        bool operator==(const Point&) const = default;
    };
    struct Range {
        double low = 0;
        double high = 0;
        [[nodiscard]] bool empty() const { return !(low <= high); }
    };
    /// The drawing of a part of the curve.
    struct Sample {
        std::vector<Point> line;   ///< ascending x; a NaN interrupts the line, like a column without a finite y
        std::vector<Point> broken; ///< points with a NaN or infinite y, at most one of each kind per column
    };

    Curve() : Curve(1) {}
    explicit Curve(std::size_t axes) : m_x(axes) {}

    /// Adds a point to a curve with one axis. If x is below the last, removes the points from x on, as for a resumed
    /// run.
    void append(double x, double y) { append(std::span(&x, 1), y); }
    /// Adds a point by its x on each axis, ascending on each. The first axis determines the points that a resumed run
    /// replaces.
    void append(std::span<const double> positions, double y);
    /// Sets the current axis of x and the value of its unit (above 0). Initially it is the first axis with unit 1.
    void setAxis(std::size_t axis, double unit = 1);
    [[nodiscard]] std::size_t axis() const { return m_axis; }
    [[nodiscard]] double unit() const { return m_unit; }
    /// Keeps the first `size` points.
    void truncate(std::size_t size);
    void clear() { truncate(0); }

    [[nodiscard]] std::size_t size() const { return m_y.size(); }
    [[nodiscard]] Point at(std::size_t index) const { return {x(index), m_y[index]}; }
    /// Returns the index of the first point whose x is not below `x`.
    [[nodiscard]] std::size_t lowerBound(double x) const;
    /// Returns the index of the first point whose position on the first axis is not below `position`.
    [[nodiscard]] std::size_t indexOf(double position) const;
    /// Returns the positions of all points on one axis, in the axis's own units.
    [[nodiscard]] const std::vector<double>& positions(std::size_t axis) const { return m_x[axis]; }
    [[nodiscard]] const std::vector<double>& values() const { return m_y; }

    /// Returns the points between the first and the last of `edges` (ascending, one more than columns), and one
    /// neighbour on each side, so that the line leaves the picture. At most four points per column.
    [[nodiscard]] Sample sample(std::span<const double> edges) const;
    /// Returns the smallest and largest finite y among points [from, to). Empty if there is none.
    [[nodiscard]] Range range(std::size_t from, std::size_t to) const;

private:
    static constexpr std::size_t kFan = 16; ///< number of points or cells below a cell

    enum Broken : unsigned char { kNaN = 1, kAbove = 2, kBelow = 4 };
    struct Cell {
        double low;
        double high;
        unsigned char broken;
    };

    [[nodiscard]] static Cell none();
    [[nodiscard]] static Cell cellOf(double y);
    static void join(Cell& cell, const Cell& other);
    [[nodiscard]] Cell summary(std::size_t from, std::size_t to) const;
    [[nodiscard]] double x(std::size_t index) const { return m_x[m_axis][index] * m_unit; }
    /// Returns the index of the first of points [from, to) whose x is not below `x`.
    [[nodiscard]] std::size_t lowerBound(std::size_t from, std::size_t to, double x) const;

    std::vector<std::vector<double>> m_x; ///< by axis
    std::size_t m_axis = 0;
    double m_unit = 1;
    std::vector<double> m_y;
    std::vector<std::vector<Cell>> m_levels; ///< cell i of level k covers the points from i·kFan^(k+1) on
};

} // namespace residua::resources
