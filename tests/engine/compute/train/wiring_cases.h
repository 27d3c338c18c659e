// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::tests {

/// A small language model of single precision under one wiring.
struct WiringCase {
    std::string name;
    projects::Project project;
};

/// Every topology preset, then the options of each kind of wiring that no preset has, then every block preset. Each
/// case validates.
[[nodiscard]] std::vector<WiringCase> wiringCases();

/// The transformer block with its ports apart if the topology preset reads them apart: width 32, 2 heads, `depth`
/// layers.
[[nodiscard]] projects::Project wiredLanguage(const std::string& topology, std::int64_t depth);

/// An example of a family, "small-vit" or "small-bert", under a topology preset: 4 layers of width 32, few data that do
/// not change from epoch to epoch, a constant rate.
[[nodiscard]] projects::Project familyUnder(const std::string& example, const std::string& topology);

/// Sets a parameter of every attention of the project's blocks.
void setAttention(projects::Project& project, const std::string& name, const projects::ParamValue& value);

} // namespace residua::tests
