// SPDX-License-Identifier: GPL-3.0-or-later
// Cases of Sinkhorn, against the divisions in double precision and their differences.
#include "tests/kernels/device_buffer.h"
#include "tests/kernels/transformer_cases.h"

#include <cmath>

namespace residua::tests {
namespace {

using kernels::DataType;
using kernels::Status;

struct SinkhornCase {
    int size, iterations, matrices;
    double spread; ///< of the logits

    [[nodiscard]] std::size_t elements() const { return std::size_t(size) * size * matrices; }
    [[nodiscard]] std::string name() const
    {
        return "sinkhorn " + std::to_string(size) + "x" + std::to_string(size) + " of " + std::to_string(matrices) +
               ", iterations " + std::to_string(iterations);
    }
};

/// The doubly stochastic matrix of logits [n, n].
Values sinkhornOf(Values matrix, std::size_t n, int iterations)
{
    for (double& value : matrix)
        value = std::exp(value);
    const auto divide = [&](std::size_t lineStride, std::size_t stride) {
        for (std::size_t line = 0; line < n; ++line) {
            double sum = 0;
            for (std::size_t e = 0; e < n; ++e)
                sum += matrix[line * lineStride + e * stride];
            for (std::size_t e = 0; e < n; ++e)
                matrix[line * lineStride + e * stride] /= sum;
        }
    };
    for (int i = 0; i < iterations; ++i) {
        divide(n, 1);
        divide(1, n);
    }
    return matrix;
}

/// Returns Σ outGrad·sinkhorn(logits) of one matrix.
double loss(const Values& logits, const Values& outGrad, std::size_t n, int iterations)
{
    const Values out = sinkhornOf(logits, n, iterations);
    double sum = 0;
    for (std::size_t e = 0; e < out.size(); ++e)
        sum += outGrad[e] * out[e];
    return sum;
}

std::string checkSinkhornCase(const TransformerKernels& kernels, const SinkhornCase& sinkhorn)
{
    const auto memory = kernels.memory();
    const Values x = randomValues(sinkhorn.elements(), DataType::float32, 11, sinkhorn.spread);
    const Values dy = randomValues(sinkhorn.elements(), DataType::float32, 12);
    const DeviceBuffer logits(*memory, x, DataType::float32), outGrad(*memory, dy, DataType::float32);
    const DeviceBuffer out(*memory, sinkhorn.elements(), DataType::float32);
    const DeviceBuffer logitsGrad(*memory, sinkhorn.elements(), DataType::float32);
    check(kernels.sinkhornForward({sinkhorn.size, sinkhorn.iterations, sinkhorn.matrices, logits.data(), out.data()}));
    check(kernels.sinkhornBackward(
        {sinkhorn.size, sinkhorn.iterations, sinkhorn.matrices, logits.data(), outGrad.data(), logitsGrad.data()}));
    const auto n = std::size_t(sinkhorn.size);
    const auto matrices = std::size_t(sinkhorn.matrices);
    Values want(x.size()), wantGrad(x.size());
    for (std::size_t k = 0; k < matrices; ++k) {
        Values matrix(n * n), grad(n * n);
        for (std::size_t e = 0; e < n * n; ++e) {
            matrix[e] = x[e * matrices + k];
            grad[e] = dy[e * matrices + k];
        }
        const Values result = sinkhornOf(matrix, n, sinkhorn.iterations);
        for (std::size_t e = 0; e < n * n; ++e) {
            want[e * matrices + k] = result[e];
            constexpr double kStep = 1e-5;
            const double before = matrix[e];
            matrix[e] = before + kStep;
            const double above = loss(matrix, grad, n, sinkhorn.iterations);
            matrix[e] = before - kStep;
            const double below = loss(matrix, grad, n, sinkhorn.iterations);
            matrix[e] = before;
            wantGrad[e * matrices + k] = (above - below) / (2 * kStep);
        }
    }
    return first(sinkhorn.name(), {difference("out", out.values(), want, tolerance(DataType::float32)),
                                   difference("logitsGrad", logitsGrad.values(), wantGrad, 5e-6)});
}

/// Empty, or the invalid call that is not refused as it should be.
std::string checkRefusals(const TransformerKernels& kernels)
{
    const auto memory = kernels.memory();
    const DeviceBuffer some(*memory, std::size_t{64}, DataType::float32),
        other(*memory, std::size_t{64}, DataType::float32);
    const auto forward = [&](int size, int iterations, std::int64_t matrices) {
        return kernels.sinkhornForward({size, iterations, matrices, some.data(), other.data()});
    };
    const Status shapes[] = {forward(0, 1, 1), forward(9, 1, 1), forward(4, 0, 1), forward(4, 81, 1),
                             forward(4, 1, -1)};
    for (const Status status : shapes)
        if (status != Status::badShape)
            return "sinkhorn: a shape that is not supported is not refused";
    if (forward(8, 40, 0) != Status::ok)
        return "sinkhorn: no matrices are refused";
    if (kernels.sinkhornBackward({4, 1, 1, some.data(), nullptr, other.data()}) != Status::missingPointer)
        return "sinkhorn: a missing gradient is not refused";
    return {};
}

} // namespace

std::string checkSinkhorn(const TransformerKernels& kernels)
{
    for (int size = 1; size <= kernels::kMaxSinkhornSize; ++size)
        for (const int iterations : {1, 2, 20, int(kernels::kMaxSinkhornSums) / size})
            for (const int matrices : {1, 33, 200}) {
                if (matrices > 33 && (iterations != 2 || size > 4))
                    continue;
                if (matrices > 1 && iterations > 40)
                    continue;
                for (const double spread : {1.0, 8.0})
                    if (std::string text = checkSinkhornCase(kernels, {size, iterations, matrices, spread});
                        !text.empty())
                        return text;
            }
    return checkRefusals(kernels);
}

} // namespace residua::tests
