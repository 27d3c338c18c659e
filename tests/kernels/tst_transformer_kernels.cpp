// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/transformer.h"

#include "tests/kernels/cpu_backend.h"
#include "tests/kernels/mix_harness.h"
#include "tests/kernels/transformer_cases.h"
#include "tests/kernels/typed_values.h"
#include "tests/support/draws.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace residua;
using namespace residua::tests;
using kernels::DataType;
using kernels::Status;

namespace {

constexpr DataType kTypes[] = {DataType::float32, DataType::bfloat16, DataType::float64};
constexpr double kEpsilon = 1e-5;

DataType accumulator(DataType type)
{
    return type == DataType::float64 ? DataType::float64 : DataType::float32;
}

double tolerance(DataType type)
{
    return type == DataType::float64 ? 1e-13 : type == DataType::float32 ? 2e-6 : 0x1p-8;
}

Values randomValues(std::size_t count, DataType type, unsigned seed, double spread = 1)
{
    std::mt19937_64 random(seed);
    Values values(count);
    for (double& value : values)
        value = spread * symmetric(random);
    return rounded(values, type);
}

/// A tensor as the kernels see it.
struct Buffer {
    DataType type;
    std::vector<char> bytes;

    Buffer(const Values& values, DataType dataType) : type(dataType), bytes(encode(values, dataType)) {}
    Buffer(std::size_t count, DataType dataType) : Buffer(Values(count, std::nan("")), dataType) {}
    void* data() { return bytes.data(); }
    Values values() const { return decode(bytes, type); }
};

double silu(double value)
{
    return value / (1 + std::exp(-value));
}

struct NormShape {
    int tokens, width;
};
constexpr NormShape kNormShapes[] = {{1, 1}, {3, 7}, {5, 64}, {300, 37}, {2, 257}};

Values normOf(const Values& x, const Values& weight, int width)
{
    Values y(x.size());
    for (std::size_t n = 0; n < x.size() / width; ++n) {
        double squares = 0;
        for (int c = 0; c < width; ++c)
            squares += x[n * width + c] * x[n * width + c];
        for (int c = 0; c < width; ++c)
            y[n * width + c] = x[n * width + c] / std::sqrt(squares / width + kEpsilon) * weight[c];
    }
    return y;
}

double dot(const Values& a, const Values& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i] * b[i];
    return sum;
}

/// Central differences of loss() by each of `inputs`, which it reads.
template <class Loss>
Values slopes(Values& inputs, Loss loss)
{
    Values gradient;
    for (double& value : inputs) {
        const double kept = value;
        value = kept + 1e-6;
        const double above = loss();
        value = kept - 1e-6;
        gradient.push_back((above - loss()) / 2e-6);
        value = kept;
    }
    return gradient;
}

struct NormResult {
    Values sum, y, xGrad, weightGrad;
};

/// Forward with a residual and backward with the gradient of the sum, so that every option is on.
NormResult runNorm(DataType type, NormShape shape, const Values& x, const Values& residual, const Values& weight,
                   const Values& yGrad, const Values& sumGrad, int threads = 1)
{
    const kernels::Parallel parallel = threads > 1 ? kernels::Parallel{runThreads, &threads} : kernels::Parallel{};
    Buffer in(x, type), other(residual, type), weights(weight, accumulator(type)), dy(yGrad, type), dsum(sumGrad, type);
    Buffer sum(x.size(), type), y(x.size(), type), rstd(std::size_t(shape.tokens), accumulator(type));
    kernels::RmsNormForward forward{type,         shape.tokens,   shape.width, kEpsilon, in.data(),
                                    other.data(), weights.data(), sum.data(),  y.data(), rstd.data()};
    if (kernels::rmsNormForward(forward, parallel) != Status::ok)
        return {};
    Buffer dx(x.size(), type), dweight(weight.size(), accumulator(type));
    kernels::RmsNormBackward backward{type,        shape.tokens,   shape.width, dy.data(), sum.data(),
                                      rstd.data(), weights.data(), dsum.data(), dx.data(), dweight.data()};
    backward.workspaceBytes = kernels::rmsNormBackwardWorkspace(backward);
    std::vector<char> workspace(backward.workspaceBytes);
    backward.workspace = workspace.data();
    if (kernels::rmsNormBackward(backward, parallel) != Status::ok)
        return {};
    return {sum.values(), y.values(), dx.values(), dweight.values()};
}

} // namespace

class TransformerKernelsTest : public QObject {
    Q_OBJECT

private slots:
    void rmsNormMatches();
    void rmsNormGradients();
    void rmsNormWithoutOptions();
    void rmsNormThreads();
    void swigluMatches();
    void swigluGradients();
    void swigluExtremes();
    void rotaryMatches();
    void rotaryTurnsBack();
    void caseTables_data();
    void caseTables();
    void refusesBadArguments();
};

void TransformerKernelsTest::rmsNormMatches()
{
    for (const DataType type : kTypes)
        for (const NormShape shape : kNormShapes) {
            const std::size_t count = std::size_t(shape.tokens) * shape.width;
            const Values x = randomValues(count, type, 1);
            const Values residual = randomValues(count, type, 2);
            const Values weight = randomValues(shape.width, accumulator(type), 3);
            const NormResult result = runNorm(type, shape, x, residual, weight, x, x);
            Values sum(count);
            for (std::size_t i = 0; i < count; ++i)
                sum[i] = x[i] + residual[i];
            std::string text = difference("sum", result.sum, sum, tolerance(type));
            // What is normalised is the sum as it was stored.
            if (text.empty())
                text = difference("y", result.y, normOf(result.sum, weight, shape.width), tolerance(type));
            QVERIFY2(text.empty(), text.c_str());
        }
}

void TransformerKernelsTest::rmsNormGradients()
{
    const NormShape shape{4, 9};
    const std::size_t count = 36;
    Values x = randomValues(count, DataType::float64, 1);
    const Values residual = randomValues(count, DataType::float64, 2);
    Values weight = randomValues(9, DataType::float64, 3);
    const Values yGrad = randomValues(count, DataType::float64, 4);
    const Values sumGrad = randomValues(count, DataType::float64, 5);
    const auto loss = [&] {
        Values sum(count);
        for (std::size_t i = 0; i < count; ++i)
            sum[i] = x[i] + residual[i];
        return dot(normOf(sum, weight, 9), yGrad) + dot(sum, sumGrad);
    };
    const NormResult result = runNorm(DataType::float64, shape, x, residual, weight, yGrad, sumGrad);
    std::string text = difference("xGrad", result.xGrad, slopes(x, loss), 1e-8);
    if (text.empty())
        text = difference("weightGrad", result.weightGrad, slopes(weight, loss), 1e-8);
    QVERIFY2(text.empty(), text.c_str());

    // The other types against float64 on the same numbers.
    for (const DataType type : {DataType::float32, DataType::bfloat16}) {
        const NormShape large{300, 37};
        const auto values = [&](unsigned seed) { return randomValues(300 * 37, type, seed); };
        const Values weights = randomValues(37, DataType::float32, 3);
        const Values zero(300 * 37, 0.0);
        const NormResult got = runNorm(type, large, values(1), zero, weights, values(4), values(5));
        const NormResult want = runNorm(DataType::float64, large, values(1), zero, weights, values(4), values(5));
        text = difference("xGrad", got.xGrad, want.xGrad, tolerance(type));
        if (text.empty())
            text = difference("weightGrad", got.weightGrad, want.weightGrad, 3e-6);
        QVERIFY2(text.empty(), text.c_str());
    }
}

void TransformerKernelsTest::rmsNormWithoutOptions()
{
    const Values x = randomValues(30, DataType::float64, 1);
    Buffer in(x, DataType::float64), y(30, DataType::float64);
    kernels::RmsNormForward forward{DataType::float64, 3, 10, kEpsilon, in.data()};
    forward.y = y.data();
    QVERIFY(kernels::rmsNormForward(forward) == Status::ok);
    const std::string text = difference("y", y.values(), normOf(x, Values(10, 1.0), 10), 1e-13);
    QVERIFY2(text.empty(), text.c_str());
}

void TransformerKernelsTest::rmsNormThreads()
{
    const NormShape shape{1500, 65};
    const Values x = randomValues(1500 * 65, DataType::float32, 1);
    const Values weight = randomValues(65, DataType::float32, 2);
    const NormResult once = runNorm(DataType::float32, shape, x, x, weight, x, x);
    for (const int threads : {2, 5}) {
        const NormResult again = runNorm(DataType::float32, shape, x, x, weight, x, x, threads);
        QVERIFY(!again.y.empty() && again.y == once.y && again.xGrad == once.xGrad &&
                again.weightGrad == once.weightGrad);
    }
}

void TransformerKernelsTest::swigluMatches()
{
    for (const DataType type : kTypes)
        for (const int width : {1, 5, 16, 67}) {
            const int tokens = 9;
            const std::size_t bytes = elementBytes(type);
            // One [N, 2h] row holds both halves.
            const Values both = randomValues(std::size_t(tokens) * 2 * width, type, 3, 6);
            Buffer in(both, type), out(std::size_t(tokens) * width, type);
            const kernels::SwigluForward forward{
                type, tokens, width, in.data(), in.bytes.data() + width * bytes, 2 * width, out.data()};
            QVERIFY(kernels::swigluForward(forward) == Status::ok);
            Values want;
            for (int n = 0; n < tokens; ++n)
                for (int c = 0; c < width; ++c)
                    want.push_back(silu(both[n * 2 * width + c]) * both[n * 2 * width + width + c]);
            const std::string text = difference("out", out.values(), want, tolerance(type));
            QVERIFY2(text.empty(), text.c_str());
        }
}

void TransformerKernelsTest::swigluGradients()
{
    for (const DataType type : kTypes) {
        const int tokens = 6, width = 21;
        const std::size_t bytes = elementBytes(type);
        Values both = randomValues(std::size_t(tokens) * 2 * width, type, 3, 4);
        const Values grads = randomValues(std::size_t(tokens) * width, type, 4);
        Buffer in(both, type), outGrad(grads, type), inGrad(both.size(), type);
        const kernels::SwigluBackward backward{type,
                                               tokens,
                                               width,
                                               in.data(),
                                               in.bytes.data() + width * bytes,
                                               2 * width,
                                               outGrad.data(),
                                               inGrad.data(),
                                               inGrad.bytes.data() + width * bytes,
                                               2 * width};
        QVERIFY(kernels::swigluBackward(backward) == Status::ok);
        const Values want = slopes(both, [&] {
            double loss = 0;
            for (int n = 0; n < tokens; ++n)
                for (int c = 0; c < width; ++c)
                    loss += silu(both[n * 2 * width + c]) * both[n * 2 * width + width + c] * grads[n * width + c];
            return loss;
        });
        const std::string text = difference("inGrad", inGrad.values(), want, std::max(tolerance(type), 1e-7));
        QVERIFY2(text.empty(), text.c_str());
    }
}

void TransformerKernelsTest::swigluExtremes()
{
    const Values gates = {-1e30, -200, -90, -0.0, 0.0, 90, 200, 1e30, std::nan("")};
    Buffer gate(gates, DataType::float32), up(Values(gates.size(), 1.0), DataType::float32),
        out(gates.size(), DataType::float32);
    const auto count = std::int64_t(gates.size());
    QVERIFY(kernels::swigluForward({DataType::float32, 1, count, gate.data(), up.data(), count, out.data()}) ==
            Status::ok);
    const Values result = out.values();
    for (std::size_t i = 1; i + 2 < gates.size(); ++i)
        QVERIFY2(std::abs(result[i] - silu(gates[i])) <= 1e-5 * std::max(1.0, std::abs(gates[i])),
                 std::to_string(gates[i]).c_str());
    QCOMPARE(float(result[7]), 1e30f);
    QVERIFY(std::isnan(result[8]));
}

namespace {

/// Angles of the usual embedding, [time, rotated/2].
Values angles(int time, int rotated)
{
    Values values;
    for (int t = 0; t < time; ++t)
        for (int i = 0; i < rotated / 2; ++i)
            values.push_back(t * std::pow(10000.0, -2.0 * i / rotated));
    return values;
}

Values mapped(Values values, double (*function)(double))
{
    for (double& value : values)
        value = function(value);
    return values;
}

} // namespace

void TransformerKernelsTest::rotaryMatches()
{
    struct Shape {
        int batch, time, heads, width, rotated;
    };
    for (const DataType type : kTypes)
        for (const Shape shape :
             {Shape{1, 1, 1, 2, 2}, Shape{2, 5, 3, 10, 6}, Shape{1, 7, 2, 64, 64}, Shape{2, 3, 1, 5, 0}}) {
            const auto [batch, time, heads, width, rotated] = shape;
            const std::size_t count = std::size_t(batch) * time * heads * width;
            const Values angle = angles(time, rotated);
            Buffer cosine(mapped(angle, std::cos), accumulator(type)), sine(mapped(angle, std::sin), accumulator(type));
            const Values x = randomValues(count, type, 8);
            Buffer in(x, type), out(count, type);
            // From [batch, time, heads, width] to [batch, heads, time, width].
            kernels::Rotary turn{type, kernels::Rotation::forward, batch, time, heads, width, rotated};
            turn.cosine = cosine.data();
            turn.sine = sine.data();
            turn.in = in.data();
            turn.inStrides = {time * heads * width, heads * width, width};
            turn.out = out.data();
            turn.outStrides = {time * heads * width, width, time * width};
            QVERIFY(kernels::rotary(turn) == Status::ok);
            Values want(count);
            for (int b = 0; b < batch; ++b)
                for (int t = 0; t < time; ++t)
                    for (int h = 0; h < heads; ++h)
                        for (int c = 0; c < width; ++c) {
                            const double* row = &x[std::size_t((b * time + t) * heads + h) * width];
                            const int half = rotated / 2;
                            double value = row[c];
                            if (c < rotated) {
                                const double theta = angle[t * half + c % half];
                                value = c < half ? row[c] * std::cos(theta) - row[c + half] * std::sin(theta)
                                                 : row[c] * std::cos(theta) + row[c - half] * std::sin(theta);
                            }
                            want[std::size_t((b * heads + h) * time + t) * width + c] = value;
                        }
            const std::string text = difference("out", out.values(), want, tolerance(type));
            QVERIFY2(text.empty(), text.c_str());
        }
}

void TransformerKernelsTest::rotaryTurnsBack()
{
    const Values angle = angles(11, 8);
    Buffer cosine(mapped(angle, std::cos), DataType::float64), sine(mapped(angle, std::sin), DataType::float64);
    const Values x = randomValues(11 * 3 * 8, DataType::float64, 4);
    Buffer data(x, DataType::float64);
    kernels::Rotary turn{DataType::float64,
                         kernels::Rotation::forward,
                         1,
                         11,
                         3,
                         8,
                         8,
                         cosine.data(),
                         sine.data(),
                         data.data(),
                         {0, 24, 8},
                         data.data(),
                         {0, 24, 8}};
    QVERIFY(kernels::rotary(turn) == Status::ok);
    QVERIFY(!difference("turned", data.values(), x, 0.1).empty());
    turn.rotation = kernels::Rotation::backward;
    QVERIFY(kernels::rotary(turn) == Status::ok);
    const std::string text = difference("back", data.values(), x, 1e-14);
    QVERIFY2(text.empty(), text.c_str());
}

void TransformerKernelsTest::caseTables_data()
{
    using Check = std::string (*)(const TransformerKernels&);
    QTest::addColumn<Check>("check");
    QTest::newRow("rmsNorm") << Check(checkRmsNorm);
    QTest::newRow("swiglu") << Check(checkSwiglu);
    QTest::newRow("rotary") << Check(checkRotary);
    QTest::newRow("crossEntropy") << Check(checkCrossEntropy);
    QTest::newRow("repeats") << Check(checkRepeats);
}

void TransformerKernelsTest::caseTables()
{
    using Check = std::string (*)(const TransformerKernels&);
    QFETCH(Check, check);
    const std::string text = check(cpuTransformerKernels());
    QVERIFY2(text.empty(), text.c_str());
}

void TransformerKernelsTest::refusesBadArguments()
{
    float numbers[8] = {};
    kernels::RmsNormForward norm{DataType::float32, 2, 4, kEpsilon, numbers};
    QVERIFY(kernels::rmsNormForward(norm) == Status::missingPointer);
    norm.eps = -1;
    QVERIFY(kernels::rmsNormForward(norm) == Status::badEpsilon);
    kernels::RmsNormBackward backward{DataType::float32, 2,       4,       numbers, numbers,
                                      numbers,           nullptr, nullptr, numbers, numbers};
    QVERIFY(kernels::rmsNormBackward(backward) == Status::workspaceTooSmall);
    QVERIFY(kernels::swigluForward({DataType::float32, 2, 4, numbers, numbers, 3, numbers}) == Status::badShape);
    QVERIFY(kernels::swigluForward({DataType::float32, 2, 4, numbers, nullptr, 4, numbers}) == Status::missingPointer);
    QVERIFY(kernels::rotary({DataType::float32, kernels::Rotation::forward, 1, 1, 1, 4, 3}) == Status::badShape);
    norm.eps = kEpsilon;
    norm.y = numbers;
    norm.bfloat16Output = true;
    QVERIFY(kernels::rmsNormForward(norm) == Status::badKind);
    kernels::CrossEntropy entropy;
    entropy.tokens = 2;
    entropy.classes = 4;
    entropy.rowStride = 3;
    QVERIFY(kernels::crossEntropy(entropy) == Status::badShape);
    entropy.rowStride = 4;
    QVERIFY(kernels::crossEntropy(entropy) == Status::missingPointer);
    entropy.logits = entropy.grad = entropy.loss = numbers;
    entropy.targets = numbers;
    entropy.gradRowStride = 5;
    QVERIFY(kernels::crossEntropy(entropy) == Status::overlap);
}

RESIDUA_TEST(TransformerKernelsTest)
#include "tst_transformer_kernels.moc"
