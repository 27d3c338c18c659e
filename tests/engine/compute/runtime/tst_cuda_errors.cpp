// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels and errors of a GPU, with stand-ins for the GPU and for our kernels.
#include "engine/compute/ops/mix_kernels.h"
#include "engine/compute/runtime/cuda_backend.h"
#include "engine/compute/session/training_loop.h"
#include "tests/engine/compute/runtime/fake_cuda.h"
#include "tests/support/test_program.h"

#include <ATen/ops/ones.h>
#include <QtTest>

#include <array>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {

/// The settings and the counters of the kernels' stand-in.
struct KernelState {
    kernels::Status status = kernels::Status::ok;
    std::string error;
    std::vector<c10::DeviceIndex> devices; ///< the current device in each call
};
KernelState state;

kernels::Status called()
{
    state.devices.push_back(c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)->getDevice().index());
    return state.status;
}

const kernels::CudaKernels& fakeKernels()
{
    static const kernels::CudaKernels table = [] {
        kernels::CudaKernels made{};
        made.version = kernels::kCudaKernelsVersion;
        made.mixForward = [](const kernels::MixForward&, void*) { return called(); };
        made.mixWeightGrad = [](const kernels::MixWeightGrad&, void*) { return called(); };
        made.mixGather = [](const kernels::MixGather&, void*) { return called(); };
        made.mixWeightGradWorkspace = [](const kernels::MixWeightGrad&) {
            static_cast<void>(called());
            return std::size_t{0};
        };
        made.lastError = [] { return state.error.c_str(); };
        made.singleElementCalls = [] { return std::uint64_t{state.devices.size()}; };
        return made;
    }();
    return table;
}

Compute onSecondGpu()
{
    Compute compute;
    compute.device = c10::Device(c10::DeviceType::CUDA, 1);
    compute.cuda = &fakeKernels();
    return compute;
}

MixCall plainMix()
{
    MixCall call;
    call.sources = {at::ones({4, 8}), at::ones({4, 8})};
    call.weights.weights = at::ones({1, 2});
    return call;
}

} // namespace

class TestCudaErrors : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { state = {}; }

    void kernelsRunOnTheirOwnDevice()
    {
        const tests::FakeCuda cuda;
        const Compute compute = onSecondGpu();
        const MixCall call = plainMix();
        const std::array<at::Tensor, 1> grads{at::ones({4, 8})};
        static_cast<void>(mixForward(compute, call, {}));
        static_cast<void>(mixWeightGrad(compute, call, grads, {}, {}, WeightGrads::All));
        const std::array<MixReading, 1> readings{MixReading{grads[0], &call, {}, {}, 0, 0}};
        static_cast<void>(mixGather(compute, readings, {}, call.sources[0], {}));
        QCOMPARE(state.devices, (std::vector<c10::DeviceIndex>{1, 1, 1, 1}));
        QCOMPARE(cuda.guard.getDevice().index(), c10::DeviceIndex{0});
    }

    void aRefusedLaunchSaysWhatCudaSays()
    {
        const tests::FakeCuda cuda;
        state.status = kernels::Status::deviceFailure;
        state.error = "invalid resource handle";
        const auto failure = attempt([] { static_cast<void>(mixForward(onSecondGpu(), plainMix(), {})); });
        QVERIFY(failure && failure->kind == Failure::Kind::Other);
        QCOMPARE(failure->text, std::string("LibTorch failed: mixForward: CUDA error: invalid resource handle"));
    }

    void aKernelThatFindsNoMemoryIsOutOfMemory()
    {
        const tests::FakeCuda cuda;
        state.status = kernels::Status::deviceFailure;
        state.error = "out of memory";
        const auto failure = attempt([] { static_cast<void>(mixForward(onSecondGpu(), plainMix(), {})); });
        QVERIFY(failure && failure->kind == Failure::Kind::OutOfMemory);
    }

    void kernelsOfAnotherGpuAreNotUsed()
    {
        const tests::FakeCuda cuda;
        const c10::Device gpu(c10::DeviceType::CUDA, 1);
        QCOMPARE(launchProblem(fakeKernels(), gpu), std::string());
        QCOMPARE(state.devices, std::vector<c10::DeviceIndex>{1});
        state.status = kernels::Status::deviceFailure;
        state.error = "no kernel image is available for execution on the device";
        QCOMPARE(launchProblem(fakeKernels(), gpu),
                 std::string("they do not run on this GPU (no kernel image is available for execution on the device): "
                             "build them for it (CMAKE_CUDA_ARCHITECTURES)"));
        state.error = "out of memory"; // the run's own failure
        QCOMPARE(launchProblem(fakeKernels(), gpu), std::string());
    }

    void slowCallsAreReported()
    {
        const tests::FakeCuda cuda;
        QCOMPARE(slowKernelNote(nullptr, 0), std::string());
        QCOMPARE(slowKernelNote(&fakeKernels(), 0), std::string());
        static_cast<void>(mixForward(onSecondGpu(), plainMix(), {}));
        QVERIFY(slowKernelNote(&fakeKernels(), 0).find("one element at a time") != std::string::npos);
        QCOMPARE(slowKernelNote(&fakeKernels(), 1), std::string());
    }

    void everyWordForOutOfMemoryIsKnown_data()
    {
        QTest::addColumn<QString>("text");
        for (const char* text :
             {"CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.11 GiB",
              "CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation'", "CUDA driver error: out of memory",
              "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
              "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasGemmEx(...)`",
              "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
              "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
              "cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate(handle)`",
              "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8388608000 bytes."}) {
            QTest::newRow(text) << text;
        }
    }
    void everyWordForOutOfMemoryIsKnown()
    {
        QFETCH(QString, text);
        QVERIFY(failureOf(text.toStdString(), "LibTorch").kind == Failure::Kind::OutOfMemory);
    }
};

RESIDUA_TEST(TestCudaErrors)
#include "tst_cuda_errors.moc"
