// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/matrix_name.h"
#include "engine/api/values.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace residua::app {

/// Of the matrices that a run has recorded, those that the canvases show. They live as long as the argument.

/// The newest of a kind, the weights as applied or their spread, by the port that reads them.
[[nodiscard]] std::map<projects::MixPort, const engine::Matrix*>
newestByPort(const std::vector<engine::Matrix>& matrices, std::string_view kind = engine::matrix::kMix);
/// 1 for each layer that the newest step ran, 0 for those that it left out; empty where that was not recorded.
[[nodiscard]] std::vector<std::uint8_t> newestActive(const std::vector<engine::Matrix>& matrices);

} // namespace residua::app
