// SPDX-License-Identifier: GPL-3.0-or-later
// A run and the data that it was trained on: both move, and other data are not taken for them.
#include "run_harness.h"

#include "engine/base/api/data_summary.h"
#include "engine/base/api/environment.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>

using namespace residua;
using namespace residua::engine;
using residua::tests::kRun;
using residua::tests::SessionProbe;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kTextSteps = 4;

void writeText(const fs::path& project, char letter)
{
    std::string text;
    for (int i = 0; i < 1000; ++i) {
        text += static_cast<char>('a' + i % 7);
    }
    text.back() = letter;
    fs::create_directories(project);
    std::ofstream(project / "text.txt", std::ios::trunc) << text;
}

projects::Topology topologyOfTwo(const std::string& name)
{
    const auto presets = projects::topologyPresets(2);
    return {name, std::ranges::find(presets, name, &projects::TopologyPreset::name)->wiring};
}

projects::Project textProject()
{
    projects::Project project = tests::quickLanguage(kTextSteps);
    project.data.source = projects::TextData{.path = "text.txt", .tokeniser = {}};
    project.training.checkpointEvery = 2;
    project.stack().topology = topologyOfTwo("plain"); // so that it can be retrofitted
    return project;
}

bool isIn(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

class TestRunData : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_project = root() / "project";
        m_run = m_project / "runs" / "a";
        writeText(m_project, 'x');
        QVERIFY(train(m_run));
    }

    void aRunRemembersItsData()
    {
        const auto file = readRunFile(m_run);
        QVERIFY(file && file->data);
        QCOMPARE(file->data->front().name, std::string("text.txt"));
        QCOMPARE(file->data->front().bytes, 1000);
        QCOMPARE(file->projectDirectory, fs::path("../.."));
    }

    void theProjectMovesWithItsRuns()
    {
        fs::rename(m_project, root() / "moved");
        const Answers answers = useAll(root() / "moved" / "runs" / "a", {}, OtherData::Refuse);
        QVERIFY2(answers.refusals.empty(), answers.all().c_str());
        QVERIFY2(answers.notes.empty(), answers.all().c_str());
    }

    void aRunThatMovesAloneIsReported()
    {
        const fs::path moved = root() / "elsewhere" / "deep" / "a";
        fs::create_directories(moved.parent_path());
        fs::rename(m_run, moved);
        const Answers lost = useAll(moved, {}, OtherData::Refuse);
        QCOMPARE(lost.refusals.size(), std::size_t{4});
        for (const std::string& refusal : lost.refusals) {
            QVERIFY2(isIn(refusal, "text.txt") && isIn(refusal, "--project"), refusal.c_str());
        }
        const Answers found = useAll(moved, m_project, OtherData::Refuse);
        QVERIFY2(found.refusals.empty(), found.all().c_str());
        QCOMPARE(*projectDirectoryOf(moved), m_project); // resuming has told it for good
    }

    /// None of the four commands that use a checkpoint falls back to an older one without saying so.
    void allTellThatANewerCheckpointIsDamaged()
    {
        fs::resize_file(checkpointDirectory(m_run, kTextSteps) / "model.safetensors", 100);
        const Answers answers = useAll(m_run, {}, OtherData::Refuse);
        QVERIFY2(answers.refusals.empty(), answers.all().c_str());
        QCOMPARE(answers.notes.size(), std::size_t{4});
        for (const std::string& note : answers.notes) {
            QVERIFY2(isIn(note, "checkpoint step-00000004 skipped"), note.c_str());
        }
        QCOMPARE(RunReader::open(answers.retrofitted)->checkpoints(), std::vector<std::int64_t>{2});
    }

    void otherDataAreRefused()
    {
        writeText(m_project, 'y');
        const Answers answers = useAll(m_run, {}, OtherData::Refuse);
        QCOMPARE(answers.refusals.size(), std::size_t{4});
        for (const std::string& refusal : answers.refusals) {
            QVERIFY2(isIn(refusal, "not the data of the run") && isIn(refusal, "expected 1 file of 1000 bytes") &&
                         isIn(refusal, "got 1 file of 1000 bytes") && isIn(refusal, "--other-data"),
                     refusal.c_str());
        }
        // Told before what the other data break: here the run's vocabulary is not even looked at.
        std::ofstream(m_project / "text.txt", std::ios::trunc) << "short";
        QVERIFY(isIn(useAll(m_run, {}, OtherData::Refuse).refusals.at(0), "got 1 file of 5 bytes"));
    }

    void otherDataAreAcceptedWhenAsked()
    {
        writeText(m_project, 'y');
        const Answers answers = useAll(m_run, {}, OtherData::Accept);
        QVERIFY2(answers.refusals.empty(), answers.all().c_str());
        QCOMPARE(answers.notes.size(), std::size_t{4});
        for (const std::string& note : answers.notes) {
            QVERIFY2(isIn(note, "not those of the run"), note.c_str());
        }
        for (const fs::path& run : {m_run, answers.retrofitted}) {
            const auto events = RunReader::open(run)->events();
            QVERIFY(std::ranges::any_of(events, [](const RunEvent& event) {
                return event.kind == RunEventKind::OtherData && isIn(event.text, "expected 1 file of 1000 bytes");
            }));
        }
        // The data that it was trained on last are those that it expects from now on.
        const Answers again = useAll(m_run, {}, OtherData::Refuse);
        QVERIFY2(again.refusals.empty() && again.notes.empty(), again.all().c_str());
    }

    void otherDataElsewhereAreNotTakenInSilence()
    {
        writeText(root() / "other", 'z');
        const Answers answers = useAll(m_run, root() / "other", OtherData::Refuse);
        QCOMPARE(answers.refusals.size(), std::size_t{4});
        QVERIFY(isIn(answers.refusals[0], (root() / "other").string()));
    }

    void aRunOfAnEarlierVersionIsUsedWithANote()
    {
        RunFile file = *readRunFile(m_run);
        file.data.reset();
        file.projectDirectory = m_project;
        QVERIFY(writeRunFile(m_run, file));
        writeText(m_project, 'y');
        const Answers answers = useAll(m_run, {}, OtherData::Refuse);
        QVERIFY2(answers.refusals.empty(), answers.all().c_str());
        QCOMPARE(answers.notes.size(), std::size_t{4});
        QVERIFY2(isIn(answers.notes[0], "is not checked"), answers.notes[0].c_str());
        QVERIFY(readRunFile(m_run)->data.has_value()); // since it was resumed
        writeText(m_project, 'z');
        QCOMPARE(useAll(m_run, {}, OtherData::Refuse).refusals.size(), std::size_t{4});
    }

    /// Earlier versions did not enter links to folders, and their runs still do not.
    void aRunOfAnEarlierVersionReadsNoLinkedFolders()
    {
        const std::string text = *readFile(m_project / "text.txt");
        fs::remove(m_project / "text.txt");
        fs::create_directories(m_project / "text.txt");
        std::ofstream(m_project / "text.txt" / "a.txt") << text;
        const fs::path run = m_project / "runs" / "b";
        QVERIFY(train(run));
        fs::create_directories(root() / "shelf");
        std::ofstream(root() / "shelf" / "b.txt") << text;
        fs::create_directory_symlink(root() / "shelf", m_project / "text.txt" / "more");
        QVERIFY(isIn(useAll(run, {}, OtherData::Refuse).refusals.at(0), "got 2 files of 2000 bytes"));
        RunFile file = *readRunFile(run);
        file.info.reading = ReadingVersion::First;
        QVERIFY(writeRunFile(run, file));
        const Answers answers = useAll(run, {}, OtherData::Refuse);
        QVERIFY2(answers.refusals.empty(), answers.all().c_str());
        const projects::Project project = *RunReader::open(run)->project();
        QCOMPARE(otherDataOf({{run, &project}}, m_project), std::vector<std::string>{""});
    }

    void aGeneratorThatWasChangedIsSeen()
    {
        const fs::path run = root() / "generated";
        QVERIFY(!tests::lossesOf(tests::quickLanguage(kTextSteps), run).empty());
        const fs::path frozen = run / "project" / "project.json";
        std::string text = *readFile(frozen);
        const std::string tokens = "\"tokens\": 4000";
        QVERIFY(isIn(text, tokens));
        std::ofstream(frozen, std::ios::trunc) << text.replace(text.find(tokens), tokens.size(), "\"tokens\": 5000");
        const Answers answers = useAll(run, {}, OtherData::Refuse);
        QCOMPARE(answers.refusals.size(), std::size_t{4});
        QVERIFY2(isIn(answers.refusals[0], "expected vocabulary 24, levels 2, tokens 4000") &&
                     isIn(answers.refusals[0], "got vocabulary 24, levels 2, tokens 5000"),
                 answers.refusals[0].c_str());
    }

    /// Two sessions stand for two processes that begin in the same second.
    void runsOfOneFolderGetOneDirectoryEach()
    {
        constexpr int kSessions = 4;
        std::vector<std::unique_ptr<SessionProbe>> probes;
        for (int i = 0; i < kSessions; ++i) {
            probes.push_back(std::make_unique<SessionProbe>());
            StartRun command;
            command.run = kRun;
            command.project = tests::quickVectors(2);
            command.projectDirectory = m_project;
            command.runFolder = m_project / "runs" / "array";
            probes.back()->post(command);
        }
        std::set<fs::path> directories;
        for (const auto& probe : probes) {
            QVERIFY(probe->waitFor<RunEnded>());
            QVERIFY(probe->all<RunEnded>()[0].status == RunStatus::Finished);
            directories.insert(probe->all<RunStarted>()[0].runDirectory);
        }
        QCOMPARE(directories.size(), std::size_t{kSessions});
        QCOMPARE(listRuns(m_project / "runs" / "array").size(), std::size_t{kSessions});
    }

private:
    /// The answers to an evaluation, a sample, a retrofit and a resumption.
    struct Answers {
        std::vector<std::string> refusals;
        std::vector<std::string> notes;
        fs::path retrofitted;

        [[nodiscard]] std::string all() const
        {
            std::string text;
            for (const auto& list : {refusals, notes}) {
                for (const std::string& line : list) {
                    text += line + "\n";
                }
            }
            return text;
        }
    };

    [[nodiscard]] fs::path root() const { return fs::canonical(m_temporary->path().toStdString()); }

    [[nodiscard]] bool train(const fs::path& run) const
    {
        SessionProbe probe;
        StartRun command;
        command.run = kRun;
        command.project = textProject();
        command.projectDirectory = m_project;
        command.runDirectory = run;
        probe.post(command);
        probe.waitFor<RunEnded>();
        return probe.all<RunEnded>().at(0).status == RunStatus::Finished;
    }

    template <class Request>
    static Request requestOf(const fs::path& run, const fs::path& project, OtherData otherData)
    {
        Request request;
        request.of = {run, project, otherData};
        return request;
    }

    Answers useAll(const fs::path& run, const fs::path& project, OtherData otherData)
    {
        SessionProbe probe;
        Answers answers;
        auto evaluate = requestOf<EvaluateRequest>(run, project, otherData);
        evaluate.split = Split::Train;
        evaluate.batches = 1;
        auto sample = requestOf<SampleRequest>(run, project, otherData);
        sample.tokens = 1;
        auto retrofit = requestOf<RetrofitRequest>(run, project, otherData);
        retrofit.topology = topologyOfTwo("denseformer");
        for (Command command : {Command(evaluate), Command(sample), Command(retrofit)}) {
            const QueryTag tag{++m_tag};
            std::visit(
                [&](auto& query) {
                    if constexpr (requires { query.tag; }) {
                        query.tag = tag;
                    }
                },
                command);
            probe.post(command);
            probe.waitUntil([&](const Event& event) { return take(event, tag, answers); });
        }
        auto resume = requestOf<ResumeRun>(run, project, otherData);
        resume.run = kRun;
        resume.steps = RunReader::open(run)->info()->steps + 2;
        probe.post(resume);
        probe.waitFor<RunEnded>();
        if (const RunEnded ended = probe.all<RunEnded>()[0]; ended.status != RunStatus::Finished) {
            answers.refusals.push_back(ended.error.text());
        }
        for (const Notice& notice : probe.all<Notice>()) {
            answers.notes.push_back(notice.text);
        }
        return answers;
    }

    static bool take(const Event& event, QueryTag tag, Answers& answers)
    {
        return std::visit(
            [&](const auto& answer) {
                if constexpr (requires { answer.tag; }) {
                    if (answer.tag != tag) {
                        return false;
                    }
                    if constexpr (requires { answer.notes; }) {
                        answers.notes.insert(answers.notes.end(), answer.notes.begin(), answer.notes.end());
                    }
                    if constexpr (requires { answer.kept; }) {
                        answers.retrofitted = answer.runDirectory;
                    }
                    if constexpr (requires { answer.error; }) {
                        answers.refusals.push_back(answer.error.text());
                    }
                    return true;
                }
                return false;
            },
            event);
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_project;
    fs::path m_run;
    std::uint64_t m_tag = 0;
};

RESIDUA_TEST_IN(QCoreApplication, TestRunData)
#include "tst_run_data.moc"
