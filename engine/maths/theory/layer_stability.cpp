// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/theory/layer_stability.h"

#include "engine/maths/theory/dense_matrix.h"
#include "projects/base/random.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

namespace residua::engine::theory {
namespace {

/// Returns columns of norm 1.
DenseMatrix onSphere(std::int64_t dimension, std::int64_t count, RandomStream& random)
{
    DenseMatrix x = gaussianMatrix(dimension, count, random);
    x.colwise().normalize();
    return x;
}

void step(const DenseMatrix& weight, LinearForm form, DenseMatrix& y)
{
    const DenseMatrix read =
        form == LinearForm::WithoutNorm ? y : DenseMatrix(y.array().rowwise() / y.colwise().norm().array());
    if (form == LinearForm::WithoutResidual) {
        y.setZero();
    }
    y.noalias() += weight * read;
}

Error outside(const char* what, const std::string& got, const char* expected)
{
    return Error{what, "got " + got + ", expected " + expected};
}

} // namespace

Result<LinearStability> linearStability(const NormalisedLinear& network, std::int64_t layers)
{
    const auto& [dimension, inputs, shared, norm, form, seed] = network;
    for (const auto& [what, number] : {std::pair{"layers", layers}, {"dimension", dimension}, {"inputs", inputs}}) {
        if (number < 1) {
            return outside(what, std::to_string(number), "at least 1");
        }
    }
    if (!(shared >= 0 && shared <= 1)) {
        return outside("tau", std::to_string(shared), "a number in [0, 1]");
    }
    RandomStream random(seed, streamOf(Stream::Theory));
    const DenseMatrix x = onSphere(dimension, inputs, random);
    DenseMatrix common = gaussianMatrix(dimension, dimension, random);
    common /= norm == SharedNorm::Frobenius ? common.norm() : decomposed(common).values(0);
    std::vector<DenseMatrix> weights;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        const DenseMatrix own =
            gaussianMatrix(dimension, dimension, random) / std::sqrt(static_cast<double>(dimension));
        weights.emplace_back(std::sqrt(shared) * common + std::sqrt(1 - shared) * own);
    }
    LinearStability result;
    std::vector<DenseMatrix> outputs{x};
    for (const DenseMatrix& weight : weights) {
        step(weight, form, outputs.emplace_back(outputs.back()));
        result.norms.push_back(outputs.back().colwise().norm().mean());
    }
    const DenseMatrix& whole = outputs.back();
    for (std::size_t left = 0; left < weights.size(); ++left) {
        DenseMatrix y = outputs[left]; // the next layer reads what the omitted layer would have read
        for (std::size_t layer = left + 1; layer < weights.size(); ++layer) {
            step(weights[layer], form, y);
        }
        const Eigen::RowVectorXd effects = (y - whole).colwise().norm();
        result.effects.push_back(effects.mean());
        result.gap += (effects.array() / whole.colwise().norm().array()).mean() / static_cast<double>(layers);
    }
    return result;
}

double fittedPower(std::span<const double> x, std::span<const double> y)
{
    double count = 0;
    double meanX = 0;
    double meanY = 0;
    const auto each = [&](const auto& visit) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (x[i] > 0 && y[i] > 0) {
                visit(std::log(x[i]), std::log(y[i]));
            }
        }
    };
    each([&](double a, double b) {
        ++count;
        meanX += a;
        meanY += b;
    });
    meanX /= count;
    meanY /= count;
    double across = 0;
    double along = 0;
    each([&](double a, double b) {
        across += (a - meanX) * (b - meanY);
        along += (a - meanX) * (a - meanX);
    });
    return count >= 2 && along > 0 ? across / along : std::numeric_limits<double>::quiet_NaN();
}

} // namespace residua::engine::theory
