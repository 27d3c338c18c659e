// SPDX-License-Identifier: GPL-3.0-or-later
// Bundles on their way: what comes along, where it goes, and that a refusal leaves nothing behind.
#include "engine/link/bundle/moves.h"
#include "engine/link/bundle/pack.h"
#include "engine/link/bundle/unpack.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/study_page.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/utf8.h"
#include "projects/file/store.h"
#include "tests/engine/link/bundle/bundle_harness.h"
#include "tests/support/test_program.h"

#include <QScopeGuard>
#include <QTest>

#include <algorithm>
#include <array>
#include <barrier>
#include <thread>

#include <sys/stat.h>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

class TestBundleJoining : public BundleHarness {
    Q_OBJECT

private slots:
    void init() { makeProject(); }

    /// Files beside a tokeniser's model decide how documents end.
    void everyFileOfATokeniserComesAlong()
    {
        setData(projects::TextData{
            (m_root / "corpora").string(),
            {projects::TokeniserKind::TokenizerJson, (m_root / "words" / "tokenizer.json").string(), 10}});
        write(m_root / "words" / "tokenizer.json", "{}");
        write(m_root / "words" / "tokenizer_config.json", R"({"eos_token": "x"})");
        addRun(m_home, "second", 10);
        QVERIFY(pack({m_home / "runs/second"}, m_file).ok());
        auto unpacked = unpack(m_file, m_away / "project");
        QVERIFY2(unpacked.ok(), unpacked ? "" : unpacked.error().text().c_str());
        QVERIFY2(unpacked->notes.empty(), unpacked->notes.empty() ? "" : unpacked->notes.front().c_str());
        QCOMPARE(below(m_away / "project/data/words"),
                 (std::set<std::string>{"tokenizer.json", "tokenizer_config.json"}));

        // Coming back it is the project's own again; other settings there are another tokeniser.
        train(m_away / "project/runs/second", 11, 20);
        QVERIFY(pack({m_away / "project/runs/second"}, m_file).ok());
        unpacked = unpack(m_file, m_home);
        QVERIFY(unpacked.ok());
        QVERIFY2(unpacked->notes.size() == 1 && isIn(unpacked->notes.front(), ".trash"),
                 unpacked->notes.back().c_str());
        QVERIFY(!fs::exists(m_home / "data"));
        write(m_root / "words" / "tokenizer_config.json", "{}");
        train(m_away / "project/runs/second", 21, 30);
        QVERIFY(pack({m_away / "project/runs/second"}, m_file).ok());
        unpacked = unpack(m_file, m_home);
        QVERIFY(unpacked.ok());
        QCOMPARE(noteWith(unpacked->notes, "other data"), std::string());
        QCOMPARE(below(m_home / "data/words"), (std::set<std::string>{"tokenizer.json", "tokenizer_config.json"}));
    }

    void aFolderOfDataMayEndInASlash()
    {
        write(m_home / "corpus" / "a.txt", "some text");
        write(m_home / "corpus" / "b.txt", "more text");
        setData(projects::TextData{"corpus/", {}});
        addRun(m_home, "second", 10);
        const auto packed = pack({m_home / "runs/second"}, m_file);
        QVERIFY2(packed.ok(), packed ? "" : packed.error().text().c_str());
        QVERIFY(unpack(m_file, m_away / "project").ok());
        QCOMPARE(below(m_away / "project/corpus").size(), std::size_t{2});

        // To where the data are not: one note for all files.
        fs::remove_all(m_home / "corpus");
        fs::remove_all(m_home / "runs/second");
        const auto joined = unpack(m_file, m_home);
        QVERIFY2(joined.ok(), joined ? "" : joined.error().text().c_str());
        QCOMPARE(below(m_home / "corpus").size(), std::size_t{2});
        QVERIFY2(joined->notes.size() == 1 && isIn(joined->notes.front(), "2 files of 18 bytes from the bundle"),
                 joined->notes.front().c_str());
    }

    void weighingTakesNoLock()
    {
        const fs::path lock = m_home / "runs/first" / kLockFile;
        fs::remove(lock);
        QVERIFY(weighBundle({m_home}).ok());
        QVERIFY(!fs::exists(lock));
        const auto held = lockRun(m_home / "runs/first");
        const auto weighed = weighBundle({m_home});
        QVERIFY(!noteWith(weighed->notes, "is being trained and is left out").empty());
    }

    void allRunsComeOrNone()
    {
        QVERIFY(pack({m_home}, m_file).ok());
        QVERIFY(unpack(m_file, m_away / "project").ok());
        train(m_away / "project/runs/first", 21, 30);
        addRun(m_away / "project", "sweep/b", 10, "2001-01-01T00:00:00Z"); // the oldest is the last
        const auto packed = pack({m_away / "project"}, m_file);
        QVERIFY(packed.ok());
        QCOMPARE(packed->contents.runs, (std::vector<std::string>{"runs/first", "runs/sweep/b"}));
        write(m_home / "runs/sweep", "in its way");
        const auto before = below(m_home);
        const auto refused = unpack(m_file, m_home);
        QVERIFY(!refused.ok());
        QVERIFY2(isIn(refused.error().text(), "run runs/sweep/b"), refused.error().text().c_str());
        QCOMPARE(below(m_home), before);
        QCOMPARE(RunReader::open(m_home / "runs/first")->info()->step, std::int64_t{20});
    }

    void aRefusedPlaceIsNotMade()
    {
        forge(m_file, {listed("a", "x")}, {{"a", "y"}});
        QVERIFY(!unpack(m_file, m_away / "new/deep/project").ok());
        QCOMPARE(below(m_away), std::set<std::string>());
        QVERIFY(pack({m_home}, m_file).ok());
        QVERIFY(unpack(m_file, m_away / "new/deep/project").ok());
    }

    void runsHaveFoldersOfTheirOwn()
    {
        const auto refusesRuns = [&](const std::vector<std::string>& runs, const std::string& why) {
            BundleContents contents;
            contents.project = contents.folder = "forged";
            contents.runs = runs;
            forge(m_file, {{kManifest, manifestText(contents)}});
            refuses(why);
        };
        refusesRuns({"runs/a", "runs/a"}, "lists the run \"runs/a\" twice");
        refusesRuns({"runs/a/b", "runs/a"}, "lists the run \"runs/a/b\" within the run \"runs/a\"");
    }

    /// The runs are unpacked on their final disk, and the data move from there to the project.
    void runsMayLieOnAnotherDisk()
    {
        if (!hasSecondDisk()) {
            QSKIP("there is no second disk at /dev/shm");
        }
        QTemporaryDir disk(QStringLiteral("/dev/shm/bundle-XXXXXX"));
        QVERIFY(disk.isValid());
        write(m_home / "corpus.txt", "some text");
        setData(projects::TextData{"corpus.txt", {}});
        addRun(m_home, "second", 10);
        QVERIFY(pack({m_home / "runs/second"}, m_file).ok());
        fs::remove(m_home / "corpus.txt");
        fs::remove_all(m_home / "runs");
        fs::create_directory(disk.path().toStdString() + "/runs");
        fs::create_directory_symlink(disk.path().toStdString() + "/runs", m_home / "runs");
        const auto joined = unpack(m_file, m_home);
        QVERIFY2(joined.ok(), joined ? "" : joined.error().text().c_str());
        QCOMPARE(contentOf(m_home / "corpus.txt"), std::string("some text"));
        QVERIFY(RunReader::open(m_home / "runs/second").ok());
        for (const std::string& path : below(m_home)) {
            QVERIFY2(!isIn(path, ".tmp-"), path.c_str());
        }
    }

    /// The target holds the whole folder of one thread. The other threads keep theirs.
    void threadsMoveFoldersToOnePlaceOnAnotherDisk()
    {
        if (!hasSecondDisk()) {
            QSKIP("there is no second disk at /dev/shm");
        }
        const QTemporaryDir disk(QStringLiteral("/dev/shm/bundle-XXXXXX"));
        QVERIFY(disk.isValid());
        constexpr int kThreads = 4;
        constexpr int kFiles = 16;
        const auto folderOf = [&](int thread) { return fs::path(disk.path().toStdString()) / std::to_string(thread); };
        const auto filesOf = [](const fs::path& folder, int thread) {
            int whole = 0;
            for (int i = 0; i < kFiles; ++i) {
                const fs::path file = folder / std::to_string(i);
                whole += fs::exists(file) && contentOf(file) == std::to_string(thread) ? 1 : 0;
            }
            return whole;
        };
        for (int thread = 0; thread < kThreads; ++thread) {
            for (int i = 0; i < kFiles; ++i) {
                write(folderOf(thread) / std::to_string(i), std::to_string(thread));
            }
        }
        const fs::path place = m_root / "moved" / "there";
        fs::create_directory(place.parent_path());
        std::array<int, kThreads> put{}; ///< 1: this thread's is there
        std::barrier start(kThreads);
        std::vector<std::thread> threads;
        for (int thread = 0; thread < kThreads; ++thread) {
            threads.emplace_back([&, thread] {
                start.arrive_and_wait();
                put[static_cast<std::size_t>(thread)] = putAt(folderOf(thread), place).ok() ? 1 : 0;
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        QCOMPARE(std::ranges::count(put, 1), 1);
        for (int thread = 0; thread < kThreads; ++thread) {
            QCOMPARE(filesOf(put[static_cast<std::size_t>(thread)] == 1 ? place : folderOf(thread), thread), kFiles);
        }
        QCOMPARE(below(place.parent_path()).size(), std::size_t(kFiles + 1));
    }

    void aBundleDoesNotReplaceWhatItIsMadeOf()
    {
        const std::string project = contentOf(m_home / "project.json");
        for (const fs::path& file : {m_home / "project.json", m_home / "runs/first/run.json",
                                     m_home / "runs/first/store.sqlite", m_root / "corpora" / "größe.txt"}) {
            const auto refused = pack({m_home}, file);
            QVERIFY(!refused.ok());
            QVERIFY2(isIn(refused.error().text(), "is one of the files"), refused.error().text().c_str());
        }
        QCOMPARE(contentOf(m_home / "project.json"), project);

        const fs::path inside = m_home / "runs/first/first.residua";
        QVERIFY(pack({m_home / "runs/first"}, inside).ok());
        const auto again = pack({m_home / "runs/first"}, inside);
        QVERIFY(again.ok());
        for (const BundledFile& file : again->contents.files) {
            QVERIFY2(!file.path.ends_with(kBundleSuffix), file.path.c_str());
        }
        QVERIFY(!noteWith(again->notes, "first.residua is left out").empty());
    }

    void theUmaskCounts()
    {
        QVERIFY(pack({m_home}, m_file).ok());
        const auto restore = qScopeGuard([before = ::umask(077)] { ::umask(before); });
        QVERIFY(unpack(m_file, m_away / "project").ok());
        QVERIFY(fs::status(m_away / "project").permissions() == fs::perms::owner_all);
    }

    /// The data are checked after everything is unpacked. The user can still cancel then.
    void lookingAtTheDataCanBeGivenUp()
    {
        QVERIFY(pack({m_home}, m_file).ok());
        const auto before = below(m_home);
        int ends = 0;
        const auto refused = unpack(m_file, m_home, [&](double share) { return share < 1 || ++ends < 2; });
        QVERIFY(!refused.ok());
        QVERIFY2(isIn(refused.error().text(), "given up"), refused.error().text().c_str());
        QCOMPARE(below(m_home), before);
    }

    /// Each check of so many bytes calls the callback once.
    void dataOfManyRunsAreLookedAtOnce()
    {
        const auto asked = [&](const fs::path& place) {
            int ends = 0;
            const auto unpacked = unpack(m_file, place, [&](double share) {
                ends += share == 1 ? 1 : 0;
                return true;
            });
            return unpacked ? ends : -1;
        };
        write(m_root / "corpora" / "größe.txt", std::string(std::size_t{20} << 20, 'a'));
        fs::remove_all(m_home / "runs/first");
        addRun(m_home, "first", 1);
        QVERIFY(pack({m_home}, m_file).ok());
        const int one = asked(m_away / "one");
        addRun(m_home, "second", 1);
        addRun(m_home, "third", 1);
        QVERIFY(pack({m_home}, m_file).ok());
        const int three = asked(m_away / "three");
        QVERIFY(one > 20);
        QCOMPARE(three, one + 2); // once for each run, and not again for the data
    }

    void checkpointsAreNotLostToARunWithoutAny()
    {
        QVERIFY(pack({m_home}, m_file).ok());
        QVERIFY(unpack(m_file, m_away / "project").ok());
        train(m_away / "project/runs/first", 21, 30);
        QVERIFY(pack({m_away / "project", BundledCheckpoints::None, BundledData::Files}, m_file).ok());
        const auto joined = unpack(m_file, m_home);
        QVERIFY(joined.ok());
        QVERIFY(joined->runs.front().arrival == RunArrival::Renamed);
        QCOMPARE(RunReader::open(m_home / "runs/first")->checkpoints(), (std::vector<std::int64_t>{10, 20}));
        QCOMPARE(RunReader::open(m_home / "runs/first-2")->info()->step, std::int64_t{30});
    }

    /// A number behind the longest name of a page or a run takes the place of its end, between characters.
    void theLongestNamesFitWithTheirNumbers()
    {
        std::string umlauts = "a";
        while (umlauts.size() + 2 <= kLongestFileName) {
            umlauts += "ä";
        }
        const std::string longPage = umlauts.substr(0, kLongestPageName - 1);
        addRun(m_home, umlauts, 10);
        QVERIFY(writePage(m_home / "runs", longPage, {.runs = {umlauts}, .notes = "one"}).ok());
        QVERIFY(pack({m_home}, m_file).ok());
        fs::remove_all(m_home / "runs" / umlauts);
        addRun(m_home, umlauts, 10, "2001-01-01T00:00:00Z");
        QVERIFY(writePage(m_home / "runs", longPage, {.runs = {umlauts}, .notes = "two"}).ok());
        const auto joined = unpack(m_file, m_home);
        QVERIFY2(joined.ok(), joined ? "" : joined.error().text().c_str());
        const std::string run = umlauts.substr(0, umlauts.size() - 2) + "-2";
        QVERIFY(fs::exists(m_home / "runs" / run));
        const auto page = readPage(*pageFile(m_home / "runs", longPage.substr(0, longPage.size() - 2) + "-2"));
        QVERIFY2(page.ok(), page ? "" : page.error().text().c_str());
        QCOMPARE(page->notes, std::string("one"));
        QCOMPARE(page->runs, std::vector<std::string>{run});
    }

    void namesAreNoCommandsToATerminal()
    {
        BundleContents contents;
        contents.folder = "forged";
        contents.project = "a\x1b[2J";
        forge(m_file, {{kManifest, manifestText(contents)}});
        refuses("has a project named \"a\\x1b[2J\"");
        contents.project = "forged";
        contents.data = {{"a\xc2\x9b"
                          "2J",
                          1, 1, false}};
        forge(m_file, {{kManifest, manifestText(contents)}});
        refuses("has data named \"a\\x9b2J\"");
        std::string name = "\x1b";
        while (name.size() < 100) { // whose 100th byte is within a character
            name += "ö";
        }
        forge(m_file, {listed("a", "x")}, {{"a", "x"}, {name, "y"}});
        const auto refused = unpack(m_file, m_away / "target");
        QVERIFY(!refused.ok());
        QVERIFY2(isIn(refused.error().text(), "holds \"\\x1bö"), refused.error().text().c_str());
        QVERIFY(isUtf8(refused.error().text()) && !isIn(refused.error().text(), "\uFFFD"));

        // A path with such a name is packed, and shown without control characters.
        auto document = projects::loadProject(m_home);
        document->project.name = "a\nb";
        QVERIFY(projects::saveProject(m_home, *document).ok());
        QVERIFY(pack({m_home}, m_file).ok());
        QCOMPARE(readBundle(m_file)->project, std::string("a\\x0ab"));
    }

    void missingDataIsNotedButATokeniserIsRequired()
    {
        setData(projects::TextData{(m_root / "none").string(), {}});
        QVERIFY(pack({m_home, BundledCheckpoints::Last, BundledData::Fingerprint}, m_file).ok());
        const auto unpacked = unpack(m_file, m_away / "project");
        QVERIFY(unpacked.ok());
        QVERIFY(!noteWith(unpacked->notes, "were not there when the bundle was packed").empty());
        QVERIFY(noteWith(unpacked->notes, "0 files").empty());
        setData(projects::TextData{(m_root / "corpora").string(),
                                   {projects::TokeniserKind::TokenizerJson, "none.json", 10}});
        const auto refused = pack({m_home, BundledCheckpoints::Last, BundledData::Fingerprint}, m_file);
        QVERIFY(!refused.ok());
        QVERIFY2(isIn(refused.error().text(), "tokeniser always comes"), refused.error().text().c_str());
    }

private:
    bool hasSecondDisk() const
    {
        struct stat here {};
        struct stat there {};
        return ::stat("/dev/shm", &there) == 0 && ::stat(m_root.c_str(), &here) == 0 && here.st_dev != there.st_dev;
    }

    void setData(const projects::Source& source)
    {
        auto document = projects::loadProject(m_home);
        QVERIFY(document.ok());
        document->project.data.source = source;
        QVERIFY(projects::saveProject(m_home, *document).ok());
    }
};

RESIDUA_TEST(TestBundleJoining)
#include "tst_bundle_joining.moc"
