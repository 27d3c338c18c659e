// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace residua::engine {

/// One order of the windows of several parts in which every beginning has each part in proportion to its share: window
/// j of part i, from 0, has its turn at (j + ½) / shareᵢ, the first part first where two turns are the same. It ends
/// with the last window before the first turn that a part has no window for, so that all of it is in proportion too.
/// A pure function of its numbers. Immutable; any thread.
class MixtureOrder {
public:
    struct Window {
        std::size_t part = 0;
        std::int64_t number = 0; ///< among the part's own
        bool operator==(const Window&) const = default;
    };

    MixtureOrder() = default;
    /// `shares` sum to 1; `windows` are those that each part has. As many of both.
    MixtureOrder(std::vector<double> shares, const std::vector<std::int64_t>& windows);

    [[nodiscard]] std::int64_t size() const { return m_size; }
    /// How many of the windows are of a part.
    [[nodiscard]] std::int64_t taken(std::size_t part) const { return m_taken[part]; }
    /// Windows `first` to first + count − 1; 0 ≤ first, first + count ≤ size().
    [[nodiscard]] std::vector<Window> windows(std::int64_t first, std::int64_t count) const;

private:
    [[nodiscard]] double turnOf(std::size_t part, std::int64_t number) const;
    /// How many windows of the part have their turn before `turn`.
    [[nodiscard]] std::int64_t before(std::size_t part, double turn) const;
    /// Whose turn it is where so many of each are taken.
    [[nodiscard]] std::size_t next(const std::vector<std::int64_t>& taken) const;

    std::vector<double> m_shares;
    std::vector<std::int64_t> m_taken;
    std::int64_t m_size = 0;
};

} // namespace residua::engine
