// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/format.h"
#include "app/palette/palette_model.h"
#include "app/properties/customisation.h"
#include "projects/edit/history.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/node_kinds.h"
#include "projects/shipped/examples.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QMimeData>
#include <QTest>

#include <memory>

using namespace residua;
using namespace residua::app;

namespace {

projects::Project linearProject()
{
    return projects::findExample("linear-ancre")->project;
}

std::vector<PaletteItem> itemsOf(PaletteKind kind)
{
    std::vector<PaletteItem> items;
    for (const PaletteGroup& group : paletteGroups()) {
        for (const PaletteItem& item : group.items) {
            if (item.kind == kind) {
                items.push_back(item);
            }
        }
    }
    return items;
}

} // namespace

class TestPalette : public QObject {
    Q_OBJECT

private slots:
    void itHoldsEverythingThatCanBePlaced()
    {
        QCOMPARE(itemsOf(PaletteKind::Topology).size(), projects::topologyChoices(4).size());
        QCOMPARE(itemsOf(PaletteKind::Block).size(), projects::blockPresets().size());
        QCOMPARE(itemsOf(PaletteKind::Node).size(), projects::nodeKinds().size());
    }

    void theProjectIsShared()
    {
        PaletteModel model;
        const auto project = std::make_shared<const projects::Project>(linearProject());
        model.setContext(project, ProjectPlace{});
        QCOMPARE(project.use_count(), 2L);
    }

    void theModelIsSound()
    {
        PaletteModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setContext(std::make_shared<const projects::Project>(linearProject()), ProjectPlace{});
        model.setContext(std::make_shared<const projects::Project>(linearProject()),
                         GraphPlace{projects::GraphRef::head()});
    }

    void eachTopologySaysWhatItWouldAdd()
    {
        PaletteModel model;
        projects::Document document{projects::findExample("ancre-language")->project, {}};
        for (const std::int64_t width : {64, 128}) { // the second time in place of what is shown
            QVERIFY(projects::applyEdit(document, projects::SetField{"/network/width", {std::to_string(width)}}).ok());
            model.setContext(std::make_shared<const projects::Project>(document.project), ProjectPlace{});
            const QModelIndex topologies = model.index(0, 0);
            const auto now = projects::costOf(document.project);
            QVERIFY2(now.ok(), now ? "" : now.error().text().c_str());
            for (int row = 0; row < model.rowCount(topologies); ++row) {
                const QModelIndex shown = model.index(row, PaletteModel::Added, topologies);
                const auto cost = model.costWith(*model.itemAt(shown));
                const auto added = cost ? static_cast<double>(cost->parameters - now->total.parameters) : 0.0;
                QTRY_COMPARE(shown.data().toString(), cost ? formatChange(added, formatCount) : QString());
            }
        }
    }

    void everyTopologyIsOneEditThatUndoes()
    {
        for (const PaletteItem& item : itemsOf(PaletteKind::Topology)) {
            projects::History history;
            history.reset({linearProject(), {}});
            const auto edit = takeUp(history.project(), ProjectPlace{}, item);
            QVERIFY2(edit.ok(), item.key.c_str());
            QVERIFY(history.perform(edit->edit).ok());
            const auto choices = projects::topologyChoices(history.project().network);
            QCOMPARE(choices.at(*projects::presetIndexOf(history.project(), choices)).name, item.key);
            QVERIFY(!customisationOf(history.project()));
            if (history.canUndo()) {
                QVERIFY(QString::fromStdString(history.undoTitle()).contains(item.title));
                history.undo();
            }
            QCOMPARE(history.project(), linearProject());
        }
    }

    void theCostShownIsTheCostAfterwards()
    {
        PaletteModel model;
        model.setContext(std::make_shared<const projects::Project>(linearProject()), ProjectPlace{});
        for (const PaletteItem& item : itemsOf(PaletteKind::Topology)) {
            projects::Document document{linearProject(), {}};
            QVERIFY(projects::applyEdit(document, takeUp(document.project, ProjectPlace{}, item)->edit).ok());
            const auto report = projects::costOf(document.project);
            const auto shown = model.costWith(item);
            QCOMPARE(shown.has_value(), report.ok());
            QVERIFY(!shown || *shown == report->total);
        }
    }

    void aBlockGoesToTheSelectedLayersAndIsKeptOnce()
    {
        projects::Document document{linearProject(), {}};
        const std::size_t before = document.project.network.blocks.size();
        const auto items = itemsOf(PaletteKind::Block);
        const auto mlp = std::find_if(items.begin(), items.end(), [](const auto& item) { return item.key == "mlp"; });
        QVERIFY(mlp != items.end());
        for (const std::int64_t layer : {2, 3}) {
            const auto edit = takeUp(document.project, LayersPlace{{layer}}, *mlp);
            QVERIFY(edit.ok());
            QVERIFY(projects::applyEdit(document, edit->edit).ok());
            QCOMPARE(document.project.network.blockOfLayer(layer)->preset, std::string("mlp"));
        }
        QCOMPARE(document.project.network.blocks.size(), before + 1);
        QVERIFY(document.project.network.blockOfLayer(1)->preset != "mlp");
    }

    void aNodeGoesIntoTheSelectedGraphUnderAFreeName()
    {
        projects::Document document{linearProject(), {}};
        const PaletteItem item = itemsOf(PaletteKind::Node).front();
        QVERIFY(!takeUp(document.project, ProjectPlace{}, item).ok());
        const std::size_t before = document.project.network.head.nodes.size();
        for (int i = 0; i < 2; ++i) {
            const auto edit = takeUp(document.project, GraphPlace{projects::GraphRef::head()}, item);
            QVERIFY(edit.ok());
            QVERIFY(projects::applyEdit(document, edit->edit).ok());
        }
        QCOMPARE(document.project.network.head.nodes.size(), before + 2);
    }

    void aDragCarriesItsItem()
    {
        const PaletteModel model;
        const QModelIndex index = model.index(1, 0, model.index(0, 0));
        const std::unique_ptr<QMimeData> data(model.mimeData({index}));
        QVERIFY(data);
        QCOMPARE(model.itemOf(*data), model.itemAt(index));
        QVERIFY(!model.itemOf(QMimeData()));
    }

    void aChangeByHandIsToldAndTakenBack()
    {
        projects::Document document{linearProject(), {}};
        QVERIFY(!customisationOf(document.project));
        const projects::Topology original = document.project.stack().topology;
        auto& mix = std::get<projects::DepthMix>(document.project.stack().topology.wiring);
        mix.temperature *= 2;
        const auto custom = customisationOf(document.project);
        QVERIFY(custom);
        QCOMPARE(custom->changes.size(), std::size_t(1));
        QVERIFY(QString::fromStdString(custom->changes.front().placeText()).contains("temperature"));
        QVERIFY(projects::applyEdit(document, custom->goBack).ok());
        QCOMPARE(document.project.stack().topology, original);
    }
};

RESIDUA_TEST_IN(QApplication, TestPalette)
#include "tst_palette.moc"
