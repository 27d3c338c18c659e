// SPDX-License-Identifier: GPL-3.0-or-later
// The emulation of CUDA's threads that the kernels are tested on: it finds every planted error and accepts the same
// kernels without them. And what the kernels' library says when a launch fails.
#include "kernels/cuda_kernels.h"

#include "tests/kernels/cuda_backend.h"
#include "tests/kernels/emulation/emulator.h"
#include "tests/kernels/emulation/planted_kernels.h"

#include <QTest>

using namespace residua;
using namespace residua::tests;
using namespace residua::kernels;

extern "C" const CudaKernels* residuaCudaKernels();

class CudaEmulationTest : public QObject {
    Q_OBJECT

private slots:
    void findsPlantedErrors_data();
    void findsPlantedErrors();
    void warpOperationsGiveCudasValues_data();
    void warpOperationsGiveCudasValues();
    void refusesLaunchesBeyondTheDevice();
    void freedMemoryIsOutOfBounds();
    void failedLaunchesHaveCudasText_data();
    void failedLaunchesHaveCudasText();
    void everyCallOfTheRuntimeIsChecked();
};

namespace {

using Kernel = void (*)(PlantedArgs);
using Expected = float (*)(int thread);

/// Device memory for a planted kernel.
class PlantedRun {
public:
    PlantedRun()
    {
        const std::vector<float> in(4 * kPlantedThreads, 1);
        const std::vector<float> out(kPlantedBlocks * kPlantedThreads);
        args = {false, static_cast<const float*>(m_backend.upload(in.data(), in.size() * sizeof(float))),
                static_cast<float*>(m_backend.upload(out.data(), out.size() * sizeof(float))), &m_host};
    }

    cudaError_t launch(void (*kernel)(PlantedArgs), dim3 grid = kPlantedBlocks, dim3 block = kPlantedThreads,
                       std::size_t sharedBytes = kPlantedShared * sizeof(float))
    {
        void* arguments[] = {&args};
        return cudaLaunchKernel(kernel, grid, block, arguments, sharedBytes, nullptr);
    }

    PlantedArgs args{};

private:
    const float m_host = 1;
    CudaBackend m_backend{*residuaCudaKernels()};
};

} // namespace

void CudaEmulationTest::findsPlantedErrors_data()
{
    QTest::addColumn<int>("error");
    int error = 0;
    for (const PlantedError& planted : plantedErrors())
        QTest::newRow(planted.name) << error++;
}

void CudaEmulationTest::findsPlantedErrors()
{
    QFETCH(int, error);
    const PlantedError planted = plantedErrors()[std::size_t(error)];
    PlantedRun run;
    // Right, wrong, and right again: a finding leaves nothing behind.
    for (const bool wrong : {false, true, false}) {
        run.args.planted = wrong;
        const cudaError_t result = run.launch(planted.kernel);
        const std::string text = cudaGetErrorString(result);
        QVERIFY2((result == cudaErrorLaunchFailure) == wrong, text.c_str());
        QVERIFY2(!wrong || text.find(planted.finding) != std::string::npos, text.c_str());
    }
}

void CudaEmulationTest::warpOperationsGiveCudasValues_data()
{
    QTest::addColumn<Kernel>("kernel");
    QTest::addColumn<Expected>("expected");
    QTest::addColumn<bool>("planted");
    QTest::newRow("shuffles and votes") << &warpOperations << &warpOperationsOf << false;
    QTest::newRow("matrix product") << &matrixProduct << &matrixProductOf << false;
    QTest::newRow("transposed matrix product") << &matrixProduct << &matrixProductOf << true;
}

void CudaEmulationTest::warpOperationsGiveCudasValues()
{
    QFETCH(Kernel, kernel);
    QFETCH(Expected, expected);
    QFETCH(bool, planted);
    PlantedRun run;
    run.args.planted = planted;
    const cudaError_t result = run.launch(kernel, 1);
    QVERIFY2(result == cudaSuccess, cudaGetErrorString(result));
    std::vector<float> out(kPlantedThreads);
    checkCuda(cudaMemcpy(out.data(), run.args.out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int thread = 0; thread < kPlantedThreads; ++thread)
        QCOMPARE(out[std::size_t(thread)], expected(thread));
}

void CudaEmulationTest::refusesLaunchesBeyondTheDevice()
{
    PlantedRun run;
    QCOMPARE(run.launch(warpOperations, 1, 1025), cudaErrorInvalidConfiguration);
    QCOMPARE(run.launch(warpOperations, 0), cudaErrorInvalidConfiguration);
    QCOMPARE(run.launch(warpOperations, dim3(1, 65536)), cudaErrorInvalidConfiguration);
    QCOMPARE(run.launch(warpOperations, 1, 64, 49 * 1024), cudaErrorInvalidConfiguration);
    QCOMPARE(cudaFuncSetAttribute(warpOperations, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024),
             cudaErrorInvalidValue);
    QCOMPARE(cudaFuncSetAttribute(warpOperations, cudaFuncAttributeMaxDynamicSharedMemorySize, 49 * 1024), cudaSuccess);
    QCOMPARE(run.launch(warpOperations, 1, 64, 49 * 1024), cudaSuccess);
}

void CudaEmulationTest::freedMemoryIsOutOfBounds()
{
    PlantedRun run;
    void* memory = nullptr;
    checkCuda(cudaMalloc(&memory, 4));
    checkCuda(cudaFree(memory));
    run.args.in = static_cast<const float*>(memory);
    QCOMPARE(run.launch(plantedErrors()[2].kernel), cudaErrorLaunchFailure);
}

void CudaEmulationTest::failedLaunchesHaveCudasText_data()
{
    QTest::addColumn<int>("error");
    QTest::addColumn<QByteArray>("text");
    const auto row = [](cudaError_t error, const char* text) { QTest::newRow(text) << int(error) << QByteArray(text); };
    row(cudaErrorInvalidDeviceFunction, "invalid device function");
    row(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device");
    row(cudaErrorMemoryAllocation, "out of memory");
}

void CudaEmulationTest::failedLaunchesHaveCudasText()
{
    QFETCH(int, error);
    QFETCH(QByteArray, text);
    const CudaKernels& kernels = *residuaCudaKernels();
    const MixCase mix{DataType::bfloat16, 3, 8, 2, 1};
    const MixData data = randomData(mix, 1);
    CudaBackend backend(kernels);
    emulation::failNextCall(cudaError_t(error));
    QByteArray thrown;
    try {
        static_cast<void>(runKernels(mix, data, backend));
    } catch (const std::runtime_error& failure) {
        thrown = failure.what();
    }
    QCOMPARE(thrown, text);
    QCOMPARE(QByteArray(kernels.lastError()), text);
    // The runtime's own record is cleared, so that nobody else takes it for theirs.
    QCOMPARE(cudaGetLastError(), cudaSuccess);
    // The next launch is not affected.
    static_cast<void>(runKernels(mix, data, backend));
}

void CudaEmulationTest::everyCallOfTheRuntimeIsChecked()
{
    const CudaKernels& kernels = *residuaCudaKernels();
    emulation::failNextCall(cudaErrorNoDevice);
    QCOMPARE(kernels.deviceCount(), 0);
    QCOMPARE(QByteArray(kernels.lastError()), QByteArray("no CUDA-capable device is detected"));
    QCOMPARE(kernels.deviceCount(), 1);

    // The ring of 2,048 float32 takes more shared memory than a kernel has without asking for it.
    const MixCase large{DataType::float32, 1, 2048, 2, 1, WeightKind::perFeature, GateKind::reluOutside};
    CudaBackend backend(kernels);
    emulation::failNextCall(cudaErrorInvalidDeviceFunction);
    QVERIFY_EXCEPTION_THROWN(static_cast<void>(runKernels(large, randomData(large, 1), backend)), std::runtime_error);

    // Without tokens the gradients are cleared.
    const MixCase empty{DataType::float32, 0, 8, 2, 1};
    emulation::failNextCall(cudaErrorNoDevice);
    QVERIFY_EXCEPTION_THROWN(static_cast<void>(runKernels(empty, randomData(empty, 1), backend)), std::runtime_error);
}

QTEST_APPLESS_MAIN(CudaEmulationTest)
#include "tst_cuda_emulation.moc"
