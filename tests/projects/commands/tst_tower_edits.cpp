// SPDX-License-Identifier: GPL-3.0-or-later
// Commands on towers and losses, and the views of a document that its towers are edited in.
#include "projects/check/validate.h"
#include "projects/commands/tower_edits.h"
#include "projects/cost/cost.h"
#include "projects/edit/history.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/shipped/examples.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>

using namespace residua;
using namespace residua::projects;

namespace {

Document ancreDocument()
{
    return {findExample("ancre-language")->project, {}};
}

/// Returns the document after the edit; the document itself if the edit fails, so that the test fails.
Document after(const Document& document, const Edit& edit)
{
    Document edited = document;
    const Status done = applyEdit(edited, edit);
    if (!done) {
        qWarning("%s", done.error().text().c_str());
    }
    return edited;
}

std::string firstProblem(const Project& project)
{
    const std::vector<Problem> problems = validate(project);
    return problems.empty() ? std::string() : problems.front().text();
}

/// A document whose first tower learns what a frozen copy of it answers.
Document distilled()
{
    Document document = ancreDocument();
    document = after(document, copyTower(document, 0, CopiedLoss::None).edit);
    document = after(document, addLoss(document.project, 0));
    document.project.towers[0].network.frozen = true;
    return document;
}

} // namespace

class TestTowerEdits : public QObject {
    Q_OBJECT

private slots:
    void aCopyHasAFreeNameAndItsLayout()
    {
        Document document = ancreDocument();
        document.layout.groups = {{"all", 1, 2}};
        const TowerChange added = copyTower(document, 0, CopiedLoss::None);
        QCOMPARE(added.shown, std::size_t{1});
        const Document two = after(document, added.edit);
        QCOMPARE(towerCount(two.project), std::size_t{2});
        Network copy = towerAt(two.project, 1);
        QCOMPARE(copy.name, document.project.network.name + "2");
        QCOMPARE(copy.ownLoss, OwnLoss::None);
        QCOMPARE(two.layout.towers.at(0).groups, document.layout.groups);
        copy.name = document.project.network.name;
        copy.ownLoss = document.project.network.ownLoss;
        QVERIFY(copy == document.project.network);
        const Document three = after(two, copyTower(two, 1, CopiedLoss::Own).edit);
        QCOMPARE(towerAt(three.project, 2).name, document.project.network.name + "22");
        QCOMPARE(towerAt(three.project, 2).ownLoss, OwnLoss::None); // that of the copied tower
        QVERIFY(two.project.network == document.project.network);
    }

    void aTowerThatIsNamedStays()
    {
        const Document document = distilled();
        QCOMPARE(document.project.losses.at(0).target, outputOf(document.project.towers[0].network));
        const auto first = removeTower(document.project, 0);
        QVERIFY(!first && first.error().message.find("is the first one") != std::string::npos);
        const auto named = removeTower(document.project, 1);
        QVERIFY(!named && named.error().message.find("the loss soft") != std::string::npos);
        const auto lost = removeLoss(document.project, 0);
        QVERIFY(lost);
        const Document free = after(document, *lost);
        QVERIFY(free.project.losses.empty());
        QVERIFY(!removeLoss(free.project, 0));
        const auto removed = removeTower(free.project, 1);
        QVERIFY(removed);
        QCOMPARE(removed->shown, std::size_t{0});
        QVERIFY(after(free, removed->edit) == ancreDocument());
    }

    /// The name of the tower that judges follows it, and keeps it.
    void theJudgeKeepsItsName()
    {
        Document document = ancreDocument();
        document = after(document, copyTower(document, 0, CopiedLoss::Own).edit);
        const std::string judge = towerAt(document.project, 1).name;
        document = after(document, SetField{"/training/judged_by", {"\"" + judge + "\""}});
        QCOMPARE(firstProblem(document.project), std::string());
        QCOMPARE(judgingTower(document.project), std::size_t{1});
        QCOMPARE(judgingTower(viewOf(document.project, 1)), std::size_t{0});
        const auto refused = removeTower(document.project, 1);
        QVERIFY(!refused && refused.error().message.find("training.judged_by") != std::string::npos);
        const Document renamed =
            after(document, EditGroup{"Rename", {renameTower(viewOf(document.project, 1), "other")}, 1});
        QCOMPARE(renamed.project.training.judgedBy, std::string("other"));
        QCOMPARE(judgingTower(renamed.project), std::size_t{1});
        const Document another = after(document, renameTower(document.project, "first"));
        QCOMPARE(another.project.training.judgedBy, judge);
        QVERIFY(aloneOf(document.project, 1)->training.judgedBy.empty());
    }

    /// Layouts and swept fields of later towers follow.
    void removingATowerMovesTheOthers()
    {
        Document document = ancreDocument();
        document = after(document, copyTower(document, 0, CopiedLoss::None).edit);
        document = after(document, copyTower(document, 0, CopiedLoss::None).edit);
        document.layout.towers.resize(2);
        document.layout.towers[1].groups = {{"kept", 1, 1}};
        document.project.sweeps = {{"rates", {{"/towers/1/loss_weight", "", {{"1", {"1"}}}}}}};
        const std::string last = towerAt(document.project, 2).name;
        const Document left = after(document, removeTower(document.project, 1)->edit);
        QCOMPARE(towerAt(left.project, 1).name, last);
        QCOMPARE(left.layout.towers.at(0).groups.at(0).name, std::string("kept"));
        QCOMPARE(left.project.sweeps[0].axes[0].field, std::string("/towers/0/loss_weight"));
    }

    void aJoinedStackReadsTheFormerOne()
    {
        Document document = ancreDocument();
        document.project.network.tieHead = true;
        const TowerChange change = joinStack(document, 0);
        QCOMPARE(change.shown, std::size_t{0});
        const Document joined = after(document, change.edit);
        const Network& lower = towerAt(joined.project, 1);
        const Network& upper = joined.project.network;
        QCOMPARE(upper.name, document.project.network.name);
        QCOMPARE(upper.input, outputOf(lower));
        QVERIFY(!upper.tieHead);
        QVERIFY(upper.head == document.project.network.head);
        QVERIFY(lower.stem == document.project.network.stem);
        QCOMPARE(lower.ownLoss, OwnLoss::None);
        QCOMPARE(firstProblem(joined.project), std::string());
        // A stack is joined after a further tower too, and keeps the others.
        const Document again = after(joined, joinStack(joined, 1).edit);
        QCOMPARE(firstProblem(again.project), std::string());
        QCOMPARE(towerAt(again.project, 1).input, outputOf(towerAt(again.project, 2)));
    }

    /// Inputs, ports and losses follow a new name, in the view of the tower.
    void readersFollowTheNameOfATower()
    {
        Document document = after(distilled(), joinStack(distilled(), 0).edit); // reads "lower", which is the third
        const std::size_t lower = towerNamed(document.project, "lower");
        Graph& head = document.project.network.head;
        Node port{NodeId{77}, "input", "more", {{"port", std::string("lower.states")}}};
        head.nodes.push_back(port);
        document.project.losses[0].trains = {"lower", document.project.network.name};
        document.project.losses[0].target = "lower.output";
        const Edit rename = renameTower(viewOf(document.project, lower), "below");
        const Document renamed = after(document, EditGroup{titleOf(rename), {rename}, lower});
        QCOMPARE(towerAt(renamed.project, lower).name, std::string("below"));
        QCOMPARE(renamed.project.network.input, std::string("below.output"));
        QCOMPARE(graphPortOf(renamed.project.network.head.nodes.back()), std::string("below.states"));
        QCOMPARE(renamed.project.losses[0].target, std::string("below.output"));
        QCOMPARE(renamed.project.losses[0].trains.front(), std::string("below"));
        QCOMPARE(towerAt(renamed.project, 1).name, towerAt(document.project, 1).name);
    }

    /// A head that reads a further port of its stem reads that of a copy in the copy, and under a new name.
    void furtherPortsFollowTheirTower()
    {
        Document document = ancreDocument();
        Network& network = document.project.network;
        const auto output = std::ranges::find(network.stem.nodes, "output", &Node::kind)->id;
        const auto wire = std::ranges::find(network.stem.wires, output, [](const Wire& each) { return each.to.node; });
        network.stem.wires.push_back({wire->from, {NodeId{77}, "in"}});
        network.stem.nodes.push_back({NodeId{77}, "output", "hint", {{"port", std::string("hint")}}});
        network.head.nodes.push_back({NodeId{78}, "input", "hint", {{"port", valueOf(network, "hint")}}});
        QVERIFY(valuesOf(document.project).contains(valueOf(network, "hint")));
        QVERIFY(readableValues(document.project).empty());
        QVERIFY(!hasErrors(validate(document.project)));
        const auto portIn = [](const Document& in, std::size_t tower) {
            return graphPortOf(towerAt(in.project, tower).head.nodes.back());
        };
        const Document copied = after(document, copyTower(document, 0, CopiedLoss::Own).edit);
        QCOMPARE(portIn(copied, 1), valueOf(towerAt(copied.project, 1), "hint"));
        QCOMPARE(portIn(copied, 0), valueOf(network, "hint"));
        const Document renamed = after(document, renameTower(document.project, "below"));
        QCOMPARE(portIn(renamed, 0), std::string("below.hint"));
        const Document joined = after(document, joinStack(document, 0).edit);
        QCOMPARE(portIn(joined, 0), valueOf(towerAt(joined.project, 1), "hint"));
        QVERIFY(!hasErrors(validate(joined.project)));
        document.project.network.head.nodes.pop_back();
        QVERIFY(hasErrors(validate(document.project))); // nothing reads it
    }

    void aLossComparesWhatHasOneShape()
    {
        const Document document = distilled();
        QCOMPARE(firstProblem(document.project), std::string());
        QCOMPARE(document.project.losses.at(0).output, outputOf(document.project.network));
        QCOMPARE(document.project.losses.at(0).kind, LossKind::SoftTargets);
        // Without another tower the target is the examples'.
        const Document alone = after(ancreDocument(), addLoss(ancreDocument().project, 0));
        QVERIFY(alone.project.losses.at(0).target.empty());
        QCOMPARE(firstProblem(alone.project), std::string());
    }

    void valuesOfLaterTowersAreNotReadable()
    {
        const Document joined = after(ancreDocument(), joinStack(ancreDocument(), 0).edit);
        const std::string lower = towerAt(joined.project, 1).name;
        QVERIFY(readableValues(joined.project) == (std::vector<std::string>{lower + ".output", lower + ".states"}));
        QVERIFY(readableValues(viewOf(joined.project, 1)).empty());
        QCOMPARE(valuesOf(joined.project).size(), std::size_t{4});
    }

    /// A sound document is sound as seen from each tower, which has the costs that it has alone.
    void aViewOfASoundDocumentIsSound()
    {
        const Document joined = after(ancreDocument(), joinStack(ancreDocument(), 0).edit);
        const auto sound = soundProject(joined.project);
        QVERIFY(sound);
        const CostReport lower = costOf(viewOf(*sound, 1));
        QCOMPARE(lower.layers.size(), static_cast<std::size_t>(ancreDocument().project.network.depth()));
        QCOMPARE(lower.head.parameters, std::int64_t{0});
        QCOMPARE(costOf(*sound).towers.at(towerAt(joined.project, 1).name).parameters,
                 lower.towers.at(towerAt(joined.project, 1).name).parameters);
    }

    /// Every kind of edit changes the tower that it is of, and leaves the others with their layouts; its inverse is a
    /// snapshot. Edits of towers as such are tested above.
    void editsOfATowerKeepTheOthers()
    {
        Document joined = after(ancreDocument(), joinStack(ancreDocument(), 0).edit);
        joined.project.towers[0].network.stack().loops = {{.first = 2, .last = 3, .visits = 2}};
        joined.layout.towers.resize(1);
        tests::RandomDocument random(tests::randomSeed());
        std::set<std::size_t> kinds;
        for (int i = 0; i < 600; ++i) {
            const std::size_t tower = static_cast<std::size_t>(i) % 2;
            Document view = joined;
            showTower(view, tower);
            const Edit edit = random.edit(view);
            const auto* const field = std::get_if<SetField>(&edit);
            if ((field != nullptr && field->pointer.starts_with("/towers")) || std::holds_alternative<AddTower>(edit) ||
                std::holds_alternative<RemoveTower>(edit) || std::holds_alternative<EditGroup>(edit)) {
                continue;
            }
            Document edited = joined;
            if (!applyEdit(edited, EditGroup{"Edit", {edit}, tower})) {
                QVERIFY(edited == joined);
                continue;
            }
            kinds.insert(edit.index());
            Document asFirst = view;
            QVERIFY(applyEdit(asFirst, edit));
            showTower(edited, tower);
            QVERIFY2(edited == asFirst, titleOf(edit).c_str());
            QVERIFY2(edited.project.towers == view.project.towers && edited.layout.towers == view.layout.towers,
                     titleOf(edit).c_str());
        }
        QVERIFY(kinds.size() >= 15);
    }

    /// Layers that another tower loses are none of those of the first one.
    void layersOfOtherTowersAreNotCounted()
    {
        const Document joined = after(ancreDocument(), joinStack(ancreDocument(), 0).edit);
        History history(joined);
        const Project before = history.project();
        SetStack fewer{history.project().stack().segments, {}, {1}};
        fewer.stack.front().repeat -= 1;
        QVERIFY(history.perform(EditGroup{"Remove", {fewer}, 1}));
        const auto layers = history.layersSince([&](const Project& project) { return project == before; });
        QVERIFY(layers);
        QCOMPARE(layers->size(), static_cast<std::size_t>(before.network.depth()));
        QCOMPARE(layers->front(), std::int64_t{1});
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestTowerEdits)
#include "tst_tower_edits.moc"
