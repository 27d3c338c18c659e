// SPDX-License-Identifier: GPL-3.0-or-later
// The table of layers: costs of the document, and what a run has recorded at a step.
#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/layer_table.h"
#include "engine/runs/store/run_writer.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>
#include <memory>

using namespace residua;
using namespace residua::engine;

namespace {

constexpr float kUnrecordedNorm = std::numeric_limits<float>::quiet_NaN();

/// Returns a project of three layers, each of which reads all entries before it.
projects::Project threeLayerProject()
{
    return projects::findExample("linear-ancre")->project;
}

Matrix recordedMatrix(MatrixName name, std::int64_t step, std::int64_t rows, std::int64_t columns,
                      std::vector<float> values)
{
    return {std::move(name), step, rows, columns, std::move(values)};
}

} // namespace

class TestLayerTable : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        RunInfo info;
        info.name = "layers";
        info.steps = 20;
        auto writer = RunWriter::create(run(), info, threeLayerProject(), m_folder->path().toStdString());
        QVERIFY(writer.ok());
        for (std::int64_t step = 1; step <= 20; ++step) {
            writer->step({step, 1, 1e-3, 1, step, 0.1});
        }
        writer->matrix(recordedMatrix(matrix::kLayerMagnitudes, 10, 2, 3, {1, 2, 3, 4, 5, 6}));
        writer->matrix(recordedMatrix(matrix::kLayerMagnitudes, 20, 2, 3, {1, 2, 3, 7, 8, kUnrecordedNorm}));
        writer->matrix(recordedMatrix(matrix::kLayerGradients, 10, 1, 3, {0.5F, 0.25F, 0.125F}));
        writer->matrix(
            recordedMatrix(matrix::kMix, 10, 3, 3,
                           {1, kUnrecordedNorm, kUnrecordedNorm, 0.5F, -0.25F, kUnrecordedNorm, 0.25F, 0.5F, -2}));
        QVERIFY(writer->flush().ok());
    }

    void costsAreThoseOfTheDocument()
    {
        const auto layers = layersOf(threeLayerProject());
        QCOMPARE(layers.size(), std::size_t(3));
        QCOMPARE(layers[2].name, std::string("3"));
        QVERIFY(layers[0].parameters > 0);
        QVERIFY(layers[0].flops > 0);
        QVERIFY(!layers[0].shape.empty());
        QVERIFY(std::isnan(layers[0].output));
    }

    void numbersAreThoseOfTheLastRecordUpToTheStep()
    {
        auto layers = layersOf(threeLayerProject());
        readLayers(layers, run(), 15);
        QCOMPARE(layers[0].output, 4.0);
        QCOMPARE(layers[2].output, 6.0);
        QCOMPARE(layers[1].gradient, 0.25);
        QCOMPARE(layers[1].weightIn, 0.75); // magnitudes
        QCOMPARE(layers[2].weightIn, 2.75);
        QCOMPARE(layers[1].weightOut, 2.0);       // layer 3 reads it with −2
        QVERIFY(std::isnan(layers[2].weightOut)); // no reader has a weight for it
        auto newest = layersOf(threeLayerProject());
        readLayers(newest, run(), std::nullopt);
        QCOMPARE(newest[0].output, 7.0);
        QVERIFY(std::isnan(newest[2].output)); // it was left out of that step
        QCOMPARE(newest[1].gradient, 0.25);
        auto early = layersOf(threeLayerProject());
        readLayers(early, run(), 5);
        QVERIFY(std::isnan(early[0].output));
    }

    void aRunOfOtherLayersSaysNothing()
    {
        projects::Project deeper = threeLayerProject();
        deeper.stack().segments.front().repeat = 5;
        auto layers = layersOf(deeper);
        readLayers(layers, run(), std::nullopt);
        QCOMPARE(layers.size(), std::size_t(5));
        QVERIFY(std::isnan(layers[0].output));
        readLayers(layers, run() / "nowhere", std::nullopt);
        QVERIFY(std::isnan(layers[0].output));
    }

    void theCsvHasALineForEachLayer()
    {
        auto layers = layersOf(threeLayerProject());
        layers[0].block = "a \"b\"";
        readLayers(layers, run(), std::nullopt);
        const QStringList lines = QString::fromStdString(layersCsv(layers)).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 4);
        QVERIFY(lines[0].startsWith("layer,block,shape,parameters,forward_flop,output_rms"));
        QVERIFY(lines[1].startsWith("1,\"a \"\"b\"\"\","));
        QVERIFY(lines[3].contains(",,0.125,")); // unknown numbers are empty
        QCOMPARE(lines[1].count(','), lines[3].count(','));
    }

private:
    [[nodiscard]] std::filesystem::path run() const { return m_folder->filePath("run").toStdString(); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

RESIDUA_TEST(TestLayerTable)
#include "tst_layer_table.moc"
