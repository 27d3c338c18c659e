// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/outline/outline_model.h"
#include "projects/edit/edit.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <map>

using namespace residua;
using namespace residua::app;

namespace {

/// Every row below `parent` as "name=value" with its depth, in order.
QStringList textOf(const QAbstractItemModel& model, const QModelIndex& parent = {}, int depth = 0)
{
    QStringList lines;
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex name = model.index(row, OutlineModel::Name, parent);
        lines << QString(depth, ' ') + name.data().toString() + '=' +
                     name.siblingAtColumn(OutlineModel::Value).data().toString();
        lines << textOf(model, name, depth + 1);
    }
    return lines;
}

} // namespace

class TestOutlineModel : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_document = {projects::findExample("linear-ancre")->project, {}};
        m_model = std::make_unique<OutlineModel>();
        m_tester = std::make_unique<QAbstractItemModelTester>(m_model.get(),
                                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        refresh();
    }

    void everyShortcutHasARowUnderItsTarget()
    {
        const auto& mix = std::get<projects::DepthMix>(m_document.project.stack().topology.wiring);
        const std::int64_t depth = m_document.project.network.depth();
        for (std::int64_t target = 1; target <= depth + 1; ++target) {
            for (const std::int64_t source : sourcesOf(mix, target, depth)) {
                const QModelIndex index = m_model->indexOf(ShortcutsPlace{{{source, target}}});
                QVERIFY(index.isValid());
                QCOMPARE(index.data().toString(), QString("%1:%2").arg(source).arg(target));
            }
        }
    }

    void mixesWithoutShortcutsHaveARow()
    {
        projects::DepthMix mix;
        mix.weight = projects::WeightKind::Scalar;
        mix.sources = projects::FirstAndLast{1};
        m_document.project.stack().segments.front().repeat = 4;
        m_document.project.stack().topology.wiring = mix;
        refresh();
        const QModelIndex sum = m_model->indexOf(ShortcutsPlace{{{1, 4}}});
        QVERIFY(sum.isValid() && exists(m_document.project, ShortcutsPlace{{{1, 4}}}));
        QCOMPARE(sum.data().toString(), QString("1–2:4"));
        mix.entry = projects::StackEntry::Full;
        mix.sources = projects::Dilated{1, 4, projects::DilatedReaders::OnPeriod};
        m_document.project.stack().topology.wiring = mix;
        refresh();
        QVERIFY(textOf(*m_model).contains("   2:3=as it is"));
    }

    /// Sources without a shortcut of their own are shown in brackets. They stay unless the user removes them.
    void readsNamesWhatHasNoShortcut()
    {
        projects::Document document{projects::findExample("linear-ancre")->project, {}};
        document.project.stack().segments.front().repeat = 6;
        projects::DepthMix mix;
        mix.weight = projects::WeightKind::Scalar;
        mix.sources = projects::FirstAndLast{2};
        document.project.stack().topology.wiring = mix;
        const auto reads = [&] {
            const auto properties = propertiesOf(document.project, LayersPlace{{6}});
            return *std::ranges::find(properties, "reads", &Property::key);
        };
        QCOMPARE(reads().value.toString(), QString("0 (1–3) 4 5"));
        const auto same = reads().edit(document.project, "0 (1–3) 4 5");
        QVERIFY(same.ok() && std::get<projects::EditGroup>(*same).edits.empty());
        const auto without = reads().edit(document.project, "0 4 5");
        QVERIFY(without.ok() && projects::applyEdit(document, *without).ok());
        QCOMPARE(reads().value.toString(), QString("0 4 5"));

        mix.entry = projects::StackEntry::Full;
        mix.sources = projects::Dilated{1, 4, projects::DilatedReaders::OnPeriod};
        document.project.stack().topology.wiring = mix;
        QCOMPARE(reads().value.toString(), QString("(5)"));
        const auto weighed = reads().edit(document.project, "5");
        QVERIFY(weighed.ok() && projects::applyEdit(document, *weighed).ok());
        QCOMPARE(reads().value.toString(), QString("5"));
    }

    void bothHalvesOfALayerHaveRowsWhereBothAreBridged()
    {
        auto& mix = std::get<projects::DepthMix>(m_document.project.stack().topology.wiring);
        mix.sites = projects::MixSites::Both;
        mix.sitePairs = projects::SitePairs::Any;
        refresh();
        const std::int64_t depth = m_document.project.network.depth();
        for (std::int64_t target = 1; target <= 2 * depth + 1; ++target) {
            for (const std::int64_t source : sourcesOf(mix, target, 2 * depth)) {
                const QModelIndex index = m_model->indexOf(ShortcutsPlace{{{source, target}}});
                QVERIFY2(index.isValid(), qPrintable(QString("%1:%2").arg(source).arg(target)));
                if (target <= 2 * depth) {
                    const QString half = QString::number((target + 1) / 2) + (target % 2 == 1 ? "a" : "f");
                    QVERIFY(index.parent().data().toString().startsWith(half + ','));
                }
            }
        }
        const ShortcutsPlace last{{{2 * depth - 1, 2 * depth}}};
        QVERIFY(exists(m_document.project, last));
        QCOMPARE(subtitleOf(m_document.project, last), QString("From layer %1a to layer %1f").arg(depth));
        const auto properties = propertiesOf(m_document.project, LayersPlace{{1}});
        QVERIFY(
            std::any_of(properties.begin(), properties.end(), [](const Property& p) { return p.key == "reads.2"; }));
    }

    void aRefreshEqualsAFreshModel()
    {
        const std::vector<projects::Edit> edits{
            projects::SetStack{{{m_document.project.stack().segments.front().block, 6}}},
            projects::RemoveShortcut{{0, 2}},
            projects::SetStack{{{m_document.project.stack().segments.front().block, 2}}},
            projects::SetTopology{{"grn-v1", projects::DepthMix{}}},
            projects::SetField{"/network/width", {"24"}},
        };
        for (const projects::Edit& edit : edits) {
            QVERIFY(projects::applyEdit(m_document, edit).ok());
            refresh();
            OutlineModel fresh;
            fresh.setDocument(std::make_shared<const projects::Document>(m_document), {});
            QCOMPARE(textOf(*m_model), textOf(fresh));
        }
    }

    void anUnchangedRowKeepsItsIndex()
    {
        const QPersistentModelIndex layer = m_model->indexOf(LayersPlace{{3}});
        QVERIFY(layer.isValid());
        QVERIFY(projects::applyEdit(m_document, projects::RemoveShortcut{{0, 2}}).ok());
        refresh();
        QVERIFY(layer.isValid());
        QCOMPARE(QModelIndex(layer), m_model->indexOf(LayersPlace{{3}}));
    }

    void editingAValueAsksForTheEdit()
    {
        QSignalSpy edited(m_model.get(), &OutlineModel::valueEdited);
        const QModelIndex training = m_model->indexOf(SectionPlace{Section::Training});
        QVERIFY(training.isValid());
        const QModelIndex steps = m_model->index(0, OutlineModel::Value, training);
        QVERIFY(steps.flags().testFlag(Qt::ItemIsEditable));
        QVERIFY(m_model->setData(steps, 7));
        QCOMPARE(edited.count(), 1);
        const auto property = edited.front().front().value<Property>();
        const auto edit = property.edit(m_document.project, 7);
        QVERIFY(edit.ok());
        QVERIFY(projects::applyEdit(m_document, *edit).ok());
        QCOMPARE(m_document.project.training.steps, std::int64_t(7));
    }

    void learnedWeightsStandBesideTheirShortcuts()
    {
        const std::int64_t depth = m_document.project.network.depth();
        const std::vector<float> weights(static_cast<std::size_t>((depth + 1) * (depth + 1)), 0.25F);
        editor::LiveValues live;
        live.mix = weights;
        live.rows = live.columns = depth + 1;
        m_model->setLive(shared(live));
        const QModelIndex index = m_model->indexOf(ShortcutsPlace{{{0, 2}}}).siblingAtColumn(OutlineModel::Value);
        QCOMPARE(index.data().toString(), QString("0.250"));
        m_model->setLive(nullptr);
        QVERIFY(index.data().toString() != QString("0.250"));
    }

    /// A pruned shortcut shows no weight, even if a run has learned one. A frozen shortcut is marked as frozen.
    void theStateOfAShortcutIsNotCoveredByItsWeight()
    {
        auto& mix = std::get<projects::DepthMix>(m_document.project.stack().topology.wiring);
        mix.states = {{{0, 2}, projects::ShortcutState::Pruned}, {{1, 2}, projects::ShortcutState::Frozen}};
        refresh();
        const std::int64_t depth = m_document.project.network.depth();
        const std::vector<float> weights(static_cast<std::size_t>((depth + 1) * (depth + 1)), 0.25F);
        editor::LiveValues live;
        live.mix = weights;
        live.rows = live.columns = depth + 1;
        m_model->setLive(shared(live));
        const auto value = [this](const projects::Shortcut& shortcut) {
            const QModelIndex index = m_model->indexOf(ShortcutsPlace{{shortcut}});
            return index.siblingAtColumn(OutlineModel::Value).data().toString().toLower();
        };
        QCOMPARE(value({0, 2}), QString("pruned"));
        QCOMPARE(value({1, 2}), QString("frozen, 0.250"));
        QCOMPARE(value({0, 1}), QString("0.250"));
    }

    void portsAndLayersLeftOutAreToldApart()
    {
        auto& mix = std::get<projects::DepthMix>(m_document.project.stack().topology.wiring);
        mix.ports = projects::MixPorts::Qkv;
        refresh();
        const std::int64_t depth = m_document.project.network.depth();
        const std::vector<float> weights(static_cast<std::size_t>((depth + 1) * (depth + 1)), 0.25F);
        editor::LiveWeights all;
        for (const auto port : {projects::MixPort::Query, projects::MixPort::Key, projects::MixPort::Final}) {
            editor::LiveValues live;
            live.port = port;
            live.mix = weights;
            live.rows = live.columns = depth + 1;
            all.take(live, {});
        }
        m_model->setLive(std::make_shared<const editor::LiveWeights>(all));
        const auto value = [this](const Place& place) {
            return m_model->indexOf(place).siblingAtColumn(OutlineModel::Value).data().toString();
        };
        QVERIFY(value(ShortcutsPlace{{{0, 2}}}).startsWith("q 0.250  k 0.250"));
        std::vector<float> active(static_cast<std::size_t>(depth), 1);
        active[1] = 0;
        editor::LiveValues left;
        left.active = active;
        m_model->setLive(shared(left));
        QVERIFY(value(LayersPlace{{2}}).contains("left out"));
        QVERIFY(!value(LayersPlace{{1}}).contains("left out"));
    }

    void namedLayersHaveRowsThatRenameThem()
    {
        m_document.layout.groups = {{"middle", 2, 3}};
        refresh();
        const QModelIndex group = m_model->indexOf(LayersPlace{{2, 3}});
        QCOMPARE(group.data().toString(), QString("middle"));
        QSignalSpy edited(m_model.get(), &OutlineModel::valueEdited);
        QVERIFY(m_model->setData(m_model->index(0, OutlineModel::Value, group), "centre"));
        const auto edit = edited.front().front().value<Property>().edit(m_document.project, "centre");
        QVERIFY(edit.ok() && projects::applyEdit(m_document, *edit).ok());
        QCOMPARE(m_document.layout.groups, (std::vector<projects::LayerGroup>{{"centre", 2, 3}}));
    }

    void loopsHaveRowsAndLayersTheNamesOfVisits()
    {
        m_document.project.stack().loops = {{.first = 1, .last = 2, .visits = 2}};
        refresh();
        const QModelIndex loop = m_model->indexOf(LoopPlace{0});
        QVERIFY(loop.isValid());
        QCOMPARE(loop.data().toString(), QString("Loop of layers 1–2"));
        QCOMPARE(loop.siblingAtColumn(OutlineModel::Value).data().toString(), QString("×2"));
        QCOMPARE(m_model->indexOf(LayersPlace{{4}}).data().toString(), QString("Layer 2@2"));
    }

    void onlyRowsThatWereAskedForAreMade()
    {
        m_document.project.stack().segments.front().repeat = 96;
        auto untested = std::make_unique<OutlineModel>(); // a tester asks for all
        int made = 0;
        connect(untested.get(), &QAbstractItemModel::dataChanged, this, [&made] { ++made; });
        untested->setDocument(std::make_shared<const projects::Document>(m_document), {});
        QVERIFY(untested->indexOf(ShortcutsPlace{{{0, 90}}}).isValid());
        const std::vector<float> weights(97 * 97, 0.5F);
        editor::LiveValues live;
        live.mix = weights;
        live.rows = live.columns = 97;
        untested->setLive(shared(live));
        QCOMPARE(made, 2); // the layers, and the shortcuts of one of them
    }

private:
    static editor::LiveSnapshot shared(const editor::LiveValues& live)
    {
        editor::LiveWeights weights;
        weights.take(live, {});
        return std::make_shared<const editor::LiveWeights>(weights);
    }
    void refresh() { m_model->setDocument(std::make_shared<const projects::Document>(m_document), {}); }

    projects::Document m_document;
    std::unique_ptr<OutlineModel> m_model;
    std::unique_ptr<QAbstractItemModelTester> m_tester;
};

RESIDUA_TEST_IN(QApplication, TestOutlineModel)
#include "tst_outline_model.moc"
