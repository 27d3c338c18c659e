// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/history.h"

#include "projects/library/presets.h"
#include "tests/support/random_document.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace residua;
using namespace residua::projects;

class TestHistory : public QObject {
    Q_OBJECT

private slots:
    void undoesAndRedoes()
    {
        History history;
        int told = 0;
        history.onChanged([&] { ++told; });
        QVERIFY(!history.canUndo() && !history.canRedo());
        QVERIFY(history.perform(SetWidth{8}).ok());
        QVERIFY(history.perform(SetWidth{16}).ok());
        QCOMPARE(history.undoTitle(), std::string("Set width to 16"));
        history.undo();
        QCOMPARE(history.project().network.width, std::int64_t{8});
        QCOMPARE(history.undoTitle(), std::string("Set width to 8"));
        QCOMPARE(history.redoTitle(), std::string("Set width to 16"));
        history.redo();
        QCOMPARE(history.project().network.width, std::int64_t{16});
        history.redo(); // nothing to redo
        QCOMPARE(told, 4);
        history.undo();
        QVERIFY(history.perform(SetWidth{4}).ok()); // another future
        QVERIFY(!history.canRedo());
    }

    void aRefusedOrIdleEditLeavesNoStep()
    {
        History history;
        int told = 0;
        history.onChanged([&] { ++told; });
        QVERIFY(!history.perform(RemoveBlock{"nope"}).ok());
        QVERIFY(history.perform(SetWidth{history.project().network.width}).ok());
        QVERIFY(!history.canUndo() && !history.modified());
        QCOMPARE(told, 0);
    }

    void savedStateIsFoundAgain()
    {
        History history;
        QVERIFY(!history.modified());
        QVERIFY(history.perform(SetWidth{8}).ok());
        QVERIFY(history.modified());
        history.markSaved();
        const auto saved = history.revision();
        QVERIFY(history.perform(SetWidth{16}).ok());
        QVERIFY(history.modified());
        history.undo();
        QVERIFY(!history.modified());
        QCOMPARE(history.revision(), saved);
        history.undo();
        QVERIFY(history.modified());
        QVERIFY(history.perform(SetWidth{32}).ok()); // never the saved state's number again
        QVERIFY(history.modified());
        history.reset({});
        QVERIFY(!history.modified() && !history.canUndo());
    }

    void draggingIsOneStep()
    {
        History history;
        const std::int64_t start = history.project().network.width;
        for (std::int64_t width = 1; width <= 50; ++width) {
            QVERIFY(history.performMerging(SetWidth{width}, "width").ok());
        }
        QVERIFY(history.performMerging(SetSeeds{{9, 9, 9, 9}}, "seeds").ok());
        history.undo();
        QCOMPARE(history.project().network.width, std::int64_t{50});
        history.undo();
        QCOMPARE(history.project().network.width, start);
        QVERIFY(!history.canUndo());
        history.redo();
        QCOMPARE(history.project().network.width, std::int64_t{50});
    }

    void differentEditsMergeToo()
    {
        History history;
        const Document start = history.document();
        QVERIFY(history.performMerging(SetWidth{8}, "drag").ok());
        QVERIFY(history.performMerging(SetName{"x"}, "drag").ok());
        QVERIFY(history.performMerging(SetWidth{9}, "drag").ok());
        history.undo();
        QVERIFY(history.document() == start && !history.canUndo());
        history.redo();
        QCOMPARE(history.project().network.width, std::int64_t{9});
        QCOMPARE(history.project().name, std::string("x"));
    }

    void mergingStopsAtASaveAndAtAnUndo()
    {
        History history;
        QVERIFY(history.performMerging(SetWidth{8}, "width").ok());
        history.markSaved();
        QVERIFY(history.performMerging(SetWidth{9}, "width").ok());
        history.undo();
        QVERIFY(!history.modified());
        QCOMPARE(history.project().network.width, std::int64_t{8});
        history.redo();
        QVERIFY(history.performMerging(SetWidth{10}, "width").ok());
        history.undo();
        QCOMPARE(history.project().network.width, std::int64_t{9});
    }

    void manyStepsUndoAndRedoToTheSameDocuments()
    {
        tests::RandomDocument random(23);
        History history(Document{examples().front().project, {}});
        std::vector<Document> states{history.document()};
        for (int i = 0; i < 300; ++i) {
            QVERIFY(history.perform(random.edit(history.document())).ok());
            if (!(history.document() == states.back())) {
                states.push_back(history.document());
            }
        }
        for (std::size_t i = states.size() - 1; i > 0; --i) {
            QVERIFY(history.document() == states[i]);
            history.undo();
        }
        QVERIFY(history.document() == states.front() && !history.canUndo());
        for (const Document& state : states) {
            QVERIFY(history.document() == state);
            history.redo();
        }
    }
};

RESIDUA_TEST(TestHistory)
#include "tst_history.moc"
