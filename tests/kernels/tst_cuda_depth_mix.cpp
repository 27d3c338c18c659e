// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA kernels against the CPU's, on the same case table. The library must load on every machine; the rest is
// skipped without a device.
//   RESIDUA_KERNELS=FILE   the library to test, in place of the one that was built with this program
//   RESIDUA_CASES=tensor   only the cases of the forms on tensor cores, in matchesTheCpu()
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

struct Kinds {
    WeightKind weight;
    GateKind gate;
    GateInput input = GateInput::raw;
};

/// Every form of the gated kernel that has a row's threads in one block: rows of whole warps and of parts of one, fewer
/// sources than it copies ahead, none at all, and many.
std::vector<MixCase> gatedRowCases()
{
    struct Shape {
        int tokens, width, sources, absent;
    };
    const Shape shapes[] = {{5, 72, 2, -1}, {3, 768, 4, 1}, {1, 264, 1, -1},
                            {7, 24, 9, 8},  {2, 40, 97, 0}, {3, 256, 1, 0}};
    std::vector<MixCase> cases;
    std::size_t turn = 0;
    for (const DataType type : {DataType::float32, DataType::bfloat16})
        for (const GateKind gate : {GateKind::reluOutside, GateKind::reluInside})
            for (const GateInput input : {GateInput::raw, GateInput::normalised})
                for (int outputs = 1; outputs <= kMaxOutputs; ++outputs) {
                    const Shape& shape = shapes[turn++ % std::size(shapes)];
                    cases.push_back({type, shape.tokens, shape.width, shape.sources, outputs, WeightKind::perFeature,
                                     gate, input, ReluGradAtZero::one, turn % 3 == 0, false, shape.absent});
                }
    // The widest rows of each type, and one that is too wide. The ring of the first has more shared memory than a
    // kernel has without asking for it.
    for (const int width : {2048, 2052})
        cases.push_back({DataType::float32, 3, width, 3, 2, WeightKind::perFeature, GateKind::reluOutside});
    for (const int width : {4096, 4104})
        cases.push_back({DataType::bfloat16, 3, width, 3, 1, WeightKind::perFeature, GateKind::reluOutside});
    for (const int width : {2048, 2056})
        cases.push_back({DataType::bfloat16, 3, width, 3, 4, WeightKind::perFeature, GateKind::reluOutside});
    return cases;
}

/// The forms on tensor cores: one step of tokens to several groups and ranges, with the last step full and not, narrow
/// and wide rows, one subset of the sources to many, with all slots filled and not, and both depths of the weight
/// gradient's ring. The last two of the first shapes have too few sources and too wide rows for it.
std::vector<MixCase> tensorCases()
{
    struct Shape {
        int tokens, width, sources, absent;
    };
    const Shape shapes[] = {{1, 256, 4, -1}, {2, 384, 6, 0},   {11, 256, 8, -1}, {24, 256, 13, 12},
                            {9, 768, 8, 3},  {13, 1152, 9, 4}, {4, 640, 12, 5},  {3, 256, 97, 50},
                            {7, 2048, 7, 6}, {5, 256, 3, -1},  {3, 2176, 4, -1}};
    std::vector<MixCase> cases;
    for (const Shape& shape : shapes) {
        const bool odd = cases.size() % 2 == 1;
        cases.push_back({DataType::bfloat16, shape.tokens, shape.width, shape.sources, 3, WeightKind::perFeature,
                         GateKind::reluOutside, odd ? GateInput::normalised : GateInput::raw,
                         cases.size() % 3 == 2 ? ReluGradAtZero::zero : ReluGradAtZero::one, false, false,
                         shape.absent});
    }
    // The forward alone takes these.
    for (const Shape& shape : {Shape{5, 128, 6, 2}, Shape{4, 320, 4, 0}, Shape{2, 1024, 9, 8}, Shape{4225, 128, 5, -1}})
        for (const GateInput input : {GateInput::raw, GateInput::normalised})
            if (shape.tokens < 9 || input == GateInput::normalised)
                cases.push_back({DataType::bfloat16, shape.tokens, shape.width, shape.sources, 3,
                                 WeightKind::perFeature, GateKind::reluInside, input, ReluGradAtZero::one, true, false,
                                 shape.absent});
    return cases;
}

std::vector<MixCase> casesToRun()
{
    if (qEnvironmentVariable("RESIDUA_CASES") == "tensor")
        return tensorCases();
    const int stride = std::max(1, qEnvironmentVariableIntValue("RESIDUA_CASE_STRIDE"));
    const std::vector<MixCase> table = caseTable();
    std::vector<MixCase> cases;
    for (std::size_t i = 0; i < table.size(); i += std::size_t(stride))
        cases.push_back(table[i]);
    const std::vector<MixCase> gated = gatedRowCases();
    cases.insert(cases.end(), gated.begin(), gated.end());
    const std::vector<MixCase> tensor = tensorCases();
    cases.insert(cases.end(), tensor.begin(), tensor.end());
    // For the weight gradient: a stack that fits in shared memory, one that does not, and one with several tiles of
    // tokens in each block.
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
    mix.stack.dataType = DataType::bfloat16;
    mix.stack.gateKind = GateKind::reluOutside;
    mix.gateVectorGrad = &wanted;
    for (const int width : {768, 2048})
        for (const int sources : {4, 8, 13, 24, 49, 97}) {
            mix.stack.sources = sources;
            mix.stack.width = width;
            const std::size_t block = (std::size_t(3) * sources + 3) * std::size_t(width) * 4;
            QVERIFY(m_kernels->mixWeightGradWorkspace(mix) <= std::max(std::size_t(22 << 20), 33 * block));
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
    QTest::addColumn<DataType>("type");
    QTest::addColumn<int>("readers");
    QTest::addColumn<std::vector<Kinds>>("kinds"); // in turn
    const Kinds number{WeightKind::scalar, GateKind::none};
    const Kinds token{WeightKind::none, GateKind::token};
    const Kinds feature{WeightKind::perFeature, GateKind::none};
    const Kinds outside{WeightKind::perFeature, GateKind::reluOutside};
    const Kinds inside{WeightKind::perFeature, GateKind::reluInside, GateInput::normalised};
    for (const int readers : {32, 36, 64, 68, 128, 132, 256, 260, kMaxReaders}) {
        QTest::addRow("bf16 %d", readers) << DataType::bfloat16 << readers << std::vector{outside};
        QTest::addRow("f64 %d", readers) << DataType::float64 << readers << std::vector{outside};
    }
    const std::pair<const char*, std::vector<Kinds>> forms[] = {{"number", {number}},
                                                                {"token", {token}},
                                                                {"feature", {feature}},
                                                                {"inside", {inside}},
                                                                {"mixed", {inside, number, outside, token, feature}},
                                                                {"mixed inputs", {inside, outside}}};
    for (const auto& [name, kinds] : forms)
        for (const int readers : {8, 40}) {
            QTest::addRow("bf16 %s %d", name, readers) << DataType::bfloat16 << readers << kinds;
            QTest::addRow("f32 %s %d", name, readers) << DataType::float32 << readers << kinds;
        }
}

void CudaDepthMixTest::gatherTakesManyReaders()
{
    if (!hasDevice())
        QSKIP("no CUDA device");
    QFETCH(DataType, type);
    QFETCH(int, readers);
    QFETCH(std::vector<Kinds>, kinds);
    constexpr int kOutputs = 4;
    std::vector<MixCase> mixes;
    std::vector<MixData> data;
    while (int(mixes.size()) < readers / kOutputs) {
        const Kinds& kind = kinds[mixes.size() % kinds.size()];
        mixes.push_back({type, 5, type == DataType::float64 ? 6 : 40, 1, kOutputs, kind.weight, kind.gate, kind.input});
        data.push_back(randomData(mixes.back(), unsigned(mixes.size())));
        data.back().source = data.front().source;
    }
    CpuBackend cpu;
    CudaBackend cuda(*m_kernels);
    // One unit in the last place of bfloat16, see difference().
    const double tolerance = type == DataType::bfloat16 ? 0x1p-7 : type == DataType::float32 ? 3e-6 : 1e-13;
    const std::string text =
        difference("gather", gatherShared(mixes, data, cuda), gatherShared(mixes, data, cpu), tolerance);
    QVERIFY2(text.empty(), text.c_str());
}

void CudaDepthMixTest::gradientsMayBeMissing_data()
{
    QTest::addColumn<MixCase>("mix");
    const auto row = [](const char* name, WeightKind weight, GateKind gate) {
        QTest::newRow(name) << MixCase{DataType::bfloat16, 19, 64, 3, 2, weight, gate};
    };
    row("feature", WeightKind::perFeature, GateKind::none);
    row("scalar", WeightKind::scalar, GateKind::none);
    row("scalar token", WeightKind::scalar, GateKind::token);
    row("feature outside", WeightKind::perFeature, GateKind::reluOutside);
    row("feature inside", WeightKind::perFeature, GateKind::reluInside);
    QTest::newRow("tensor cores") << MixCase{DataType::bfloat16,   19, 256, 5, 3, WeightKind::perFeature,
                                             GateKind::reluOutside};
}

void CudaDepthMixTest::gradientsMayBeMissing()
{
    if (!hasDevice())
        QSKIP("no CUDA device");
    QFETCH(MixCase, mix);
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
    const auto callsOf = [&](DataType type, int width, std::size_t misalignment, std::size_t largest = 1 << 20) {
        const MixCase mix{type, 3, width, 1, 1};
        CudaBackend cuda(*m_kernels, misalignment, largest);
        const std::uint64_t before = m_kernels->singleElementCalls();
        static_cast<void>(runKernels(mix, randomData(mix, 1), cuda));
        return m_kernels->singleElementCalls() - before;
    };
    QCOMPARE(callsOf(DataType::bfloat16, 16, 0), std::uint64_t(0));
    QCOMPARE(callsOf(DataType::float64, 15, 8), std::uint64_t(0));
    // Scalar weights are rows of a larger tensor, and are read one by one.
    QCOMPARE(callsOf(DataType::bfloat16, 16, 4, 16), std::uint64_t(0));
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
