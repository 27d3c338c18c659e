// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <cstdint>
#include <functional>
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

/// The examples of families beside decoders of plain texts.
inline constexpr const char* kFamilies[] = {"small-vit", "small-bert",   "small-dit",
                                            "small-ul2", "small-resnet", "small-efficientnet"};
/// Returns the names of the topology presets that the family's blocks can have. Convolutions have no halves and no
/// values.
[[nodiscard]] std::vector<std::string> topologiesOf(const std::string& family);
/// A family under a topology preset, in each of its stages: 4 layers, few data that do not change from epoch to epoch,
/// a constant rate. Transformers have the width 32.
[[nodiscard]] projects::Project familyUnder(const std::string& family, const std::string& topology);
/// Calls `use` with the network of each tower.
void forEachTower(projects::Project& project, const std::function<void(projects::Network&)>& use);

/// Sets a parameter of every attention of the project's blocks.
void setAttention(projects::Project& project, const std::string& name, const projects::ParamValue& value);

} // namespace residua::tests
