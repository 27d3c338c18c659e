// SPDX-License-Identifier: GPL-3.0-or-later
// Towers in the window: the tabs, the views of the shown one, the commands, the problems and the recorded weights.
#include "app/actions/window_actions.h"
#include "app/canvas/canvas_widget.h"
#include "app/document/analysis.h"
#include "app/inspector/inspector.h"
#include "app/inspector/problems_view.h"
#include "app/outline/outline_model.h"
#include "app/views/document_views.h"
#include "app/views/live_views.h"
#include "app/views/run_follower.h"
#include "app/workspace/tower_bar.h"
#include "app/workspace/workspace.h"
#include "projects/check/validate.h"
#include "projects/nodes/towers.h"
#include "tests/app/runs/runs_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/shown_matrices.h"

#include <QApplication>

#include <algorithm>

using namespace residua;
using namespace residua::app;

namespace {

/// A quick project whose first tower reads a tower of a layer more.
projects::Project twoTowers()
{
    projects::Project project = quickExample();
    project.towers = {{project.network}};
    projects::Network& second = project.towers[0].network;
    second.name = "second";
    second.ownLoss = projects::OwnLoss::Measured;
    second.stack().segments.front().repeat += 1;
    return project;
}

QString valueOf(const std::vector<Property>& properties, const std::string& key)
{
    const auto found = std::ranges::find(properties, key, &Property::key);
    return found == properties.end() ? QString("absent") : found->valueText();
}

} // namespace

class TestTowers : public RunsHarness {
    Q_OBJECT

private slots:
    void init() { openWindowOn(twoTowers()); }
    void cleanup() { m_window.reset(); }

    void oneTowerHasNoTabs()
    {
        QVERIFY(bar().isVisible());
        openWindowOn(quickExample());
        QVERIFY(!bar().isVisible());
        QVERIFY(!m_window->workspace().outlineModel().indexOf(TowerPlace{0}).isValid());
        QCOMPARE(valueOf(propertiesOf(project(), SectionPlace{Section::Network}), "/network/input"), QString("absent"));
        QVERIFY(std::ranges::none_of(entries(), [](const auto& entry) { return entry.id.startsWith("tower:"); }));
    }

    /// All views show the tower of the tab, and edits apply to it.
    void aTabShowsItsTower()
    {
        const std::int64_t depth = project().network.depth();
        QCOMPARE(bar().count(), 2);
        QCOMPARE(bar().tabText(0), QString("second")); // runs before the first one
        QCOMPARE(bar().tabText(1), QString("network"));
        QCOMPARE(bar().currentIndex(), 1);
        QTest::mouseClick(&bar(), Qt::LeftButton, {}, bar().tabRect(0).center());
        QCOMPARE(project().network.name, std::string("second"));
        QCOMPARE(project().network.depth(), depth + 1);
        QCOMPARE(m_window->documents().place(), Place(TowerPlace{1}));
        QVERIFY(m_window->workspace().outlineModel().indexOf(LayersPlace{{depth + 1}}).isValid());
        QVERIFY(m_window->documents().applyEdit(projects::SetField{"/network/width", {"24"}}) ==
                DocumentViews::Applied::Yes);
        QCOMPARE(whole().towers[0].network.stack().width, std::int64_t{24});
        QVERIFY(whole().network.stack().width != 24);
        m_window->session().undo();
        QCOMPARE(project().network.name, std::string("second"));
        QTest::keyClick(m_window.get(), Qt::Key_PageDown, Qt::ControlModifier);
        QCOMPARE(project().network.name, std::string("network"));
    }

    /// The other tower is a row of the depth canvas, and a joint's stem is selected as in the outline.
    void aClickInAnotherRowShowsItsTower()
    {
        CanvasWidget& canvas = m_window->workspace().canvas();
        QVERIFY(canvas.drawable());
        const auto clickOn = [&](const editor::TowerSpot& spot) {
            const auto at = [&] { return pointOf(canvas.canvas().locate(spot)); };
            waitUntilStill(canvas, at);
            click(canvas, at());
        };
        QCOMPARE(canvas.accessibleDescription(), QString("second; network, shown"));
        clickOn({editor::TowerSpot::Kind::Stack, 1});
        QTRY_COMPARE(m_window->session().shownTower(), std::size_t{1});
        QCOMPARE(bar().tabText(bar().currentIndex()), QString("second"));
        clickOn({editor::TowerSpot::Kind::Stack, 0});
        QTRY_COMPARE(m_window->session().shownTower(), std::size_t{0});
        trigger("joinStack");
        QCOMPARE(project().network.input, std::string("lower.output"));
        m_window->session().showTower(2);
        clickOn({editor::TowerSpot::Kind::Joint, 0});
        QTRY_COMPARE(m_window->session().shownTower(), std::size_t{0});
        QTRY_COMPARE(m_window->documents().place(), Place(GraphPlace{projects::GraphRef::stem()}));
    }

    void commandsFindTowers()
    {
        const std::vector<PaletteEntry> found = entries();
        const auto entry = std::ranges::find(found, QString("tower:second"), &PaletteEntry::id);
        QVERIFY(entry != found.end());
        entry->take();
        QCOMPARE(m_window->session().shownTower(), std::size_t{1});
    }

    void towersAreAddedJoinedAndRemoved()
    {
        const projects::Project before = whole();
        trigger("addTower");
        QCOMPARE(bar().count(), 3);
        QCOMPARE(project().network.name, std::string("network2"));
        QCOMPARE(project().network.ownLoss, projects::OwnLoss::None);
        trigger("removeTower");
        QCOMPARE(bar().count(), 2);
        QVERIFY(whole() == before);
        QCOMPARE(m_window->session().shownTower(), std::size_t{0});
        trigger("joinStack");
        QCOMPARE(project().network.input, std::string("lower.output"));
        QVERIFY(bar().tabText(bar().currentIndex()).contains("lower.output → network"));
        QCOMPARE(valueOf(propertiesOf(project(), TowerPlace{0}), "/network/input"), QString("lower.output"));
        QVERIFY(!projects::hasErrors(projects::validate(whole())));
        m_window->session().showTower(2);
        trigger("removeTower"); // the first one reads it
        QCOMPARE(projects::towerCount(whole()), std::size_t{3});
    }

    void aLossIsAddedAndItsFieldsAreChoices()
    {
        trigger("addLoss");
        QCOMPARE(whole().losses.size(), std::size_t{1});
        QCOMPARE(m_window->documents().place(), Place(LossPlace{0}));
        QVERIFY(m_window->workspace().outlineModel().indexOf(LossPlace{0}).isValid());
        const std::vector<Property> properties = propertiesOf(project(), LossPlace{0});
        const auto target = std::ranges::find(properties, std::string("/losses/0/target"), &Property::key);
        QVERIFY(target != properties.end());
        QCOMPARE(target->kind, PropertyKind::Choice);
        QCOMPARE(target->choices.front(), QString("The examples' target"));
        // Two towers have states and an output each, and both after each of their 3 and 4 layers.
        QCOMPARE(target->choices.size(), qsizetype{1 + 2 * 2 + 2 * (3 + 4)});
        const auto trains = std::ranges::find(properties, std::string("/losses/0/trains"), &Property::key);
        QVERIFY(trains != properties.end());
        QVERIFY(m_window->documents().applyEdit(*trains->edit(project(), "network, second")) ==
                DocumentViews::Applied::Yes);
        QCOMPARE(whole().losses[0].trains, (std::vector<std::string>{"network", "second"}));
        const auto has = [&](const char* key) {
            const std::vector<Property> shown = propertiesOf(project(), LossPlace{0});
            return std::ranges::find(shown, std::string("/losses/0/") + key, &Property::key) != shown.end();
        };
        QVERIFY(!has("temperature") && !has("penalty"));
        QVERIFY(m_window->session().performWhole(projects::SetField{"/losses/0/kind", {"\"soft_targets\""}}).ok());
        QVERIFY(has("temperature") && !has("penalty"));
        QVERIFY(m_window->session().performWhole(projects::SetField{"/losses/0/kind", {"\"contrastive\""}}).ok());
        QVERIFY(!has("temperature") && has("penalty"));
        trigger("removeLoss");
        QVERIFY(whole().losses.empty());
    }

    /// The towers with a loss are the choices, whichever tower is shown; a document of one tower has no choice.
    void theJudgeIsAChoice()
    {
        const auto judge = [this] {
            const std::vector<Property> properties = propertiesOf(project(), SectionPlace{Section::Training});
            return *std::ranges::find(properties, std::string("/training/judged_by"), &Property::key);
        };
        QCOMPARE(judge().choices, (QStringList{"The first tower", "network", "second"}));
        QCOMPARE(judge().valueText(), QString("The first tower"));
        QVERIFY(m_window->documents().applyEdit(*judge().edit(project(), 2)) == DocumentViews::Applied::Yes);
        QCOMPARE(whole().training.judgedBy, std::string("second"));
        m_window->session().showTower(1);
        QCOMPARE(judge().valueText(), QString("second"));
        QVERIFY(!projects::hasErrors(projects::validate(whole())));
        openWindowOn(quickExample());
        QCOMPARE(valueOf(propertiesOf(project(), SectionPlace{Section::Training}), "/training/judged_by"),
                 QString("absent"));
    }

    /// A problem of another tower shows that tower and its place.
    void aProblemShowsItsTower()
    {
        QVERIFY(m_window->session().performWhole(projects::SetField{"/towers/0/width", {"0"}}).ok());
        Analysis analysis(m_window->session());
        analysis.update();
        const std::vector<projects::Problem> problems = analysis.problems();
        const auto found = std::ranges::find_if(
            problems, [](const projects::Problem& problem) { return problem.path.starts_with("/towers/0/"); });
        QVERIFY(found != problems.end());
        emit m_window->workspace().view<ProblemsView>().jumpRequested(found->path);
        QCOMPARE(m_window->session().shownTower(), std::size_t{1});
        QCOMPARE(m_window->documents().place(), Place(SectionPlace{Section::Network}));
        analysis.update();
        QVERIFY(analysis.problems().front().path.starts_with("/network/"));
    }

    /// The costs are those of the shown tower, the total is that of all.
    void costsAreThoseOfTheShownTower()
    {
        Analysis analysis(m_window->session());
        analysis.update();
        const projects::CostReport first = analysis.cost().value();
        m_window->session().showTower(1);
        analysis.update();
        const projects::CostReport second = analysis.cost().value();
        QCOMPARE(second.layers.size(), first.layers.size() + 1);
        QCOMPARE(second.total.parameters, first.total.parameters);
    }

    /// A run of both records weights of both, and each tower shows its own.
    void recordedWeightsAreThoseOfTheShownTower()
    {
        train();
        const visualizers::ShownMatrices& matrices = m_window->workspace().shownMatrices();
        QTRY_VERIFY(matrices.any());
        const std::int64_t rows = matrices.frameShown().matrix.rows;
        const std::vector<std::string> kinds = matrices.kinds();
        QVERIFY(
            std::ranges::none_of(kinds, [](const std::string& kind) { return kind.find('.') != std::string::npos; }));
        m_window->session().showTower(1);
        QTRY_VERIFY(matrices.any() && matrices.frameShown().matrix.rows == rows + 1);
        QCOMPARE(matrices.kinds(), kinds);
        QCOMPARE(m_window->runFollower().live().absence(), QString());
        m_window->session().showTower(0);
        QTRY_VERIFY(matrices.any() && matrices.frameShown().matrix.rows == rows);
    }

private:
    [[nodiscard]] TowerBar& bar() const { return m_window->workspace().towers(); }
    [[nodiscard]] const projects::Project& whole() const { return m_window->session().wholeProject(); }
    [[nodiscard]] std::vector<PaletteEntry> entries() const
    {
        return documentEntries(m_window->session(), m_window->documents(), m_window->workspace());
    }
    void trigger(const char* name) const
    {
        auto* const action = m_window->findChild<QAction*>(QString::fromLatin1(name));
        QVERIFY(action && action->isEnabled());
        action->trigger();
    }
};

RESIDUA_TEST_IN(QApplication, TestTowers)
#include "tst_towers.moc"
