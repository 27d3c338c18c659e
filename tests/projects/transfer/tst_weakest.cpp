// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/library/presets.h"
#include "projects/model/topology.h"
#include "projects/shipped/examples.h"
#include "projects/transfer/weakest.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>

using namespace residua;
using namespace residua::projects;

namespace {

Project wiredAs(const std::string& name)
{
    Project project = findExample("plain-language")->project;
    const auto presets = topologyPresets(project.network.depth());
    project.stack().topology = {name, std::ranges::find(presets, name, &TopologyPreset::name)->wiring};
    return project;
}

std::string chosen(const Project& project, const std::vector<ShortcutStrength>& strengths, WeakBy by,
                   std::int64_t count)
{
    const Result<Pruning> pruning = weakest(project, strengths, by, count);
    return pruning ? textOf(*pruning, project) : pruning.error().text();
}

} // namespace

class TestWeakest : public QObject {
    Q_OBJECT

private slots:
    void eachMeasureHasItsOrder()
    {
        const Project project = wiredAs("ancre-ingoing");
        const std::vector<ShortcutStrength> strengths{
            {{0, 2}, -0.5, 0.1}, {{0, 3}, 0.2, 0.3}, {{1, 3}, 0.1, -0.2}, {{2, 3}, 0.7, 0.1}};
        QCOMPARE(chosen(project, strengths, WeakBy::Weight, 2), std::string("0:3, 1:3"));
        QCOMPARE(chosen(project, strengths, WeakBy::Effect, 1), std::string("1:3"));
        QCOMPARE(chosen(project, strengths, WeakBy::Effect, 2), std::string("0:2, 1:3")); // equal: the first
        QCOMPARE(chosen(project, strengths, WeakBy::Flop, 1), std::string("1:3"));
        QCOMPARE(chosen(project, strengths, WeakBy::Weight, 0), std::string());
    }

    /// The last source of a softmax stays, even if it is among the weakest.
    void theLastSourceStays()
    {
        const Project project = wiredAs("ancre-ingoing");
        const std::vector<ShortcutStrength> strengths{
            {{0, 2}, 0.1, 0.1}, {{1, 2}, 0.2, 0.2}, {{0, 3}, 0.9, 0.9}, {{1, 3}, 0.8, 0.8}};
        QCOMPARE(chosen(project, strengths, WeakBy::Weight, 2), std::string("0:2, 1:3"));
        const Result<Pruning> all = weakest(project, strengths, WeakBy::Weight, 4);
        QVERIFY(tests::isRefusedAt(all, "prune", "only 3 of 4 shortcuts can be left out together, got 4"));
    }

    void unknownMeasuresAreReported()
    {
        const Project project = wiredAs("ancre-ingoing");
        QVERIFY(
            tests::isRefusedAt(weakest(project, {{{0, 2}}}, WeakBy::Effect, 1), "prune", "the effect of no shortcut"));
        QVERIFY(weakByNamed("flop") == WeakBy::Flop);
        QVERIFY(!weakByNamed("size"));
    }
};

RESIDUA_TEST(TestWeakest)
#include "tst_weakest.moc"
