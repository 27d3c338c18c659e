// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/transformer_cases.h"

#include "tests/kernels/cpu_backend.h"
#include "tests/kernels/device_buffer.h"
#include "tests/kernels/typed_values.h"
#include "tests/support/draws.h"

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

namespace residua::tests {
namespace {

using kernels::DataType;
using kernels::Status;

struct NormCase {
    kernels::NormKind kind;
    DataType type;
    bool bfloat16Output;
    int tokens, width;
    bool residual, weight, sumGrad; ///< a layer norm with a weight has a bias too

    [[nodiscard]] bool isLayer() const { return kind == kernels::NormKind::layer; }
    [[nodiscard]] bool hasBias() const { return isLayer() && weight; }
    [[nodiscard]] bool hasResidualGrad() const { return residual && bfloat16Output; }
    [[nodiscard]] bool hasLargest() const { return residual == sumGrad; }
    [[nodiscard]] DataType outputType() const { return bfloat16Output ? DataType::bfloat16 : type; }
    [[nodiscard]] std::string name() const
    {
        return (isLayer() ? "layerNorm " : "rmsNorm ") + nameOf(type) + (bfloat16Output ? " to bfloat16 " : " ") +
               std::to_string(tokens) + "x" + std::to_string(width) + (residual ? " residual" : "") +
               (weight ? " weight" : "") + (sumGrad ? " sumGrad" : "");
    }
};

struct NormOutcome {
    Values normalised; ///< x, or the sum as it was stored
    Values y, mean, rstd, xGrad, residualGrad, weightGrad, biasGrad, largest;
};

constexpr double kNormEpsilon = 1e-5;

/// The vectors and gradients that a case is given.
struct NormInputs {
    Values weight, bias, yGrad, sumGrad;
};

NormOutcome runNorm(const TransformerKernels& kernels, const NormCase& norm, const NormInputs& inputs)
{
    const auto memory = kernels.memory();
    const std::size_t count = std::size_t(norm.tokens) * norm.width;
    const DataType single = accumulator(norm.type);
    const DeviceBuffer x(*memory, randomValues(count, norm.type, 1), norm.type);
    const DeviceBuffer residual(*memory, randomValues(count, norm.outputType(), 2), norm.outputType());
    const DeviceBuffer weights(*memory, inputs.weight, single), bias(*memory, inputs.bias, single);
    const DeviceBuffer sum(*memory, count, norm.type), y(*memory, count, norm.outputType());
    const DeviceBuffer rstd(*memory, std::size_t(norm.tokens), single), mean(*memory, std::size_t(norm.tokens), single);
    const DeviceBuffer largest(*memory, std::size_t(norm.tokens), single);
    const kernels::NormForward forward{norm.type,
                                       norm.tokens,
                                       norm.width,
                                       kNormEpsilon,
                                       x.data(),
                                       norm.residual ? residual.data() : nullptr,
                                       norm.weight ? weights.data() : nullptr,
                                       norm.residual ? sum.data() : nullptr,
                                       y.data(),
                                       rstd.data(),
                                       norm.bfloat16Output,
                                       norm.kind,
                                       norm.hasBias() ? bias.data() : nullptr,
                                       norm.isLayer() ? mean.data() : nullptr,
                                       norm.hasLargest() ? largest.data() : nullptr};
    check(kernels.normForward(forward));
    const DeviceBuffer& normalised = norm.residual ? sum : x;
    const DeviceBuffer dy(*memory, inputs.yGrad, norm.outputType());
    // The gradient of the sum, which the kernel replaces by that of x.
    const DeviceBuffer dx =
        norm.sumGrad ? DeviceBuffer(*memory, inputs.sumGrad, norm.type) : DeviceBuffer(*memory, count, norm.type);
    const DeviceBuffer dresidual(*memory, count, DataType::bfloat16);
    const DeviceBuffer dweight(*memory, std::size_t(norm.width), single),
        dbias(*memory, std::size_t(norm.width), single);
    kernels::NormBackward backward{norm.type,
                                   norm.tokens,
                                   norm.width,
                                   dy.data(),
                                   normalised.data(),
                                   rstd.data(),
                                   norm.weight ? weights.data() : nullptr,
                                   norm.sumGrad ? dx.data() : nullptr,
                                   dx.data(),
                                   norm.weight ? dweight.data() : nullptr};
    backward.bfloat16Output = norm.bfloat16Output;
    backward.kind = norm.kind;
    backward.mean = norm.isLayer() ? mean.data() : nullptr;
    backward.biasGrad = norm.hasBias() ? dbias.data() : nullptr;
    backward.residualGrad = norm.hasResidualGrad() ? dresidual.data() : nullptr;
    backward.workspaceBytes = kernels.normBackwardWorkspace(backward);
    const DeviceBuffer workspace(*memory, backward.workspaceBytes / elementBytes(single), single);
    backward.workspace = workspace.data();
    check(kernels.normBackward(backward));
    return {normalised.values(),
            y.values(),
            norm.isLayer() ? mean.values() : Values(),
            rstd.values(),
            dx.values(),
            norm.hasResidualGrad() ? dresidual.values() : Values(),
            norm.weight ? dweight.values() : Values(),
            norm.hasBias() ? dbias.values() : Values(),
            norm.hasLargest() ? largest.values() : Values()};
}

/// The composition for the tensor that was normalised.
NormOutcome referenceNorm(const NormCase& norm, const Values& x, const NormInputs& inputs)
{
    const auto width = std::size_t(norm.width);
    NormOutcome want{.normalised = x,
                     .y = Values(x.size()),
                     .mean = {},
                     .rstd = {},
                     .xGrad = Values(x.size()),
                     .residualGrad = {},
                     .weightGrad = Values(norm.weight ? width : 0),
                     .biasGrad = Values(norm.hasBias() ? width : 0),
                     .largest = {}};
    const auto scale = [&](std::size_t c) { return norm.weight ? inputs.weight[c] : 1; };
    for (std::size_t row = 0; row < x.size(); row += width) {
        double mean = 0;
        for (std::size_t c = 0; c < width && norm.isLayer(); ++c)
            mean += x[row + c] / norm.width;
        double squares = 0;
        double product = 0;
        double gradient = 0;
        for (std::size_t c = 0; c < width; ++c) {
            squares += (x[row + c] - mean) * (x[row + c] - mean);
            product += inputs.yGrad[row + c] * scale(c) * (x[row + c] - mean);
            gradient += norm.isLayer() ? inputs.yGrad[row + c] * scale(c) : 0;
        }
        const double rstd = 1 / std::sqrt(squares / norm.width + kNormEpsilon);
        want.rstd.push_back(rstd);
        if (norm.isLayer())
            want.mean.push_back(mean);
        for (std::size_t c = 0; c < width; ++c) {
            const double normed = (x[row + c] - mean) * rstd;
            const double dy = inputs.yGrad[row + c];
            want.y[row + c] = normed * scale(c) + (norm.hasBias() ? inputs.bias[c] : 0);
            want.xGrad[row + c] = rstd * (dy * scale(c) - (gradient + normed * product * rstd) / norm.width) +
                                  (norm.sumGrad ? inputs.sumGrad[row + c] : 0);
            if (norm.weight)
                want.weightGrad[c] += dy * normed;
            if (norm.hasBias())
                want.biasGrad[c] += dy;
        }
    }
    if (norm.hasResidualGrad())
        want.residualGrad = want.xGrad;
    return want;
}

std::string checkNorm(const TransformerKernels& kernels, const NormCase& norm)
{
    const std::size_t count = std::size_t(norm.tokens) * norm.width;
    const NormInputs inputs{randomValues(std::size_t(norm.width), accumulator(norm.type), 3),
                            randomValues(std::size_t(norm.width), accumulator(norm.type), 6),
                            randomValues(count, norm.outputType(), 4), randomValues(count, norm.type, 5)};
    const NormOutcome got = runNorm(kernels, norm, inputs);
    const NormOutcome want = referenceNorm(norm, got.normalised, inputs);
    Values sum = randomValues(count, norm.type, 1);
    const Values residual = randomValues(count, norm.outputType(), 2);
    for (std::size_t i = 0; i < count && norm.residual; ++i)
        sum[i] += residual[i];
    const double single = tolerance(accumulator(norm.type));
    return first(norm.name(),
                 {difference("sum", got.normalised, sum, tolerance(norm.type)),
                  difference("y", got.y, want.y, tolerance(norm.outputType())),
                  difference("mean", got.mean, want.mean, single), difference("rstd", got.rstd, want.rstd, single),
                  difference("xGrad", got.xGrad, want.xGrad, tolerance(norm.type)),
                  difference("residualGrad", got.residualGrad, want.residualGrad, tolerance(DataType::bfloat16)),
                  difference("weightGrad", got.weightGrad, want.weightGrad, single),
                  difference("biasGrad", got.biasGrad, want.biasGrad, single),
                  difference("largest", got.largest,
                             norm.hasLargest() ? largestIn(got.y, std::size_t(norm.width)) : Values(), 0)});
}

struct SwigluCase {
    DataType type;
    int tokens, width;
    bool joined; ///< gate and up are halves of one row, and their gradients take their place
};

std::string checkSwigluCase(const TransformerKernels& kernels, const SwigluCase& swiglu)
{
    const auto memory = kernels.memory();
    const std::size_t count = std::size_t(swiglu.tokens) * swiglu.width;
    const auto width = std::size_t(swiglu.width);
    const std::size_t stride = swiglu.joined ? 2 * width : width;
    const std::size_t second = swiglu.joined ? width : count;
    const Values both = randomValues(2 * count, swiglu.type, 6, 6);
    const Values grads = randomValues(count, swiglu.type, 7);
    const DeviceBuffer in(*memory, both, swiglu.type), out(*memory, count, swiglu.type),
        grad(*memory, grads, swiglu.type);
    const DeviceBuffer apart(*memory, 2 * count, swiglu.type);
    const DeviceBuffer& inGrad = swiglu.joined ? in : apart;
    const DataType single = accumulator(swiglu.type);
    const DeviceBuffer largest(*memory, std::size_t(swiglu.tokens), single),
        largestGrad(*memory, std::size_t(swiglu.tokens), single);
    check(kernels.swigluForward({swiglu.type, swiglu.tokens, swiglu.width, in.data(), in.at(second),
                                 std::int64_t(stride), out.data(), swiglu.joined ? largest.data() : nullptr}));
    check(kernels.swigluBackward({swiglu.type, swiglu.tokens, swiglu.width, in.data(), in.at(second),
                                  std::int64_t(stride), grad.data(), inGrad.data(), inGrad.at(second),
                                  std::int64_t(stride), swiglu.joined ? largestGrad.data() : nullptr}));
    Values want(count), wantGrad(2 * count);
    for (std::size_t n = 0; n < std::size_t(swiglu.tokens); ++n)
        for (std::size_t c = 0; c < width; ++c) {
            const double gate = both[n * stride + c];
            const double up = both[n * stride + second + c];
            const double open = 1 / (1 + std::exp(-gate));
            const double dy = grads[n * width + c];
            want[n * width + c] = silu(gate) * up;
            wantGrad[n * stride + c] = dy * up * (open + gate * open * (1 - open));
            wantGrad[n * stride + second + c] = dy * silu(gate);
        }
    const std::string name = "swiglu " + nameOf(swiglu.type) + " " + std::to_string(swiglu.tokens) + "x" +
                             std::to_string(swiglu.width) + (swiglu.joined ? " joined" : "");
    const auto largestOf = [&](const DeviceBuffer& rows, std::size_t columns) {
        return swiglu.joined ? largestIn(rows.values(), columns) : Values();
    };
    return first(name, {difference("out", out.values(), want, tolerance(swiglu.type)),
                        difference("inGrad", inGrad.values(), wantGrad, tolerance(swiglu.type)),
                        difference("largest", swiglu.joined ? largest.values() : Values(), largestOf(out, width), 0),
                        difference("largestGrad", swiglu.joined ? largestGrad.values() : Values(),
                                   largestOf(inGrad, stride), 0)});
}

struct RotaryCase {
    DataType type;
    kernels::Rotation rotation;
    int batch, time, heads, width, rotated;
    bool inPlace; ///< within rows that have other features on both sides; else heads and time change places
};

std::string checkRotaryCase(const TransformerKernels& kernels, const RotaryCase& rotary)
{
    const auto memory = kernels.memory();
    const int half = rotary.rotated / 2;
    const int gap = rotary.inPlace ? rotary.heads * rotary.width : 0; // features on each side
    const int row = rotary.heads * rotary.width + 2 * gap;
    const std::size_t count = std::size_t(rotary.batch) * rotary.time * row;
    Values cosine, sine;
    for (int t = 0; t < rotary.time; ++t)
        for (int i = 0; i < half; ++i) {
            const double angle = t * std::pow(10000.0, -2.0 * i / rotary.rotated);
            cosine.push_back(std::cos(angle));
            sine.push_back(std::sin(angle));
        }
    const DataType single = accumulator(rotary.type);
    const Values x = randomValues(count, rotary.type, 8);
    const DeviceBuffer cosines(*memory, cosine, single), sines(*memory, sine, single);
    const DeviceBuffer in(*memory, x, rotary.type), apart(*memory, count, rotary.type);
    const DeviceBuffer& out = rotary.inPlace ? in : apart;
    const std::int64_t width = rotary.width;
    const kernels::RotaryStrides inStrides{std::int64_t(rotary.time) * row, row, width};
    const kernels::RotaryStrides outStrides =
        rotary.inPlace ? inStrides
                       : kernels::RotaryStrides{std::int64_t(rotary.time) * row, width, rotary.time * width};
    check(
        kernels.rotary({rotary.type, rotary.rotation, rotary.batch, rotary.time, rotary.heads, rotary.width,
                        rotary.rotated, cosines.data(), sines.data(), in.at(gap), inStrides, out.at(gap), outStrides}));
    Values want = rotary.inPlace ? x : Values(count);
    for (int b = 0; b < rotary.batch; ++b)
        for (int t = 0; t < rotary.time; ++t)
            for (int h = 0; h < rotary.heads; ++h)
                for (int c = 0; c < rotary.width; ++c) {
                    const double* head = &x[std::size_t(gap + b * inStrides.batch + t * inStrides.time + h * width)];
                    double value = head[c];
                    if (c < rotary.rotated) {
                        const double turn = rotary.rotation == kernels::Rotation::forward ? 1 : -1;
                        const double cos = cosine[std::size_t(t * half + c % half)];
                        const double sin = turn * sine[std::size_t(t * half + c % half)];
                        value = c < half ? head[c] * cos - head[c + half] * sin : head[c] * cos + head[c - half] * sin;
                    }
                    const std::int64_t to = b * outStrides.batch + t * outStrides.time + h * outStrides.head;
                    want[std::size_t(gap + to + c)] = value;
                }
    const std::string name = "rotary " + nameOf(rotary.type) + " " + std::to_string(rotary.batch) + "x" +
                             std::to_string(rotary.time) + "x" + std::to_string(rotary.heads) + "x" +
                             std::to_string(rotary.width) + " of " + std::to_string(rotary.rotated) +
                             (rotary.inPlace ? " in place" : "");
    return first(name, {difference("out", out.values(), want, tolerance(rotary.type))});
}

enum class Wanted { Loss, Grad, LossAndGrad, InPlace };

struct EntropyCase {
    DataType type;
    kernels::IndexType index;
    int tokens, classes, padding; ///< elements between rows
    Wanted wanted;
    bool weighted; ///< by row, and the gradient by a scale of the device
};

constexpr std::int64_t kIgnored = -100;

std::vector<std::int64_t> targetsOf(const EntropyCase& entropy)
{
    std::vector<std::int64_t> targets;
    for (int n = 0; n < entropy.tokens; ++n)
        targets.push_back(n % 5 == 3 ? kIgnored : n % 7 == 5 ? entropy.classes - 1 : n * 131 % entropy.classes);
    return targets;
}

void* uploadTargets(MixBackend& memory, const EntropyCase& entropy)
{
    const std::vector<std::int64_t> targets = targetsOf(entropy);
    if (entropy.index == kernels::IndexType::int64)
        return memory.upload(targets.data(), targets.size() * sizeof(std::int64_t));
    const std::vector<std::int32_t> narrow(targets.begin(), targets.end());
    return memory.upload(narrow.data(), narrow.size() * sizeof(std::int32_t));
}

struct EntropyResult {
    Values loss, grad;
};

Values entropyLogits(const EntropyCase& entropy)
{
    const std::size_t stride = std::size_t(entropy.classes) + entropy.padding;
    return randomValues(std::size_t(entropy.tokens) * stride, entropy.type, 9, 8);
}

EntropyResult runEntropy(const TransformerKernels& kernels, const EntropyCase& entropy, const Values& weights,
                         double scale)
{
    const auto memory = kernels.memory();
    const DataType single = accumulator(entropy.type);
    const Values values = entropyLogits(entropy);
    const DeviceBuffer logits(*memory, values, entropy.type), apart(*memory, values, entropy.type);
    const DeviceBuffer loss(*memory, std::size_t(entropy.tokens), single);
    const DeviceBuffer rowWeight(*memory, weights, single), gradScale(*memory, Values{scale}, single);
    const DeviceBuffer& grad = entropy.wanted == Wanted::InPlace ? logits : apart;
    kernels::CrossEntropy call;
    call.dataType = entropy.type;
    call.targetType = entropy.index;
    call.tokens = entropy.tokens;
    call.classes = entropy.classes;
    call.logits = logits.data();
    call.rowStride = entropy.classes + entropy.padding;
    call.targets = uploadTargets(*memory, entropy);
    call.ignored = kIgnored;
    call.rowWeight = entropy.weighted ? rowWeight.data() : nullptr;
    call.loss = entropy.wanted == Wanted::Grad ? nullptr : loss.data();
    call.grad = entropy.wanted == Wanted::Loss ? nullptr : grad.data();
    call.gradRowStride = call.rowStride;
    call.factor = 0.25;
    call.gradScale = entropy.weighted ? gradScale.data() : nullptr;
    check(kernels.crossEntropy(call));
    return {call.loss ? loss.values() : Values(), call.grad ? grad.values() : Values()};
}

EntropyResult referenceEntropy(const EntropyCase& entropy, const Values& weights, double scale)
{
    EntropyResult want{{}, entropyLogits(entropy)};
    const std::size_t stride = std::size_t(entropy.classes) + entropy.padding;
    const std::vector<std::int64_t> targets = targetsOf(entropy);
    for (std::size_t n = 0; n < targets.size(); ++n) {
        double* row = &want.grad[n * stride];
        const double weight = targets[n] == kIgnored ? 0 : entropy.weighted ? weights[n] : 1;
        const double factor = 0.25 * weight * (entropy.weighted ? scale : 1);
        double sum = 0;
        for (int c = 0; c < entropy.classes; ++c)
            sum += std::exp(row[c]);
        want.loss.push_back(weight == 0 ? 0 : weight * (std::log(sum) - row[targets[n]]));
        for (int c = 0; c < entropy.classes; ++c)
            row[c] = factor * (std::exp(row[c]) / sum - (c == targets[n] ? 1 : 0));
    }
    if (entropy.wanted == Wanted::Grad)
        want.loss.clear();
    if (entropy.wanted == Wanted::Loss)
        want.grad.clear();
    return want;
}

std::string checkEntropyCase(const TransformerKernels& kernels, const EntropyCase& entropy)
{
    const Values weights = randomValues(std::size_t(entropy.tokens), accumulator(entropy.type), 10);
    const double scale = -1.5;
    const EntropyResult got = runEntropy(kernels, entropy, weights, scale);
    const EntropyResult want = referenceEntropy(entropy, weights, scale);
    const std::string name = "crossEntropy " + nameOf(entropy.type) + " " + std::to_string(entropy.tokens) + "x" +
                             std::to_string(entropy.classes) + "+" + std::to_string(entropy.padding);
    return first(name, {difference("loss", got.loss, want.loss, tolerance(accumulator(entropy.type))),
                        difference("grad", got.grad, want.grad, tolerance(entropy.type))});
}

/// Empty, or the trouble that an invalid target and infinite logits make.
std::string checkEntropyEdges(const TransformerKernels& kernels)
{
    const auto memory = kernels.memory();
    const double infinite = std::numeric_limits<double>::infinity();
    const Values values = {1, 2, 3, -infinite, 0, 0, 1, 2, 3};
    const std::vector<std::int64_t> targets = {3, 1, -1};
    const DeviceBuffer logits(*memory, values, DataType::float32), loss(*memory, std::size_t(3), DataType::float32);
    kernels::CrossEntropy call;
    call.tokens = 3;
    call.classes = 3;
    call.logits = logits.data();
    call.rowStride = 3;
    call.targets = memory->upload(targets.data(), targets.size() * sizeof(std::int64_t));
    call.loss = loss.data();
    call.grad = logits.data();
    call.gradRowStride = 3;
    check(kernels.crossEntropy(call));
    const Values got = loss.values();
    const Values grad = logits.values();
    if (!std::isnan(got[0]) || !std::isnan(got[2]) || !std::isnan(grad[0]) || !std::isnan(grad[8]))
        return "a target that is no class does not give NaN";
    return difference("infinite logit", {got[1], grad[3], grad[4], grad[5]}, {std::log(2.0), 0, -0.5, 0.5}, 1e-6);
}

} // namespace

Values randomValues(std::size_t count, DataType type, unsigned seed, double spread)
{
    std::mt19937_64 random(seed);
    Values values(count);
    for (double& value : values)
        value = spread * symmetric(random);
    return rounded(values, type);
}

TransformerKernels cpuTransformerKernels()
{
    TransformerKernels kernels;
    kernels.memory = [] { return std::make_unique<CpuBackend>(); };
    kernels.normForward = [](const auto& norm) { return kernels::normForward(norm); };
    kernels.normBackward = [](const auto& norm) { return kernels::normBackward(norm); };
    kernels.normBackwardWorkspace = [](const auto& norm) { return kernels::normBackwardWorkspace(norm); };
    kernels.swigluForward = [](const auto& swiglu) { return kernels::swigluForward(swiglu); };
    kernels.swigluBackward = [](const auto& swiglu) { return kernels::swigluBackward(swiglu); };
    kernels.rotary = [](const auto& rotary) { return kernels::rotary(rotary); };
    kernels.crossEntropy = [](const auto& entropy) { return kernels::crossEntropy(entropy); };
    kernels.dropout = [](const auto& dropout) { return kernels::dropout(dropout); };
    kernels.streamsForward = [](const auto& streams) { return kernels::streamsForward(streams); };
    kernels.streamsBackward = [](const auto& streams) { return kernels::streamsBackward(streams); };
    kernels.streamsBackwardWorkspace = [](const auto& streams) { return kernels::streamsBackwardWorkspace(streams); };
    return kernels;
}

TransformerKernels transformerKernelsOf(const kernels::CudaKernels& table)
{
    const auto checked = [&table](Status status) {
        if (status == Status::deviceFailure)
            throw std::runtime_error(table.lastError());
        return status;
    };
    TransformerKernels kernels;
    kernels.normForward = [&table, checked](const auto& norm) { return checked(table.normForward(norm, nullptr)); };
    kernels.normBackward = [&table, checked](const auto& norm) { return checked(table.normBackward(norm, nullptr)); };
    kernels.normBackwardWorkspace = table.normBackwardWorkspace;
    kernels.swigluForward = [&table, checked](const auto& swiglu) {
        return checked(table.swigluForward(swiglu, nullptr));
    };
    kernels.swigluBackward = [&table, checked](const auto& swiglu) {
        return checked(table.swigluBackward(swiglu, nullptr));
    };
    kernels.rotary = [&table, checked](const auto& rotary) { return checked(table.rotary(rotary, nullptr)); };
    kernels.crossEntropy = [&table, checked](const auto& entropy) {
        return checked(table.crossEntropy(entropy, nullptr));
    };
    kernels.dropout = [&table, checked](const auto& dropout) { return checked(table.dropout(dropout, nullptr)); };
    kernels.allNorms = true;
    kernels.adamw = [&table, checked](const auto& adamw) { return checked(table.adamw(adamw, nullptr)); };
    kernels.sinkhornForward = [&table, checked](const auto& sinkhorn) {
        return checked(table.sinkhornForward(sinkhorn, nullptr));
    };
    kernels.sinkhornBackward = [&table, checked](const auto& sinkhorn) {
        return checked(table.sinkhornBackward(sinkhorn, nullptr));
    };
    kernels.streamsForward = [&table, checked](const auto& streams) {
        return checked(table.streamsForward(streams, nullptr));
    };
    kernels.streamsBackward = [&table, checked](const auto& streams) {
        return checked(table.streamsBackward(streams, nullptr));
    };
    kernels.streamsBackwardWorkspace = table.streamsBackwardWorkspace;
    return kernels;
}

std::string checkNorms(const TransformerKernels& kernels)
{
    // Rows of one warp and of a block, rows longer than registers hold, and more rows than blocks take at once.
    constexpr int kShapes[][2] = {{1, 1},    {3, 7},    {5, 64},   {40, 37},  {2, 257},   {9, 768},
                                  {3, 2048}, {2, 4104}, {1, 8200}, {2200, 8}, {1100, 130}};
    struct Form {
        kernels::NormKind kind;
        DataType type;
        bool bfloat16Output;
    };
    std::vector<Form> forms;
    for (const kernels::NormKind kind : {kernels::NormKind::rms, kernels::NormKind::layer}) {
        if (kind == kernels::NormKind::layer && !kernels.allNorms)
            break;
        for (const DataType type : kTypes)
            forms.push_back({kind, type, false});
        if (kernels.allNorms)
            forms.push_back({kind, DataType::float32, true});
    }
    for (const auto& [tokens, width] : kShapes)
        for (int options = 0; options < 8; ++options)
            for (const Form& form : forms) {
                const bool large = tokens * width > 4096;
                if (large && options != 0 && options != 7)
                    continue;
                const NormCase norm{form.kind, form.type,          form.bfloat16Output, tokens,
                                    width,     (options & 1) != 0, (options & 2) != 0,  (options & 4) != 0};
                if (std::string text = checkNorm(kernels, norm); !text.empty())
                    return text;
            }
    return {};
}

std::string checkSwiglu(const TransformerKernels& kernels)
{
    for (const DataType type : kTypes)
        for (const auto& [tokens, width] : {std::pair{1, 1}, {9, 5}, {9, 16}, {13, 67}, {3, 2816}})
            for (const bool joined : {false, true})
                if (std::string text = checkSwigluCase(kernels, {type, tokens, width, joined}); !text.empty())
                    return text;
    return {};
}

std::string checkRotary(const TransformerKernels& kernels)
{
    constexpr int kShapes[][5] = {{1, 1, 1, 2, 2},    {2, 5, 3, 10, 6},  {1, 7, 2, 64, 64},  {2, 3, 1, 5, 0},
                                  {2, 9, 12, 64, 64}, {3, 4, 2, 48, 32}, {1, 2, 9, 128, 128}};
    for (const DataType type : kTypes)
        for (const auto& [batch, time, heads, width, rotated] : kShapes)
            for (const bool inPlace : {false, true})
                for (const auto rotation : {kernels::Rotation::forward, kernels::Rotation::backward})
                    if (std::string text =
                            checkRotaryCase(kernels, {type, rotation, batch, time, heads, width, rotated, inPlace});
                        !text.empty())
                        return text;
    return {};
}

std::string checkCrossEntropy(const TransformerKernels& kernels)
{
    int turn = 0;
    for (const DataType type : kTypes)
        for (const int classes : {1, 3, 7, 64, 257, 2051, 20000})
            for (const int padding : {0, 3, 24})
                for (const Wanted wanted : {Wanted::Loss, Wanted::Grad, Wanted::LossAndGrad, Wanted::InPlace}) {
                    const bool large = classes > 10000;
                    if (large && (wanted != Wanted::InPlace || padding == 24))
                        continue;
                    ++turn;
                    const EntropyCase entropy{
                        type,          turn % 3 == 0 ? kernels::IndexType::int32 : kernels::IndexType::int64,
                        large ? 2 : 8, classes,
                        padding,       wanted,
                        turn % 2 == 0};
                    if (std::string text = checkEntropyCase(kernels, entropy); !text.empty())
                        return text;
                }
    return checkEntropyEdges(kernels);
}

std::string checkRepeats(const TransformerKernels& kernels)
{
    for (const kernels::NormKind kind : {kernels::NormKind::rms, kernels::NormKind::layer}) {
        if (kind == kernels::NormKind::layer && !kernels.allNorms)
            break;
        const NormCase norm{kind, DataType::float32, false, 2200, 40, true, true, true};
        const std::size_t count = std::size_t(norm.tokens) * norm.width;
        const Values vector = randomValues(std::size_t(norm.width), DataType::float32, 3);
        const Values grad = randomValues(count, DataType::float32, 4);
        const NormOutcome once = runNorm(kernels, norm, {vector, vector, grad, grad});
        const NormOutcome again = runNorm(kernels, norm, {vector, vector, grad, grad});
        if (once.y != again.y || once.xGrad != again.xGrad || once.weightGrad != again.weightGrad ||
            once.biasGrad != again.biasGrad)
            return norm.name();
    }
    const EntropyCase entropy{DataType::float32, kernels::IndexType::int64, 8, 2051, 0, Wanted::LossAndGrad, false};
    const EntropyResult lossOnce = runEntropy(kernels, entropy, {}, 1);
    const EntropyResult lossAgain = runEntropy(kernels, entropy, {}, 1);
    return lossOnce.loss == lossAgain.loss && lossOnce.grad == lossAgain.grad ? "" : "crossEntropy";
}

} // namespace residua::tests
