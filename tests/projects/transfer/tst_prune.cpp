// SPDX-License-Identifier: GPL-3.0-or-later
// Documents without some of their shortcuts and layers, and where the rows of their parameters come from.
#include "projects/check/validate.h"
#include "projects/commands/commands.h"
#include "projects/depth/depth_parameters.h"
#include "projects/depth/depth_plan.h"
#include "projects/edit/history.h"
#include "projects/library/presets.h"
#include "projects/nodes/alteration.h"
#include "projects/shipped/examples.h"
#include "projects/transfer/prune.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>

using namespace residua;
using namespace residua::projects;

namespace {

constexpr std::int64_t kPrunedDepth = 4;

Project networkWiredBy(const std::string& name)
{
    Project project = findExample("plain-language")->project;
    project.stack().segments = {{project.stack().segments.front().block, kPrunedDepth}};
    const auto presets = topologyPresets(project.network);
    const auto found = std::ranges::find(presets, name, &TopologyPreset::name);
    const Result<Project> wired = rewired(project, {name, found->wiring});
    return wired ? *wired : project;
}

Result<PrunedProject> prunedBy(const Project& project, const std::string& text)
{
    const Result<Pruning> pruning = pruningFrom(text, project);
    return pruning ? pruned(project, *pruning) : pruning.error();
}

std::string refusalOf(const std::string& topology, const std::string& text)
{
    const auto made = prunedBy(networkWiredBy(topology), text);
    return made ? std::string() : made.error().text();
}

/// True if the sources of a reader depend on how far they are, so that it reads new ones without a layer.
bool readsByDistance(const Project& project)
{
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    return mix != nullptr &&
           (std::holds_alternative<FirstAndLast>(mix->sources) || std::holds_alternative<Dilated>(mix->sources));
}

} // namespace

class TestPrune : public QObject {
    Q_OBJECT

private slots:
    void partsAreRead()
    {
        const Project project = networkWiredBy("dca");
        const Result<Pruning> made = pruningFrom("2:4, 3:*,*:2, layer 3", project);
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QCOMPARE(textOf(*made, project), std::string("0:2, 1:2, 2:4, 3:4, 3:5, layer 3"));
        QVERIFY(*pruningFrom(textOf(*made, project), project) == *made);
    }

    /// In a stack with loops, the names of shortcuts have visits; without them, they name those of every visit.
    void shortcutsOfVisitsAreRead()
    {
        Project project = networkWiredBy("denseformer");
        std::get<DepthMix>(project.stack().topology.wiring).sites = MixSites::Mhsa;
        project.stack().loops = {{.first = 2, .last = 3, .visits = 2}}; // 1 2@1 3@1 2@2 3@2 4
        const auto textFor = [&](const char* text) {
            const Result<Pruning> made = pruningFrom(text, project);
            return made ? textOf(*made, project) : made.error().text();
        };
        QCOMPARE(textFor("2:3"), std::string("2@1:3@1, 2@2:3@2"));
        QCOMPARE(textFor("3:2"), std::string("3@1:2@2"));
        QCOMPARE(textFor("2@1:3@2,0:out"), std::string("2@1:3@2, 0:out"));
        QCOMPARE(textFor("3@1:*"), std::string("3@1:2@2, 3@1:3@2, 3@1:4, 3@1:out"));
        QCOMPARE(textFor(textFor("2:*").c_str()), textFor("2:*"));
        QVERIFY(textFor("3@2:2@2").find("into 2@2 there are 0:2@2, 1:2@2") != std::string::npos);
    }

    void shortcutsGetTheStatePruned()
    {
        const auto made = prunedBy(networkWiredBy("dca"), "1:3");
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        const auto& mix = std::get<DepthMix>(made->project.stack().topology.wiring);
        QVERIFY(hasState(mix, {1, 3}, ShortcutState::Pruned));
        QCOMPARE(made->layers, (std::vector<std::int64_t>{1, 2, 3, 4}));
    }

    void aRunningSumBecomesAMixOfOnes()
    {
        const auto made = prunedBy(networkWiredBy("plain"), "1:3");
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        const auto& mix = std::get<DepthMix>(made->project.stack().topology.wiring);
        QCOMPARE(readerOf(mix, 3, kPrunedDepth).sources, (std::vector<std::int64_t>{0, 2}));
        QVERIFY(parametersOf(mix, kPrunedDepth, 8).empty());
    }

    void layersLeaveWithTheSchedulesReferences()
    {
        Project project = networkWiredBy("dca");
        project.stack().schedule.stages = {{0, 3, {1, 4}}, {10, 4, {1, 4}}};
        const auto made = prunedBy(project, "layer 2,1:4");
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QCOMPARE(made->layers, (std::vector<std::int64_t>{1, 3, 4}));
        QCOMPARE(made->project.network.depth(), std::int64_t{3});
        QCOMPARE(made->project.stack().schedule.stages[0].always, (std::vector<std::int64_t>{1, 3}));
        QCOMPARE(made->project.stack().schedule.stages[1].averageLength, 3.0);
        QVERIFY(hasState(std::get<DepthMix>(made->project.stack().topology.wiring), {1, 3}, ShortcutState::Pruned));
    }

    void partsThatAreNotThereAreRefused_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<QString>("parts");
        QTest::addColumn<QString>("said");
        QTest::newRow("no shortcut") << "dca"
                                     << "7:9"
                                     << "no shortcut 7:9";
        QTest::newRow("no source") << "dca"
                                   << "3:2"
                                   << "into 2 there are 0:2, 1:2";
        QTest::newRow("wildcard") << "dca"
                                  << "*:9"
                                  << "no shortcut *:9";
        QTest::newRow("no layer") << "dca"
                                  << "layer 5"
                                  << "no layer 5";
        QTest::newRow("layer 0") << "dca"
                                 << "layer 0"
                                 << "no layer 0";
        QTest::newRow("all") << "dca"
                             << "*:*"
                             << "every shortcut";
        QTest::newRow("all layers") << "dca"
                                    << "layer 1,layer 2,layer 3,layer 4"
                                    << "every layer";
        QTest::newRow("no sources left") << "dca"
                                         << "*:3"
                                         << "reads nothing";
        QTest::newRow("nothing for the softmax") << "ancre-ingoing"
                                                 << "*:3"
                                                 << "nothing left to share";
        QTest::newRow("streams") << "mhc"
                                 << "1:3"
                                 << "no shortcuts with weights of their own";
        QTest::newRow("empty") << "dca"
                               << ""
                               << "expected shortcuts such as";
        QTest::newRow("empty part") << "dca"
                                    << "1:3,,"
                                    << "expected shortcuts such as";
        QTest::newRow("words") << "dca"
                               << "layer two"
                               << "expected shortcuts such as";
        QTest::newRow("beyond numbers") << "dca"
                                        << "1:99999999999999999999"
                                        << "expected shortcuts such as";
    }
    void partsThatAreNotThereAreRefused()
    {
        QFETCH(QString, topology);
        QFETCH(QString, parts);
        QFETCH(QString, said);
        const std::string refusal = refusalOf(topology.toStdString(), parts.toStdString());
        QVERIFY2(QString::fromStdString(refusal).startsWith("[prune]"), refusal.c_str());
        QVERIFY2(QString::fromStdString(refusal).contains(said), refusal.c_str());
    }

    void rowsComeFromTheSameShortcuts_data()
    {
        QTest::addColumn<QString>("topology");
        for (const TopologyPreset& preset : topologyPresets(kPrunedDepth)) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    /// The tables of rows fit the declared parameters of every wiring, whole and without a layer and a shortcut.
    void rowsComeFromTheSameShortcuts()
    {
        QFETCH(QString, topology);
        const Project before = networkWiredBy(topology.toStdString());
        auto made = prunedBy(before, "layer 3");
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        const auto fewer = prunedBy(made->project, "1:3");
        const Project after = fewer ? fewer->project : made->project;
        const auto sources = carriedRows(before, after, made->layers);
        const auto old = parametersOf(before.stack().topology.wiring, kPrunedDepth, before.stack().width);
        for (const WiringParameter& parameter :
             parametersOf(after.stack().topology.wiring, kPrunedDepth - 1, after.stack().width)) {
            const auto source = sources.find(parameter.name);
            if (source == sources.end() && readsByDistance(after)) {
                continue;
            }
            QVERIFY2(source != sources.end(), parameter.name.c_str());
            const auto from = std::ranges::find(old, source->second.from, &WiringParameter::name);
            QVERIFY2(from != old.end(), source->second.from.c_str());
            const auto dimension = static_cast<std::size_t>(source->second.dimension);
            if (source->second.rows.empty()) {
                QCOMPARE(parameter.shape, from->shape);
                continue;
            }
            QCOMPARE(std::ssize(source->second.rows), parameter.shape[dimension]);
            for (const std::int64_t row : source->second.rows) {
                const bool isNew = row == -1 && readsByDistance(after);
                QVERIFY2(isNew || (row >= 0 && row < from->shape[dimension]), parameter.name.c_str());
            }
            std::vector<std::int64_t> shape = from->shape;
            shape[dimension] = parameter.shape[dimension];
            QCOMPARE(shape, parameter.shape);
        }
    }

    void theDocumentTellsWhatWasDeleted_data()
    {
        QTest::addColumn<QString>("topology");
        for (const TopologyPreset& preset : topologyPresets(kPrunedDepth)) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    /// Layers that are alike leave one after the other, between other edits and through undo, and then a shortcut.
    void theDocumentTellsWhatWasDeleted()
    {
        QFETCH(QString, topology);
        const Project before = networkWiredBy(topology.toStdString());
        History history(Document{before, {}});
        const auto isBefore = [&](const Project& project) { return isSameNetwork(project.network, before.network); };
        const auto told = [&] { return history.layersSince(isBefore).value_or(std::vector<std::int64_t>()); };
        const auto deleted = [&](const Selection& selection) {
            const auto change = deleteSelection(history.document(), selection);
            return change && history.perform(change->edit).ok();
        };
        QVERIFY(told() == (std::vector<std::int64_t>{1, 2, 3, 4}));
        QVERIFY(deleted({.layers = {2}}));
        QVERIFY(history.perform(SetField{"/training/steps", {"77"}}).ok());
        QVERIFY(deleted({.layers = {2}})); // the third
        QVERIFY(told() == (std::vector<std::int64_t>{1, 4}));
        history.undo();
        QVERIFY(told() == (std::vector<std::int64_t>{1, 3, 4}));
        const bool prunes = deleted({.shortcuts = {{0, 2}}});
        const auto parts = pruningBetween(before, history.project(), told());
        if (!prunes && !pruned(before, {{}, {2}})) {
            QVERIFY(!parts.ok());
            return; // the wiring cannot lose the layer
        }
        QVERIFY2(parts.ok(), parts ? "" : parts.error().text().c_str());
        QVERIFY(parts->layers == std::vector<std::int64_t>{2});
        const auto made = pruned(before, *parts);
        QVERIFY(made.ok() && isSameNetwork(made->project.network, history.project().network));
        const auto* const mix = std::get_if<DepthMix>(&history.project().stack().topology.wiring);
        QCOMPARE(parts->shortcuts.size(),
                 std::size_t{prunes && mix != nullptr && hasState(*mix, {0, 2}, ShortcutState::Pruned) ? 1U : 0U});
        const auto added = duplicateSelection(history.document(), {.layers = {1, 2}});
        QVERIFY(added.ok() && history.perform(added->edit).ok());
        QVERIFY(!history.layersSince(isBefore));
    }

    void otherChangesAreNoPruning()
    {
        const Project before = networkWiredBy("dca");
        Project after = before;
        after.stack().width *= 2;
        QVERIFY(!pruningBetween(before, after, {1, 2, 3, 4}).ok());
        const auto made = prunedBy(before, "layer 2, 1:3");
        QVERIFY(made.ok());
        after = made->project;
        std::get<DepthMix>(after.stack().topology.wiring).temperature = 3;
        const auto refused = pruningBetween(before, after, made->layers);
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().text().find("differs in more") != std::string::npos, refused.error().text().c_str());
    }

    void coefficientsAreTakenByTerm()
    {
        const Project before = networkWiredBy("ancre-ingoing");
        const auto made = prunedBy(before, "0:2");
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        const auto plan = planOf(std::get<DepthMix>(before.stack().topology.wiring), kPrunedDepth);
        std::vector<std::int64_t> kept;
        for (std::size_t term = 0; term < plan.terms.size(); ++term) {
            if (plan.terms[term].source != 0 || plan.readers[plan.terms[term].reader].target != 2) {
                kept.push_back(static_cast<std::int64_t>(term));
            }
        }
        QVERIFY(std::size(kept) + 1 == plan.terms.size());
        QCOMPARE(carriedRows(before, made->project, made->layers).at("topology.coefficient").rows, kept);
    }
};

RESIDUA_TEST(TestPrune)
#include "tst_prune.moc"
