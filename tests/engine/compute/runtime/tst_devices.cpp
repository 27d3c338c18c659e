// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/runtime/device.h"
#include "kernels/cuda_kernels.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>

using namespace residua;
using namespace residua::engine;

namespace {

class TestDevices : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theCpuIsAlwaysThere()
    {
        const DeviceInfo cpu = listDevices().front();
        QCOMPARE(cpu.key, std::string("cpu"));
        QVERIFY(cpu.usable);
        QVERIFY(cpu.reason.empty());
        QVERIFY(cpu.freeBytes > 0);
        QVERIFY(cpu.freeBytes <= cpu.totalBytes);
        QVERIFY(openDevice("cpu").ok());
        QVERIFY(peakBytes(c10::Device(c10::DeviceType::CPU)) > 1'000'000);
    }

    void aGpuIsUsableOrSaysWhyNot()
    {
        const std::vector<DeviceInfo> devices = listDevices();
        QVERIFY(devices.size() >= 2);
        for (std::size_t i = 1; i < devices.size(); ++i) {
            const DeviceInfo& gpu = devices[i];
            QCOMPARE(gpu.key, "cuda:" + std::to_string(i - 1));
            QCOMPARE(gpu.usable, gpu.reason.empty());
            const Result<c10::Device> opened = openDevice(gpu.key);
            QCOMPARE(opened.ok(), gpu.usable);
            if (!opened) {
                QCOMPARE(opened.error().message, gpu.reason);
            } else {
                QVERIFY(memoryOf(*opened).totalBytes > 0);
            }
        }
    }

    void refusesUnknownKeys_data()
    {
        QTest::addColumn<QString>("key");
        for (const char* key : {"", "tpu", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "CPU"}) {
            QTest::newRow(key) << key;
        }
    }
    void refusesUnknownKeys()
    {
        QFETCH(QString, key);
        const Result<c10::Device> opened = openDevice(key.toStdString());
        QVERIFY(!opened.ok());
        QVERIFY(opened.error().message.find("unknown device \"" + key.toStdString() + "\"") != std::string::npos);
    }

    void refusesAGpuThatIsNotThere() { QVERIFY(!openDevice("cuda:99").ok()); }

    void findsTheKernelsBuiltBesideIt()
    {
        if (*RESIDUA_CUDA_KERNELS == '\0') {
            QSKIP("this build has no CUDA kernels, since nvcc was not found");
        }
        std::string why;
        const kernels::CudaKernels* const table = cudaKernels(why);
        QVERIFY2(table != nullptr, why.c_str());
        QCOMPARE(why, std::string());
        QCOMPARE(table->version, kernels::kCudaKernelsVersion);
    }

    void findsTheKernelsFromEachPlaceOfAProgram_data()
    {
        QTest::addColumn<QString>("program"); // folders below the place where the library is put, or is built
        QTest::addColumn<QString>("library");
        QTest::newRow("build directory") << "bin"
                                         << "kernels";
        QTest::newRow("tests of a build directory") << "tests/engine"
                                                    << "kernels";
        QTest::newRow("installed") << "bin"
                                   << "lib/residua";
        QTest::newRow("Debian package") << "lib/residua"
                                        << "lib/residua";
    }
    void findsTheKernelsFromEachPlaceOfAProgram()
    {
        QFETCH(QString, program);
        QFETCH(QString, library);
        const QFileInfo built(QStringLiteral(RESIDUA_CUDA_KERNELS));
        if (built.filePath().isEmpty()) {
            QSKIP("this build has no CUDA kernels, since nvcc was not found");
        }
        // On the build's file system, where the program can be there twice without a copy.
        const QTemporaryDir place(QCoreApplication::applicationDirPath() + QStringLiteral("/place-XXXXXX"));
        QVERIFY(place.isValid() && QDir(place.path()).mkpath(program) && QDir(place.path()).mkpath(library));
        QVERIFY(QFile::link(built.filePath(), place.filePath(library + QLatin1Char('/') + built.fileName())));
        const QString copy = place.filePath(program + QStringLiteral("/program"));
        std::filesystem::create_hard_link(QCoreApplication::applicationFilePath().toStdString(), copy.toStdString());
        QProcess process;
        process.start(copy, {QStringLiteral("tst_devices"), QStringLiteral("findsTheKernelsBuiltBesideIt")});
        QVERIFY(process.waitForFinished(tests::kPatience));
        QVERIFY2(process.exitCode() == 0, process.readAllStandardOutput());
    }

    void saysWhatTheDeviceListSaysOfKernels()
    {
        DeviceInfo device;
        device.key = "cuda:0";
        device.usable = true;
        QCOMPARE(kernelsText(device), std::string("custom kernels: in use"));
        device.withoutKernels = "there are none";
        QCOMPARE(kernelsText(device), std::string("custom kernels: not in use: there are none"));
        device.usable = false;
        QCOMPARE(kernelsText(device), std::string());
        QCOMPARE(kernelsText(listDevices().front()), std::string());
    }
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestDevices)
#include "tst_devices.moc"
