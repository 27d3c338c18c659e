// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA kernels against the CPU's, on the same case table. The library must load on every machine; the rest is
// skipped without a device.
//   RESIDUA_KERNELS=FILE   the library to test, in place of the one that was built with this program
//   RESIDUA_CASE_STRIDE=N  only every N-th case of the table, and all large ones: for compute-sanitizer (13) and the
//                          emulation (7). N with a factor 2 or 5 would leave out some shapes or absent sources.
#include "kernels/cuda_kernels.h"

#include "tests/kernels/cpu_backend.h"
#include "tests/kernels/cuda_backend.h"
#include "tests/kernels/mix_harness.h"

#include <QTest>

using namespace residua::tests;
using namespace residua::kernels;

class CudaDepthMixTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void refusesAnotherLibrary();
    void workspaceIsBounded();
    void matchesTheCpu_data();
    void matchesTheCpu();
    void gatherTakesManyReaders_data();
    void gatherTakesManyReaders();
    void gradientsMayBeMissing_data();
    void gradientsMayBeMissing();
    void countsCallsByElement();
    void repeatsToTheBit();

private:
    bool hasDevice() const { return m_kernels->deviceCount() > 0; }

    const CudaKernels* m_kernels = nullptr;
};

std::vector<MixCase> casesToRun()
{
    const int stride = std::max(1, qEnvironmentVariableIntValue("RESIDUA_CASE_STRIDE"));
    const std::vector<MixCase> table = caseTable();
    std::vector<MixCase> cases;
    for (std::size_t i = 0; i < table.size(); i += std::size_t(stride))
        cases.push_back(table[i]);
    // A stack that fits in shared memory, one that does not, and one with several tiles of tokens in each block.
    cases.push_back({DataType::bfloat16, 9, 768, 12, 3, WeightKind::perFeature, GateKind::reluOutside});
    cases.push_back({DataType::float32, 9, 768, 40, 3, WeightKind::perFeature, GateKind::reluInside});
    cases.push_back(
        {DataType::float32, 9000, 4, 2, 2, WeightKind::perFeature, GateKind::reluOutside, GateInput::normalised});
    // Widths of real models, with more sources than shared memory holds.
    for (const int width : {768, 2048})
        for (const GateKind gate : {GateKind::none, GateKind::reluOutside})
            cases.push_back({DataType::bfloat16, 5, width, 30, 3, WeightKind::perFeature, gate,
                             gate == GateKind::none ? GateInput::raw : GateInput::normalised});
    // The weight gradients of rows of whole packs: rows of one thread to a whole block, one subset of the sources to
    // several, with sources and tokens that do not fill their groups and tiles.
    const MixCase rows[] = {
        {DataType::bfloat16, 1, 768, 1, 3, WeightKind::perFeature},
        {DataType::bfloat16, 11, 768, 2, 4, WeightKind::none, GateKind::token},
        {DataType::float32, 13, 768, 5, 4, WeightKind::perFeature, GateKind::reluOutside},
        {DataType::bfloat16, 27, 520, 25, 2, WeightKind::perFeature, GateKind::reluOutside, GateInput::normalised},
        {DataType::float32, 5, 2048, 3, 4, WeightKind::perFeature, GateKind::token},
        {DataType::bfloat16, 5, 4096, 3, 2, WeightKind::perFeature, GateKind::reluOutside},
        {DataType::bfloat16, 37, 8, 97, 1, WeightKind::perFeature, GateKind::reluOutside},
        {DataType::bfloat16, 29, 264, 7, 4, WeightKind::scalar, GateKind::reluInside, GateInput::normalised},
        {DataType::bfloat16, 19, 768, 97, 1, WeightKind::scalar},
        {DataType::float32, 700, 16, 5, 3, WeightKind::scalar},
        {DataType::float32, 3, 2052, 3, 3, WeightKind::perFeature, GateKind::reluOutside},
    };
    for (MixCase mix : rows) {
        cases.push_back(mix);
        mix.absent = mix.sources / 2;
        if (mix.sources > 1 && mix.width < 1024)
            cases.push_back(mix);
    }
    return cases;
}

void CudaDepthMixTest::initTestCase()
{
    const std::string library = qEnvironmentVariable("RESIDUA_KERNELS", RESIDUA_CUDA_KERNELS).toStdString();
    std::string why;
    m_kernels = loadCudaKernels(library, why);
    QVERIFY2(m_kernels, why.c_str());
}

void CudaDepthMixTest::refusesAnotherLibrary()
{
    std::string why;
    QVERIFY(!loadCudaKernels("libm.so.6", why));
    QVERIFY(why.find("libm.so.6") != std::string::npos);
    QVERIFY(!loadCudaKernels("no-such-library.so", why));
    QVERIFY(why.find("no-such-library.so") != std::string::npos);
}

void CudaDepthMixTest::workspaceIsBounded()
{
    constexpr std::size_t kMost = 128 << 20;
    MixWeightGrad mix;
    int wanted = 0;
    mix.weightGrad = &wanted;
    mix.stack.tokens = 100'000;
    mix.stack.outputs = 3;
    mix.stack.weightKind = WeightKind::perFeature;
    for (const int sources : {1, 13, 25, 49, 97, kMaxSources}) {
        mix.stack.sources = sources;
        mix.stack.width = 767;
        const std::size_t block = std::size_t(3) * sources * 767 * 4;
        std::size_t workspace = m_kernels->mixWeightGradWorkspace(mix);
        QVERIFY(workspace <= std::max(kMost, 65 * block));
        QVERIFY(workspace > std::min(kMost, 256 * block) / 10 * 9);
        mix.stack.width = 768;
        workspace = m_kernels->mixWeightGradWorkspace(mix);
        QVERIFY(workspace <= std::max(std::size_t(14 << 20), 33 * block));
    }
}

void CudaDepthMixTest::matchesTheCpu_data()
{
    QTest::addColumn<int>("misalignment");
    QTest::newRow("packed") << 0;
    QTest::newRow("unaligned") << 8;
}

void CudaDepthMixTest::matchesTheCpu()
{
    if (!hasDevice())
        QSKIP("no CUDA device");
    QFETCH(int, misalignment);
    unsigned seed = 1;
    for (const MixCase& mix : casesToRun()) {
        // Others are read element by element anyway.
        if (misalignment != 0 && (mix.width % 4 != 0 || mix.dataType == DataType::float64))
            continue;
        const MixData data = randomData(mix, seed++);
        CpuBackend cpu;
        CudaBackend cuda(*m_kernels, std::size_t(misalignment));
        const std::string text = difference(mix, runKernels(mix, data, cuda), runKernels(mix, data, cpu));
        QVERIFY2(text.empty(), text.c_str());
    }
}

void CudaDepthMixTest::gatherTakesManyReaders_data()
{
    QTest::addColumn<int>("readers");
    QTest::addColumn<DataType>("type");
    for (const int readers : {32, 36, 64, 68, 128, 132, 256, 260, kMaxReaders}) {
        QTest::addRow("bf16 %d", readers) << readers << DataType::bfloat16;
        QTest::addRow("f64 %d", readers) << readers << DataType::float64;
    }
}

void CudaDepthMixTest::gatherTakesManyReaders()
{
    if (!hasDevice())
        QSKIP("no CUDA device");
    QFETCH(int, readers);
    QFETCH(DataType, type);
    constexpr int kOutputs = 4;
    MixCase mix{type, 5, type == DataType::bfloat16 ? 32 : 6, 1, kOutputs, WeightKind::perFeature};
    mix.gateKind = GateKind::reluOutside;
    const std::vector<MixCase> mixes(readers / kOutputs, mix);
    std::vector<MixData> data;
    for (unsigned seed = 1; data.size() < mixes.size(); ++seed) {
        data.push_back(randomData(mix, seed));
        data.back().source = data.front().source;
    }
    CpuBackend cpu;
    CudaBackend cuda(*m_kernels);
    // One unit in the last place of bfloat16, see difference().
    const double tolerance = type == DataType::bfloat16 ? 0x1p-7 : 1e-13;
    const std::string text =
        difference("gather", gatherShared(mixes, data, cuda), gatherShared(mixes, data, cpu), tolerance);
    QVERIFY2(text.empty(), text.c_str());
}

void CudaDepthMixTest::gradientsMayBeMissing_data()
{
    QTest::addColumn<WeightKind>("weightKind");
    QTest::addColumn<GateKind>("gateKind");
    QTest::newRow("feature") << WeightKind::perFeature << GateKind::none;
    QTest::newRow("scalar") << WeightKind::scalar << GateKind::none;
    QTest::newRow("scalar token") << WeightKind::scalar << GateKind::token;
    QTest::newRow("feature outside") << WeightKind::perFeature << GateKind::reluOutside;
    QTest::newRow("feature inside") << WeightKind::perFeature << GateKind::reluInside;
}

void CudaDepthMixTest::gradientsMayBeMissing()
{
    if (!hasDevice())
        QSKIP("no CUDA device");
    QFETCH(WeightKind, weightKind);
    QFETCH(GateKind, gateKind);
    const MixCase mix{DataType::bfloat16, 19, 64, 3, 2, weightKind, gateKind};
    const MixData data = randomData(mix, 1);
    CudaBackend cuda(*m_kernels);
    const MixResult all = runWeightGrad(mix, data, cuda, {});
    for (int bits = 0; bits < 7; ++bits) {
        const WantedGradients wanted{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
        const MixResult some = runWeightGrad(mix, data, cuda, wanted);
        QCOMPARE(some.weightGrad, wanted.weights ? all.weightGrad : Values());
        QCOMPARE(some.tokenGrad, wanted.tokens ? all.tokenGrad : Values());
        QCOMPARE(some.gateVectorGrad, wanted.vectors ? all.gateVectorGrad : Values());
    }
}

void CudaDepthMixTest::countsCallsByElement()
{
    if (!hasDevice())
        QSKIP("no CUDA device");
    const auto callsOf = [&](DataType type, int width, std::size_t misalignment) {
        const MixCase mix{type, 3, width, 1, 1};
        CudaBackend cuda(*m_kernels, misalignment);
        const std::uint64_t before = m_kernels->singleElementCalls();
        static_cast<void>(runKernels(mix, randomData(mix, 1), cuda));
        return m_kernels->singleElementCalls() - before;
    };
    QCOMPARE(callsOf(DataType::bfloat16, 16, 0), std::uint64_t(0));
    QCOMPARE(callsOf(DataType::float64, 15, 8), std::uint64_t(0));
    // Forward, weight gradient and gather.
    QCOMPARE(callsOf(DataType::bfloat16, 15, 0), std::uint64_t(3));
    QCOMPARE(callsOf(DataType::float32, 16, 8), std::uint64_t(3));
}

void CudaDepthMixTest::repeatsToTheBit()
{
    if (!hasDevice())
        QSKIP("no CUDA device");
    const MixCase mix{DataType::float32, 1000, 96, 5, 3, WeightKind::perFeature, GateKind::reluOutside};
    const MixData data = randomData(mix, 3);
    CudaBackend cuda(*m_kernels);
    const MixResult once = runKernels(mix, data, cuda);
    const MixResult again = runKernels(mix, data, cuda);
    QVERIFY(again.weightGrad == once.weightGrad);
    QVERIFY(again.gateVectorGrad == once.gateVectorGrad);
    QVERIFY(again.out == once.out && again.sourceGrad == once.sourceGrad);
}

QTEST_APPLESS_MAIN(CudaDepthMixTest)
#include "tst_cuda_depth_mix.moc"
