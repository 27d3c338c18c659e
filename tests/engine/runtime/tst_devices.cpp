// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runtime/device.h"
#include "tests/support/test_program.h"

#include <QtTest>

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

    void saysWhyOurKernelsAreNotUsed()
    {
        std::string why;
        const bool found = cudaKernels(why) != nullptr;
        QCOMPARE(why.empty(), found);
    }
};

} // namespace

RESIDUA_TEST(TestDevices)
#include "tst_devices.moc"
