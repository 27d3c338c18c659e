// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/environment.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/link/bundle/data_paths.h"
#include "engine/link/bundle/manifest.h"
#include "engine/link/bundle/pack.h"
#include "engine/link/bundle/unpack.h"
#include "engine/runs/results/effects.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/results/study_page.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"
#include "projects/file/store.h"
#include "tests/engine/link/bundle/bundle_harness.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

class TestBundle : public BundleHarness {
    Q_OBJECT

private slots:
    void init() { makeProject(); }

    void aProjectComesThroughWhole()
    {
        KeptEffects effects{{20, projects::KnockoutBy::Layer, false, 2}, {}};
        effects.measured.rows.emplace_back().name = "layer 1";
        effects.measured.loss = 0.5;
        QVERIFY(keepEffects(m_home / "runs/first", effects).ok());
        const auto packed = pack({m_home, BundledCheckpoints::All, BundledData::Files}, m_file);
        QVERIFY2(packed.ok(), packed ? "" : packed.error().text().c_str());
        QVERIFY(packed->notes.empty());
        QCOMPARE(packed->contents.runs, std::vector<std::string>{"runs/first"});
        QCOMPARE(packed->contents.checkpoints, std::int64_t{2});
        QCOMPARE(packed->size, static_cast<std::int64_t>(fs::file_size(m_file)));
        QVERIFY(packed->size < 100'000); // 300,000 letters are compressed
        QVERIFY(packed->contents == *readBundle(m_file));

        const fs::path there = m_away / "project";
        const auto unpacked = unpack(m_file, there);
        QVERIFY2(unpacked.ok(), unpacked ? "" : unpacked.error().text().c_str());
        QVERIFY(!unpacked->joined);
        QVERIFY2(unpacked->notes.empty(), unpacked->notes.empty() ? "" : unpacked->notes.front().c_str());
        // As it was, but for where the data lie now; nothing else was left beside it.
        QCOMPARE(below(m_away).contains("project/data/größe.txt"), true);
        QCOMPARE(contentOf(there / "data/größe.txt"), contentOf(m_root / "corpora" / "größe.txt"));
        for (const char* file : {"store.sqlite", "checkpoints/step-00000020/model.safetensors"}) {
            QCOMPARE(contentOf(there / "runs/first" / file), contentOf(m_home / "runs/first" / file));
        }
        const auto kept = keptEffects(there / "runs/first", effects.key);
        QVERIFY(kept && kept->measured.loss == 0.5 && kept->measured.rows.front().name == "layer 1");
        QCOMPARE(std::distance(fs::directory_iterator(m_away), {}), 1);
        const auto project = projects::loadProject(there);
        QVERIFY(project.ok());
        QCOMPARE(std::get<projects::TextData>(project->project.data.source).path, std::string("data/größe.txt"));
        // The run finds its project and knows its data again.
        QCOMPARE(*projectDirectoryOf(there / "runs/first"), there);
        const auto run = readRunFile(there / "runs/first");
        QCOMPARE(run->info.membership->label(), std::string("first"));
        QVERIFY(run->info.membership == readRunFile(m_home / "runs/first")->info.membership);
        const auto frozen = RunReader::open(there / "runs/first")->project();
        QVERIFY(!differenceOf(*run->data, *fingerprintOf(*frozen, there)));
        write(there / "data/größe.txt", "other");
        QVERIFY(differenceOf(*run->data, *fingerprintOf(*frozen, there)).has_value());
    }

    void checkpointsAreChosen_data()
    {
        QTest::addColumn<int>("which");
        QTest::addColumn<std::vector<std::int64_t>>("steps");
        QTest::newRow("all") << int(BundledCheckpoints::All) << std::vector<std::int64_t>{10, 20};
        QTest::newRow("last") << int(BundledCheckpoints::Last) << std::vector<std::int64_t>{20};
        QTest::newRow("best") << int(BundledCheckpoints::Best) << std::vector<std::int64_t>{10};
        QTest::newRow("none") << int(BundledCheckpoints::None) << std::vector<std::int64_t>{};
    }
    void checkpointsAreChosen()
    {
        QFETCH(int, which);
        QFETCH(std::vector<std::int64_t>, steps);
        const PackRequest request{m_home / "runs/first", BundledCheckpoints(which), BundledData::Fingerprint};
        const auto weighed = weighBundle(request);
        const auto packed = pack(request, m_file);
        QVERIFY2(packed.ok(), packed ? "" : packed.error().text().c_str());
        QVERIFY(weighed.ok());
        // Weighing gives the project no identity, and says the size but for that.
        QCOMPARE(packed->contents.files.size(), weighed->contents.files.size() + 1);
        const auto unpacked = unpack(m_file, m_away / "project");
        QVERIFY(unpacked.ok());
        QCOMPARE(RunReader::open(m_away / "project/runs/first")->checkpoints(), steps);
    }

    void theFingerprintAloneLeavesTheDataWhereTheyAre()
    {
        QVERIFY(pack({m_home, BundledCheckpoints::Last, BundledData::Fingerprint}, m_file).ok());
        const auto unpacked = unpack(m_file, m_away / "project");
        QVERIFY(unpacked.ok());
        QCOMPARE(unpacked->notes.size(), std::size_t{1}); // the same machine still has them
        QVERIFY(isIn(unpacked->notes[0], "outside of the project"));
        QVERIFY(!fs::exists(m_away / "project/data"));
        write(m_root / "corpora" / "größe.txt", "other");
        const auto again = unpack(m_file, m_away / "again");
        QVERIFY(!noteWith(again->notes, "was trained on other data").empty());
        fs::remove(m_root / "corpora" / "größe.txt");
        const auto gone = unpack(m_file, m_away / "gone");
        QVERIFY(!noteWith(gone->notes, "put 1 file of 300007 bytes at").empty());
        const auto refused = pack({m_home}, m_file);
        QVERIFY(!refused.ok());
        QVERIFY(isIn(refused.error().text(), "fingerprint alone"));
        QVERIFY(readBundle(m_file).ok()); // the earlier one stays
    }

    void returnedRunsJoinTheirProject()
    {
        QVERIFY(pack({m_home / "runs/first"}, m_file).ok());
        QVERIFY(unpack(m_file, m_away / "project").ok());
        const auto back = m_root / "back.residua";

        // Nothing has changed: the run is known.
        QVERIFY(pack({m_away / "project/runs/first"}, back).ok());
        auto joined = unpack(back, m_home);
        QVERIFY2(joined.ok(), joined ? "" : joined.error().text().c_str());
        QVERIFY(joined->joined);
        QVERIFY(joined->runs.front().arrival == RunArrival::Known);

        // Trained further: it takes the place of the one that it goes on from, which lies in the trash.
        train(m_away / "project/runs/first", 21, 30);
        addRun(m_away / "project", "second", 20);
        QVERIFY(pack({m_away / "project"}, back).ok());
        write(m_home / "layout.json", contentOf(m_home / "layout.json"));
        joined = unpack(back, m_home);
        QVERIFY2(joined.ok(), joined ? "" : joined.error().text().c_str());
        std::map<std::string, RunArrival> arrivals;
        for (const ArrivedRun& run : joined->runs) {
            arrivals[run.directory.filename().string()] = run.arrival;
        }
        QVERIFY(arrivals["first"] == RunArrival::GoneOn);
        QVERIFY(arrivals["second"] == RunArrival::New);
        QCOMPARE(RunReader::open(m_home / "runs/first")->info()->step, std::int64_t{30});
        QCOMPARE(RunReader::open(m_home / "runs/.trash/first")->info()->step, std::int64_t{20});
        QCOMPARE(*projectDirectoryOf(m_home / "runs/first"), m_home);
        // Its data are named as the project names them, and were not copied.
        QVERIFY(!fs::exists(m_home / "data"));
        const auto known = readRunFile(m_home / "runs/first");
        const auto frozen = RunReader::open(m_home / "runs/first")->project();
        QVERIFY(!differenceOf(*known->data, *fingerprintOf(*frozen, m_home)));
        QVERIFY2(joined->notes.size() == 1 && isIn(joined->notes.front(), ".trash"), joined->notes.back().c_str());

        // Another run of the same name gets one of its own.
        fs::remove_all(m_home / "runs/second");
        addRun(m_home, "second", 10, "2001-01-01T00:00:00Z");
        joined = unpack(back, m_home);
        QVERIFY(joined.ok());
        QVERIFY(RunReader::open(m_home / "runs/second-2").ok());
        QCOMPARE(RunReader::open(m_home / "runs/second")->info()->step, std::int64_t{10});
        for (const std::string& path : below(m_home)) {
            QVERIFY2(!isIn(path, ".unpack-"), path.c_str());
        }
    }

    /// Pages and notes of groups come along, and join those that are there.
    void pagesAndNotesComeAlong()
    {
        const std::string key(64, 'a');
        const std::string other(64, 'b');
        const auto page = [](const std::string& notes) {
            return StudyPage{.runs = {"first"},
                             .baseline = "first",
                             .notes = notes,
                             .view = {.hidden = {{"loss", {"run first", "group " + std::string(64, 'a')}}}}};
        };
        QVERIFY(writePage(m_home / "runs", "study", page("one")).ok());
        QVERIFY(noteGroup(m_home / "runs", key, "plain").ok());
        write(m_home / "runs/bad.page.json", "{}");
        const auto packed = pack({m_home}, m_file);
        QVERIFY2(packed.ok(), packed ? "" : packed.error().text().c_str());
        QVERIFY(!noteWith(packed->notes, "the page bad is left out").empty());
        const fs::path there = m_away / "project";
        const auto unpacked = unpack(m_file, there);
        QVERIFY2(unpacked.ok(), unpacked ? "" : unpacked.error().text().c_str());
        QCOMPARE(listPages(there / "runs"), std::vector<std::string>{"study"});
        QVERIFY(*readPage(there / "runs/study.page.json") == page("one"));
        QCOMPARE(groupNotes(there / "runs"), (std::map<std::string, std::string>{{key, "plain"}}));

        // Back with another run of the same name: its page names it by its new name.
        fs::remove_all(m_home / "runs/first");
        addRun(m_home, "first", 10, "2001-01-01T00:00:00Z");
        QVERIFY(writePage(m_home / "runs", "study", page("two")).ok());
        QVERIFY(noteGroup(there / "runs", key, "changed there").ok());
        QVERIFY(noteGroup(there / "runs", other, "new").ok());
        const auto back = m_root / "back.residua";
        QVERIFY(pack({there}, back).ok());
        for (int time = 0; time < 2; ++time) {
            const auto joined = unpack(back, m_home);
            QVERIFY2(joined && joined->joined, joined ? "" : joined.error().text().c_str());
            QCOMPARE(readPage(m_home / "runs/study.page.json")->notes, std::string("two"));
            const auto arrived = readPage(m_home / "runs/study-2.page.json");
            QVERIFY(arrived && arrived->notes == "one");
            QCOMPARE(arrived->runs, std::vector<std::string>{"first-2"});
            QCOMPARE(arrived->baseline, std::string("first-2"));
            QCOMPARE(arrived->view.hidden.at("loss"), (std::vector<std::string>{"run first-2", "group " + key}));
            QCOMPARE(groupNotes(m_home / "runs"), (std::map<std::string, std::string>{{key, "plain"}, {other, "new"}}));
            fs::remove_all(m_home / "runs/first-2");
        }
        QCOMPARE(listPages(m_home / "runs"), (std::vector<std::string>{"bad", "study", "study-2"}));
    }

    void aPageOfABundleNamesItsRunsAlone()
    {
        write(m_home / "runs/study.page.json", "{\"page\": 1, \"runs\": [\"first\"]}");
        QVERIFY(pack({m_home}, m_file).ok());
        const std::string evil = "{\"page\": 1, \"runs\": [\"../../x\"]}";
        std::vector<Forged> entries;
        BundleContents contents = *readBundle(m_file);
        QVERIFY(unpack(m_file, m_root / "good").ok());
        for (BundledFile& file : contents.files) {
            const bool isPage = file.path == "runs/study.page.json";
            const std::string text = isPage ? evil : contentOf(m_root / "good" / file.path);
            file = listed(file.path, text);
            entries.push_back({file.path, text});
        }
        fs::remove_all(m_root / "good");
        entries.insert(entries.begin(), Forged{kManifest, manifestText(contents)});
        forge(m_file, entries);
        refuses("below the folder of runs");
    }

    void anotherProjectIsNotJoined()
    {
        QVERIFY(pack({m_home}, m_file).ok());
        projects::Project other;
        QVERIFY(projects::saveProject(m_away / "other", {other, {}}).ok());
        const auto before = below(m_away);
        for (const fs::path& place : {m_away / "other", m_away, m_file}) {
            const auto refused = unpack(m_file, place);
            QVERIFY(!refused.ok());
            QVERIFY2(isIn(refused.error().text(), "name a new folder"), refused.error().text().c_str());
        }
        QCOMPARE(below(m_away), before);
    }

    void aRunThatIsTrainedIsLeftOut()
    {
        const auto held = lockRun(m_home / "runs/first");
        QVERIFY(held.ok());
        const auto packed = pack({m_home}, m_file);
        QVERIFY(packed.ok());
        QVERIFY(packed->contents.runs.empty());
        QVERIFY(!noteWith(packed->notes, "is being trained and is left out").empty());
        QVERIFY(isIn(pack({m_home / "runs/first"}, m_file).error().text(), "is being trained"));
    }

    void linksAreNotFollowed()
    {
        write(m_root / "secret", "secret");
        fs::create_symlink(m_root / "secret", m_home / "runs/first/link");
        fs::create_directory_symlink(m_root / "corpora", m_home / "runs/first/checkpoints/step-00000030");
        const auto packed = pack({m_home, BundledCheckpoints::All, BundledData::Files}, m_file);
        QVERIFY(packed.ok());
        QVERIFY(!noteWith(packed->notes, "link").empty());
        for (const BundledFile& file : packed->contents.files) {
            QVERIFY2(!isIn(file.path, "link") && !isIn(file.path, "step-00000030"), file.path.c_str());
        }
    }

    void cancelledPackingLeavesNoFiles()
    {
        QVERIFY(pack({m_home}, m_file).ok());
        const auto before = below(m_root);
        const auto never = [](double) { return false; };
        QVERIFY(!pack({m_home}, m_root / "none.residua", never).ok());
        QVERIFY(!unpack(m_file, m_away / "none", never).ok());
        QCOMPARE(below(m_root), before);
        double last = 0;
        const auto all = [&](double share) {
            last = share;
            return share <= 1;
        };
        QVERIFY(unpack(m_file, m_away / "all", all).ok());
        QCOMPARE(last, 1.0);
    }

    void aBundleThatIsCutOffIsRefused()
    {
        QVERIFY(pack({m_home, BundledCheckpoints::All, BundledData::Files}, m_file).ok());
        const std::string whole = contentOf(m_file);
        const auto before = below(m_away);
        for (std::size_t bytes = 0; bytes < whole.size(); bytes += 1 + whole.size() / 16) {
            write(m_file, whole.substr(0, bytes));
            const auto refused = unpack(m_file, m_away / "project");
            QVERIFY2(!refused.ok(), std::to_string(bytes).c_str());
            QVERIFY(isIn(refused.error().text(), m_file.string()));
            QCOMPARE(below(m_away), before);
        }
        for (std::size_t at = 8; at < whole.size(); at += 1 + whole.size() / 16) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
            write(m_file, damaged);
            const auto taken = unpack(m_file, m_away / "project");
            if (taken) { // in what has no meaning, such as the time of a file
                QCOMPARE(contentOf(m_away / "project/data/größe.txt"), contentOf(m_root / "corpora" / "größe.txt"));
                fs::remove_all(m_away / "project");
            }
            QCOMPARE(below(m_away), before);
        }
    }

    void strangePathsAreRefused_data()
    {
        QTest::addColumn<std::string>("path");
        QTest::addColumn<std::string>("message");
        for (const char* path :
             {"/etc/passwd", "../out", "a/../../out", "a//b", "./a", "a/.", "", "a\nb", "a\\b", "..", "a/",
              "a\xc2\x9b"
              "b",
              "a\tb", "a\u202eb", "a\u2066b"}) {
            QTest::newRow(path) << std::string(path) << std::string("holds the path");
        }
        // A list has it as U+FFFD, which is no name of that file.
        QTest::newRow("no UTF-8") << std::string("\xff\xfe") << std::string("has another entry");
        QTest::newRow("a long name") << std::string(300, 'x') << std::string("expected names of at most 255 bytes");
        QTest::newRow("a long path") << std::string(3000, '/') << std::string("longer than any that is unpacked");
    }
    void strangePathsAreRefused()
    {
        QFETCH(std::string, path);
        QFETCH(std::string, message);
        forge(m_file, {listed(path, "x")}, {{path, "x"}});
        refuses(message);
    }

    void namesThatNoProjectHasAreRefused_data()
    {
        QTest::addColumn<std::string>("path");
        for (const char* path : {".git/config", ".bashrc", "Makefile", "data/.git/config", "runs/first/.bashrc",
                                 "runs/second/run.json", "data2/t.txt", "project/project.json", "runs/.page.json",
                                 "study.page.json", "runs/sweep/study.page.json", "groups.json", "runs/other.json"}) {
            QTest::newRow(path) << std::string(path);
        }
    }
    void namesThatNoProjectHasAreRefused()
    {
        QFETCH(std::string, path);
        BundleContents contents;
        contents.project = contents.folder = "forged";
        contents.runs = {"runs/first"};
        contents.data = {{"data", 1, 1, true}};
        contents.files = {listed("project.json", "x"), listed("runs/first/run.json", "x"), listed("data/t.txt", "x"),
                          listed(path, "x")};
        forge(m_file, {{kManifest, manifestText(contents)}});
        refuses("which is no file of a project, its runs or its data");
        contents.files.pop_back();
        forge(m_file, {{kManifest, manifestText(contents)}});
        refuses("ends before \"project.json\""); // and not for its list
    }

    /// A bundle tells neither where it was packed nor by whom.
    void aBundleTellsNoPlacesOfTheMachine()
    {
        const auto fork = forkRun(m_home / "runs" / "first", 10, m_home / "runs" / "fork");
        QVERIFY2(fork.ok(), fork ? "" : fork.error().text().c_str());
        RunFile failed = *readRunFile(*fork);
        failed.info.message = "[" + (m_home / "t.txt").string() + "] is cut off";
        QVERIFY(writeRunFile(*fork, failed));
        QVERIFY(pack({m_home, BundledCheckpoints::All, BundledData::Files}, m_file));
        const fs::path there = m_away / "project";
        QVERIFY(unpack(m_file, there));
        QCOMPARE(readRunFile(there / "runs/fork")->info.parent, (there / "runs/first").string());
        for (const auto& entry : fs::recursive_directory_iterator(there)) {
            if (entry.is_regular_file()) {
                QVERIFY2(!isIn(contentOf(entry.path()), m_root.string()), entry.path().c_str());
            }
        }
    }

    void hiddenDataArePackedUnderAPlainName()
    {
        write(m_home / ".texts" / "t.txt", std::string(3000, 'a'));
        auto document = projects::loadProject(m_home);
        std::get<projects::TextData>(document->project.data.source).path = ".texts/t.txt";
        QVERIFY(projects::saveProject(m_home, *document));
        QVERIFY(pack({m_home, BundledCheckpoints::None, BundledData::Files}, m_file));
        const auto unpacked = unpack(m_file, m_away / "project");
        QVERIFY2(unpacked.ok(), unpacked ? "" : unpacked.error().text().c_str());
        QVERIFY(fs::exists(m_away / "project" / "data" / "t.txt"));
    }

    void otherKindsOfEntriesAreRefused()
    {
        const BundledFile file = listed("a", "");
        forge(m_file, {file}, {{"a", "", AE_IFLNK, "/etc/passwd"}});
        refuses("holds a link");
        forge(m_file, {file, listed("b", "")}, {{"a", ""}, {"b", "", AE_IFREG, "a"}});
        refuses("holds a link");
        forge(m_file, {file}, {{"a", "", AE_IFIFO}});
        refuses("holds a FIFO");
        forge(m_file, {file}, {{"a", "", AE_IFCHR}});
        refuses("holds a device");
        forge(m_file, {file}, {{"a", "", AE_IFBLK}});
        refuses("holds a device");
        forge(m_file, {file}, {{"a", "", AE_IFDIR}});
        refuses("holds a folder");
    }

    void contentThatContradictsTheListIsRefused()
    {
        const BundledFile file = listed("a", "x");
        forge(m_file, {file, file}, {{"a", "x"}, {"a", "x"}});
        refuses("twice");
        forge(m_file, {file, listed("a/b", "x")}, {{"a", "x"}, {"a/b", "x"}});
        refuses("within it");
        forge(m_file, {file}, {{"a", "x"}, {"a", "y"}});
        refuses("which its list has not");
        forge(m_file, {file}, {{"b", "x"}});
        refuses("another entry");
        forge(m_file, {file}, {{"a", "y"}});
        refuses("not those that were packed");
        forge(m_file, {file, listed("b", "x")}, {{"a", "x"}});
        refuses("ends before \"b\"");
        forge(m_file, {{"a", 1, 0}}, {{"a", std::string(1 << 20, '\0')}}); // a bomb that claims to be small
        refuses("another entry");
        forge(m_file, {{"a", 900'000'000'000'000, 0}}, {{"a", "x"}});
        const auto large = unpack(m_file, m_away / "target", {}, BundleGrowth::Any);
        QVERIFY(!large.ok());
        QVERIFY2(isIn(large.error().text(), "unpacked the bundle takes"), large.error().text().c_str());
        forge(m_file, {{"a", 900'000'000'000'000, 0}, {"b", 900'000'000'000'000, 0}}, {{"a", "x"}});
        refuses("more than a million GB");
        forge(m_file, {file}, {{"a", "x"}}); // sound, and no project
        refuses("project.json");
    }

    /// A file of the bundle and its entry in the list are changed by hand.
    void pathsOutOfTheProjectAreRefused_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("says");
        const auto add = [](const char* from, const char* to, const char* says) {
            QTest::newRow(to) << "runs/first/run.json" << from << to << says;
        };
        add("\"status\"",
            "\"remote\": {\"place\": \"gpu1\", \"command\": \"touch X\", \"folder\": \"x\", "
            "\"directory\": \"runs/a\"}, \"status\"",
            "names another machine");
        add("\"status\"",
            "\"remote\": {\"place\": \"gpu1\", \"folder\": \"/\", \"directory\": \"runs/a\"}, "
            "\"status\"",
            "names another machine");
        add("\"status\"", "\"remote\": null, \"status\"", "is no place of a run");
        add("\"status\"", "\"remote\": [], \"status\"", "is no place of a run");
        add("\"../..\"", "\"/etc\"", "takes its project to be elsewhere");
        add("\"../..\"", "\"../../..\"", "takes its project to be elsewhere");
    }

    void pathsOutOfTheProjectAreRefused()
    {
        QFETCH(const QString, path);
        QFETCH(const QString, from);
        QFETCH(const QString, to);
        QFETCH(const QString, says);
        packChanged(path.toStdString(), from.toStdString(), to.toStdString());
        refuses(says.toStdString());
    }

    /// Data may be anywhere, but the user must be told where.
    void dataOutsideOfTheProjectAreReported()
    {
        const std::string secret = (m_root / "secret.txt").string();
        write(secret, "x");
        packChanged(projects::kProjectFile, "\"data/größe.txt\"", "\"" + secret + "\"");
        const auto unpacked = unpack(m_file, m_away / "target");
        QVERIFY2(unpacked.ok(), unpacked ? "" : unpacked.error().text().c_str());
        QVERIFY(isIn(noteWith(unpacked->notes, "outside of the project"), secret));
    }

    /// The limit does not depend on the free space of the disk.
    void excessiveGrowthIsRefusedUnlessAllowed()
    {
        forge(m_file, {{"a", std::int64_t{400'000'000'000}, 0}}, {});
        refuses("times as much");
        refuses("--any-size");
        const auto meant = unpack(m_file, m_away / "target", {}, BundleGrowth::Any);
        QVERIFY(!meant.ok()); // there is no such entry, or no such disk
        QVERIFY2(!isIn(meant.error().text(), "times as much"), meant.error().text().c_str());
        forge(m_file, {{"a", std::int64_t{1} << 30, 0}}, {}); // no harm
        refuses("");
        QVERIFY(!isIn(unpack(m_file, m_away / "target").error().text(), "times as much"));
    }

    void refusesAFileThatIsNotABundle()
    {
        write(m_file, "hello");
        refuses("is no bundle");
        write(m_file, "");
        refuses("is no bundle");
        forge(m_file, {{"readme", "hello"}});
        refuses("does not begin with residua-bundle.json");
        forge(m_file, {{kManifest, "{"}});
        refuses("is not JSON");
        forge(m_file, {{kManifest, R"({"format": "other"})"}});
        refuses("expected \"residua bundle\"");
        std::string many = R"({"format": "other")"; // the last of its keys compared with all before it: minutes
        for (int i = 0; many.size() + 100 < kLongestManifest; ++i) {
            many += ",\"" + std::to_string(i) + "\":0";
        }
        forge(m_file, {{kManifest, many + "}"}});
        refuses("expected \"residua bundle\"");
        forge(m_file, {{kManifest, std::string(kLongestManifest + 1, ' ')}});
        refuses("expected at most");
        QVERIFY(!readBundle(m_root).ok());
        QVERIFY(!readBundle(m_root / "none").ok());
    }

    /// If bundles did not know a source, they would leave its data behind.
    void everyFileOfTheFingerprintIsKnown()
    {
        write(m_root / "d" / "t.txt", "text");
        write(m_root / "d" / "j.jsonl", "{\"text\": \"x\"}\n");
        write(m_root / "d" / "b.bin", "bytes");
        write(m_root / "d" / "m.model", "model");
        write(m_root / "d" / "t" / "tokenizer.json", "{}");
        write(m_root / "d" / "t" / "tokenizer_config.json", "{}");
        const projects::Tokeniser pieces{projects::TokeniserKind::SentencePiece, "m.model", 10};
        const projects::Tokeniser words{projects::TokeniserKind::TokenizerJson, "t/tokenizer.json", 10};
        const std::vector<projects::Source> sources{
            projects::TextData{"t.txt", pieces},
            projects::JsonLinesData{"j.jsonl", "text", pieces},
            projects::MixtureData{{{"t.txt"}, {"j.jsonl", "text", 2}, {"t.txt"}}, pieces},
            projects::TextData{"t.txt", words},
            projects::TokenFileData{"b.bin", "b.bin", projects::TokenWidth::Uint16, 10},
            projects::SyntheticLanguage{}};
        for (const projects::Source& source : sources) {
            projects::Project project;
            project.data.source = source;
            std::vector<std::string> known;
            for (const DataPath& path : dataPathsOf(project)) {
                std::ranges::copy(namesOf(path, m_root / "d"), std::back_inserter(known));
            }
            std::vector<std::string> fingerprinted;
            const auto fingerprint = fingerprintOf(project, m_root / "d");
            QVERIFY(fingerprint.ok());
            for (const DataPart& part : *fingerprint) {
                if (part.files > 0) {
                    fingerprinted.push_back(part.name);
                }
            }
            QCOMPARE(known, fingerprinted);
        }
    }

private:
    /// Packs the project, and packs again what is in the bundle with a text in one of its files replaced.
    void packChanged(const std::string& path, const std::string& from, const std::string& to)
    {
        const fs::path copy = m_root / "copy";
        fs::create_directories(copy);
        QVERIFY(pack({m_home, BundledCheckpoints::Last, BundledData::Files}, m_file).ok());
        auto reader = ArchiveReader::open(m_file);
        auto contents = readContents(*reader, m_file);
        QVERIFY(extractFiles(*reader, m_file, *contents, copy, {}).ok());
        std::vector<Forged> entries{{kManifest, {}}};
        for (BundledFile& file : contents->files) {
            std::string content = contentOf(copy / file.path);
            if (file.path == path) {
                QVERIFY2(isIn(content, from), content.c_str());
                content.replace(content.find(from), from.size(), to);
                file = listed(path, content);
            }
            entries.push_back({file.path, content});
        }
        entries[0].content = manifestText(*contents);
        fs::remove_all(copy);
        forge(m_file, entries);
    }
};

RESIDUA_TEST(TestBundle)
#include "tst_bundle.moc"
