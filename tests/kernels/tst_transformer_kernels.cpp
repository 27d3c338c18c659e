// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/transformer.h"

#include "tests/kernels/cpu_backend.h"
#include "tests/kernels/mix_harness.h"
#include "tests/kernels/transformer_cases.h"
#include "tests/kernels/typed_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace residua;
using namespace residua::tests;
using kernels::DataType;
using kernels::Status;

namespace {

constexpr double kEpsilon = 1e-5;

/// A tensor as the kernels see it.
struct Buffer {
    DataType type;
    std::vector<char> bytes;

    Buffer(const Values& values, DataType dataType) : type(dataType), bytes(encode(values, dataType)) {}
    Buffer(std::size_t count, DataType dataType) : Buffer(Values(count, std::nan("")), dataType) {}
    void* data() { return bytes.data(); }
    Values values() const { return decode(bytes, type); }
};

struct NormShape {
    int tokens, width;
};

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
    kernels::NormForward forward{type,         shape.tokens,   shape.width, kEpsilon, in.data(),
                                 other.data(), weights.data(), sum.data(),  y.data(), rstd.data()};
    if (kernels::normForward(forward, parallel) != Status::ok)
        return {};
    Buffer dx(x.size(), type), dweight(weight.size(), accumulator(type));
    kernels::NormBackward backward{type,        shape.tokens,   shape.width, dy.data(), sum.data(),
                                   rstd.data(), weights.data(), dsum.data(), dx.data(), dweight.data()};
    backward.workspaceBytes = kernels::normBackwardWorkspace(backward);
    std::vector<char> workspace(backward.workspaceBytes);
    backward.workspace = workspace.data();
    if (kernels::normBackward(backward, parallel) != Status::ok)
        return {};
    return {sum.values(), y.values(), dx.values(), dweight.values()};
}

} // namespace

class TransformerKernelsTest : public QObject {
    Q_OBJECT

private slots:
    void rmsNormGradients();
    void rmsNormThreads();
    void swigluGradients();
    void swigluExtremes();
    void caseTables_data();
    void caseTables();
    void refusesBadArguments();
};

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

void TransformerKernelsTest::caseTables_data()
{
    using Check = std::string (*)(const TransformerKernels&);
    QTest::addColumn<Check>("check");
    QTest::newRow("rmsNorm") << Check(checkNorms);
    QTest::newRow("swiglu") << Check(checkSwiglu);
    QTest::newRow("dropout") << Check(checkDropout);
    QTest::newRow("rotary") << Check(checkRotary);
    QTest::newRow("crossEntropy") << Check(checkCrossEntropy);
    QTest::newRow("streams") << Check(checkStreams);
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
    kernels::NormForward norm{DataType::float32, 2, 4, kEpsilon, numbers};
    QVERIFY(kernels::normForward(norm) == Status::missingPointer);
    norm.eps = -1;
    QVERIFY(kernels::normForward(norm) == Status::badEpsilon);
    kernels::NormBackward backward{DataType::float32, 2,       4,       numbers, numbers,
                                   numbers,           nullptr, nullptr, numbers, numbers};
    QVERIFY(kernels::normBackward(backward) == Status::workspaceTooSmall);
    QVERIFY(kernels::swigluForward({DataType::float32, 2, 4, numbers, numbers, 3, numbers}) == Status::badShape);
    QVERIFY(kernels::swigluForward({DataType::float32, 2, 4, numbers, nullptr, 4, numbers}) == Status::missingPointer);
    QVERIFY(kernels::rotary({DataType::float32, kernels::Rotation::forward, 1, 1, 1, 4, 3}) == Status::badShape);
    norm.eps = kEpsilon;
    norm.y = numbers;
    norm.bfloat16Output = true;
    QVERIFY(kernels::normForward(norm) == Status::badKind);
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
