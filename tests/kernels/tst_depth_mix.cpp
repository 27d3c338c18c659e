// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/depth_mix.h"

#include "tests/kernels/cpu_backend.h"
#include "tests/kernels/mix_harness.h"
#include "tests/kernels/typed_values.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace residua;
using namespace residua::tests;
using kernels::DataType;
using kernels::GateInput;
using kernels::GateKind;
using kernels::ReluGradAtZero;
using kernels::Status;
using kernels::WeightKind;

class DepthMixTest : public QObject {
    Q_OBJECT

private slots:
    void matchesTheComposition();
    void gradientsMatchFiniteDifferences_data();
    void gradientsMatchFiniteDifferences();
    void onesAreTheRunningSum_data();
    void onesAreTheRunningSum();
    void threadsChangeNothing_data();
    void threadsChangeNothing();
    void gatherTakesReadersOfEveryKind();
    void manySourcesAndReaders();
    void zeroGateLearnsOnlyWithSlopeOne();
    void baseMayBeTheOutput();
    void refusesBadArguments();
    void noTokensIsNoWork();
};

void DepthMixTest::matchesTheComposition()
{
    unsigned seed = 1;
    for (const MixCase& mix : caseTable()) {
        const MixData data = randomData(mix, seed++);
        CpuBackend backend;
        const std::string text = difference(mix, runKernels(mix, data, backend), reference(mix, data));
        QVERIFY2(text.empty(), text.c_str());
    }
}

void DepthMixTest::gradientsMatchFiniteDifferences_data()
{
    QTest::addColumn<int>("weight");
    QTest::addColumn<int>("gate");
    QTest::addColumn<int>("input");
    const char* weights[] = {"none", "scalar", "feature"};
    const char* gates[] = {"none", "token", "outside", "inside"};
    for (int weight = 0; weight < 3; ++weight)
        for (int gate = 0; gate < 4; ++gate)
            for (int input = 0; input < (gate >= 2 ? 2 : 1); ++input)
                if (weight + gate > 0)
                    QTest::addRow("%s %s %s", weights[weight], gates[gate], input ? "normalised" : "raw")
                        << weight << gate << input;
}

void DepthMixTest::gradientsMatchFiniteDifferences()
{
    QFETCH(int, weight);
    QFETCH(int, gate);
    QFETCH(int, input);
    MixCase mix{DataType::float64, 3, 5, 3, 2, WeightKind(weight), GateKind(gate), GateInput(input)};
    MixData data = randomData(mix, 7);
    CpuBackend backend;
    const MixResult result = runKernels(mix, data, backend);
    const auto slopes = [&](Values& inputs) {
        Values gradient;
        for (double& value : inputs) {
            const double kept = value;
            const double step = 1e-6;
            value = kept + step;
            const double above = referenceLoss(mix, data);
            value = kept - step;
            gradient.push_back((above - referenceLoss(mix, data)) / (2 * step));
            value = kept;
        }
        return gradient;
    };
    const auto compare = [&](const char* what, const Values& got, Values& inputs) {
        const std::string text = difference(what, got, slopes(inputs), 1e-8);
        QVERIFY2(text.empty(), text.c_str());
    };
    for (int s = 0; s < mix.sources; ++s)
        compare("source", result.sourceGrad[s], data.source[s]);
    if (mix.weightKind != WeightKind::none)
        compare("weights", result.weightGrad, data.weights);
    if (mix.gateKind == GateKind::token)
        compare("tokenWeights", result.tokenGrad, data.tokenWeights);
    if (mix.gateKind > GateKind::token)
        compare("gateVectors", result.gateVectorGrad, data.gateVectors);
}

void DepthMixTest::onesAreTheRunningSum_data()
{
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("weight");
    QTest::addColumn<int>("gate");
    QTest::addColumn<bool>("base");
    for (const int type : {int(DataType::float32), int(DataType::float64)})
        for (const int weight : {1, 2})
            for (const int gate : {0, 1, 2, 3})
                for (const bool base : {false, true})
                    QTest::addRow("%s weight %d gate %d%s", type ? "f64" : "f32", weight, gate, base ? " base" : "")
                        << type << weight << gate << base;
}

void DepthMixTest::onesAreTheRunningSum()
{
    QFETCH(int, type);
    QFETCH(int, weight);
    QFETCH(int, gate);
    QFETCH(bool, base);
    for (int sources : {1, 2, 13}) {
        MixCase mix{DataType(type), 19, 93, sources, 3, WeightKind(weight), GateKind(gate)};
        mix.base = base;
        MixData data = randomData(mix, 11);
        data.source[0][5] = -0.0;
        data.weights.assign(data.weights.size(), 1);
        data.tokenWeights.assign(data.tokenWeights.size(), 0);
        data.gateVectors.assign(data.gateVectors.size(), 0);
        CpuBackend backend;
        const MixResult result = runKernels(mix, data, backend);
        for (int o = 0; o < mix.outputs; ++o) {
            Values sum = base ? data.base[o] : data.source[0];
            for (int s = base ? 0 : 1; s < sources; ++s)
                for (std::size_t i = 0; i < sum.size(); ++i)
                    sum[i] = mix.dataType == DataType::float32 ? double(float(sum[i]) + float(data.source[s][i]))
                                                               : sum[i] + data.source[s][i];
            QVERIFY(encode(result.out[o], mix.dataType) == encode(sum, mix.dataType));
        }
    }
}

void DepthMixTest::threadsChangeNothing_data()
{
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("weight");
    QTest::newRow("f32 scalar") << int(DataType::float32) << int(WeightKind::scalar);
    QTest::newRow("f32 feature") << int(DataType::float32) << int(WeightKind::perFeature);
    QTest::newRow("bf16 feature") << int(DataType::bfloat16) << int(WeightKind::perFeature);
}

void DepthMixTest::threadsChangeNothing()
{
    QFETCH(int, type);
    QFETCH(int, weight);
    const MixCase mix{DataType(type), 600, 48, 5, 3, WeightKind(weight), GateKind::reluOutside, GateInput::normalised};
    const MixData data = randomData(mix, 3);
    CpuBackend serial;
    const MixResult once = runKernels(mix, data, serial);
    for (const int threads : {2, 3, 7}) {
        CpuBackend backend(threads);
        const MixResult again = runKernels(mix, data, backend);
        QVERIFY(again.out == once.out);
        QVERIFY(again.weightGrad == once.weightGrad);
        QVERIFY(again.tokenGrad == once.tokenGrad);
        QVERIFY(again.gateVectorGrad == once.gateVectorGrad);
        QVERIFY(again.sourceGrad == once.sourceGrad);
    }
}

void DepthMixTest::gatherTakesReadersOfEveryKind()
{
    std::vector<MixCase> readers;
    std::vector<MixData> data;
    Values want;
    for (const MixCase& mix :
         {MixCase{DataType::float64, 21, 37, 2, 3, WeightKind::perFeature, GateKind::reluOutside},
          MixCase{DataType::float64, 21, 37, 3, 1, WeightKind::scalar},
          MixCase{DataType::float64, 21, 37, 1, 4, WeightKind::none, GateKind::token},
          MixCase{DataType::float64, 21, 37, 4, 2, WeightKind::scalar, GateKind::reluInside, GateInput::normalised},
          MixCase{DataType::float64, 21, 37, 2, 1, WeightKind::perFeature}}) {
        readers.push_back(mix);
        data.push_back(randomData(mix, 5 + unsigned(readers.size())));
        data.back().source[0] = data.front().source[0];
        const Values part = reference(mix, data.back()).sourceGrad[0];
        want.resize(part.size());
        for (std::size_t i = 0; i < part.size(); ++i)
            want[i] += part[i];
    }
    CpuBackend backend;
    const std::string text = difference("gather", gatherShared(readers, data, backend), want, 1e-13);
    QVERIFY2(text.empty(), text.c_str());
}

void DepthMixTest::manySourcesAndReaders()
{
    MixCase wide{DataType::float32, 4, 6, kernels::kMaxSources, 2, WeightKind::perFeature, GateKind::reluOutside};
    MixData data = randomData(wide, 9);
    CpuBackend backend;
    std::string text = difference(wide, runKernels(wide, data, backend), reference(wide, data));
    QVERIFY2(text.empty(), text.c_str());

    const std::vector<MixCase> readers(kernels::kMaxReaders / 4, MixCase{DataType::float64, 20, 6, 1, 4});
    std::vector<MixData> all(readers.size(), randomData(readers[0], 9));
    Values want = reference(readers[0], all[0]).sourceGrad[0];
    for (double& value : want)
        value *= double(readers.size());
    text = difference("gather", gatherShared(readers, all, backend), want, 1e-12);
    QVERIFY2(text.empty(), text.c_str());
}

void DepthMixTest::zeroGateLearnsOnlyWithSlopeOne()
{
    for (const ReluGradAtZero atZero : {ReluGradAtZero::one, ReluGradAtZero::zero}) {
        MixCase mix{DataType::float32, 9,     12, 2, 1, WeightKind::perFeature, GateKind::reluOutside,
                    GateInput::raw,    atZero};
        MixData data = randomData(mix, 2);
        data.gateVectors.assign(data.gateVectors.size(), 0);
        CpuBackend backend;
        const MixResult result = runKernels(mix, data, backend);
        const bool learns = result.gateVectorGrad != Values(data.gateVectors.size(), 0.0);
        QCOMPARE(learns, atZero == ReluGradAtZero::one);
    }
}

namespace {

/// A valid forward of two float32 sources of 2 × 3, for the tests that break one thing at a time.
struct SmallForward {
    float x[2][6] = {{1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1}};
    float out[6] = {};
    float weights[2] = {1, 2};
    const void* sources[2] = {x[0], x[1]};
    kernels::MixForward mix;

    SmallForward()
    {
        mix.stack.tokens = 2;
        mix.stack.width = 3;
        mix.stack.sources = 2;
        mix.stack.source = sources;
        mix.stack.weights = weights;
        mix.out[0] = out;
    }
};

} // namespace

void DepthMixTest::baseMayBeTheOutput()
{
    SmallForward small;
    for (float& value : small.out)
        value = 10;
    small.mix.base[0] = small.out;
    QVERIFY(kernels::mixForward(small.mix) == Status::ok);
    for (int i = 0; i < 6; ++i)
        QCOMPARE(small.out[i], 10 + float(i + 1) + 2);
}

void DepthMixTest::refusesBadArguments()
{
    const auto statusAfter = [](auto breakIt) {
        SmallForward small;
        breakIt(small.mix);
        return kernels::mixForward(small.mix);
    };
    using Mix = kernels::MixForward;
    QVERIFY(statusAfter([](Mix&) {}) == Status::ok);
    QVERIFY(statusAfter([](Mix& m) { m.stack.width = 0; }) == Status::badShape);
    QVERIFY(statusAfter([](Mix& m) { m.stack.sources = kernels::kMaxSources + 1; }) == Status::badShape);
    QVERIFY(statusAfter([](Mix& m) { m.stack.outputs = 5; }) == Status::badShape);
    QVERIFY(statusAfter([](Mix& m) { m.stack.weights = nullptr; }) == Status::missingPointer);
    QVERIFY(statusAfter([](Mix& m) { m.stack.gateKind = GateKind::token; }) == Status::missingPointer);
    QVERIFY(statusAfter([](Mix& m) { m.out[0] = nullptr; }) == Status::missingPointer);
    QVERIFY(statusAfter([](Mix& m) { m.stack.weightKind = WeightKind::none; }) == Status::badKind);
    QVERIFY(statusAfter([](Mix& m) { m.stack.gateInput = GateInput::normalised; }) == Status::badKind);
    QVERIFY(statusAfter([](Mix& m) { m.stack.dataType = DataType(9); }) == Status::badKind);
    QVERIFY(statusAfter([](Mix& m) { m.out[0] = const_cast<void*>(m.stack.source[1]); }) == Status::overlap);

    SmallForward small;
    kernels::MixWeightGrad backward;
    backward.stack = small.mix.stack;
    backward.outGrad[0] = small.x[0];
    float gradient[2];
    backward.weightGrad = gradient;
    QVERIFY(kernels::mixWeightGrad(backward) == Status::workspaceTooSmall);
    backward.tokenGrad = gradient;
    QVERIFY(kernels::mixWeightGrad(backward) == Status::badKind);
    for (int status = 0; status <= int(Status::deviceFailure); ++status)
        QVERIFY(QByteArray(kernels::describe(Status(status))) != "unknown status");
}

void DepthMixTest::noTokensIsNoWork()
{
    MixCase mix{DataType::float32, 0, 8, 2, 2, WeightKind::perFeature, GateKind::reluOutside};
    CpuBackend backend;
    const MixResult result = runKernels(mix, randomData(mix, 1), backend);
    QCOMPARE(result.weightGrad, Values(32, 0.0));
    QCOMPARE(result.gateVectorGrad, Values(16, 0.0));
}

RESIDUA_TEST(DepthMixTest)
#include "tst_depth_mix.moc"
