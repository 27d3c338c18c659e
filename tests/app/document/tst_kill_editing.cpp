// SPDX-License-Identifier: GPL-3.0-or-later
// kill -9 at random moments of editing and saving: the project opens, and no edit that had reached the disk is lost.
#include "app/document/document_session.h"
#include "projects/file/store.h"
#include "projects/shipped/examples.h"
#include "tests/support/random_seed.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cstdio>
#include <random>

using namespace residua;
using namespace residua::app;

namespace {

constexpr int kKills = 140;
constexpr int kPatience = 60'000;
constexpr const char* kChild = "--edit-until-killed";

/// The edits are numbered by the name that they give to the project.
std::string nameOf(int edit)
{
    return "edit " + std::to_string(edit);
}

int editOf(const projects::Project& project)
{
    return std::stoi(project.name.substr(5));
}

/// Edits, journals or saves in the process to be killed, and prints which edit has reached the disk.
int editUntilKilled(const std::filesystem::path& folder, unsigned seed)
{
    DocumentSession session(folder / "drafts");
    if (const Status opened = session.open(folder / "project"); !opened) {
        std::fprintf(stderr, "%s\n", opened.error().text().c_str());
        return 1;
    }
    std::mt19937 random(seed);
    for (int edit = editOf(session.project()) + 1;; ++edit) {
        if (!session.perform(projects::SetField{"/name", {nameOf(edit)}})) {
            return 1;
        }
        if (random() % 3 == 0) {
            if (!session.save()) {
                return 1;
            }
        } else {
            session.flushJournal();
        }
        std::printf("%d\n", edit);
        std::fflush(stdout);
    }
}

class TestKillEditing : public QObject {
    Q_OBJECT

private slots:
    void nothingThatReachedTheDiskIsLost()
    {
        const QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        projects::Project first = projects::findExample("linear-ancre")->project;
        first.name = nameOf(0);
        QVERIFY(projects::saveProject(root / "project", {first, {}}).ok());

        std::mt19937 random(tests::randomSeed());
        int recovered = 0;
        for (int kill = 0; kill < kKills; ++kill) {
            QProcess child;
            child.setProcessChannelMode(QProcess::ForwardedErrorChannel);
            child.start(QCoreApplication::applicationFilePath(), {kChild, folder.path(), QString::number(random())});
            const int durable = editsBeforeTheKill(child, 1 + static_cast<int>(random() % 25));
            QVERIFY(durable > 0);

            DocumentSession session(root / "drafts");
            const Status opened = session.open(root / "project");
            QVERIFY2(opened.ok(), opened ? "" : opened.error().text().c_str());
            const int edit = editOf(session.project());
            QVERIFY2(edit >= durable, qPrintable(QString("%1 of %2 came back").arg(edit).arg(durable)));
            first.name = nameOf(edit);
            QCOMPARE(session.project(), first);
            recovered += session.origin() == Origin::Recovered ? 1 : 0;
        }
        QVERIFY(recovered > 0 && recovered < kKills); // both kinds of moments were met
    }

private:
    /// Kills the child once it has said so many edits; the last edit it said.
    static int editsBeforeTheKill(QProcess& child, int edits)
    {
        int last = 0;
        const auto readAll = [&] {
            while (child.canReadLine()) {
                last = child.readLine().trimmed().toInt();
                --edits;
            }
        };
        while (edits > 0 && child.waitForReadyRead(kPatience)) {
            readAll();
        }
        child.kill();
        child.waitForFinished(kPatience);
        readAll();
        return last;
    }
};

} // namespace

int main(int argc, char** argv)
{
    const QCoreApplication application(argc, argv);
    if (argc == 4 && QByteArray(argv[1]) == kChild) {
        return editUntilKilled(argv[2], QByteArray(argv[3]).toUInt());
    }
    TestKillEditing test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_kill_editing.moc"
