// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/training/run_queue.h"
#include "projects/file/json.h"
#include "projects/file/store.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <fstream>
#include <memory>

using namespace residua;
using namespace residua::app;
namespace fs = std::filesystem;

namespace {

class TestRunQueue : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_project = m_folder->path().toStdString();
        m_queue = m_project / projects::kRunsFolder / ".queue";
    }

    /// Each run is restored with its membership. A run file of an earlier version holds only the project; its
    /// membership is read from the name. The name of any other run has no meaning.
    void waitingRunsAreRestored()
    {
        const projects::Membership member{"a · b", "seeds", {{"/seeds/init", "seed", "5"}}};
        {
            RunQueue queue;
            engine::StartRun command = waiting(projects::nameOf(member));
            command.membership = member;
            queue.push(command);
            queue.push(waiting("a · b"));
        }
        put("1.json", projects::toJson(waiting("study · 6").project)); // as old as can be, so the first
        RunQueue queue;
        QSignalSpy takenUp(&queue, &RunQueue::takenUp);
        queue.takeUp(m_project, "cpu");
        QVERIFY(takenUp.wait());
        QCOMPARE(takenUp.front().front().toInt(), 3);
        const engine::StartRun earlier = queue.pop();
        QCOMPARE(earlier.project.name, std::string("study · 6"));
        QVERIFY(earlier.membership == (projects::Membership{"study", "", {{"", "", "6"}}}));
        const engine::StartRun first = queue.pop();
        QCOMPARE(first.project.name, std::string("a · b · 5"));
        QVERIFY(first.membership == member);
        const engine::StartRun second = queue.pop();
        QCOMPARE(second.project.name, std::string("a · b"));
        QVERIFY(!second.membership);
        QVERIFY(queue.empty());
        QTRY_VERIFY(!fs::exists(m_queue));
    }

    /// Restored runs do not start by themselves. Runs of another project that were queued before stay.
    void forgettingRestoredRunsKeepsTheOthers()
    {
        put("1.json", projects::toJson(waiting("left").project));
        RunQueue queue;
        engine::StartRun other = waiting("other");
        other.projectDirectory = m_project / "other";
        queue.push(other);
        QSignalSpy takenUp(&queue, &RunQueue::takenUp);
        queue.takeUp(m_project, "cpu");
        QVERIFY(takenUp.wait());
        queue.push(waiting("queued since"));
        QCOMPARE(queue.size(), std::size_t(3));
        QVERIFY(!queue.nextIsTakenUp());
        QVERIFY(queue.hasTakenUp(m_project) && !queue.hasTakenUp(other.projectDirectory));
        queue.forgetTakenUp(m_project);
        QVERIFY(!queue.hasTakenUp(m_project));
        QVERIFY(queue.names() == (std::vector<std::string>{"other", "queued since"}));
        QTRY_VERIFY(!fs::exists(m_queue / "1.json"));
        QVERIFY(!fs::is_empty(other.projectDirectory / projects::kRunsFolder / ".queue"));
    }

    void restoredRunsBeginWhenReleased()
    {
        put("1.json", projects::toJson(waiting("left").project));
        RunQueue queue;
        QSignalSpy takenUp(&queue, &RunQueue::takenUp);
        queue.takeUp(m_project, "cpu");
        QVERIFY(takenUp.wait());
        QVERIFY(queue.nextIsTakenUp());
        queue.release();
        QVERIFY(!queue.nextIsTakenUp() && !queue.hasTakenUp(m_project));
        QCOMPARE(queue.size(), std::size_t(1));
    }

    void aDamagedMembershipIsNamed()
    {
        put("1.json", projects::toJson(waiting("study").project));
        put("1.membership", "{");
        RunQueue queue;
        QSignalSpy failed(&queue, &RunQueue::failed);
        queue.takeUp(m_project, "cpu");
        QVERIFY(failed.wait());
        const auto error = failed.front().front().value<Error>();
        QVERIFY2(error.place.ends_with("1.membership"), error.text().c_str());
        QVERIFY(queue.empty());
    }

    /// The membership file is a link to itself and cannot be read. The membership is not guessed from the name.
    void aMembershipThatCannotBeReachedIsNotGuessed()
    {
        put("1.json", projects::toJson(waiting("study · 6").project));
        fs::create_symlink("1.membership", m_queue / "1.membership");
        RunQueue queue;
        QSignalSpy failed(&queue, &RunQueue::failed);
        queue.takeUp(m_project, "cpu");
        QVERIFY(failed.wait());
        const auto error = failed.front().front().value<Error>();
        QVERIFY2(error.place.ends_with("1.membership"), error.text().c_str());
        QVERIFY(queue.empty());
    }

    /// A process that ends between writing the two files of a run leaves this state.
    void aMembershipWithoutItsRunIsRemoved()
    {
        put("1.json", projects::toJson(waiting("study").project));
        put("1.membership", "null");
        put("2.membership", "null");
        RunQueue queue;
        QSignalSpy takenUp(&queue, &RunQueue::takenUp);
        queue.takeUp(m_project, "cpu");
        QVERIFY(takenUp.wait());
        QCOMPARE(queue.size(), std::size_t(1));
        QVERIFY(fs::exists(m_queue / "1.membership"));
        QVERIFY(!fs::exists(m_queue / "2.membership"));
        queue.clear();
        QTRY_VERIFY(!fs::exists(m_queue));
    }

private:
    [[nodiscard]] engine::StartRun waiting(const std::string& name) const
    {
        engine::StartRun command;
        command.project.name = name;
        command.projectDirectory = m_project;
        return command;
    }
    void put(const char* name, const std::string& text) const
    {
        fs::create_directories(m_queue);
        std::ofstream(m_queue / name) << text;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_project;
    fs::path m_queue;
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestRunQueue)
#include "tst_run_queue.moc"
