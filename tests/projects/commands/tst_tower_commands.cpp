// SPDX-License-Identifier: GPL-3.0-or-later
// Every kind of edit and every command on each tower of a document of two towers with two stacks, shortcuts in both,
// and a loop.
#include "projects/check/validate.h"
#include "projects/commands/commands.h"
#include "projects/commands/graph_commands.h"
#include "projects/commands/tower_edits.h"
#include "projects/commands/typing.h"
#include "projects/depth/depth_names.h"
#include "projects/edit/history.h"
#include "projects/file/json.h"
#include "projects/layers/layer_edits.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/towers.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace residua;
using namespace residua::projects;

namespace {

constexpr const char* kSpare = "spare";

void applyIn(Document& document, const Edit& edit, std::size_t tower = 0)
{
    const Status done = applyEdit(document, EditGroup{"Edit", {edit}, tower});
    if (!done) {
        throw std::runtime_error(done.error().text());
    }
}

/// Returns the document as a view of the tower.
Document seenFrom(Document document, std::size_t tower)
{
    showTower(document, tower);
    return document;
}

const Graph& blockGraph(const Document& view)
{
    return view.project.network.blocks.front().graph;
}
GraphRef blockRef(const Document& view)
{
    return GraphRef::block(view.project.network.blocks.front().name);
}
NodeId nodeOf(const Document& view, const std::string& name)
{
    return std::ranges::find(blockGraph(view).nodes, name, &Node::name)->id;
}
/// The nodes of the block one above the other, as a view might show them.
GraphView shownBlock(const Document& view)
{
    GraphView seen{blockRef(view), {}, Box{-1000, -1000, 1000, 1000}};
    double top = 0;
    for (const Node& node : blockGraph(view).nodes) {
        seen.boxes.emplace(node.id, Box{0, top, kNodeWidth, top + kNodeHeight});
        top -= 2 * kNodeHeight;
    }
    return seen;
}

/// An upper stack reads the states of a lower one. Both have learned shortcuts, a group, stages, and a block without
/// layers. Shortcut 1:4 is pruned, and 2:5 is frozen. The lower stack visits layers 2 and 3 twice.
Document twoStacks()
{
    Document document{findExample("ancre-language")->project, {}};
    applyIn(document, joinStack(document, 0).edit);
    for (std::size_t tower = 0; tower < 2; ++tower) {
        const auto view = [&] { return seenFrom(document, tower); };
        if (tower == 1) {
            applyIn(document, visitLayers(view(), {.layers = {2, 3}}, 2)->edit, tower);
        }
        applyIn(document, pruneShortcuts(view(), {.shortcuts = {{1, 4}}})->edit, tower);
        applyIn(document, toggleFrozen(view(), {.shortcuts = {{2, 5}}}, {{{2, 5}, ShortcutState::frozenAt(0.5)}})->edit,
                tower);
        applyIn(document, *groupEdit(view(), {1, 2}, "early"), tower);
        applyIn(document, PutBlock{{kSpare, "", blockGraph(view())}}, tower);
        applyIn(document,
                SetSchedule{*scheduleFrom("raptr", view().project.network.depth(), view().project.training.steps)},
                tower);
    }
    return document;
}

/// An edit of a kind, made for a view of a tower.
using MadeEdit = std::function<Edit(const Document& view)>;
/// A command on a view of a tower. `other` is the view of the other one.
using Command = std::function<Result<DocumentChange>(const Document& view, const Document& other)>;

std::vector<std::pair<const char*, MadeEdit>> editsOfTowers()
{
    const auto always = [](Edit edit) { return [edit](const Document&) { return edit; }; };
    return {
        {"set a field", always(SetField{"/network/width", {"64"}})},
        {"set the schedule", always(SetSchedule{})},
        {"set the topology", always(SetTopology{})},
        {"add a shortcut", always(AddShortcut{{1, 4}})},
        {"remove a shortcut", always(RemoveShortcut{{1, 3}})},
        {"set a shortcut's state", always(SetShortcutState{{1, 3}, ShortcutState::Pruned})},
        {"set the stack",
         [](const Document& view) {
             SetStack stack{view.project.stack().segments, view.project.stack().loops};
             stack.stack.front().repeat += 1;
             return Edit(stack);
         }},
        {"put a block",
         [](const Document& view) {
             return PutBlock{{"more", "", blockGraph(view)}};
         }},
        {"remove a block", always(RemoveBlock{kSpare})},
        {"rename a block", always(RenameBlock{kSpare, "other"})},
        {"add a node",
         [](const Document& view) {
             return AddNode{blockRef(view), Node{NodeId{77}, "gelu", "more", {}}, Position{1, 2}};
         }},
        {"remove a node",
         [](const Document& view) {
             return RemoveNode{blockRef(view), nodeOf(view, "gate")};
         }},
        {"rename a node",
         [](const Document& view) {
             return RenameNode{blockRef(view), nodeOf(view, "gate"), "g"};
         }},
        {"set a parameter",
         [](const Document& view) {
             return SetParam{blockRef(view), nodeOf(view, "attention"), "heads", ParamValue(std::int64_t{2})};
         }},
        {"add a wire",
         [](const Document& view) {
             return AddWire{blockRef(view), {{nodeOf(view, "input"), "out"}, {nodeOf(view, "norm_ffn"), "in"}}};
         }},
        {"remove a wire",
         [](const Document& view) {
             return RemoveWire{blockRef(view), blockGraph(view).wires.front()};
         }},
        {"set a graph",
         [](const Document& view) {
             return SetGraph{GraphRef::head(), blockGraph(view)};
         }},
        {"move a node",
         [](const Document& view) {
             return MoveNode{blockRef(view), nodeOf(view, "gate"), Position{3, 4}};
         }},
        {"set the groups", always(SetLayerGroups{{{"all", 1, 4}}})},
    };
}

/// Edits of the document as a whole.
std::vector<Edit> editsOfDocuments()
{
    return {SetSweeps{{{"rates", {{"/seeds/init", "", {{"1", {"1"}}}}}}}}, AddTower{}, RemoveTower{0}, SetLosses{}};
}

/// The commands of projects/commands, of layers and of graphs.
std::vector<std::pair<const char*, Command>> commandsOfTowers()
{
    const auto nodes = [](const Document& view, std::initializer_list<const char*> names) {
        Selection selection{.graph = blockRef(view)};
        for (const char* const name : names) {
            selection.nodes.insert(nodeOf(view, name));
        }
        return selection;
    };
    const auto typedText = [](const std::string& text) {
        return [text](const Document& view, const Document&) -> Result<DocumentChange> {
            const Typed made = typed(view, {.layers = {2}}, text);
            return made.change ? Result<DocumentChange>(*made.change) : Error{"typed", made.answer.message};
        };
    };
    return {
        {"delete layers", [](const Document& view, const Document&) { return deleteSelection(view, {.layers = {4}}); }},
        {"delete shortcuts",
         [](const Document& view, const Document&) {
             return deleteSelection(view, {.shortcuts = {{1, 3}}});
         }},
        {"add shortcuts",
         [](const Document& view, const Document&) {
             return addShortcuts(view, {{1, 4}});
         }},
        {"prune shortcuts",
         [](const Document& view, const Document&) {
             return pruneShortcuts(view, {.shortcuts = {{1, 3}}});
         }},
        {"freeze",
         [](const Document& view, const Document&) {
             return toggleFrozen(view, {.shortcuts = {{1, 3}}});
         }},
        {"train again",
         [](const Document& view, const Document&) {
             return toggleFrozen(view, {.shortcuts = {{2, 5}}});
         }},
        {"freeze at the start",
         [](const Document& view, const Document&) {
             return freezeAtStart(view, {.shortcuts = {{1, 3}}});
         }},
        {"set a state",
         [](const Document& view, const Document&) {
             return setShortcutState(view.project, {.shortcuts = {{1, 3}}}, ShortcutState::Pruned);
         }},
        {"paste layers",
         [](const Document& view, const Document&) {
             return paste(view, {.layers = {4}}, copied(view, {.layers = {1, 2}}));
         }},
        {"paste layers of the other tower",
         [](const Document& view, const Document& other) {
             return paste(view, {.layers = {4}}, copied(other, {.layers = {2, 3, 4, 5}}));
         }},
        {"paste shortcuts of the other tower",
         [](const Document& view, const Document& other) {
             return paste(view, {.layers = {1}}, copied(other, {.shortcuts = {{2, 5}}}));
         }},
        {"duplicate layers",
         [](const Document& view, const Document&) { return duplicateSelection(view, {.layers = {2}}); }},
        {"duplicate nodes",
         [nodes](const Document& view, const Document&) {
             return duplicateSelection(view, nodes(view, {"norm_ffn"}), shownBlock(view));
         }},
        {"delete wires and nodes",
         [nodes](const Document& view, const Document&) {
             return deleteSelection(view, nodes(view, {"norm_ffn", "up"}), shownBlock(view));
         }},
        {"paste nodes of the other tower",
         [nodes](const Document& view, const Document& other) {
             return paste(view, {.graph = blockRef(view)}, copied(other, nodes(other, {"norm_ffn"}), shownBlock(other)),
                          shownBlock(view));
         }},
        {"align nodes",
         [nodes](const Document& view, const Document&) {
             return alignNodes(view, nodes(view, {"gate", "up"}), Alignment::Left, shownBlock(view));
         }},
        {"ungroup", [](const Document& view, const Document&) { return ungroupLayers(view, {.layers = {1}}); }},
        {"visit layers", [](const Document& view, const Document&) { return visitLayers(view, {.layers = {2}}, 3); }},
        {"type shortcuts",
         [typedText](const Document& view, const Document& other) {
             return typedText("1:" + layerName(view.project.stack(), 4))(view, other);
         }},
        {"type a wiring", typedText("denseformer")},
        {"type layers", typedText("2 transformer")},
        {"type a group", typedText("group late")},
        {"type visits", typedText("visits 4")},
    };
}

} // namespace

class TestTowerCommands : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        m_document = twoStacks();
        const std::vector<Problem> problems = validate(m_document.project);
        QVERIFY2(!hasErrors(problems), problems.empty() ? "" : problems.front().text().c_str());
        QCOMPARE(m_document.project.towers[0].network.depth(), m_document.project.network.depth() + 2);
    }

    void everyKindOfEditIsInTheTable()
    {
        std::set<std::size_t> kinds{Edit(EditGroup{}).index()};
        for (const auto& [name, made] : editsOfTowers()) {
            kinds.insert(made(m_document).index());
        }
        for (const Edit& edit : editsOfDocuments()) {
            kinds.insert(edit.index());
        }
        QCOMPARE(kinds.size(), std::variant_size_v<Edit>);
    }

    void edits_data() { rowsOf(editsOfTowers()); }
    void edits()
    {
        QFETCH(int, row);
        QFETCH(int, tower);
        const auto index = static_cast<std::size_t>(tower);
        changed(editsOfTowers()[static_cast<std::size_t>(row)].second(seenFrom(m_document, index)), index);
    }

    void commands_data() { rowsOf(commandsOfTowers()); }
    /// The result is as sound as the document.
    void commands()
    {
        QFETCH(int, row);
        QFETCH(int, tower);
        const auto index = static_cast<std::size_t>(tower);
        const Document view = seenFrom(m_document, index);
        const auto change =
            commandsOfTowers()[static_cast<std::size_t>(row)].second(view, seenFrom(m_document, 1 - index));
        QVERIFY2(change.ok(), change ? "" : change.error().text().c_str());
        const Document after = changed(change->edit, index);
        if (!QString(QTest::currentDataTag()).contains("nodes")) { // a graph may miss wires between commands
            const std::vector<Problem> problems = validate(after.project);
            QVERIFY2(!hasErrors(problems), problems.empty() ? "" : problems.front().text().c_str());
        }
    }

    /// The loop of a tower is removed, and its fields change with the numbers of its layers.
    void loops()
    {
        const Document view = seenFrom(m_document, 1);
        const auto once = visitLayersOnce(view, {.layers = {3}});
        QVERIFY2(once.ok(), once ? "" : once.error().text().c_str());
        QVERIFY(!hasErrors(validate(changed(once->edit, 1).project)));
        QVERIFY(!visitLayersOnce(m_document, {.layers = {3}}));
        for (const SetField& field :
             {SetField{"/network/loops/0/visits", {"3"}}, SetField{"/network/stack/0/repeat", {"9"}}}) {
            const Document after = changed(keepingNumbers(view, field), 1);
            QVERIFY(!hasErrors(validate(after.project)));
            QVERIFY(after.project.towers[0].network.depth() > view.project.network.depth());
        }
    }

    /// Problems of a tower are cured there, and the settings of another document are taken over there.
    void curesAndSettings()
    {
        for (std::size_t tower = 0; tower < 2; ++tower) {
            Document broken = m_document;
            applyIn(broken, SetField{"/schedule/full_model_steps", {"-1"}}, tower);
            const std::vector<Problem> problems = validate(broken.project);
            const auto error = std::ranges::find(problems, Severity::Error, &Problem::severity);
            QVERIFY(error != problems.end());
            const auto cure = cureOf(broken.project, *error);
            QVERIFY2(cure, error->text().c_str());
            QVERIFY(applyEdit(broken, cure->edit));
            QVERIFY2(!hasErrors(validate(broken.project)), cure->title.c_str());
            QVERIFY(towerAt(broken.project, 1 - tower) == towerAt(m_document.project, 1 - tower));

            const Document view = seenFrom(m_document, tower);
            Project wanted = view.project;
            wanted.network.stack().topology.wiring = DepthMix{};
            wanted.network.stack().schedule = {};
            const std::vector<SettingChange> settings = settingsThatDiffer(view, wanted);
            QVERIFY(!settings.empty());
            const Document after = changed(editOf("Take over", settings), tower);
            QVERIFY(seenFrom(after, tower).project.stack().schedule == wanted.stack().schedule);
        }
    }

private:
    template <class Rows>
    static void rowsOf(const Rows& rows)
    {
        QTest::addColumn<int>("row");
        QTest::addColumn<int>("tower");
        for (std::size_t row = 0; row < rows.size(); ++row) {
            for (const int tower : {0, 1}) {
                QTest::addRow("%s of %s", rows[row].first, tower == 0 ? "the upper stack" : "the lower stack")
                    << static_cast<int>(row) << tower;
            }
        }
    }

    /// Returns the document after the edit of a tower. The edit changes that tower alone, is undone as a whole, and its
    /// result survives a file.
    Document changed(const Edit& edit, std::size_t tower) const
    {
        Document expected = seenFrom(m_document, tower);
        const Status direct = applyEdit(expected, edit);
        if (!direct) {
            QTest::qFail(direct.error().text().c_str(), __FILE__, __LINE__);
            return m_document;
        }
        showTower(expected, tower);
        History history(m_document);
        const Status done = history.perform(EditGroup{titleOf(edit), {edit}, tower});
        const Document after = history.document();
        const auto sameOther = [&] {
            const Document was = seenFrom(m_document, 1 - tower);
            const Document is = seenFrom(after, 1 - tower);
            return is.project.network == was.project.network && is.layout.groups == was.layout.groups &&
                   is.layout.positions == was.layout.positions;
        };
        const auto read = projectFromJson(toJson(after.project));
        const auto fault = !done                       ? done.error().text()
                           : !(after == expected)      ? std::string("differs from the edit of the view")
                           : after == m_document       ? std::string("changes nothing")
                           : !sameOther()              ? std::string("changes the other tower")
                           : !read                     ? read.error().text()
                           : !(*read == after.project) ? std::string("differs after a file")
                                                       : std::string();
        history.undo();
        if (!fault.empty() || !(history.document() == m_document)) {
            QTest::qFail(fault.empty() ? "is not undone" : fault.c_str(), __FILE__, __LINE__);
        }
        return after;
    }

    Document m_document;
};

RESIDUA_TEST_IN(QCoreApplication, TestTowerCommands)
#include "tst_tower_commands.moc"
