// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/data/sets/dataset.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace residua::engine {

/// An order of the windows of several parts in which every prefix has each part in proportion to its share. Window j of
/// part i, from 0, has its turn at (j + ½) / shareᵢ; at equal turns the earlier part comes first. The order ends before
/// the first turn that has no window left, so the whole is in proportion too. A pure function of its arguments.
/// Immutable; any thread.
class MixtureOrder {
public:
    struct Window {
        std::size_t part = 0;
        std::int64_t number = 0; ///< the index within the part
        bool operator==(const Window&) const = default;
    };

    MixtureOrder() = default;
    /// `shares` sum to 1; `windows` has the number of windows of each part. Both have the same length.
    MixtureOrder(std::vector<double> shares, const std::vector<std::int64_t>& windows);

    [[nodiscard]] std::int64_t size() const { return m_size; }
    /// Returns the number of windows taken from a part.
    [[nodiscard]] std::int64_t taken(std::size_t part) const { return m_taken[part]; }
    /// Returns windows `first` to first + count − 1. Requires 0 ≤ first and first + count ≤ size().
    [[nodiscard]] std::vector<Window> windows(std::int64_t first, std::int64_t count) const;

private:
    [[nodiscard]] double turnOf(std::size_t part, std::int64_t number) const;
    /// Returns the number of the part's windows whose turn is before `turn`.
    [[nodiscard]] std::int64_t before(std::size_t part, double turn) const;
    /// Returns the part of the next window, given how many windows of each part are taken.
    [[nodiscard]] std::size_t next(const std::vector<std::int64_t>& taken) const;

    std::vector<double> m_shares;
    std::vector<std::int64_t> m_taken;
    std::int64_t m_size = 0;
};

/// Opens each text of a mixture as it would be opened alone, with its own splits, and draws from them by weight. Reads
/// all texts before tokenising the first only if tokens are characters. An error of a part has the part's number before
/// its place. The notes name parts that are repeated often, and windows that a held-out split leaves out.
[[nodiscard]] Result<std::unique_ptr<Dataset>> openMixture(const projects::MixtureData& mixture,
                                                           const projects::Project& project,
                                                           const std::filesystem::path& projectDirectory,
                                                           const PreparationWatch& watch, ReadingVersion reading);

/// Returns the expected number of times that the plan's steps go through the training tokens of a part.
[[nodiscard]] double passesOf(const DataPartOutline& part, const projects::TrainingPlan& plan);

/// Returns "part 2 (c4.jsonl): 57 % of the examples, 1200000 tokens to train on, gone through 0.83 times". `index` is
/// from 0.
[[nodiscard]] std::string textOf(const DataPartOutline& part, std::size_t index, const projects::TrainingPlan& plan);

} // namespace residua::engine
