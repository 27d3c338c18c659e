// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs that cannot be used, and what is said of them. The test starts itself with stand-ins for the driver and for
// LibTorch's CUDA part, because a process opens each once.
#include "engine/compute/runtime/compute.h"
#include "engine/compute/runtime/cuda_backend.h"
#include "engine/compute/runtime/device.h"
#include "engine/compute/runtime/device_graph.h"
#include "engine/compute/session/training_loop.h"
#include "kernels/cuda_kernels.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <ATen/ops/ones.h>
#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QMap>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>
#include <QtTest>

#include <cstdio>
#include <string>

using namespace residua;
using namespace residua::engine;

namespace {

using Variables = QMap<QString, QString>;

void printLine(const std::string& line)
{
    std::printf("%s\n", line.c_str());
}

void openAndPrint(const std::string& key)
{
    const Result<c10::Device> opened = openDevice(key);
    printLine(opened ? "opened" : opened.error().text());
}

void trainOnCpu()
{
    const at::Tensor weight = at::ones({2}).requires_grad_();
    weight.sum().backward();
}

/// Runs the started copy. The test reads its standard output.
int runAsChild(const std::string& what, const std::string& key)
{
    if (what == "--list") {
        for (const DeviceInfo& device : listDevices()) {
            printLine(device.key + " " + device.name + " " + std::to_string(device.freeBytes >> 20) + " MiB " +
                      (device.usable ? kernelsText(device) : device.reason));
        }
    } else if (what == "--open") {
        openAndPrint(key);
    } else if (what == "--train-first") {
        trainOnCpu();
        openAndPrint(key);
    } else if (what == "--create-first") {
        const Result<Compute> compute = Compute::create("cpu", projects::Precision::Fp32);
        trainOnCpu();
        openAndPrint(key);
    } else if (what == "--compute") {
        const Result<Compute> compute = Compute::create(key, projects::Precision::Fp32);
        printLine(!compute ? compute.error().text() : compute->cuda != nullptr ? "kernels" : compute->withoutKernels);
    } else if (what == "--eight-bits") {
        const Result<Compute> compute = Compute::create(key, projects::Precision::Fp8);
        printLine(compute ? "computes" : compute.error().text());
    } else if (what == "--graphs") {
        std::string why;
        const DeviceGraphs* const graphs = deviceGraphs(c10::Device(key), why);
        printLine(graphs != nullptr ? "graphs" : "no graphs: " + why);
    } else if (what == "--describe") {
        printLine(describe(noMemory("CUDA out of memory"), projects::examples().front().project, key).text());
    } else if (what == "--memory") {
        const projects::Project& project = projects::examples().front().project;
        printLine(memoryWarning(project, key));
        printLine(describe(noMemory("CUDA out of memory"), project, key).text());
        const DeviceMemory memory = memoryOf(*openDevice(key));
        printLine(std::to_string(memory.freeBytes >> 20) + " " + std::to_string(memory.othersBytes >> 20));
    }
    return 0;
}

} // namespace

class TestGpuStandIns : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        // LibTorch's CUDA part is looked for beside the libtorch_cpu.so of the process.
        link(QStringLiteral(RESIDUA_FAKE_DRIVER), QStringLiteral("libcuda.so.1"));
        link(QStringLiteral(RESIDUA_FAKE_DRIVER), QStringLiteral("libnvidia-ml.so.1"));
        link(QStringLiteral(RESIDUA_TORCH_CPU), QStringLiteral("libtorch_cpu.so"));
        link(QStringLiteral(RESIDUA_FAKE_TORCH_CUDA), QStringLiteral("libtorch_cuda.so"));
    }

    void saysWhyTheDriverHasNoGpu_data()
    {
        QTest::addColumn<Variables>("variables");
        QTest::addColumn<QString>("reason");
        const auto row = [](const char* name, const Variables& variables, const char* reason) {
            QTest::newRow(name) << variables << QString::fromUtf8(reason);
        };
        row("driver without a device", {{"FAKE_INIT", "100"}},
            "the NVIDIA driver sees no GPU: see what nvidia-smi says, and the variable CUDA_VISIBLE_DEVICES");
        row("hidden device", {{"FAKE_COUNT", "0"}},
            "the NVIDIA driver sees no GPU: see what nvidia-smi says, and the variable CUDA_VISIBLE_DEVICES");
        row("old driver", {{"FAKE_VERSION", "12080"}},
            "the NVIDIA driver supports CUDA 12.8, needed is 13.0: update the driver");
        row("driver half updated", {{"FAKE_INIT", "803"}},
            "the NVIDIA kernel module and libcuda.so.1 are of different versions: reboot after the driver's update");
        row("broken driver", {{"FAKE_INIT", "999"}},
            "the NVIDIA driver does not start (CUDA error 999): see what nvidia-smi says, or reboot");
        row("old card", {{"FAKE_CAPABILITY", "75"}},
            "its compute capability is 7.5, needed is 8.0 or higher: compute on another GPU or on the CPU");
        row("CUDA that does not start", {{"FAKE_CUDA_PROBLEM", "CUDA error: initialization error\nmore"}},
            "CUDA does not start (CUDA error: initialization error): see what nvidia-smi says");
    }
    void saysWhyTheDriverHasNoGpu()
    {
        QFETCH(Variables, variables);
        QFETCH(QString, reason);
        QCOMPARE(child({"--open", "cuda:0"}, variables), QStringList{"[device cuda:0] " + reason});
        const QStringList listed = child({"--list"}, variables);
        QCOMPARE(listed.size(), 2);
        QVERIFY2(listed[1].endsWith(reason), qPrintable(listed[1]));
    }

    /// Cards before Ada and Hopper do not multiply in float8.
    void saysWhichCardsMultiplyInEightBits()
    {
        QCOMPARE(child({"--eight-bits", "cuda:0"}, {{"FAKE_CAPABILITY", "89"}}), QStringList{"computes"});
        QCOMPARE(child({"--eight-bits", "cpu"}, {{"FAKE_CAPABILITY", "80"}}), QStringList{"computes"});
        QCOMPARE(child({"--eight-bits", "cuda:0"}, {{"FAKE_CAPABILITY", "86"}}),
                 QStringList{"[training · precision] fp8 needs a GPU of compute capability 8.9 or higher, cuda:0 has "
                             "8.6: train in bf16, or on another GPU or the CPU, which computes the same more slowly"});
    }

    void saysThatThereIsNoDriver()
    {
        QVERIFY(QFile::remove(m_folder.filePath("libcuda.so.1")));
        link(QStringLiteral(RESIDUA_OTHER_KERNELS), QStringLiteral("libcuda.so.1"));
        const QStringList other = child({"--open", "cuda:0"}, {});
        QVERIFY(QFile::remove(m_folder.filePath("libcuda.so.1")));
        // An empty file: the machine's own driver, if it has one, is not found either.
        QVERIFY(QFile(m_folder.filePath("libcuda.so.1")).open(QIODevice::WriteOnly));
        const QStringList none = child({"--open", "cuda:0"}, {});
        QVERIFY(QFile::remove(m_folder.filePath("libcuda.so.1")));
        link(QStringLiteral(RESIDUA_FAKE_DRIVER), QStringLiteral("libcuda.so.1"));
        QCOMPARE(other, QStringList{"[device cuda:0] libcuda.so.1 is not an NVIDIA driver: install the driver again"});
        QCOMPARE(none, QStringList{"[device cuda:0] no NVIDIA driver (libcuda.so.1 is not installed): install one for "
                                   "CUDA 13.0 or newer, or compute on the CPU"});
    }

    void saysWhichGpusThereAre()
    {
        QCOMPARE(child({"--open", "cuda:1"}, {}), QStringList{"[device cuda:1] there is one GPU, cuda:0"});
        QCOMPARE(child({"--open", "cuda:7"}, {{"FAKE_COUNT", "2"}}),
                 QStringList{"[device cuda:7] there are 2 GPUs, the last is cuda:1"});
        QCOMPARE(child({"--open", "cuda:1"}, {{"FAKE_COUNT", "2"}}), QStringList{"opened"});
    }

    void listsMemoryThatIsFree_data()
    {
        QTest::addColumn<Variables>("variables");
        QTest::addColumn<QString>("free");
        QTest::newRow("empty card") << Variables{} << "8000 MiB";
        QTest::newRow("our own cache") << Variables{{"FAKE_FREE_MIB", "1000"},
                                                    {"FAKE_RESERVED_MIB", "6000"},
                                                    {"FAKE_ALLOCATED_MIB", "500"}}
                                       << "6500 MiB";
        QTest::newRow("device without memory") << Variables{{"FAKE_FREE_MIB", "0"}} << "0 MiB";
    }
    void listsMemoryThatIsFree()
    {
        QFETCH(Variables, variables);
        QFETCH(QString, free);
        const QStringList listed = child({"--list"}, variables);
        QVERIFY2(listed.value(1).startsWith("cuda:0 Fake GPU 0 " + free + " custom kernels: "),
                 qPrintable(listed.join('\n')));
    }

    void countsWhatOtherProgramsHold()
    {
        const QStringList filled = child({"--memory", "cuda:0"}, {{"FAKE_FREE_MIB", "1"}});
        QVERIFY2(filled.value(0).startsWith("memory on cuda:0 may not suffice: predicted "), qPrintable(filled[0]));
        const QString others = QStringLiteral("0.00 GiB of 8.00 GiB free, other programs hold 8.00 GiB; "
                                              "end those programs, take another device, or ");
        QVERIFY2(filled.value(0).contains(others), qPrintable(filled[0]));
        QVERIFY2(filled.value(1).startsWith("[device cuda:0] out of memory: ") && filled.value(1).contains(others),
                 qPrintable(filled.value(1)));
        // After a run of ours its memory is free for the next.
        const QStringList cached =
            child({"--memory", "cuda:0"}, {{"FAKE_FREE_MIB", "1"}, {"FAKE_RESERVED_MIB", "7900"}});
        QCOMPARE(cached.value(0), QString());
        QVERIFY2(!cached.value(1).contains("other programs"), qPrintable(cached.value(1)));
        QCOMPARE(cached.value(2), QStringLiteral("7901 291"));
    }

    void aCardThatIsTooFullToAnswerIsOutOfMemory()
    {
        const QStringList said =
            child({"--describe", "cuda:0"}, {{"FAKE_MEMORY_PROBLEM", "CUDA error: out of memory"}});
        QVERIFY2(said.value(0).startsWith("[device cuda:0] out of memory: predicted "), qPrintable(said.join('\n')));
        QVERIFY2(said.value(0).contains("; make the micro-batch"), qPrintable(said.value(0)));
    }

    void loadsCudaBeforeTheCpuIsUsed()
    {
        QCOMPARE(child({"--create-first", "cuda:0"}, {}), QStringList{"opened"});
        QCOMPARE(
            child({"--train-first", "cuda:0"}, {}),
            QStringList{"[device cuda:0] LibTorch has trained on the CPU before its CUDA part was loaded, and does "
                        "not find it any more: start the program again"});
    }

    void saysWhyTheKernelsAreNotUsed_data()
    {
        QTest::addColumn<QString>("library");
        QTest::addColumn<QString>("reason");
        const QString later = QString::number(kernels::kCudaKernelsVersion + 1);
        const QString ours = QString::number(kernels::kCudaKernelsVersion);
        QTest::newRow("other version") << RESIDUA_OTHER_KERNELS
                                       << RESIDUA_OTHER_KERNELS " has kernels of version " + later +
                                              ", and this program expects " + ours +
                                              ": build both from the same sources";
        QTest::newRow("missing symbol") << RESIDUA_FAKE_DRIVER
                                        << QStringLiteral(
                                               RESIDUA_FAKE_DRIVER
                                               " holds no Residua kernels, since it has no symbol "
                                               "residuaCudaKernels: build it again, or unset RESIDUA_KERNELS");
        QTest::newRow("no file") << "/nowhere/kernels.so"
                                 << QStringLiteral("RESIDUA_KERNELS names no file: /nowhere/kernels.so");
    }
    void saysWhyTheKernelsAreNotUsed()
    {
        QFETCH(QString, library);
        QFETCH(QString, reason);
        const Variables variables{{"RESIDUA_KERNELS", library}};
        const QStringList listed = child({"--list"}, variables);
        QCOMPARE(listed.value(1), "cuda:0 Fake GPU 0 8000 MiB custom kernels: not in use: " + reason);
        QCOMPARE(child({"--compute", "cuda:0"}, variables), QStringList{reason});
    }

    void saysWhyStepsAreNotRecorded_data()
    {
        QTest::addColumn<Variables>("variables");
        QTest::addColumn<QString>("said");
        const QString none =
            QStringLiteral("no graphs: steps are not recorded as CUDA graphs, so that small networks take "
                           "several times as long: ");
        const QString other = QStringLiteral(" is not of this version of the program: install both again");
        QTest::newRow("fits") << Variables{{kGraphs, RESIDUA_FAKE_GRAPH}} << "graphs";
        QTest::newRow("switched off") << Variables{{kGraphs, "0"}} << "no graphs: ";
        QTest::newRow("no file") << Variables{{kGraphs, "/nowhere/graphs.so"}}
                                 << none + "RESIDUA_CUDA_GRAPH names no file: /nowhere/graphs.so";
        QTest::newRow("other version") << Variables{{kGraphs, RESIDUA_FAKE_GRAPH}, {"FAKE_GRAPH_VERSION", "7"}}
                                       << none + RESIDUA_FAKE_GRAPH + other;
        QTest::newRow("other library") << Variables{{kGraphs, RESIDUA_FAKE_DRIVER}}
                                       << none + RESIDUA_FAKE_DRIVER + other;
    }
    void saysWhyStepsAreNotRecorded()
    {
        QFETCH(Variables, variables);
        QFETCH(QString, said);
        QCOMPARE(child({"--graphs", "cuda:0"}, variables), QStringList{said});
        QCOMPARE(child({"--graphs", "cpu"}, variables), QStringList{"no graphs: "});
    }

private:
    static constexpr const char* kGraphs = "RESIDUA_CUDA_GRAPH";

    void link(const QString& library, const QString& name)
    {
        QVERIFY2(QFile::link(library, m_folder.filePath(name)), qPrintable(library));
    }

    /// The lines that a copy of this program writes with the stand-ins.
    QStringList child(const QStringList& arguments, const Variables& variables)
    {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("LD_LIBRARY_PATH",
                           m_folder.path() + QLatin1Char(':') + environment.value("LD_LIBRARY_PATH"));
        environment.remove("RESIDUA_KERNELS");
        for (auto each = variables.begin(); each != variables.end(); ++each) {
            environment.insert(each.key(), each.value());
        }
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(QCoreApplication::applicationFilePath(), QStringList{"tst_gpu_stand_ins"} + arguments);
        if (!process.waitForFinished(tests::kPatience) || process.exitStatus() != QProcess::NormalExit ||
            process.exitCode() != 0) {
            return {QStringLiteral("failed: ") + QString::fromUtf8(process.readAllStandardError())};
        }
        QString text = QString::fromUtf8(process.readAllStandardOutput());
        text.chop(1);
        return text.split(QLatin1Char('\n'));
    }

    QTemporaryDir m_folder;
};

namespace {

int runUnit(int argc, char** argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    if (what.starts_with("--")) {
        return runAsChild(what, argc > 2 ? argv[2] : "");
    }
    return tests::runUnit<QCoreApplication, TestGpuStandIns>(argc, argv);
}

const tests::UnitEntry kEntry(__FILE__, &runUnit);

} // namespace

#include "tst_gpu_stand_ins.moc"
