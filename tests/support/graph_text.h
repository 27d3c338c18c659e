// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"
#include "projects/model/project.h"

#include <string>

namespace residua::tests {

/// Reads "x input; a linear out=64; y output; x > a; a.out > y.in": nodes with their kinds and parameters, then wires.
/// Nodes are numbered from 1 in the order given.
[[nodiscard]] projects::Graph graphFrom(const std::string& text);

/// A language model of one layer with `block` inside and plain topology: width 128, vocabulary 64, 32 tokens.
[[nodiscard]] projects::Project languageProject(const std::string& block);
/// Eight layers of the block preset `block` in the first example, under a topology preset.
[[nodiscard]] projects::Project underTopology(const std::string& name, const std::string& block = "transformer");
/// As languageProject over vectors of 100 features, with a width of 100.
[[nodiscard]] projects::Project vectorProject(const std::string& block);

} // namespace residua::tests
