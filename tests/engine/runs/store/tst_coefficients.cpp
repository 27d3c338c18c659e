// SPDX-License-Identifier: GPL-3.0-or-later
// The weights that a run leaves in its checkpoints, feature by feature.
#include "tests/engine/compute/session/run_harness.h"

#include "engine/runs/results/coefficients.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/whole_file.h"
#include "projects/file/json.h"
#include "projects/file/store.h"
#include "projects/library/presets.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace residua;
using namespace residua::engine;

class TestCoefficients : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        projects::Project project = tests::quickLanguage(6);
        project.training.checkpointEvery = 2;
        const auto presets = projects::topologyPresets(project.network.depth());
        const auto grn = std::ranges::find(presets, "grn-v2", &projects::TopologyPreset::name);
        QVERIFY(grn != presets.end());
        project.stack().topology = {grn->name, grn->wiring};
        m_run = std::filesystem::path(m_folder.path().toStdString()) / "run";
        QCOMPARE(tests::lossesOf(project, m_run).size(), std::size_t(6));
    }

    void aFeatureIsWhatItsCheckpointsHold()
    {
        const auto history = featureHistory(m_run, 3);
        QVERIFY2(history.ok(), history.ok() ? "" : history.error().text().c_str());
        QVERIFY(!history->empty());
        for (const Matrix& matrix : *history) {
            // GRN-v2 uses its coefficients as they are: a row of the tensor for each shortcut, in the order of the
            // matrix.
            const auto checkpoint = loadCheckpoint(m_run, matrix.step, nullptr);
            QVERIFY(checkpoint.ok());
            const StoredTensor& stored = checkpoint->model.tensors().at("topology.coefficient");
            QVERIFY(stored.type == StoredType::F32 && stored.shape.size() == 2);
            std::vector<float> values(static_cast<std::size_t>(stored.shape[0] * stored.shape[1]));
            QCOMPARE(stored.bytes.size(), values.size() * sizeof(float));
            std::memcpy(values.data(), stored.bytes.data(), stored.bytes.size());
            std::vector<float> expected;
            for (std::int64_t shortcut = 0; shortcut < stored.shape[0]; ++shortcut) {
                expected.push_back(values[static_cast<std::size_t>(shortcut * stored.shape[1] + 3)]);
            }
            std::vector<float> got = matrix.values;
            std::erase_if(got, [](float value) { return std::isnan(value); });
            QCOMPARE(got, expected);
        }
        QCOMPARE(stepsOf(*history), (std::vector<std::int64_t>{2, 4, 6}));
    }

    void historyBeginsAfterTheGivenStep()
    {
        QCOMPARE(stepsOf(*featureHistory(m_run, 3, 2)), (std::vector<std::int64_t>{4, 6}));
        QVERIFY(featureHistory(m_run, 3, 6)->empty());
    }

    void missingCoefficientsAreNamed()
    {
        const auto beyond = featureHistory(m_run, 16);
        QVERIFY(!beyond.ok() && beyond.error().text().find("16") != std::string::npos);
        const auto none = featureHistory(m_run.parent_path() / "none", 0, 4);
        QVERIFY(!none.ok() && none.error().text().find("checkpoint") != std::string::npos);
    }

    /// A received run may have a weight with endless features but no shortcuts, or a shortcut so far away that its
    /// matrix is immense.
    void impossibleShapesAreRefused()
    {
        const std::filesystem::path run = m_run.parent_path() / "claims";
        std::filesystem::copy(m_run, run, std::filesystem::copy_options::recursive);
        projects::Project project = tests::quickLanguage(6);
        projects::DepthMix mix;
        mix.weight = projects::WeightKind::PerFeature;
        mix.finalMix = false;
        const auto errorOf = [&](projects::ExplicitSources sources, const std::vector<std::int64_t>& shape) {
            mix.sources = std::move(sources);
            project.stack().topology = {"", mix};
            const std::vector<std::byte> bytes(shape[0] == 0 ? 0 : sizeof(float) * static_cast<std::size_t>(shape[1]));
            const std::map<std::string, StoredTensor> model{{"topology.coefficient", {StoredType::F32, shape, bytes}}};
            const bool made =
                writeFileAtomically(run / kFrozenProject / projects::kProjectFile, projects::toJson(project)).ok() &&
                writeCheckpoint(run, {8, 0, 0, {}, {}}, model, {}, {}).ok();
            const auto tensors = checkpointCoefficients(run, 8);
            return !made ? "not made" : tensors.ok() ? "none" : tensors.error().message;
        };
        const std::string none = errorOf({}, {0, std::int64_t{1} << 40});
        QVERIFY2(none.find("does not fit the topology") != std::string::npos, none.c_str());
        project.stack().segments = {{project.stack().segments.front().block, projects::kMaxLayers}};
        const std::string far = errorOf({{{projects::kMaxLayers - 1, projects::kMaxLayers}}}, {1, 4096});
        QVERIFY2(far.find("expected at most 1.07") != std::string::npos, far.c_str());
    }

private:
    static std::vector<std::int64_t> stepsOf(const std::vector<Matrix>& matrices)
    {
        std::vector<std::int64_t> steps;
        for (const Matrix& matrix : matrices) {
            if (steps.empty() || steps.back() != matrix.step) {
                steps.push_back(matrix.step);
            }
        }
        return steps;
    }

    QTemporaryDir m_folder;
    std::filesystem::path m_run;
};

RESIDUA_TEST_IN(QCoreApplication, TestCoefficients)
#include "tst_coefficients.moc"
