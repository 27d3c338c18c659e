// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/matrix_name.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/measures.h"
#include "engine/data/sets/boolean_polynomial.h"

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
    const std::vector<double>& inputs = batch.values<double>(0);
    const std::size_t width = inputs.size() / rows;
    for (std::size_t row = 0; row < rows; ++row) {
        const double left = batch.values<double>(1)[row] - got[row];
        const auto x = std::span(inputs).subspan(row * width, width);
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

Status measureDegrees(const TrainedState& state, Measured& measured)
{
    const auto* const source = std::get_if<projects::BooleanPolynomial>(&state.project.data.source);
    if (source == nullptr || projects::traitsOf(state.project.network.objective).meanOf != projects::MeanOf::Squares) {
        return Done{};
    }
    const std::vector<Monomial> terms = polynomialTerms(*source, state.project.seeds.data);
    const projects::TrainingPlan& plan = state.project.training;
    const at::NoGradGuard noGrad;
    const c10::DeviceGuard current(state.device);
    SplitBatches batches(state.dataset, Split::Validation, plan, state.device, plan.validationBatches);
    std::vector<TermSums> sums(terms.size());
    double count = 0;
    for (;;) {
        const std::optional<DeviceBatch> batch = RESIDUA_TRY(batches.next());
        if (!batch) {
            break;
        }
        add(terms, batches.host(), state.network.forward(*batch, passAfter(state.step)), sums);
        count += static_cast<double>(batches.units());
    }
    if (count == 0) {
        return Done{};
    }
    const auto degrees = static_cast<std::int64_t>(terms.back().variables.size());
    std::vector<double> apart(static_cast<std::size_t>(degrees), 0.0);
    std::vector<double> whole(apart);
    for (std::size_t term = 0; term < terms.size(); ++term) {
        const std::size_t degree = terms[term].variables.size() - 1;
        apart[degree] += squaredMean(sums[term], count);
        whole[degree] += terms[term].coefficient * terms[term].coefficient;
    }
    Matrix errors{matrix::kDegreeErrors, state.step, 1, degrees, {}};
    for (std::size_t degree = 0; degree < apart.size(); ++degree) {
        errors.values.push_back(static_cast<float>(apart[degree] / whole[degree]));
    }
    measured.matrices.push_back(std::move(errors));
    return Done{};
}

} // namespace residua::engine
