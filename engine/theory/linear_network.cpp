// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/theory/linear_network.h"

#include "projects/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace residua::engine::theory {

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
            if (network.shortcuts[s].to == j) {
                next += p[s] * outputs[std::size_t(network.shortcuts[s].from)];
            }
        }
        outputs.push_back(std::move(next));
    }
    return outputs;
}

/// The end of a shortcut that its softmax holds fixed: the candidates compete over the other end.
std::int64_t softmaxGroup(const LinearNetwork& network, std::size_t s)
{
    return network.mode == ShortcutWeights::Ingoing ? network.shortcuts[s].to : network.shortcuts[s].from;
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

std::string shortcutText(Shortcut shortcut)
{
    return std::to_string(shortcut.from) + ":" + std::to_string(shortcut.to);
}

Status checkShortcut(Shortcut shortcut, std::int64_t layers)
{
    if (shortcut.from < 0 || shortcut.from >= shortcut.to || shortcut.to > layers) {
        return Error{"shortcut " + shortcutText(shortcut),
                     "expected i:j with 0 ≤ i < j ≤ K = " + std::to_string(layers)};
    }
    return Done{};
}

Result<Shortcut> parseShortcut(std::string_view text)
{
    Shortcut shortcut;
    const char* end = text.data() + text.size();
    const auto from = std::from_chars(text.data(), end, shortcut.from);
    if (from.ec == std::errc() && from.ptr != end && *from.ptr == ':') {
        const auto to = std::from_chars(from.ptr + 1, end, shortcut.to);
        if (to.ec == std::errc() && to.ptr == end) {
            return shortcut;
        }
    }
    return Error{"shortcuts", "got \"" + std::string(text) + "\", expected i:j such as 0:2"};
}

std::vector<Shortcut> everyShortcut(std::int64_t layers, std::int64_t longest)
{
    std::vector<Shortcut> result;
    for (std::int64_t j = 1; j <= layers; ++j) {
        for (std::int64_t i = std::max<std::int64_t>(0, j - longest); i < j; ++i) {
            result.push_back({i, j});
        }
    }
    return result;
}

} // namespace

Result<std::vector<Shortcut>> parseShortcuts(std::string_view text, std::int64_t layers)
{
    if (text.empty() || text == "none") {
        return std::vector<Shortcut>{};
    }
    if (text == "cascaded") {
        return everyShortcut(layers, 1);
    }
    if (text == "all") {
        return everyShortcut(layers, layers);
    }
    std::vector<Shortcut> result;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('+', begin), text.size());
        const auto shortcut = parseShortcut(text.substr(begin, end - begin));
        if (!shortcut) {
            return shortcut.error();
        }
        if (auto fits = checkShortcut(*shortcut, layers); !fits) {
            return fits.error();
        }
        if (std::ranges::find(result, *shortcut) != result.end()) {
            return Error{"shortcuts", "got " + shortcutText(*shortcut) + " twice, expected each once"};
        }
        result.push_back(*shortcut);
        begin = end + 1;
    }
    std::ranges::sort(result, {}, [](Shortcut s) { return std::pair(s.to, s.from); });
    return result;
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
    for (const Shortcut shortcut : network.shortcuts) {
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
            const auto from = std::size_t(network.shortcuts[s].from);
            if (std::size_t(network.shortcuts[s].to) == j) {
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

} // namespace residua::engine::theory
