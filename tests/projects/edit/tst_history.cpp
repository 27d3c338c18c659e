// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/edit/history.h"

#include "projects/check/validate.h"
#include "projects/shipped/examples.h"
#include "tests/support/random_document.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace residua;
using namespace residua::projects;

class TestHistory : public QObject {
    Q_OBJECT

private slots:
    void allWhoAskShareOneSnapshot()
    {
        History history;
        QVERIFY(history.perform(SetField{"/network/width", {"8"}}).ok());
        const DocumentSnapshot before = history.snapshot();
        QCOMPARE(history.snapshot().get(), before.get());
        QCOMPARE(history.projectSnapshot().get(), &before->project);
        QVERIFY(history.perform(SetField{"/network/width", {"16"}}).ok());
        QVERIFY(history.snapshot().get() != before.get());
        QCOMPARE(before->project.stack().width, std::int64_t{8});
    }

    /// Values computed from the document as it is hold the history's own snapshot.
    void aSoundProjectIsTheSnapshotItself()
    {
        History history;
        history.reset({findExample("linear-ancre")->project, {}});
        const auto sound = soundProject(history.projectSnapshot());
        QVERIFY(sound.ok());
        QCOMPARE(&**sound, &history.snapshot()->project);
        QVERIFY(history.perform(SetField{"/network/width", {"0"}}).ok());
        QVERIFY(!soundProject(history.projectSnapshot()).ok());
        QVERIFY((*sound)->network.stack().width > 0);
    }

    void undoesAndRedoes()
    {
        History history;
        int told = 0;
        history.onChanged([&] { ++told; });
        QVERIFY(!history.canUndo() && !history.canRedo());
        QVERIFY(history.perform(SetField{"/network/width", {"8"}}).ok());
        QVERIFY(history.perform(SetField{"/network/width", {"16"}}).ok());
        QCOMPARE(history.undoTitle(), std::string("Set width to 16"));
        history.undo();
        QCOMPARE(history.project().stack().width, std::int64_t{8});
        QCOMPARE(history.undoTitle(), std::string("Set width to 8"));
        QCOMPARE(history.redoTitle(), std::string("Set width to 16"));
        history.redo();
        QCOMPARE(history.project().stack().width, std::int64_t{16});
        history.redo(); // nothing to redo
        QCOMPARE(told, 4);
        history.undo();
        QVERIFY(history.perform(SetField{"/network/width", {"4"}}).ok()); // another future
        QVERIFY(!history.canRedo());
    }

    void aRefusedOrIdleEditLeavesNoStep()
    {
        History history;
        int told = 0;
        history.onChanged([&] { ++told; });
        QVERIFY(!history.perform(RemoveBlock{"nope"}).ok());
        QVERIFY(history.perform(SetField{"/network/width", {std::to_string(history.project().stack().width)}}).ok());
        QVERIFY(!history.canUndo() && !history.modified());
        QCOMPARE(told, 0);
    }

    void savedStateIsFoundAgain()
    {
        History history;
        QVERIFY(!history.modified());
        QVERIFY(history.perform(SetField{"/network/width", {"8"}}).ok());
        QVERIFY(history.modified());
        history.markSaved();
        const auto saved = history.revision();
        QVERIFY(history.perform(SetField{"/network/width", {"16"}}).ok());
        QVERIFY(history.modified());
        history.undo();
        QVERIFY(!history.modified());
        QCOMPARE(history.revision(), saved);
        history.undo();
        QVERIFY(history.modified());
        QVERIFY(history.perform(SetField{"/network/width", {"32"}}).ok()); // never the saved state's number again
        QVERIFY(history.modified());
        history.reset({});
        QVERIFY(!history.modified() && !history.canUndo());
    }

    void aSnapshotStaysAsItWas()
    {
        History history;
        const auto before = history.snapshot();
        const std::int64_t width = before->project.stack().width;
        QVERIFY(history.perform(SetField{"/network/width", {std::to_string(width + 1)}}).ok());
        QCOMPARE(before->project.stack().width, width);
        history.undo();
        QVERIFY(history.snapshot() == before); // the same one, not a copy
    }

    void theOldestStepsAreForgotten()
    {
        History history;
        const auto most = static_cast<std::int64_t>(History::kMostSteps);
        for (std::int64_t width = 1; width <= most + 10; ++width) {
            QVERIFY(history.perform(SetField{"/network/width", {std::to_string(width)}}).ok());
        }
        std::int64_t undone = 0;
        for (; history.canUndo(); ++undone) {
            history.undo();
        }
        QCOMPARE(undone, most);
        QCOMPARE(history.project().stack().width, std::int64_t{10});
    }

    void manyStepsUndoAndRedoToTheSameDocuments()
    {
        tests::RandomDocument random(tests::randomSeed());
        History history(Document{findExample("ancre-language")->project, {}});
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
