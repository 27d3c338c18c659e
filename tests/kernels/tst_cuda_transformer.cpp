// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA kernels of the transformer block, of AdamW, of Sinkhorn and of parallel streams, on aligned and on unaligned
// memory. Skipped without a device.
//   RESIDUA_KERNELS=FILE  the library to test, in place of the one that was built with this program
#include "tests/kernels/cuda_backend.h"
#include "tests/kernels/transformer_cases.h"

#include <QTest>

using namespace residua::tests;
using namespace residua::kernels;

class CudaTransformerTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void rmsNorm_data() { alignments(); }
    void rmsNorm() { compare(checkNorms); }
    void swiglu_data() { alignments(); }
    void swiglu() { compare(checkSwiglu); }
    void rotary_data() { alignments(); }
    void rotary() { compare(checkRotary); }
    void crossEntropy_data() { alignments(); }
    void crossEntropy() { compare(checkCrossEntropy); }
    void dropout_data() { alignments(); }
    void dropout() { compare(checkDropout); }
    void adamw_data() { alignments(); }
    void adamw() { compare(checkAdamW); }
    void sinkhorn_data() { alignments(); }
    void sinkhorn() { compare(checkSinkhorn); }
    void streams_data() { alignments(); }
    void streams() { compare(checkStreams); }
    void repeatsToTheBit_data() { alignments(); }
    void repeatsToTheBit() { compare(checkRepeats); }

private:
    static void alignments()
    {
        QTest::addColumn<int>("misalignment");
        QTest::newRow("packed") << 0;
        QTest::newRow("unaligned") << 8;
    }

    void compare(std::string (*check)(const TransformerKernels&)) const
    {
        QFETCH(int, misalignment);
        TransformerKernels kernels = transformerKernelsOf(*m_kernels);
        kernels.memory = [&] { return std::make_unique<CudaBackend>(*m_kernels, std::size_t(misalignment)); };
        const std::string text = check(kernels);
        QVERIFY2(text.empty(), text.c_str());
    }

    const CudaKernels* m_kernels = nullptr;
};

void CudaTransformerTest::initTestCase()
{
    std::string why;
    m_kernels = loadCudaKernels(qEnvironmentVariable("RESIDUA_KERNELS", RESIDUA_CUDA_KERNELS).toStdString(), why);
    QVERIFY2(m_kernels, why.c_str());
    if (m_kernels->deviceCount() == 0)
        QSKIP("no CUDA device");
}

QTEST_APPLESS_MAIN(CudaTransformerTest)
#include "tst_cuda_transformer.moc"
