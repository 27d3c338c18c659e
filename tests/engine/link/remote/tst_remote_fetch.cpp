// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints and kept knock-outs that come back from a place: as they are, or not at all.
#include "engine/base/api/environment.h"
#include "engine/link/remote/remote_files.h"
#include "engine/link/remote/remote_store.h"
#include "engine/runs/results/effects.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/database.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"
#include "projects/base/whole_file.h"
#include "tests/engine/link/remote/remote_files_harness.h"
#include "tests/engine/runs/store/run_files_harness.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <limits>
#include <memory>

using namespace residua;
using namespace residua::engine;
using tests::contentOf;
using tests::Link;
using tests::pathsBelow;
using tests::projectOfText;
using tests::sha256Of;
using tests::write;
using tests::writeCheckpoints;
namespace fs = std::filesystem;

namespace {

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

class TestRemoteFetch : public QObject {
    Q_OBJECT

private slots:
    void init() { m_temporary = std::make_unique<QTemporaryDir>(); }

    void aCheckpointComesBackAsItIs()
    {
        writeCheckpoints(place() / "runs/a");
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
        writeCheckpoints(place() / "runs/a");
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
        writeCheckpoints(place() / "runs/a");
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
        writeCheckpoints(place() / "runs/a");
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
        writeCheckpoints(place() / "runs/a");
        projects::Project project = projectOfText("text.txt");
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

private:
    [[nodiscard]] fs::path root() const { return m_temporary->path().toStdString(); }
    [[nodiscard]] fs::path place() const { return root() / "place"; }
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

    std::unique_ptr<QTemporaryDir> m_temporary;
};

} // namespace

RESIDUA_TEST(TestRemoteFetch)
#include "tst_remote_fetch.moc"
