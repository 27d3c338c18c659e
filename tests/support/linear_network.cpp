// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/linear_network.h"

#include "projects/base/text.h"
#include "projects/model/graph.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace residua::tests {

using projects::Shortcut;

namespace {

/// x_0 … x_K.
std::vector<DenseMatrix> layerOutputs(const LinearNetwork& network, const DenseMatrix& x)
{
    const std::vector<double> p = mixingWeights(network);
    std::vector<DenseMatrix> outputs{x};
    for (const DenseMatrix& weight : network.weights) {
        const auto j = std::int64_t(outputs.size());
        DenseMatrix next = weight * outputs.back();
        for (std::size_t s = 0; s < network.shortcuts.size(); ++s) {
            if (network.shortcuts[s].target == j) {
                next += p[s] * outputs[std::size_t(network.shortcuts[s].source)];
            }
        }
        outputs.push_back(std::move(next));
    }
    return outputs;
}

/// The end of a shortcut that its softmax holds fixed: the candidates compete over the other end.
std::int64_t softmaxGroup(const LinearNetwork& network, std::size_t s)
{
    return network.mode == ShortcutWeights::Ingoing ? network.shortcuts[s].target : network.shortcuts[s].source;
}

bool isSoftmax(ShortcutWeights mode)
{
    return mode == ShortcutWeights::Ingoing || mode == ShortcutWeights::Outgoing;
}

/// Sum of `term(s)` over the shortcuts that compete with `of`, itself included.
template <class Term>
double sumOverGroup(const LinearNetwork& network, std::size_t of, Term term)
{
    double sum = 0;
    for (std::size_t s = 0; s < network.shortcuts.size(); ++s) {
        if (softmaxGroup(network, s) == softmaxGroup(network, of)) {
            sum += term(s);
        }
    }
    return sum;
}

/// dL/dc from dL/dp.
std::vector<double> throughMode(const LinearNetwork& network, const std::vector<double>& byMix)
{
    std::vector<double> result(byMix.size(), 0.0);
    if (network.mode == ShortcutWeights::Learned) {
        return byMix;
    }
    if (isSoftmax(network.mode)) {
        const std::vector<double> p = mixingWeights(network);
        for (std::size_t s = 0; s < result.size(); ++s) {
            const double mean = sumOverGroup(network, s, [&](std::size_t other) { return p[other] * byMix[other]; });
            result[s] = p[s] * (byMix[s] - mean) / network.temperature;
        }
    }
    return result;
}

Status checkShortcut(const Shortcut& shortcut, std::int64_t layers)
{
    if (shortcut.source < 0 || shortcut.source >= shortcut.target || shortcut.target > layers) {
        return Error{"shortcut " + std::to_string(shortcut.source) + ":" + std::to_string(shortcut.target),
                     "expected i:j with 0 ≤ i < j ≤ K = " + std::to_string(layers)};
    }
    return Done{};
}

} // namespace

std::vector<Shortcut> studyShortcuts(std::string_view text, std::int64_t layers)
{
    if (text == "none") {
        return {};
    }
    std::string every = "i:i+1";
    for (std::int64_t span = 2; span <= layers; ++span) {
        every += "+i:i+" + std::to_string(span);
    }
    return *projects::shortcutsFrom(text == "all" ? std::string_view(every) : text, layers);
}

Status check(const LinearNetwork& network)
{
    const auto layers = std::int64_t(network.weights.size());
    if (layers < 1) {
        return Error{"linear network", "got no layer, expected one at least"};
    }
    const std::int64_t d = network.weights.front().rows();
    for (std::size_t k = 0; k < network.weights.size(); ++k) {
        const DenseMatrix& weight = network.weights[k];
        if (d < 1 || weight.rows() != d || weight.cols() != d) {
            return Error{"W_" + std::to_string(k + 1),
                         "got [" + std::to_string(weight.rows()) + ", " + std::to_string(weight.cols()) +
                             "], expected W_1's rows squared, [" + std::to_string(d) + ", " + std::to_string(d) + "]"};
        }
    }
    for (const Shortcut& shortcut : network.shortcuts) {
        if (auto fits = checkShortcut(shortcut, layers); !fits) {
            return fits;
        }
    }
    if (network.coefficients.size() != network.shortcuts.size()) {
        return Error{"coefficients", "got " + std::to_string(network.coefficients.size()) +
                                         ", expected one for each of " + std::to_string(network.shortcuts.size()) +
                                         " shortcuts"};
    }
    if (!(network.temperature > 0 && std::isfinite(network.temperature))) {
        return Error{"temperature τ",
                     "got " + numberText(network.temperature, 6) + ", expected a finite number above 0"};
    }
    return Done{};
}

std::vector<double> mixingWeights(const LinearNetwork& network)
{
    if (!isSoftmax(network.mode)) {
        return network.coefficients;
    }
    std::vector<double> p;
    for (std::size_t s = 0; s < network.shortcuts.size(); ++s) {
        // 1/Σ exp((c_other − c_own)/τ): an overflow to infinity is the right 0.
        p.push_back(1 / sumOverGroup(network, s, [&](std::size_t other) {
                        return std::exp((network.coefficients[other] - network.coefficients[s]) / network.temperature);
                    }));
    }
    return p;
}

DenseMatrix output(const LinearNetwork& network, const DenseMatrix& x)
{
    return layerOutputs(network, x).back();
}

LinearGradient gradient(const LinearNetwork& network, const DenseMatrix& x, const DenseMatrix& y)
{
    const std::vector<DenseMatrix> outputs = layerOutputs(network, x);
    const std::vector<double> p = mixingWeights(network);
    // dL/dx_j, complete once every layer above j has added its part.
    std::vector<DenseMatrix> byOutput(outputs.size(), DenseMatrix::Zero(x.rows(), x.cols()));
    byOutput.back() = outputs.back();
    byOutput.back() -= y;

    LinearGradient result;
    result.loss = byOutput.back().squaredNorm() / 2;
    result.weights.resize(network.weights.size());
    std::vector<double> byMix(p.size(), 0.0);
    for (std::size_t j = network.weights.size(); j >= 1; --j) {
        result.weights[j - 1] = byOutput[j] * outputs[j - 1].transpose();
        byOutput[j - 1] += network.weights[j - 1].transpose() * byOutput[j];
        for (std::size_t s = 0; s < p.size(); ++s) {
            const auto from = std::size_t(network.shortcuts[s].source);
            if (std::size_t(network.shortcuts[s].target) == j) {
                byMix[s] = byOutput[j].cwiseProduct(outputs[from]).sum();
                byOutput[from] += p[s] * byOutput[j];
            }
        }
    }
    result.coefficients = throughMode(network, byMix);
    return result;
}

Result<std::vector<double>> descend(LinearNetwork& network, const DenseMatrix& x, const DenseMatrix& y,
                                    double learningRate, std::int64_t steps)
{
    if (auto fits = check(network); !fits) {
        return fits.error();
    }
    const std::int64_t d = network.weights.front().rows();
    if (x.rows() != d || y.rows() != d || x.cols() != y.cols()) {
        return Error{"data", "got X with " + std::to_string(x.size()) + " and Y with " + std::to_string(y.size()) +
                                 " values, expected both [" + std::to_string(d) + ", n]"};
    }
    if (!(learningRate > 0) || steps < 0) {
        return Error{"descent", "got η = " + numberText(learningRate, 6) + ", steps = " + std::to_string(steps) +
                                    ", expected η > 0 and steps ≥ 0"};
    }
    std::vector<double> losses;
    for (std::int64_t step = 0; step <= steps; ++step) {
        const LinearGradient at = gradient(network, x, y);
        if (!std::isfinite(at.loss)) {
            return Error{"step " + std::to_string(step),
                         "the loss is no longer finite, expected a smaller learning rate than " +
                             numberText(learningRate, 6)};
        }
        losses.push_back(at.loss);
        for (std::size_t k = 0; step < steps && k < network.weights.size(); ++k) {
            network.weights[k] -= learningRate * at.weights[k];
        }
        for (std::size_t s = 0; step < steps && s < at.coefficients.size(); ++s) {
            network.coefficients[s] -= learningRate * at.coefficients[s];
        }
    }
    return losses;
}

} // namespace residua::tests
