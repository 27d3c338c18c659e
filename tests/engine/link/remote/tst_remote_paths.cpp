// SPDX-License-Identifier: GPL-3.0-or-later
// Commands and events that may not cross between a program and an engine in a folder of its own.
#include "engine/link/remote/remote_engine.h"
#include "engine/link/remote/remote_paths.h"
#include "engine/link/remote/remote_store.h"
#include "engine/runs/store/run_writer.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {

[[nodiscard]] projects::Project exampleFed(projects::Source source)
{
    projects::Project project = projects::findExample("ancre-language")->project;
    project.data.source = std::move(source);
    return project;
}

class TestRemotePaths : public QObject {
    Q_OBJECT

private slots:
    void commandsLeadNowhereElse()
    {
        std::filesystem::create_directories(place());
        StartRun start;
        start.runFolder = kRemoteRuns;
        start.projectDirectory = kRemoteProjects;
        QVERIFY(checkAtPlace(place(), start).ok());
        for (const char* const path : {"/tmp/x", "../x", "runs/../../x"}) {
            StartRun other = start;
            other.runFolder = path;
            QVERIFY(!checkAtPlace(place(), other).ok());
            ResumeRun resume;
            resume.of.runDirectory = path;
            QVERIFY(!checkAtPlace(place(), resume).ok());
        }
        const projects::Project pictures = exampleFed(projects::DrawnPictures{});
        const projects::Project text = exampleFed(projects::TextData{.path = "text.txt", .tokeniser = {}});
        QVERIFY(RunWriter::create(place() / "runs/pictures", RunInfo{}, pictures, root(), {}).ok());
        QVERIFY(RunWriter::create(place() / "runs/text", RunInfo{}, text, root(), {}).ok());
        for (const char* const prompt : {"", "/etc/x.png"}) {
            SampleRequest sample;
            sample.prompt = prompt;
            sample.of.runDirectory = "runs/pictures";
            QCOMPARE(checkAtPlace(place(), sample).ok(), sample.prompt.empty()); // else it is read as a file
            sample.of.runDirectory = "runs/text";
            QVERIFY(checkAtPlace(place(), sample).ok());
        }
        QVERIFY(!checkAtPlace(place(), ExportRequest{}).ok());
        QVERIFY(!checkAtPlace(place(), TokeniserRequest{}).ok());
    }

    /// A place answers queries and tells of the runs that were begun from here; nothing else, and no path of this
    /// machine.
    void eventsThatAPlaceMayNotSendAreDropped()
    {
        std::vector<Event> told;
        RemoteEngine remote(
            {"other", EngineRemote::Kind::CommandLine, "none", "dir"},
            [&told](Event event) { told.push_back(std::move(event)); }, [](const Command&) {});
        RunStarted started;
        started.run = kFoundRun;
        started.runDirectory = "/etc";
        remote.fromRemote(started);
        remote.fromRemote(Notice{RunId{7}, "x"});
        remote.fromRemote(RemoteUnknown{});
        remote.fromRemote(CheckpointFetched{});
        remote.fromRemote(RetrofitReady{});
        remote.fromRemote(FactoriseReady{});
        remote.fromRemote(ImportReady{});
        remote.fromRemote(ExportReady{});
        remote.fromRemote(TokeniserReady{});
        QVERIFY(told.empty());
        remote.fromRemote(QueryFailed{QueryTag{1}, Error{"a", "b"}});
        QCOMPARE(told.size(), std::size_t{1});
    }

private:
    [[nodiscard]] std::filesystem::path root() const { return m_temporary.path().toStdString(); }
    [[nodiscard]] std::filesystem::path place() const { return root() / "place"; }

    QTemporaryDir m_temporary;
};

} // namespace

RESIDUA_TEST(TestRemotePaths)
#include "tst_remote_paths.moc"
