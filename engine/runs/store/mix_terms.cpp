// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/run_files.h"

#include "engine/base/api/matrix_name.h"

#include <algorithm>
#include <limits>

namespace residua::engine {

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

} // namespace

void addMatrices(std::vector<Matrix>& result, const std::string& kind, const projects::DepthPlan& plan,
                 std::span<const float> values, std::int64_t step)
{
    const std::int64_t rows = plan.readers.empty() ? 0 : plan.readers.back().target;
    for (std::size_t t = 0; t < plan.terms.size(); ++t) {
        const projects::DepthTerm& term = plan.terms[t];
        const projects::DepthReader& reader = plan.readers[term.reader];
        const MatrixName name(kind, plan.portOf(reader, term.output));
        auto matrix = std::ranges::find(result, name, &Matrix::name);
        if (matrix == result.end()) {
            result.push_back(
                {name, step, rows, rows, std::vector<float>(static_cast<std::size_t>(rows * rows), kNone)});
            matrix = result.end() - 1;
        }
        matrix->values[static_cast<std::size_t>((reader.target - 1) * rows + term.source)] = values[t];
    }
}

} // namespace residua::engine
