// SPDX-License-Identifier: GPL-3.0-or-later
// A GPU that is lost while a run trains: the run computes on the CPU here, and a stand-in takes the GPU's place.
#include "engine/compute/runtime/cuda_backend.h"
#include "tests/engine/compute/runtime/fake_cuda.h"
#include "tests/engine/compute/session/run_harness.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <filesystem>
#include <future>
#include <string>
#include <variant>

using namespace residua;
using namespace residua::engine;

class TestLostGpu : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void endsTheRunAndEveryLaterOneOnAGpu()
    {
        const QTemporaryDir folder;
        const std::filesystem::path run = folder.filePath("run").toStdString();
        static_cast<void>(loadCudaBackend()); // a real one, if there is one, is there before the stand-in
        tests::FakeCuda cuda;
        cuda.allocator.reserved = 1;

        // The sink is called in the middle of the run's work, so what it throws ends the run as a GPU's error would.
        std::promise<RunEnded> ended[3];
        std::atomic<int> runs = 0;
        bool isLost = false;
        Session session([&](Event event) {
            if (const auto* end = std::get_if<RunEnded>(&event)) {
                ended[runs++].set_value(*end);
            } else if (std::holds_alternative<CheckpointWritten>(event) && !std::exchange(isLost, true)) {
                cuda.guard.lost = "unspecified launch failure\nmore";
                TORCH_CHECK(false, "CUDA error: ", cuda.guard.lost);
            }
        });
        StartRun start;
        start.run = tests::kRun;
        start.project = tests::quickLanguage(20);
        start.project.training.checkpointEvery = 5;
        start.runDirectory = run;
        session.post(start);
        const RunEnded lost = ended[0].get_future().get();
        QVERIFY(lost.status == RunStatus::Failed);
        const std::string why =
            "the GPU cannot be used any more (CUDA error: unspecified launch failure): start the program again";
        QVERIFY2(lost.error.message.starts_with(why) && lost.error.message.ends_with("step 5 is intact"),
                 lost.error.message.c_str());

        start.runDirectory = folder.filePath("other").toStdString();
        start.device = "cuda:0";
        session.post(start);
        QCOMPARE(ended[1].get_future().get().error.text(), "[device cuda:0] " + why);

        // On the CPU the session goes on, from the checkpoint.
        ResumeRun resume;
        resume.run = tests::kRun;
        resume.of.runDirectory = run;
        session.post(resume);
        const RunEnded finished = ended[2].get_future().get();
        QVERIFY2(finished.status == RunStatus::Finished, finished.error.text().c_str());
        QCOMPARE(finished.step, 20);
    }
};

RESIDUA_TEST(TestLostGpu)
#include "tst_lost_gpu.moc"
