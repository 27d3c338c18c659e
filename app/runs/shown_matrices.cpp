// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/shown_matrices.h"

#include <algorithm>
#include <iterator>

namespace residua::app {

std::map<projects::MixPort, const engine::Matrix*> newestByPort(const std::vector<engine::Matrix>& matrices,
                                                                std::string_view kind)
{
    std::map<projects::MixPort, const engine::Matrix*> newest;
    for (const engine::Matrix& matrix : matrices) {
        const engine::MatrixName name = engine::MatrixName::from(matrix.name);
        if (name.kind != kind) {
            continue;
        }
        const engine::Matrix*& kept = newest[name.port];
        if (!kept || matrix.step >= kept->step) {
            kept = &matrix;
        }
    }
    return newest;
}

std::vector<std::uint8_t> newestActive(const std::vector<engine::Matrix>& matrices)
{
    const engine::Matrix* newest = nullptr;
    for (const engine::Matrix& matrix : matrices) {
        if (matrix.name == engine::matrix::kActive && (!newest || matrix.step >= newest->step)) {
            newest = &matrix;
        }
    }
    std::vector<std::uint8_t> active;
    if (newest) {
        std::transform(newest->values.begin(), newest->values.end(), std::back_inserter(active),
                       [](float runs) { return static_cast<std::uint8_t>(runs != 0); });
    }
    return active;
}

} // namespace residua::app
