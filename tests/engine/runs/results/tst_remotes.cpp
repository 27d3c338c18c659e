// SPDX-License-Identifier: GPL-3.0-or-later
// The user's list of places, and what a run's record may say of a place.
#include "engine/runs/results/remotes.h"
#include "engine/runs/store/run_files.h"
#include "tests/engine/runs/store/run_files_harness.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

namespace {

constexpr const char* kCommand = "ssh gpu1 residua-engine --stdio";

EngineRemote placeAt(const std::string& name, const std::string& folder = {}, const std::string& command = kCommand)
{
    return {name, EngineRemote::Kind::CommandLine, command, folder};
}

} // namespace

class TestRemotes : public RunFilesHarness {
    Q_OBJECT

private slots:
    void init()
    {
        newFolder();
        qputenv("XDG_CONFIG_HOME", m_temporary->filePath("config").toUtf8());
        QVERIFY(
            keepNamedRemotes({placeAt("gpu1", "/data"), placeAt("shared", "", "ssh all residua-engine --stdio")}).ok());
    }

    void aPlaceIsChosen_data()
    {
        QTest::addColumn<QString>("given");
        QTest::addColumn<QString>("folder"); // "-": none is given
        QTest::addColumn<QString>("name");   // empty: refused
        QTest::addColumn<QString>("command");
        QTest::addColumn<QString>("there");
        QTest::addColumn<QString>("says"); // the former command of a new place, or the error; "-": not new
        const QString command = QString::fromLatin1(kCommand);
        QTest::newRow("a name") << "gpu1"
                                << "-"
                                << "gpu1" << command << "/data"
                                << "-";
        QTest::newRow("a name and its folder") << "gpu1"
                                               << "/data"
                                               << "gpu1" << command << "/data"
                                               << "-";
        QTest::newRow("another folder") << "gpu1"
                                        << "/b"
                                        << "gpu1:/b" << command << "/b"
                                        << "";
        QTest::newRow("a folder for one that shares") << "shared"
                                                      << "/b"
                                                      << "shared:/b"
                                                      << "ssh all residua-engine --stdio"
                                                      << "/b"
                                                      << "";
        QTest::newRow("new") << "a=x y"
                             << "/b"
                             << "a"
                             << "x y"
                             << "/b"
                             << "";
        QTest::newRow("new without a folder") << "a=x"
                                              << "-"
                                              << "a"
                                              << "x"
                                              << ""
                                              << "";
        QTest::newRow("another command") << "gpu1=x y"
                                         << "-"
                                         << "gpu1"
                                         << "x y"
                                         << "/data" << command;
        QTest::newRow("the same command") << "gpu1=" + command << "-"
                                          << "gpu1" << command << "/data"
                                          << "-";
        QTest::newRow("known by its command") << command << "-"
                                              << "gpu1" << command << "/data"
                                              << "-";
        QTest::newRow("known by command and folder") << command << "/data"
                                                     << "gpu1" << command << "/data"
                                                     << "-";
        QTest::newRow("unnamed") << "ssh me@gpu7 e --stdio"
                                 << "-"
                                 << "gpu7"
                                 << "ssh me@gpu7 e --stdio"
                                 << ""
                                 << "";
        QTest::newRow("a taken name") << "ssh gpu1 e --stdio"
                                      << "-"
                                      << "gpu1-2"
                                      << "ssh gpu1 e --stdio"
                                      << ""
                                      << "";
        QTest::newRow("an option with a sign") << "ssh -o A=b gpu8 e"
                                               << "-"
                                               << "gpu8"
                                               << "ssh -o A=b gpu8 e"
                                               << ""
                                               << "";
        QTest::newRow("unnamed with a folder") << "ssh gpu7 e --stdio"
                                               << "/b"
                                               << ""
                                               << ""
                                               << ""
                                               << "gpu7=\"ssh gpu7 e --stdio\"";
        QTest::newRow("unknown") << "gpu2"
                                 << "-"
                                 << ""
                                 << ""
                                 << ""
                                 << "gpu1, shared, or a new place as NAME=COMMAND";
        QTest::newRow("no command") << "gpu2= "
                                    << "-"
                                    << ""
                                    << ""
                                    << ""
                                    << "NAME=COMMAND";
        QTest::newRow("no name") << "=x y"
                                 << "-"
                                 << ""
                                 << ""
                                 << ""
                                 << "NAME=COMMAND";
        QTest::newRow("reserved") << "background=x y"
                                  << "-"
                                  << ""
                                  << ""
                                  << ""
                                  << "NAME=COMMAND";
        QTest::newRow("the background's folder") << "background"
                                                 << "/b"
                                                 << ""
                                                 << ""
                                                 << ""
                                                 << "command line";
        QTest::newRow("a folder alone") << ""
                                        << "/b"
                                        << ""
                                        << ""
                                        << ""
                                        << "command line";
    }

    void aPlaceIsChosen()
    {
        QFETCH(const QString, given);
        QFETCH(const QString, folder);
        QFETCH(const QString, name);
        QFETCH(const QString, command);
        QFETCH(const QString, there);
        QFETCH(const QString, says);
        const auto inFolder = folder == "-" ? std::optional<fs::path>() : std::optional<fs::path>(folder.toStdString());
        const Result<ChosenRemote> chosen = chooseRemote(given.toStdString(), inFolder);
        QCOMPARE(chosen.ok(), !name.isEmpty());
        if (!chosen) {
            QVERIFY2(isIn(chosen.error().text(), says.toStdString()), chosen.error().text().c_str());
            return;
        }
        QCOMPARE(chosen->place, placeAt(name.toStdString(), there.toStdString(), command.toStdString()));
        QCOMPARE(chosen->isNew, says != "-");
        QCOMPARE(QString::fromStdString(chosen->formerCommand), says == "-" ? QString() : says);
        QCOMPARE(namedRemotes()->size(), std::size_t{2}); // nothing is added yet
        QVERIFY(keepNamedRemote(chosen->place).ok());
        QCOMPARE(chooseRemote(name.toStdString())->place, chosen->place);
    }

    void aRemoteIsProposedForARun_data()
    {
        QTest::addColumn<QString>("given");
        QTest::addColumn<QString>("former");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("command");
        const QString ssh = "ssh -p 7 gpu3 residua-engine --stdio";
        QTest::newRow("a new name") << "gpu2" << ssh << "gpu2" << ssh;
        QTest::newRow("the list's command") << "gpu1" << ssh << "gpu1:/far" << kCommand;
        QTest::newRow("a command as its name") << ssh << ""
                                               << "gpu3"
                                               << "";
        QTest::newRow("no name") << "" << ssh << "gpu3" << ssh;
        QTest::newRow("a name with a sign") << "a=b" << ssh << "gpu3" << ssh;
        QTest::newRow("a reserved name") << "background" << ssh << "gpu3" << ssh;
    }
    void aRemoteIsProposedForARun()
    {
        QFETCH(const QString, given);
        QFETCH(const QString, former);
        QFETCH(const QString, name);
        QFETCH(const QString, command);
        const EngineRemote proposed = proposedRemote(given.toStdString(), "/far", former.toStdString());
        QCOMPARE(proposed, placeAt(name.toStdString(), "/far", command.toStdString()));
    }

    void namesThatCannotBeShownAreRefused()
    {
        for (const char* const name : {"", "background", "gpu\x1b[2J", "a\nb", "\u202egpu"}) {
            QVERIFY2(!keepNamedRemotes({placeAt(name)}).ok(), name);
        }
        QVERIFY(!keepNamedRemotes({placeAt("a"), placeAt("a")}).ok());
        QVERIFY(!keepNamedRemotes({placeAt("a", "", "")}).ok());
        QCOMPARE(namedRemotes()->size(), std::size_t{2});
    }

    void theCommandComesFromTheList_data()
    {
        QTest::addColumn<QString>("place");
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("recorded");
        QTest::addColumn<QString>("says"); // empty: the list has it
        QTest::newRow("by its name") << "gpu1"
                                     << "/data"
                                     << ""
                                     << "";
        QTest::newRow("whatever is recorded") << "gpu1"
                                              << "/data"
                                              << "touch X"
                                              << "";
        QTest::newRow("by a command of the user") << kCommand << "/data" << kCommand << "";
        QTest::newRow("unknown") << "gpu2"
                                 << "/data"
                                 << ""
                                 << "--place gpu2=COMMAND --folder /data";
        QTest::newRow("another command") << "gpu2"
                                         << "x"
                                         << "touch X; exit 1"
                                         << "was not run: touch X; exit 1";
        QTest::newRow("another folder") << "gpu1"
                                        << "/"
                                        << "touch X"
                                        << "--place gpu1 --folder /.";
        QTest::newRow("no folder") << "shared"
                                   << "/b"
                                   << ""
                                   << "--place shared --folder /b";
        QTest::newRow("a name for a shell") << "$(touch X)"
                                            << "/b;touch X"
                                            << ""
                                            << "--place touch=COMMAND";
        QTest::newRow("a folder for a shell") << "gpu2"
                                              << "/b;touch X"
                                              << ""
                                              << "--folder '/b;touch X'";
        QTest::newRow("escapes") << "gpu2"
                                 << "x"
                                 << "a \x1b[8m\u202eb\n c"
                                 << "a \\x1b[8m\\u202eb\\x0a c";
    }

    void theCommandComesFromTheList()
    {
        QFETCH(const QString, place);
        QFETCH(const QString, folder);
        QFETCH(const QString, recorded);
        QFETCH(const QString, says);
        const RemoteRun remote{place.toStdString(), folder.toStdString(), "runs/a", recorded.toStdString()};
        const Result<EngineRemote> found = placeOf(remote, m_run);
        QCOMPARE(found.ok(), says.isEmpty());
        if (found) {
            QCOMPARE(*found, placeAt("gpu1", "/data"));
        } else {
            const std::string text = found.error().text();
            QVERIFY2(isIn(text, says.toStdString()) && isIn(text, remotesFile().string()), text.c_str());
        }
    }

    /// A command that an earlier version wrote is kept for the message until the run's place is said.
    void theRecordNamesNoCommand()
    {
        QVERIFY(create().ok());
        RunFile file = *readRunFile(m_run);
        file.remote = RemoteRun{"gpu9", "/old", "runs/a", "ssh gpu9 e"};
        QVERIFY(writeRunFile(m_run, file).ok());
        QCOMPARE(readRunFile(m_run)->remote, file.remote);
        EngineRemote now = placeAt("gpu1", "/data");
        QVERIFY(recordRemote(m_run, now).ok());
        QVERIFY((readRunFile(m_run)->remote == RemoteRun{"gpu1", "/data", "runs/a"}));
        QVERIFY(!isIn(contentOf(m_run / "run.json"), "ssh"));
        QCOMPARE(readRunFile(m_run)->info.place, std::string("gpu1"));
    }

    void directoriesThatLeadOutAreRefused()
    {
        QVERIFY(create().ok());
        for (const char* const directory : {"../a", "runs/../../a", "/etc", ".."}) {
            RunFile file = *readRunFile(m_run);
            file.remote = RemoteRun{"gpu1", "/data", directory};
            const Result<RunFile> read = runFileFrom(m_run / "run.json", runFileText(file));
            QVERIFY2(!read && isIn(read.error().text(), "leads out"), directory);
        }
    }
};

RESIDUA_TEST(TestRemotes)
#include "tst_remotes.moc"
