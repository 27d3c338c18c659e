// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/mix_terms.h"

#include "engine/api/matrix_name.h"

#include <algorithm>
#include <limits>

namespace residua::engine {

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// Whose mix the output of a reader is, where layers have `most` mixes.
projects::MixPort portOf(const DepthReader& reader, int output, int most)
{
    static const std::vector<projects::MixPort> ports = portsOf(projects::MixPorts::QkvResidual);
    if (most == 1) {
        return projects::MixPort::Input;
    }
    return reader.outputs == 1 ? projects::MixPort::Final : ports[static_cast<std::size_t>(output)];
}

} // namespace

void addMatrices(std::vector<Matrix>& result, const std::string& kind, const std::vector<DepthReader>& readers,
                 const std::vector<DepthTerm>& terms, std::span<const float> values, std::int64_t step)
{
    std::int64_t rows = 0;
    int most = 1;
    for (const DepthReader& reader : readers) {
        rows = std::max(rows, reader.target);
        most = std::max(most, reader.outputs);
    }
    for (std::size_t t = 0; t < terms.size(); ++t) {
        const DepthReader& reader = readers[terms[t].reader];
        const std::string name = MatrixName{kind, portOf(reader, terms[t].output, most)}.text();
        auto matrix = std::ranges::find(result, name, &Matrix::name);
        if (matrix == result.end()) {
            result.push_back(
                {name, step, rows, rows, std::vector<float>(static_cast<std::size_t>(rows * rows), kNone)});
            matrix = result.end() - 1;
        }
        matrix->values[static_cast<std::size_t>((reader.target - 1) * rows + terms[t].source)] = values[t];
    }
}

} // namespace residua::engine
