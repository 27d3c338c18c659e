// SPDX-License-Identifier: GPL-3.0-or-later
// Commands and edits on layers that a loop visits several times.
#include "projects/base/text.h"
#include "projects/commands/typing.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/visit_shortcuts.h"
#include "projects/diff/diff.h"
#include "projects/edit/history.h"
#include "projects/file/json.h"
#include "projects/layers/layer_edits.h"
#include "tests/projects/commands/changed_document.h"
#include "tests/support/test_program.h"

#include <limits>
#include <set>

using namespace residua;
using namespace residua::projects;
using residua::tests::blockOf;
using residua::tests::isListed;
using residua::tests::mixOf;
using residua::tests::perform;

namespace {

/// Layers 1 and 4 once, 2 and 3 twice; nothing is read but what is typed.
Document loopedBlocks(VisitOrder order)
{
    Document document = blockOf("mlp");
    document.project.stack().loops = {{.first = 2, .last = 3, .visits = 2, .order = order}};
    mixOf(document.project).sources = ExplicitSources{};
    return document;
}

} // namespace

class TestLoopCommands : public QObject {
    Q_OBJECT

private slots:
    void layersAreVisitedSeveralTimes()
    {
        Document document = blockOf("mlp");
        const auto loops = [&document]() -> const std::vector<Loop>& { return document.project.stack().loops; };
        const auto visit = [&document](std::set<std::int64_t> layers, std::int64_t visits) {
            return visitLayers(document, {.layers = std::move(layers)}, visits);
        };
        QVERIFY(!visit({}, 2) && !visit({2, 3}, 1) && !visit({2, 3}, 0) && !visit({2, 3}, kMaxVisits + 1));
        const auto made = visit({2, 3}, 3);
        perform(document, made);
        QCOMPARE(loops(), (std::vector<Loop>{{.first = 2, .last = 3, .visits = 3}}));
        QCOMPARE(made->selection->layers, (std::set<std::int64_t>{2, 3, 4, 5, 6, 7}));
        QVERIFY(loopOfSelection(document.project, {.layers = {3, 4}}) == &loops().front()); // 3@1 and 2@2
        QVERIFY(loopOfSelection(document.project, {.layers = {1, 2}}) == nullptr);
        QVERIFY(!visit({5}, 3).ok()); // as it is
        perform(document, visit({5}, 2));
        QCOMPARE(loops().front().visits, std::int64_t{2});
        QVERIFY2(!visit({5, 6}, 4).ok(), "half of a loop and a layer behind it");
        perform(document, visit({2, 3, 4, 5, 6}, 4));
        QCOMPARE(loops(), (std::vector<Loop>{{.first = 2, .last = 4, .visits = 4}}));
        const auto once = visitLayersOnce(document, {.layers = {9}});
        perform(document, once);
        QVERIFY(loops().empty());
        QVERIFY(!visitLayersOnce(document, {.layers = {1}}));
    }

    /// Shortcuts stay with their visits when a field of the loop changes, but for that from the last visit.
    void aFieldOfALoopKeepsTheNumbers()
    {
        Document document = blockOf("mlp");
        perform(document, visitLayers(document, {.layers = {2}}, 2)); // 1 2@1 2@2 3 4
        mixOf(document.project).sources = ExplicitSources{{{0, 4}, {1, 3}, {3, 5}}};
        const Edit edit = keepingNumbers(document, SetField{"/network/loops/0/visits", {"4"}});
        QVERIFY(applyEdit(document, edit).ok()); // 1 2@1 2@2 2@3 2@4 3 4
        for (const Shortcut& kept : {Shortcut{0, 6}, Shortcut{1, 3}, Shortcut{5, 7}}) {
            QVERIFY2(isListed(document, kept), nameOf(kept).c_str());
        }
        QVERIFY(std::holds_alternative<SetField>(keepingNumbers(document, SetField{"/network/width", {"32"}})));
    }

    /// Another number of layers before a loop moves the loop, and one that ends with the segment grows with it.
    void segmentsMoveTheirLoops()
    {
        Document document = blockOf("mlp");
        document.project.network.blocks.push_back({"c", "mlp", document.project.network.blocks.front().graph});
        document.project.stack().segments = {{"b", 1}, {"c", 2}, {"b", 1}};
        document.project.stack().loops = {{.first = 2, .last = 3, .visits = 2}}; // 1 2@1 3@1 2@2 3@2 4
        mixOf(document.project).sources = ExplicitSources{{{1, 5}, {0, 6}}};
        const auto set = [&document](const char* pointer, const char* value) {
            QVERIFY(applyEdit(document, keepingNumbers(document, SetField{pointer, {value}})).ok());
        };
        const auto has = [&document](const Shortcut& shortcut) { return isListed(document, shortcut); };
        set("/network/stack/0/repeat", "3");
        QCOMPARE(document.project.stack().loops, (std::vector<Loop>{{.first = 4, .last = 5, .visits = 2}}));
        QVERIFY(has({1, 7}) && has({0, 8}));
        set("/network/stack/1/repeat", "3");
        QCOMPARE(document.project.stack().loops, (std::vector<Loop>{{.first = 4, .last = 6, .visits = 2}}));
        QVERIFY(has({1, 8}) && has({0, 10}));
        set("/network/stack/1/repeat", "1");
        QCOMPARE(document.project.stack().loops, (std::vector<Loop>{{.first = 4, .last = 4, .visits = 2}}));
        set("/network/stack/0/repeat", "1");
        QCOMPARE(document.project.stack().segments, (std::vector<StackSegment>{{"b", 1}, {"c", 1}, {"b", 1}}));
        QCOMPARE(document.project.stack().loops, (std::vector<Loop>{{.first = 2, .last = 2, .visits = 2}}));
    }

    /// Views draw each executed layer, so that a document with too many must not be made.
    void tooManyExecutedLayersAreRejected()
    {
        Document document = blockOf("mlp");
        document.project.stack().segments = {{"b", 4000}};
        QVERIFY(!applyEdit(document, SetStack{document.project.stack().segments, {{.first = 1, .last = 99}}}).ok());
        QVERIFY(document.project.stack().loops.empty());
        document.project.stack().segments = {{"b", 40}};
        perform(document, visitLayers(document, {.layers = {1, 40}}, 100));
        QVERIFY(!applyEdit(document, SetField{"/network/loops/0/visits", {"200"}}).ok());
        QCOMPARE(document.project.stack().loops.front().visits, std::int64_t{100});
        const auto more = visitLayers(document, {.layers = {1}}, 1024);
        QVERIFY(!more.ok() && more.error().text().find("40960 executed layers") != std::string::npos);
        document.project.stack() = blockOf("mlp").project.stack();
        document.project.stack().segments = {{"b", kMaxLayers}};
        QVERIFY(!visitLayers(document, {.layers = {1, kMaxLayers}}, kMaxVisits).ok()); // 4 million readers
    }

    /// Loops that have no effect (validate() reports them) leave with the layers, or stay at numbers beyond any.
    void layersMoveBesideInvalidLoops()
    {
        constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
        const Loop sound{.first = 2, .last = 3, .visits = 2};
        Document document = blockOf("mlp");
        document.project.stack().segments = {{"b", 4}};
        document.project.stack().loops = {{.first = 3, .last = 0}, sound, {.first = kLargest, .last = 1}};
        Document fewer = document;
        QVERIFY(applyEdit(fewer, *removeLayersEdit(fewer, {1})).ok());
        QCOMPARE(fewer.project.stack().loops, (std::vector<Loop>{{.first = 1, .last = 2, .visits = 2}}));

        document.project.stack().loops = {sound, {.first = 4, .last = kLargest}};
        const StackFragment one{{document.project.network.blocks.front()}, {{"b", 1}}, {}, {}};
        for (const Edit& edit : {insertLayersEdit(document, 0, one), repeatEdit(document, 0, 5, "one more")}) {
            Document more = document;
            QVERIFY(applyEdit(more, edit).ok());
            QCOMPARE(more.project.stack().stored(), std::int64_t{5});
            QCOMPARE(more.project.stack().loops.back().last, kLargest);
        }
    }

    void shortcutsToEveryVisitAreTyped_data()
    {
        QTest::addColumn<bool>("inPlace");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("expected");
        // 1 2@1 3@1 2@2 3@2 4, then 1 2@1 2@2 3@1 3@2 4
        for (const auto& [text, inTurn, inPlace] : {std::tuple{"1:3", "1:3@1 1:3@2", "1:3@1 1:3@2"},
                                                    {"2:3", "2@1:3@1 2@2:3@2", "2@2:3@1 2@2:3@2"},
                                                    {"3:2", "3@1:2@2", ""},
                                                    {"2:2", "2@1:2@2", "2@1:2@2"},
                                                    {"2:4", "2@2:4", "2@2:4"},
                                                    {"2@1:3", "2@1:3@1 2@1:3@2", "2@1:3@1 2@1:3@2"},
                                                    {"2:3@2", "2@2:3@2", "2@2:3@2"},
                                                    {"2@1:3@2, L-1:out", "2@1:3@2 3@2:out", "2@1:3@2 3@2:out"},
                                                    {"3:5+0:L", "0:4 3@2:out", "0:4 3@2:out"},
                                                    {"i:i+5", "0:3@2 1:4", "0:3@2 1:4"},
                                                    {"4:2", "", ""},
                                                    {"2@3:4", "", ""},
                                                    {"0:6", "", ""},
                                                    {"2@:4", "", ""},
                                                    {"2:4@", "", ""}}) {
            QTest::addRow("%s, in turn", text) << false << text << inTurn;
            QTest::addRow("%s, in place", text) << true << text << inPlace;
        }
    }
    void shortcutsToEveryVisitAreTyped()
    {
        QFETCH(bool, inPlace);
        QFETCH(QString, text);
        QFETCH(QString, expected);
        Document document = loopedBlocks(inPlace ? VisitOrder::InPlace : VisitOrder::Cycle);
        const Document before = document;
        const Typed entered = typed(document, {}, text.toStdString());
        QCOMPARE(entered.answer.valid, !expected.isEmpty());
        QVERIFY(!entered.answer.message.empty());
        if (expected.isEmpty()) {
            QVERIFY2(entered.answer.message.find("each visit") != std::string::npos, entered.answer.message.c_str());
            return;
        }
        History history(document);
        QVERIFY(history.perform(entered.change->edit).ok());
        QStringList names;
        for (const Shortcut& shortcut : entered.change->selection->shortcuts) {
            names << QString::fromStdString(shortcutName(history.document().project, shortcut));
            QVERIFY(isListed(history.document(), shortcut));
        }
        names.sort();
        QCOMPARE(names.join(' '), expected);
        QVERIFY(projectFromJson(toJson(history.document().project))->stack() == history.document().project.stack());
        history.undo();
        QVERIFY(history.document().project == before.project);
    }

    /// New visits get the shortcuts of every visit, and lose them again; the difference names them.
    void newVisitsGetTheShortcutsOfEveryVisit()
    {
        for (const VisitOrder order : {VisitOrder::Cycle, VisitOrder::InPlace}) {
            Document two = loopedBlocks(order);
            Document four = two;
            four.project.stack().loops[0].visits = 4;
            const auto enter = [](Document& document, const char* text) {
                const Typed entered = typed(document, {}, text);
                QVERIFY2(entered.change && applyEdit(document, entered.change->edit), entered.answer.message.c_str());
            };
            for (Document* const each : {&two, &four}) {
                enter(*each, "0:1, 1:2, 2:2, 2:3, 2:4, 3:out");
            }
            mixOf(two.project).states[{0, 1}] = ShortcutState::Frozen;
            const Document before = two;
            perform(two, visitLayers(two, {.layers = {2, 3}}, 4));
            QVERIFY(mixOf(two.project).sources == mixOf(four.project).sources);
            QCOMPARE(mixOf(two.project).states.size(), std::size_t{1});
            const std::string changes = joinedText(diff(before.project, two.project), "; ", &Change::text);
            QVERIFY2(changes.find("visits") != std::string::npos && changes.find("ortcut") != std::string::npos,
                     changes.c_str());
            perform(two, visitLayers(two, {.layers = {2, 3}}, 2));
            QCOMPARE(two.project, before.project);
        }
    }

    void visitsAreTyped()
    {
        const Document document = blockOf("mlp");
        const Selection two{.layers = {2, 3}};
        const Typed good = typed(document, two, "visits 4");
        QVERIFY(good.answer.valid && good.answer.message.ends_with("4 stored, 10 executed layers"));
        for (const char* text :
             {"visits", "visits ", "visits 1", "visits 0", "visits x", "visits 4 5", "visits 999999"}) {
            const Typed bad = typed(document, two, text);
            QVERIFY2(!bad.answer.valid && !bad.change && !bad.answer.message.empty(), text);
        }
        QVERIFY(!typed(document, {}, "visits 4").answer.valid);
    }
};

RESIDUA_TEST(TestLoopCommands)
#include "tst_loop_commands.moc"
