// SPDX-License-Identifier: GPL-3.0-or-later
// Recipes of convolutional networks with the weights of torchvision's and timm's, where Python has these packages.
#include "import_harness.h"

#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/train/transfer_plan.h"
#include "projects/file/store.h"
#include "projects/shipped/recipes.h"
#include "tests/support/python.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <filesystem>

using namespace residua;
namespace fs = std::filesystem;
using tests::answerTo;

namespace {

constexpr std::int64_t kVisionSide = 32;

/// The recipe in double precision for generated pictures of ten classes, without what acts in training alone, and with
/// PyTorch's constants of batch norm.
projects::Project visionProject(const std::string& recipe)
{
    projects::Project project = projects::findRecipe(recipe)->project;
    project.data = {.source = projects::DrawnPictures{.size = kVisionSide, .samples = 64}};
    project.training.precision = projects::Precision::Fp64;
    project.network.labelSmoothing = 0;
    for (projects::Graph* const graph : projects::graphsOf(project)) {
        projects::setParam(*graph, "image", "height", kVisionSide);
        projects::setParam(*graph, "image", "width", kVisionSide);
        projects::setParam(*graph, "batch_norm", "epsilon", 1e-5);
        projects::setParam(*graph, "batch_norm", "momentum", 0.1);
        projects::setParam(*graph, "dropout", "rate", 0.0);
        for (projects::Node& node : graph->nodes) {
            node.params.erase("last_rate");
        }
    }
    return project;
}

at::Tensor savedTensor(const engine::SafetensorsFile& file, const std::string& name, at::ScalarType type)
{
    const engine::StoredTensor& stored = file.tensors().at(name);
    return at::from_blob(const_cast<std::byte*>(stored.bytes.data()), stored.shape, type).clone();
}

double farthest(const at::Tensor& a, const at::Tensor& b)
{
    return (a - b).abs().max().item<double>();
}

} // namespace

class TestVisionPackage : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        at::set_num_threads(1);
        QVERIFY(m_folder.isValid());
        QProcess process;
        process.start(tests::pythonProgram(), {"-B", RESIDUA_VISION_SCRIPT, m_folder.path()});
        if (!process.waitForStarted() || !process.waitForFinished(240'000) || process.exitCode() != 0) {
            QSKIP(qPrintable("nothing is compared: " +
                             QString::fromUtf8(process.readAllStandardError()).trimmed().section('\n', -1) +
                             "; packaging/python.sh installs what it needs, or RESIDUA_PYTHON names a Python"));
        }
    }

    void agreesWithThePackage_data()
    {
        QTest::addColumn<QString>("recipe");
        QTest::newRow("torchvision's ResNet-50") << "resnet-50";
        QTest::newRow("timm's EfficientNet-B0") << "efficientnet-b0";
    }
    void agreesWithThePackage()
    {
        QFETCH(QString, recipe);
        const fs::path folder = fs::path(m_folder.path().toStdString()) / recipe.toStdString();
        engine::LoadWeightsRequest request;
        request.file = folder / "weights.safetensors";
        request.project = visionProject(recipe.toStdString());
        request.projectDirectory = folder / "project";
        request.runDirectory = folder / "run";
        QVERIFY(projects::saveProject(request.projectDirectory, {.project = request.project, .layout = {}}).ok());
        const auto ready = answerTo<engine::LoadWeightsReady>(request);
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QVERIFY2(ready->notes.empty(), joinedText(ready->notes).c_str());
        const auto opened = engine::openCheckpoint({ready->runDirectory}, {});
        QVERIFY2(opened.ok(), opened ? "" : opened.error().text().c_str());
        auto network = engine::CompiledNetwork::compile(opened->run.project, opened->dataset->schema(), "cpu");
        QVERIFY2(network.ok(), network ? "" : network.error().text().c_str());
        QVERIFY(engine::loadParameters(opened->checkpoint.model, (*network)->parameters()).ok());
        const auto inputs = engine::SafetensorsFile::open(folder / "inputs.safetensors");
        QVERIFY(inputs.ok());
        engine::DeviceBatch batch;
        batch.input = savedTensor(*inputs, "pictures", at::kDouble);
        batch.target = savedTensor(*inputs, "labels", at::kLong);
        {
            const at::NoGradGuard noGrad;
            const at::Tensor logits = (*network)->forward(batch, engine::passAfter(0));
            QVERIFY(farthest(logits, savedTensor(*inputs, "logits", at::kDouble)) < 1e-10);
        }
        engine::Pass pass;
        pass.mode = engine::Mode::Training;
        const at::Tensor loss = (*network)->loss(batch, pass);
        QVERIFY(farthest(loss, savedTensor(*inputs, "loss", at::kDouble)[0]) < 1e-10);
        loss.backward();
        compareGradients((*network)->parameters(), folder / "gradients.json");
    }

private:
    static void compareGradients(std::vector<engine::NamedParameter>& parameters, const fs::path& path)
    {
        QFile file(QString::fromStdString(path.string()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject expected = QJsonDocument::fromJson(file.readAll()).object();
        qsizetype compared = 0;
        for (const engine::NamedParameter& each : parameters) {
            if (each.isBuffer) {
                continue;
            }
            const QJsonArray measures = expected[QString::fromStdString(each.name)].toArray();
            QVERIFY2(measures.size() == 2, each.name.c_str());
            const at::Tensor flat = each.tensor.grad().contiguous().flatten();
            const at::Tensor probe = at::arange(flat.numel(), at::kDouble).cos();
            const double norm = measures[0].toDouble();
            QVERIFY2(std::abs(flat.norm().item<double>() - norm) < 1e-8 * (1 + norm), each.name.c_str());
            QVERIFY2(std::abs((flat * probe).sum().item<double>() - measures[1].toDouble()) < 1e-7 * (1 + norm),
                     each.name.c_str());
            ++compared;
        }
        QCOMPARE(compared, expected.size());
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST_IN(QCoreApplication, TestVisionPackage)
#include "tst_vision_package.moc"
