// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace residua::resources {

/// How far a table or figure of a paper can be repeated.
enum class Coverage {
    Whole,   ///< at the paper's own size
    Small,   ///< the same comparison, smaller
    Part,    ///< some of its rows or panels, smaller
    Drawing, ///< it is a diagram or a list of settings: nothing is measured
    Missing, ///< nothing that runs here stands for it
};

/// A table or figure of one of the papers, and what stands for it here.
struct Reproduction {
    std::string_view paper; ///< key: "dca"
    std::string_view item;  ///< key: "figure-1"
    std::string_view about; ///< what it compares
    Coverage coverage = Coverage::Missing;
    std::string_view size; ///< what runs here; of Missing, what it would take
    /// Command lines of residua-cli, in order, with OUT for the folder that they write into. Empty where nothing runs.
    std::vector<std::string_view> commands;
    std::string_view paperSays;
    std::string_view cameOut; ///< measured once, losses on a CPU or an H200; empty where nothing runs
};

/// The papers by their keys: title and the document that the items are counted in.
struct Paper {
    std::string_view key;
    std::string_view title;
};

[[nodiscard]] std::span<const Paper> papers();
/// Every table and figure of papers(), by paper, figures first. Immutable; any thread.
[[nodiscard]] std::span<const Reproduction> reproductions();
/// nullptr for an unknown pair.
[[nodiscard]] const Reproduction* findReproduction(std::string_view paper, std::string_view item);
/// "whole", "smaller", "part", "drawing", "missing".
[[nodiscard]] std::string_view nameOf(Coverage coverage);

} // namespace residua::resources
