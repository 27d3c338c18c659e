// SPDX-License-Identifier: GPL-3.0-or-later
// Both ends of a connection for files, in one process: only what is lacking is sent, and hostile messages change
// nothing.
#include "engine/base/api/environment.h"
#include "engine/link/remote/project_files.h"
#include "engine/link/remote/remote_files.h"
#include "engine/link/remote/remote_paths.h"
#include "engine/link/remote/remote_store.h"
#include "engine/runs/results/effects.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/database.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"
#include "projects/base/whole_file.h"
#include "projects/shipped/examples.h"
#include "tests/engine/runs/store/run_files_harness.h"
#include "tests/engine/runs/store/stored_tensors.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <deque>
#include <fstream>
#include <limits>
#include <memory>

using namespace residua;
using namespace residua::engine;
using tests::contentOf;
using tests::write;
namespace fs = std::filesystem;

namespace {

std::string sha256Of(const std::string& text)
{
    Sha256 hash;
    hash.add(asBytes(text));
    return hash.text();
}

/// Every file below a folder, without those of an open store.
std::vector<std::string> pathsBelow(const fs::path& folder)
{
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            files.push_back(entry.path().lexically_relative(folder).string());
        }
    }
    std::ranges::sort(files);
    return files;
}

/// A connection to a store in this process.
struct Link {
    explicit Link(const fs::path& folder) : store(*RemoteStore::open(folder)) {}

    FileConnection connection()
    {
        return {[this](const Frame& frame) -> Status {
                    const auto request = fileRequestFrom(frame);
                    const bool isPart = request && std::holds_alternative<StorePart>(request->message);
                    sent += isPart ? request->bytes.size() : 0;
                    if (std::optional<Frame> answer = store.answer(frame)) {
                        answers.push_back(*std::move(answer));
                    }
                    return Done{};
                },
                [this]() -> Result<Frame> {
                    if (answers.empty()) {
                        return Error{"link", "no answer"};
                    }
                    Frame frame = std::move(answers.front());
                    answers.pop_front();
                    return frame;
                }};
    }

    /// The answer to a message.
    FileAnswer ask(const FileRequest& request, const std::string& bytes = {})
    {
        const std::optional<Frame> answer = store.answer(frameOf(request, bytes));
        const Result<WithBytes<FileAnswer>> read = answer ? fileAnswerFrom(*answer) : Error{};
        return read ? read->message : FileAnswer(FilesRefused{{"link", "no answer"}});
    }

    RemoteStore store;
    std::deque<Frame> answers;
    std::size_t sent = 0; ///< bytes of files
};

enum class Lie {
    None,
    OtherStep,
    NegativeStep,
    LeastStep,
    RunFile,
    Hidden,
    Path,
    Twice,
    Many,
    Missing,
    NegativeBytes,
    HugeFile,
    Overflow,
    Half,
    More,
    OtherBytes,
    NoBytes,
    OtherRun,
};

/// A place that answers the request for a checkpoint with a lie, by hashes that fit what it sends.
struct Liar {
    Lie lie;
    fs::path run;
    std::vector<std::string> contents = {};
    std::optional<Frame> next = {};

    FileConnection connection()
    {
        return {[this](const Frame& frame) -> Status {
                    const auto request = fileRequestFrom(frame);
                    if (const auto* const part = std::get_if<ReadPart>(&request->message)) {
                        answer(*part);
                    } else {
                        answerOpen();
                    }
                    return Done{};
                },
                [this]() -> Result<Frame> { return *next; }};
    }

    void answer(const ReadPart& part)
    {
        std::string bytes = contents.at(static_cast<std::size_t>(part.file));
        if (lie == Lie::Half) {
            bytes.resize(bytes.size() / 2);
        } else if (lie == Lie::More) {
            bytes += "xxx";
        } else if (lie == Lie::OtherBytes) {
            bytes.back() ^= 1;
        }
        const std::string hash = sha256Of(bytes);
        const bool none = lie == Lie::NoBytes;
        next = frameOf(FileAnswer(FilePart{none ? "" : hash}), none ? "" : bytes);
    }

    void answerOpen()
    {
        FilesOpened opened;
        opened.step = lie == Lie::OtherStep      ? 10
                      : lie == Lie::NegativeStep ? -1
                      : lie == Lie::LeastStep    ? std::numeric_limits<std::int64_t>::min()
                                                 : 20;
        for (const char* const name : kCheckpointFiles) {
            contents.push_back(contentOf(checkpointDirectory(run, 20) / name));
            opened.files.push_back({name, std::ssize(contents.back())});
        }
        OpenedFile& first = opened.files[0];
        first.name = lie == Lie::RunFile  ? "run.json"
                     : lie == Lie::Hidden ? ".hidden"
                     : lie == Lie::Path   ? "../../x"
                                          : first.name;
        if (lie == Lie::Twice) {
            opened.files.push_back(first);
        } else if (lie == Lie::Missing) {
            opened.files.pop_back();
        } else if (lie == Lie::NegativeBytes) {
            first.bytes = -1;
        } else if (lie == Lie::HugeFile) {
            first.bytes = kMostStoredBytes; // more than a disk of the test has
        } else if (lie == Lie::Overflow) {
            first.bytes = opened.files[1].bytes = std::numeric_limits<std::int64_t>::max();
        } else if (lie == Lie::Many) {
            opened.files.clear();
            for (int i = 0; i < 100'000; ++i) {
                opened.files.push_back({"f" + std::to_string(i), 0});
            }
        }
        next = frameOf(FileAnswer(opened));
    }
};

projects::Project textProject(const std::string& path)
{
    projects::Project project = projects::findExample("ancre-language")->project;
    project.data.source = projects::TextData{.path = path, .tokeniser = {}};
    return project;
}

class TestRemoteFiles : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        fs::create_directories(project());
    }

    void onlyWhatIsLackingIsSent()
    {
        write(project() / "data/a.txt", std::string(9'000'000, 'a')); // some parts
        write(project() / "data/deep/b.txt", "bb");
        write(project() / "data/empty.txt", "");
        write(project() / "data/.hidden.txt", "not data");
        Link link(place());
        RemoteFiles files(link.connection());
        const Result<ProjectFiles> listed = projectFiles(textProject("data"), project(), {});
        QVERIFY(listed.ok());
        QCOMPARE(listed->files.size(), std::size_t{3});
        std::vector<double> shares;
        const auto watch = [&](double share) {
            shares.push_back(share);
            return true;
        };
        const Result<fs::path> sent = files.sendProject(*listed, watch);
        QVERIFY2(sent.ok(), sent ? "" : sent.error().text().c_str());
        QCOMPARE(contentOf(place() / *sent / "data/a.txt"), std::string(9'000'000, 'a'));
        QCOMPARE(pathsBelow(place() / *sent),
                 (std::vector<std::string>{"data/a.txt", "data/deep/b.txt", "data/empty.txt"}));
        QCOMPARE(link.sent, std::size_t{9'000'002});
        QVERIFY(std::ranges::is_sorted(shares) && shares.back() == 1);

        QCOMPARE(*files.sendProject(*listed, {}), *sent);
        QCOMPARE(link.sent, std::size_t{9'000'002}); // no byte of the data again

        write(project() / "data/deep/b.txt", "other");
        const Result<fs::path> other = files.sendProject(*projectFiles(textProject("data"), project(), {}), {});
        QVERIFY(other.ok() && *other != *sent);
        QCOMPARE(link.sent, std::size_t{9'000'007});
        QCOMPARE(contentOf(place() / *sent / "data/deep/b.txt"), std::string("bb")); // of the first project still
        QCOMPARE(fs::hard_link_count(place() / *other / "data/a.txt"), std::uintmax_t{3});
    }

    void filesOutsideTheProjectGetAPlaceWithin()
    {
        write(root() / "elsewhere/text.txt", "text");
        const fs::path outside = root() / "elsewhere/text.txt";
        for (const std::string& named : {outside.string(), std::string("../elsewhere/text.txt")}) {
            const Result<ProjectFiles> listed = projectFiles(textProject(named), project(), {});
            QVERIFY(listed.ok());
            QCOMPARE(listed->files[0].offer.path, std::string("outside-1/text.txt"));
            QCOMPARE(std::get<projects::TextData>(listed->project.data.source).path, std::string("outside-1/text.txt"));
            DataFingerprint data{{"outside-1/text.txt", 1, 4, "0", {}}};
            restoreNames(data, listed->renamed);
            QCOMPARE(data[0].name, named);
        }
        const Result<ProjectFiles> missing = projectFiles(textProject("no.txt"), project(), {});
        QVERIFY(!missing.ok());
    }

    void aCancelledTransferLeavesNothingBehind()
    {
        write(project() / "text.txt", std::string(9'000'000, 'a'));
        {
            Link link(place());
            RemoteFiles files(link.connection());
            const Result<ProjectFiles> listed = projectFiles(textProject("text.txt"), project(), {});
            QVERIFY(!files.sendProject(*listed, [](double) { return false; }).ok());
        }
        QVERIFY(pathsBelow(place()).empty());
    }

    // ---- what is refused

    void hostileOffersAreRefused_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<qint64>("bytes");
        QTest::addColumn<QString>("hash");
        const QString hash = QString::fromStdString(sha256Of("x"));
        QTest::newRow("above") << "../x" << qint64{1} << hash;
        QTest::newRow("above within") << "a/../../x" << qint64{1} << hash;
        QTest::newRow("absolute") << "/tmp/x" << qint64{1} << hash;
        QTest::newRow("empty") << "" << qint64{1} << hash;
        QTest::newRow("control character") << "a\nb" << qint64{1} << hash;
        QTest::newRow("negative") << "x" << qint64{-1} << hash;
        QTest::newRow("huge") << "x" << std::numeric_limits<qint64>::max() << hash;
        QTest::newRow("more than the disk has") << "x" << qint64{kMostStoredBytes} << hash;
        QTest::newRow("no hash") << "x" << qint64{1} << "../../x";
    }
    void hostileOffersAreRefused()
    {
        QFETCH(QString, path);
        QFETCH(qint64, bytes);
        QFETCH(QString, hash);
        Link link(place());
        const FileAnswer answer = link.ask(OfferFiles{{{path.toStdString(), bytes, hash.toStdString()}}});
        QVERIFY(std::holds_alternative<FilesRefused>(answer));
        QVERIFY(pathsBelow(place()).empty());
        QVERIFY(!fs::exists(root() / "x"));
    }

    void hostilePartsAreRefused()
    {
        const std::string hash = sha256Of("content");
        const OfferFiles offer{{{"x", 7, hash}}};
        Link link(place());
        const auto refusedAfter = [&](const std::vector<std::pair<StorePart, std::string>>& parts) {
            const FileAnswer lacking = link.ask(offer);
            const bool asked = std::get<FilesLacking>(lacking).hashes == std::vector<std::string>{hash};
            for (const auto& [part, bytes] : parts) {
                static_cast<void>(link.store.answer(frameOf(FileRequest(part), bytes)));
            }
            return asked && std::holds_alternative<FilesRefused>(link.ask(offer)) && pathsBelow(place()).empty();
        };
        QVERIFY(refusedAfter({{{hash, 0}, "CONTENT"}}));                        // another content
        QVERIFY(refusedAfter({{{hash, 0}, "content!"}}));                       // longer
        QVERIFY(refusedAfter({{{hash, 3}, "tent"}}));                           // from its middle
        QVERIFY(refusedAfter({{{hash, 0}, "con"}, {{hash, 4}, "ent"}}));        // with a hole
        QVERIFY(refusedAfter({{{sha256Of("other"), 0}, "other"}}));             // not asked for
        QVERIFY(refusedAfter({{{hash, 0}, "con"}, {{"../../x", 0}, "other"}})); // no hash
        static_cast<void>(link.ask(offer));
        static_cast<void>(link.store.answer(frameOf(FileRequest(StorePart{hash, 0}), "content")));
        QCOMPARE(std::get<FilesLacking>(link.ask(offer)).project.substr(0, 9), std::string("projects/"));
    }

    void pathsOfAnOfferThatCollideAreRefused()
    {
        const std::string hash = sha256Of("content");
        Link link(place());
        static_cast<void>(link.ask(OfferFiles{{{"x", 7, hash}}}));
        static_cast<void>(link.store.answer(frameOf(FileRequest(StorePart{hash, 0}), "content")));
        for (const char* const other : {"x", "x/y"}) {
            QVERIFY(std::holds_alternative<FilesRefused>(link.ask(OfferFiles{{{"x", 7, hash}, {other, 7, hash}}})));
        }
        QVERIFY(std::holds_alternative<FilesRefused>(link.ask(OfferFiles{{{"x", 8, hash}}}))); // another size
        QVERIFY(fs::is_empty(place() / kRemoteProjects));
    }

    void foldersThatAreLinksAreRefused()
    {
        fs::create_directories(root() / "other");
        fs::create_directories(place());
        fs::create_directory_symlink(root() / "other", place() / kRemoteFiles);
        QVERIFY(!RemoteStore::open(place()).ok());
    }

    void runsOutsideAreNotRead()
    {
        Link link(place());
        write(root() / "secret/run.json", "{}");
        fs::create_directory_symlink(root() / "secret", place() / "runs/link");
        for (const std::string run : {"../secret", (root() / "secret").c_str(), "runs/link", ""}) {
            QVERIFY(std::holds_alternative<FilesRefused>(link.ask(OpenRecord{run})));
            QVERIFY(std::holds_alternative<FilesRefused>(link.ask(OpenCheckpoint{run, {}})));
        }
        QVERIFY(std::holds_alternative<FilesRefused>(link.ask(ReadPart{0})));
        QVERIFY(std::holds_alternative<FilesRefused>(link.ask(ReadPart{-1})));
    }

    void aMessageThatIsNoneIsRefused()
    {
        Link link(place());
        for (const char* const text : {"", "[]", "[9,[]]", "[0,[[[\"x\"]]]]", "{\"a\":1}"}) {
            const std::optional<Frame> answer = link.store.answer(Frame{text, {}});
            QVERIFY(answer.has_value());
            const auto read = fileAnswerFrom(*answer);
            QVERIFY(read && std::holds_alternative<FilesRefused>(read->message));
        }
    }

    // ---- back

    void aCheckpointComesBackAsItIs()
    {
        writeCheckpoints();
        Link link(place());
        RemoteFiles files(link.connection());
        fs::create_directories(here());
        const Result<FetchedCheckpoint> last = files.fetchCheckpoint("runs/a", {}, here(), {});
        QVERIFY2(last.ok(), last ? "" : last.error().text().c_str());
        QCOMPARE(last->step, std::int64_t{20});
        std::int64_t bytes = 0;
        for (const char* const name : kCheckpointFiles) {
            const std::string sent = contentOf(checkpointDirectory(place() / "runs/a", 20) / name);
            QVERIFY(contentOf(checkpointDirectory(here(), 20) / name) == sent);
            bytes += std::ssize(sent);
        }
        QCOMPARE(last->bytes, bytes);
        QVERIFY(files.fetchCheckpoint("runs/a", 20, here(), {}).ok()); // replaces it
        QVERIFY(files.fetchCheckpoint("runs/a", 10, here(), {}).ok());
        QVERIFY(!files.fetchCheckpoint("runs/a", 15, here(), {}).ok());
        const auto before = pathsBelow(here());
        fs::remove_all(checkpointDirectory(here(), 20));
        QVERIFY(!files.fetchCheckpoint("runs/a", 20, here(), [](double) { return false; }).ok());
        QCOMPARE(pathsBelow(here()).size(), std::size_t{3}); // no half of it
        QCOMPARE(before.size(), std::size_t{6});
    }

    void keptKnockOutsComeWithTheirCheckpoint()
    {
        writeCheckpoints();
        for (const std::int64_t step : {10, 20}) {
            QVERIFY(keepEffects(place() / "runs/a", effectsAt(step)).ok());
        }
        write(place() / "runs/a/effects" / "step-00000020-layer-4.json", "damaged");
        Link link(place());
        RemoteFiles files(link.connection());
        fs::create_directories(here());
        const auto fetched = files.fetchCheckpoint("runs/a", 20, here(), {});
        QVERIFY2(fetched.ok() && fetched->notes.empty(), fetched ? "" : fetched.error().text().c_str());
        const auto kept = readEffects(here());
        QVERIFY(kept.ok());
        QCOMPARE(kept->size(), std::size_t{1});
        QVERIFY(kept->at(0).key == effectsAt(20).key);
        QCOMPARE(kept->at(0).measured.rows.at(0).rise, 0.25);
    }

    void hostileKnockOutsAreNotFetched_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<qint64>("bytes"); ///< announced; 0: as many as there are
        QTest::addColumn<QString>("content");
        const QString name = "step-00000020-term-4.json";
        QTest::newRow("another step") << "step-00000010-term-4.json" << qint64{0} << "{}";
        QTest::newRow("a path") << "../../x" << qint64{0} << "{}";
        QTest::newRow("a path with the step") << "step-00000020-/../../../x" << qint64{0} << "{}";
        QTest::newRow("negative") << name << qint64{-1} << "{}";
        QTest::newRow("huge") << name << (qint64{1} << 30) << "{}";
        QTest::newRow("longer than announced") << name << qint64{1} << "{}";
        QTest::newRow("damaged") << name << qint64{0} << "{\"format\":1,";
        QTest::newRow("not its name") << "step-00000020-layer-4.json" << qint64{0} << QString();
    }
    /// The checkpoint is fetched, a note says what was not, and nothing is written.
    void hostileKnockOutsAreNotFetched()
    {
        QFETCH(const QString, name);
        QFETCH(const qint64, bytes);
        QFETCH(const QString, content);
        writeCheckpoints();
        QVERIFY(keepEffects(place() / "runs/a", effectsAt(20)).ok());
        const std::string sound = contentOf(effectsPath(place() / "runs/a", effectsAt(20).key));
        const std::string sent = content.isNull() ? sound : content.toStdString();
        Link link(place());
        FileConnection honest = link.connection();
        std::optional<Frame> lie;
        bool lies = false;
        const auto send = [&](const Frame& frame) {
            const auto request = fileRequestFrom(frame);
            lies = lies || std::holds_alternative<OpenEffects>(request->message);
            if (!lies) {
                return honest.send(frame);
            }
            const bool isPart = std::holds_alternative<ReadPart>(request->message);
            const FilesOpened opened{{{name.toStdString(), bytes == 0 ? std::ssize(sent) : bytes}}, 20};
            lie = isPart ? frameOf(FileAnswer(FilePart{sha256Of(sent)}), sent) : frameOf(FileAnswer(opened));
            return Status(Done{});
        };
        RemoteFiles files({send, [&] { return lies ? Result<Frame>(*lie) : honest.receive(); }});
        fs::create_directories(here());
        const auto fetched = files.fetchCheckpoint("runs/a", 20, here(), {});
        QVERIFY2(fetched.ok(), fetched ? "" : fetched.error().text().c_str());
        QCOMPARE(fetched->notes.size(), std::size_t{1});
        QVERIFY2(fetched->notes[0].find("not fetched") != std::string::npos, fetched->notes[0].c_str());
        QVERIFY(readEffects(here())->empty());
        QCOMPARE(pathsBelow(here()).size(), std::size_t{3});
        QVERIFY(!fs::exists(root() / "x"));
    }

    /// Large files are read once more after they came.
    void aCheckpointIsGivenUpAfterItsLastByte()
    {
        writeCheckpoints();
        Link link(place());
        RemoteFiles files(link.connection());
        fs::create_directories(here());
        int whole = 0;
        const auto watch = [&whole](double share) {
            whole += share == 1 ? 1 : 0;
            return whole < 2;
        };
        const auto fetched = files.fetchCheckpoint("runs/a", 20, here(), watch);
        QVERIFY(!fetched.ok());
        QCOMPARE(whole, 2);
        QVERIFY(pathsBelow(here()).empty());
    }

    void aStoreWithoutRoomIsNotFetched()
    {
        const FilesOpened opened{{{kRunFile, 2}, {kStoreFile, kMostStoredBytes}}, 0};
        RemoteFiles files(
            {[](const Frame&) { return Done{}; }, [&]() -> Result<Frame> { return frameOf(FileAnswer(opened)); }});
        fs::create_directories(here());
        const Status fetched = files.fetchStore("runs/a", here());
        QVERIFY(!fetched);
        const std::string text = fetched.error().text();
        QVERIFY2(text.find("the store needs " + std::to_string(kMostStoredBytes)) != std::string::npos, text.c_str());
        QVERIFY(pathsBelow(here()).empty());
    }

    void hostileAnswersToAFetchAreRefused_data()
    {
        QTest::addColumn<int>("lie");
        QTest::addColumn<QString>("says");
        QTest::newRow("none") << static_cast<int>(Lie::None) << "";
        QTest::newRow("another step") << static_cast<int>(Lie::OtherStep) << "step 10";
        QTest::newRow("a negative step") << static_cast<int>(Lie::NegativeStep) << "step -1";
        QTest::newRow("the smallest step") << static_cast<int>(Lie::LeastStep) << "step -9223372036854775808";
        QTest::newRow("run.json") << static_cast<int>(Lie::RunFile) << "run.json";
        QTest::newRow("a hidden file") << static_cast<int>(Lie::Hidden) << ".hidden";
        QTest::newRow("a path") << static_cast<int>(Lie::Path) << "../../x";
        QTest::newRow("a name twice") << static_cast<int>(Lie::Twice) << "state.json";
        QTest::newRow("many files") << static_cast<int>(Lie::Many) << "f0";
        QTest::newRow("one missing") << static_cast<int>(Lie::Missing) << "2 of the 3 files";
        QTest::newRow("negative bytes") << static_cast<int>(Lie::NegativeBytes) << "file of -1 bytes";
        QTest::newRow("a huge file") << static_cast<int>(Lie::HugeFile) << "bytes";
        QTest::newRow("sizes that overflow") << static_cast<int>(Lie::Overflow) << "bytes";
        QTest::newRow("half of the bytes") << static_cast<int>(Lie::Half) << "has announced";
        QTest::newRow("more bytes") << static_cast<int>(Lie::More) << "has announced";
        QTest::newRow("other bytes") << static_cast<int>(Lie::OtherBytes) << "the checkpoint that was sent";
        QTest::newRow("no bytes") << static_cast<int>(Lie::NoBytes) << "no bytes";
        QTest::newRow("another run's") << static_cast<int>(Lie::OtherRun) << "checkpoint of another run";
    }

    void hostileAnswersToAFetchAreRefused()
    {
        QFETCH(const int, lie);
        QFETCH(const QString, says);
        writeCheckpoints();
        projects::Project project = textProject("text.txt");
        const auto made = RunWriter::create(here(), RunInfo{}, project, root(), {}); // with an identity
        QVERIFY(made.ok());
        RunFile own = *readRunFile(here());
        own.identity = static_cast<Lie>(lie) == Lie::OtherRun ? std::string(32, 'b') : std::string();
        QVERIFY(writeRunFile(here(), own).ok());
        Liar liar{static_cast<Lie>(lie), place() / "runs/a"};
        RemoteFiles files(liar.connection());
        const auto before = pathsBelow(root());
        const Result<FetchedCheckpoint> fetched = files.fetchCheckpoint("runs/a", 20, here(), {});
        QCOMPARE(fetched.ok(), says.isEmpty());
        if (!fetched) {
            const std::string text = fetched.error().text();
            QVERIFY2(text.find(says.toStdString()) != std::string::npos, text.c_str());
            QVERIFY(pathsBelow(root()) == before);
        }
    }

    void linksBelowThePlaceAreNotFollowed_data()
    {
        QTest::addColumn<QString>("link");
        for (const char* const link : {"run.json", "store.sqlite", "store.sqlite-wal", "project/project.json",
                                       "project", "lock", "checkpoints", "checkpoints/step-00000020"}) {
            QTest::newRow(link) << link;
        }
    }

    void linksBelowThePlaceAreNotFollowed()
    {
        QFETCH(const QString, link);
        writeCheckpoints();
        Link place_(place());
        const fs::path run = place() / "runs/a";
        write(run / "run.json", "{}");
        write(run / "project/project.json", "{}");
        QVERIFY(std::holds_alternative<FilesOpened>(place_.ask(OpenCheckpoint{"runs/a", 20})));
        const fs::path linked = run / link.toStdString();
        fs::create_directories(root() / "outside");
        std::error_code code;
        fs::rename(linked, root() / "outside/x", code);
        fs::create_symlink(code ? root() / "outside/none" : root() / "outside/x", linked);
        QVERIFY(std::holds_alternative<FilesRefused>(place_.ask(OpenCheckpoint{"runs/a", 20})));
        const bool isCheckpoint = link.startsWith("checkpoints/");
        QCOMPARE(std::holds_alternative<FilesRefused>(place_.ask(OpenRecord{"runs/a"})), !isCheckpoint);
        SampleRequest sample;
        sample.of.runDirectory = "runs/a";
        QCOMPARE(checkAtPlace(place(), sample).ok(), isCheckpoint);
    }

    /// Above the limit, what was not used for the longest time goes; what a run is trained on, and what is new, stays.
    void aPlaceIsTrimmedByAge()
    {
        qputenv("RESIDUA_PLACE_MIB", "2");
        const auto send = [this](const std::string& name, char content) {
            write(project() / "data" / name, std::string(std::size_t{1} << 20, content));
            Link link(place());
            RemoteFiles files(link.connection());
            const auto sent = files.sendProject(*projectFiles(textProject("data/" + name), project(), {}), {});
            return place() / (sent ? *sent : fs::path("none"));
        };
        const auto age = [this](const fs::path& folder, int days) {
            const auto then = fs::file_time_type::clock::now() - std::chrono::hours(24 * days);
            for (const auto& file : fs::recursive_directory_iterator(folder)) {
                fs::last_write_time(file.path(), then);
            }
            fs::last_write_time(folder, then);
        };
        const fs::path trained = send("trained", 'a');
        const fs::path old = send("old", 'b');
        age(trained, 9);
        age(old, 5);
        QVERIFY(RunWriter::create(place() / "runs/r", RunInfo{}, textProject("x"), trained, {}).ok());
        const auto held = lockRun(place() / "runs/r");
        QVERIFY(held.ok());
        const fs::path used = send("used", 'c'); // now there is more than the limit
        QVERIFY(fs::exists(trained) && fs::exists(used));
        QVERIFY(!fs::exists(old));
        QCOMPARE(std::distance(fs::directory_iterator(place() / kRemoteFiles), fs::directory_iterator()), 2);
        const fs::path more = send("more", 'd');
        QVERIFY(fs::exists(trained) && fs::exists(used) && fs::exists(more)); // none of them may go
        QCOMPARE(send("old", 'b'), old);                                      // and comes again
        qunsetenv("RESIDUA_PLACE_MIB");
    }

private:
    [[nodiscard]] fs::path root() const { return m_temporary->path().toStdString(); }
    [[nodiscard]] fs::path place() const { return root() / "place"; }
    [[nodiscard]] fs::path project() const { return root() / "project"; }
    [[nodiscard]] fs::path here() const { return root() / "here"; }

    /// Returns a result of the checkpoint that the run at the place has of the step.
    [[nodiscard]] KeptEffects effectsAt(std::int64_t step) const
    {
        KeptEffects effects{{step, projects::KnockoutBy::Term, false, 4}, {}};
        effects.measured.rows = {{"0:1", 0, 1, 1.0, 0.25, 0.01, 0.5}};
        const auto state = readState(checkpointDirectory(place() / "runs/a", step), step);
        effects.measured.checkpoint = state ? state->modelChecksum : std::string();
        return effects;
    }

    /// The checkpoints of steps 10 and 20 of a run at the place, which has an identity.
    void writeCheckpoints() const
    {
        const fs::path run = place() / "runs/a";
        QVERIFY(RunWriter::create(run, RunInfo{}, textProject("text.txt"), root(), {}).ok());
        RunFile file = *readRunFile(run);
        file.identity = std::string(32, 'a');
        QVERIFY(writeRunFile(run, file).ok());
        const tests::ExampleTensors tensors;
        for (const std::int64_t step : {10, 20}) {
            CheckpointState state;
            state.step = step;
            QVERIFY(writeCheckpoint(run, state, tensors.model(), tensors.optimiser(), {}).ok());
        }
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
};

} // namespace

RESIDUA_TEST(TestRemoteFiles)
#include "tst_remote_files.moc"
