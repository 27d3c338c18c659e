// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/degree_errors.h"

#include "engine/api/matrix_name.h"
#include "engine/train/batches.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>

#include <limits>
#include <span>
#include <variant>

namespace residua::engine {
namespace {

/// The sums over the examples of (f*(x) − F(x))·χ_S(x) and of its square, for the monomial χ_S of one term.
struct TermSums {
    double sum = 0;
    double squares = 0;
};

void add(const std::vector<Monomial>& terms, const Batch& batch, const at::Tensor& output, std::vector<TermSums>& sums)
{
    const at::Tensor host = output.detach().to(at::kCPU, at::kDouble).contiguous();
    const double* const got = host.const_data_ptr<double>();
    const auto rows = static_cast<std::size_t>(batch.batch);
    const std::size_t width = batch.inputs.size() / rows;
    for (std::size_t row = 0; row < rows; ++row) {
        const double left = batch.outputs[row] - got[row];
        const auto x = std::span(batch.inputs).subspan(row * width, width);
        for (std::size_t term = 0; term < terms.size(); ++term) {
            const double value = left * terms[term].basis(x);
            sums[term].sum += value;
            sums[term].squares += value * value;
        }
    }
}

/// Returns the squared mean without the bias of a finite sample: Σ_{i≠j} v_i·v_j/(n·(n − 1)).
double squaredMean(const TermSums& sums, double count)
{
    return count > 1 ? (sums.sum * sums.sum - sums.squares) / (count * (count - 1))
                     : std::numeric_limits<double>::quiet_NaN();
}

} // namespace

std::optional<DegreeErrors> DegreeErrors::of(const projects::Project& project)
{
    const auto* const source = std::get_if<projects::BooleanPolynomial>(&project.data.source);
    if (source == nullptr || projects::traitsOf(project.network.objective).meanOf != projects::MeanOf::Squares) {
        return std::nullopt;
    }
    return DegreeErrors(polynomialTerms(*source, project.seeds.data));
}

Result<std::optional<Matrix>> DegreeErrors::measure(CompiledNetwork& network, const Dataset& dataset,
                                                    const projects::TrainingPlan& plan, c10::Device device,
                                                    std::int64_t step) const
{
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(device);
    SplitBatches batches(dataset, Split::Validation, plan, device, plan.validationBatches);
    std::vector<TermSums> sums(m_terms.size());
    double count = 0;
    for (;;) {
        const Result<std::optional<DeviceBatch>> batch = batches.next();
        if (!batch) {
            return batch.error();
        }
        if (!*batch) {
            break;
        }
        add(m_terms, batches.host(), network.forward((*batch)->input, passAfter(step)), sums);
        count += static_cast<double>(batches.units());
    }
    if (count == 0) {
        return std::optional<Matrix>();
    }
    const auto degrees = static_cast<std::int64_t>(m_terms.back().variables.size());
    std::vector<double> apart(static_cast<std::size_t>(degrees), 0.0);
    std::vector<double> whole(apart);
    for (std::size_t term = 0; term < m_terms.size(); ++term) {
        const std::size_t degree = m_terms[term].variables.size() - 1;
        apart[degree] += squaredMean(sums[term], count);
        whole[degree] += m_terms[term].coefficient * m_terms[term].coefficient;
    }
    Matrix errors{matrix::kDegreeErrors, step, 1, degrees, {}};
    for (std::size_t degree = 0; degree < apart.size(); ++degree) {
        errors.values.push_back(static_cast<float>(apart[degree] / whole[degree]));
    }
    return std::optional(std::move(errors));
}

} // namespace residua::engine
