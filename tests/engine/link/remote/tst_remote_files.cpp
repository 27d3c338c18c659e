// SPDX-License-Identifier: GPL-3.0-or-later
// Both ends of a connection for files, in one process: only what is lacking is sent, and hostile messages change
// nothing.
#include "engine/base/api/environment.h"
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
#include "tests/engine/link/remote/remote_files_harness.h"
#include "tests/engine/runs/store/run_files_harness.h"
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
using tests::Link;
using tests::pathsBelow;
using tests::projectOfText;
using tests::sha256Of;
using tests::write;
using tests::writeCheckpoints;
namespace fs = std::filesystem;

namespace {

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
        const Result<ProjectFiles> listed = projectFiles(projectOfText("data"), project(), {});
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
        const Result<fs::path> other = files.sendProject(*projectFiles(projectOfText("data"), project(), {}), {});
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
            const Result<ProjectFiles> listed = projectFiles(projectOfText(named), project(), {});
            QVERIFY(listed.ok());
            QCOMPARE(listed->files[0].offer.path, std::string("outside-1/text.txt"));
            QCOMPARE(std::get<projects::TextData>(listed->project.data.source).path, std::string("outside-1/text.txt"));
            DataFingerprint data{{"outside-1/text.txt", 1, 4, "0", {}}};
            restoreNames(data, listed->renamed);
            QCOMPARE(data[0].name, named);
        }
        const Result<ProjectFiles> missing = projectFiles(projectOfText("no.txt"), project(), {});
        QVERIFY(!missing.ok());
    }

    void aCancelledTransferLeavesNothingBehind()
    {
        write(project() / "text.txt", std::string(9'000'000, 'a'));
        {
            Link link(place());
            RemoteFiles files(link.connection());
            const Result<ProjectFiles> listed = projectFiles(projectOfText("text.txt"), project(), {});
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

    void invalidMessagesAreRefused()
    {
        Link link(place());
        for (const char* const text : {"", "[]", "[9,[]]", "[0,[[[\"x\"]]]]", "{\"a\":1}"}) {
            const std::optional<Frame> answer = link.store.answer(Frame{text, {}});
            QVERIFY(answer.has_value());
            const auto read = fileAnswerFrom(*answer);
            QVERIFY(read && std::holds_alternative<FilesRefused>(read->message));
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
        writeCheckpoints(place() / "runs/a");
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
            const auto sent = files.sendProject(*projectFiles(projectOfText("data/" + name), project(), {}), {});
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
        QVERIFY(RunWriter::create(place() / "runs/r", RunInfo{}, projectOfText("x"), trained, {}).ok());
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

    std::unique_ptr<QTemporaryDir> m_temporary;
};

} // namespace

RESIDUA_TEST(TestRemoteFiles)
#include "tst_remote_files.moc"
