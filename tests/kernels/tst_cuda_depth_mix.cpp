// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA kernels against the CPU's, on the same case table. The library must load on every machine; the rest is
// skipped without a device.
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
    void matchesTheCpu_data();
    void matchesTheCpu();
    void gatherTakesManyReaders();
    void repeatsToTheBit();

private:
    bool hasDevice() const { return m_kernels->deviceCount() > 0; }

    const CudaKernels* m_kernels = nullptr;
};

void CudaDepthMixTest::initTestCase()
{
    std::string why;
    m_kernels = loadCudaKernels(RESIDUA_CUDA_KERNELS, why);
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
    std::vector<MixCase> cases = caseTable();
    // A stack that fits in shared memory, one that does not, and one with more tokens than blocks.
    cases.push_back({DataType::bfloat16, 70, 768, 12, 3, WeightKind::perFeature, GateKind::reluOutside});
    cases.push_back({DataType::float32, 70, 768, 40, 3, WeightKind::perFeature, GateKind::reluInside});
    cases.push_back(
        {DataType::float32, 3000, 64, 4, 2, WeightKind::scalar, GateKind::reluOutside, GateInput::normalised});
    unsigned seed = 1;
    for (const MixCase& mix : cases) {
        const MixData data = randomData(mix, seed++);
        CpuBackend cpu;
        CudaBackend cuda(*m_kernels, std::size_t(misalignment));
        const std::string text = difference(mix, runKernels(mix, data, cuda), runKernels(mix, data, cpu));
        QVERIFY2(text.empty(), text.c_str());
    }
}

void CudaDepthMixTest::gatherTakesManyReaders()
{
    if (!hasDevice())
        QSKIP("no CUDA device");
    const std::vector<MixCase> readers(kMaxReaders / 4, MixCase{DataType::float64, 20, 6, 1, 4});
    const std::vector<MixData> data(readers.size(), randomData(readers[0], 9));
    CpuBackend cpu;
    CudaBackend cuda(*m_kernels);
    const std::string text =
        difference("gather", gatherShared(readers, data, cuda), gatherShared(readers, data, cpu), 1e-13);
    QVERIFY2(text.empty(), text.c_str());
}

void CudaDepthMixTest::repeatsToTheBit()
{
    if (!hasDevice())
        QSKIP("no CUDA device");
    const MixCase mix{DataType::float32, 5000, 96, 5, 3, WeightKind::perFeature, GateKind::reluOutside};
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
