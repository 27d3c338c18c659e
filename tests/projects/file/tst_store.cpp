// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/whole_file.h"
#include "projects/file/store.h"

#include "projects/file/json.h"
#include "tests/support/full_disk.h"
#include "tests/support/random_document.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"
#include "tests/support/text.h"

#include <QtTest>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace residua;
using namespace residua::projects;
using residua::tests::asQString;
namespace fs = std::filesystem;

namespace {

void put(const fs::path& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary) << text;
}

Document sample(std::uint32_t seed)
{
    return tests::RandomDocument(seed).document();
}

/// Returns the text for a reader that closes the file after so many bytes.
std::string readUpTo(const fs::path& path, std::size_t most)
{
    std::string bytes;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    char byte = 0;
    while (bytes.size() < most && ::read(file, &byte, 1) == 1) {
        bytes += byte;
    }
    ::close(file);
    return bytes;
}

int filesIn(const fs::path& directory)
{
    return static_cast<int>(std::distance(fs::directory_iterator(directory), fs::directory_iterator{}));
}

} // namespace

class TestStore : public QObject {
    Q_OBJECT

    QTemporaryDir m_temporary;
    fs::path m_dir;

private slots:
    void init()
    {
        m_dir = fs::path(m_temporary.path().toStdString()) / QTest::currentTestFunction();
        fs::create_directories(m_dir);
    }

    void savesAndLoads()
    {
        const Document document = sample(1);
        const fs::path directory = m_dir / "new" / "project";
        QVERIFY(saveProject(directory, document).ok());
        QCOMPARE(filesIn(directory), 2);
        for (const fs::path& path : {directory, directory / kProjectFile}) {
            const auto loaded = loadProject(path);
            QVERIFY2(loaded.ok(), loaded ? "" : loaded.error().text().c_str());
            QVERIFY(*loaded == document);
        }
        QCOMPARE(asQString(*readFile(directory / kProjectFile)), asQString(toJson(document.project)));
    }

    void missingLayoutIsEmpty()
    {
        Document document = sample(1);
        QVERIFY(saveProject(m_dir, document).ok());
        fs::remove(m_dir / kLayoutFile);
        document.layout = {};
        QVERIFY(*loadProject(m_dir) == document);
    }

    void straysInTheLayoutAreDropped()
    {
        Document document;
        document.project.network.stem.nodes = {{NodeId{1}, "linear", "a", {}}};
        document.layout.positions[GraphRef::stem()][NodeId{1}] = {1, 2};
        Document strayed = document;
        strayed.layout.positions[GraphRef::stem()][NodeId{2}] = {3, 4};
        strayed.layout.positions[GraphRef::block("gone")][NodeId{1}] = {5, 6};
        QVERIFY(saveProject(m_dir, strayed).ok());
        QVERIFY(*loadProject(m_dir) == document);
    }

    void loadErrorsNameTheFile()
    {
        const auto refused = [](const fs::path& path, std::string_view place, std::string_view sign) {
            return tests::isRefusedAt(loadProject(path), place, sign);
        };
        QVERIFY(refused(m_dir / "nowhere", "nowhere", "not exist"));
        QVERIFY(refused(m_dir, "", kProjectFile));
        put(m_dir / kProjectFile, "{\"schema\": 1, \"nam\": \"x\"}");
        QVERIFY(refused(m_dir, "project.json · /nam", "key"));
        put(m_dir / kProjectFile, "{\"schema\": 1}");
        put(m_dir / kLayoutFile, "{");
        QVERIFY(refused(m_dir, "layout.json · line 1, column 2", ""));
        fs::create_directories(m_dir / "odd" / kProjectFile);
        QVERIFY(refused(m_dir / "odd", kProjectFile, "folder"));
    }

    void withoutPermission()
    {
        if (::geteuid() == 0) {
            QSKIP("root may read and write everything");
        }
        put(m_dir / "locked", "x");
        fs::permissions(m_dir / "locked", fs::perms::none);
        QVERIFY(asQString(readFile(m_dir / "locked").error().message).contains("Permission denied"));
        fs::permissions(m_dir, fs::perms::owner_read | fs::perms::owner_exec);
        const Status saved = saveProject(m_dir, sample(1));
        fs::permissions(m_dir, fs::perms::owner_all);
        QVERIFY(!saved.ok());
        QVERIFY(asQString(saved.error().message).contains("Permission denied"));
    }

    void folderThatCannotBeMade()
    {
        put(m_dir / "file", "x");
        const Status saved = saveProject(m_dir / "file" / "project", sample(1));
        QVERIFY(!saved.ok());
        QVERIFY2(asQString(saved.error().text()).contains("cannot make this folder: "), saved.error().text().c_str());
    }

    void fullDiskKeepsTheOldFile()
    {
        const Document first = sample(1);
        QVERIFY(saveProject(m_dir, first).ok());
        Status saved = Done{};
        {
            const tests::FullDisk full(100);
            saved = saveProject(m_dir, sample(2));
        }
        QVERIFY2(tests::isRefusedAt(saved, kProjectFile, "earlier content"), saved ? "" : saved.error().text().c_str());
        QCOMPARE(filesIn(m_dir), 2); // nothing half-written is left
        QVERIFY(*loadProject(m_dir) == first);
    }

    void replacingKeepsModeAndLink()
    {
        put(m_dir / "real", "old");
        const fs::perms wide = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read |
                               fs::perms::group_write | fs::perms::others_write; // more than any umask leaves
        fs::permissions(m_dir / "real", wide);
        fs::create_symlink("real", m_dir / "link");
        QVERIFY(writeFileAtomically(m_dir / "link", "new").ok());
        QVERIFY(fs::is_symlink(m_dir / "link"));
        QCOMPARE(asQString(*readFile(m_dir / "real")), asQString("new"));
        QCOMPARE(fs::status(m_dir / "real").permissions(), wide);
    }

    void aFileOfOursReplacesALink()
    {
        put(m_dir / "theirs", "theirs");
        fs::create_symlink("theirs", m_dir / "link");
        fs::create_symlink("nothing", m_dir / "dangling");
        fs::create_symlink(m_dir, m_dir / "folder");
        for (const char* name : {"link", "dangling", "folder", "plain"}) {
            QVERIFY2(writeOwnFile(m_dir / name, "ours").ok(), name);
            QVERIFY2(fs::is_regular_file(fs::symlink_status(m_dir / name)), name);
            QCOMPARE(asQString(*readFile(m_dir / name)), asQString("ours"));
        }
        QCOMPARE(asQString(*readFile(m_dir / "theirs")), asQString("theirs"));
        QVERIFY(!fs::exists(m_dir / "nothing"));
        QCOMPARE(::mkfifo((m_dir / "pipe").c_str(), 0600), 0);
        QVERIFY(asQString(writeOwnFile(m_dir / "pipe", "ours").error().message).contains("is a FIFO"));
        QCOMPARE(filesIn(m_dir), 6);
    }

    void onlyRegularFilesAreReplaced()
    {
        QCOMPARE(::mkfifo((m_dir / "pipe").c_str(), 0600), 0);
        fs::create_symlink("pipe", m_dir / "link");
        fs::create_symlink("loop", m_dir / "loop");
        for (const auto& [name, said] : {std::pair("pipe", "is a FIFO"), std::pair("link", "is a FIFO"),
                                         std::pair(".", "is a folder"), std::pair("loop", "cannot be written")}) {
            const Status written = writeFileAtomically(m_dir / name, "new");
            QVERIFY2(!written && asQString(written.error().message).contains(said), name);
        }
        QVERIFY(!writeOutput(m_dir / "loop", "new") && !writeOutput(m_dir, "new"));
        QVERIFY(fs::is_fifo(m_dir / "pipe") && fs::is_symlink(m_dir / "link"));
        QCOMPARE(filesIn(m_dir), 3); // nothing half-written is left
    }

    void outputGoesIntoFifosAndDevices()
    {
        QVERIFY(writeOutput(m_dir / "plain", "new"));
        QCOMPARE(asQString(*readFile(m_dir / "plain")), asQString("new"));

        const fs::path pipe = m_dir / "pipe";
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
        fs::create_symlink("pipe", m_dir / "link");
        const std::string bytes(300'000, 'x'); // more than a pipe holds
        auto reading = std::async(std::launch::async, [pipe] { return readUpTo(pipe, std::string::npos); });
        QVERIFY(writeOutput(m_dir / "link", bytes));
        QVERIFY(reading.get() == bytes);
        QVERIFY(fs::is_fifo(pipe));

        // A reader that has enough ends the write, not the process.
        reading = std::async(std::launch::async, [pipe] { return readUpTo(pipe, 1); });
        const Status cut = writeOutput(pipe, bytes);
        QVERIFY(!cut && asQString(cut.error().place) == asQString(pipe.string()));
        QCOMPARE(reading.get().size(), std::size_t{1});

        const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
        QVERIFY(terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0);
        const fs::path device = ::ptsname(terminal);
        const int kept =
            ::open(device.c_str(), O_RDWR | O_NOCTTY); // what is written is there as long as one has it open
        QVERIFY(writeOutput(device, "page"));
        char shown[4];
        QCOMPARE(::read(terminal, shown, sizeof shown), ssize_t{4});
        QCOMPARE(QByteArray(shown, 4), QByteArray("page"));
        QVERIFY(fs::is_character_file(device));
        QVERIFY(!writeFileAtomically(device, "page"));
        ::close(kept);
        ::close(terminal);
    }

    void readsEveryByte()
    {
        const std::string bytes("\0\xFF\n text", 8);
        QVERIFY(writeFileAtomically(m_dir / "bytes", bytes).ok());
        QVERIFY(*readFile(m_dir / "bytes") == bytes);
        QVERIFY(writeFileAtomically(m_dir / "bytes", "").ok());
        QVERIFY(readFile(m_dir / "bytes")->empty());
        QCOMPARE(::mkfifo((m_dir / "pipe").c_str(), 0600), 0);
        QVERIFY(tests::isRefusedAt(readFile(m_dir / "pipe"), "pipe", "FIFO"));
        fs::create_symlink("/dev/zero", m_dir / "endless");
        QVERIFY(tests::isRefusedAt(readFile(m_dir / "endless"), "endless", "device"));
        fs::resize_file(m_dir / "bytes", (std::uintmax_t{64} << 20) + 1);
        QVERIFY(tests::isRefusedAt(readFile(m_dir / "bytes"), "bytes", "at most 67108864"));
    }

    /// A counter is not enough, because the engine's library has its own.
    void temporaryNamesOfTwoThreadsDiffer()
    {
        const auto name = [this] {
            const std::string whole = temporaryBeside(m_dir / "file").string();
            return whole.substr(0, whole.rfind('-'));
        };
        QCOMPARE(name(), name());
        QVERIFY(std::async(std::launch::async, name).get() != name());
    }

    void temporaryNamesAreKnownByTheirFile()
    {
        const std::string name = temporaryBeside(m_dir / "run.json").filename().string();
        QVERIFY(isTemporaryOf(name, "run.json"));
        QVERIFY(!isTemporaryOf(name, "run"));
        QVERIFY(!isTemporaryOf(name, "my run.json"));
        QVERIFY(!isTemporaryOf("run.json", "run.json"));
        QVERIFY(!isTemporaryOf("run.json.tmp", "run.json"));
        QCOMPARE(writerOfTemporary(name, "run.json"), std::optional<int>(::getpid()));
        QCOMPARE(writerOfTemporary(name, "run"), std::optional<int>());
        QCOMPARE(writerOfTemporary("run.json.tmp-", "run.json"), std::optional<int>());
        QCOMPARE(writerOfTemporary("run.json.tmp--4-1-0", "run.json"), std::optional<int>());
    }

    /// A complete file replaces the old one. After a failure while writing or replacing, no temporary file is left.
    void replaceByKeepsTheOldFileOnFailure()
    {
        const fs::path file = m_dir / "file";
        put(file, "old");
        fs::path temporary;
        const auto writes = [&](const Status& status) {
            return [&temporary, status](const fs::path& path) {
                temporary = path;
                put(path, "new");
                return status;
            };
        };
        const Status failed = replaceBy(writes(Error{"place", "reason"}), file);
        QVERIFY(!failed && failed.error() == (Error{"place", "reason"}));
        QVERIFY(isTemporaryOf(temporary.filename().string(), "file"));
        QCOMPARE(*readFile(file), std::string("old"));
        QVERIFY(!fs::exists(temporary));

        QVERIFY(replaceBy(writes(Done{}), file).ok());
        QCOMPARE(*readFile(file), std::string("new"));
        QVERIFY(!fs::exists(temporary));

        fs::create_directories(m_dir / "folder" / "full");
        const Status refused = replaceBy(writes(Done{}), m_dir / "folder");
        QVERIFY(tests::isRefusedAt(refused, "folder", "written"));
        QVERIFY(fs::exists(m_dir / "folder" / "full") && !fs::exists(temporary));
    }

    /// Removes temporary files of a process that was killed. Files that are being written, and foreign files, stay.
    void savingRemovesWhatWasLeftHalfWritten()
    {
        const fs::path dead = m_dir / "project.json.tmp-2147483646-0"; // no process has such a number
        const fs::path fresh = m_dir / "layout.json.tmp-2147483646-1";
        const fs::path alive = m_dir / ("project.json.tmp-" + std::to_string(::getpid()) + "-0");
        const fs::path other = m_dir / "notes.tmp-2147483646-0";
        const auto longAgo = fs::file_time_type::clock::now() - std::chrono::hours(1);
        for (const fs::path& path : {dead, alive, other, fresh}) {
            put(path, "half");
            fs::last_write_time(path, path == fresh ? fs::file_time_type::clock::now() : longAgo);
        }
        QVERIFY(saveProject(m_dir, sample(1)).ok());
        QVERIFY(!fs::exists(dead));
        QVERIFY(fs::exists(fresh) && fs::exists(alive) && fs::exists(other));
    }

    void journalHoldsWhatIsNotSaved()
    {
        const Document saved = sample(1);
        const Document unsaved = sample(2);
        QVERIFY(readJournal(m_dir).ok());
        QVERIFY(!readJournal(m_dir)->has_value());

        QVERIFY(writeJournal(m_dir, unsaved).ok()); // of a project that was never saved
        QVERIFY(**readJournal(m_dir) == unsaved);

        QVERIFY(saveProject(m_dir, saved).ok());
        QVERIFY(**readJournal(m_dir) == unsaved); // it may be another window's
        QVERIFY(removeJournal(m_dir).ok());
        QVERIFY(!fs::exists(m_dir / kJournalFile));
        QVERIFY(writeJournal(m_dir, saved).ok()); // nothing that differs
        QVERIFY(!readJournal(m_dir)->has_value());
        QVERIFY(writeJournal(m_dir, unsaved).ok());
        QVERIFY(**readJournal(m_dir) == unsaved);

        put(m_dir / kProjectFile, "broken"); // the journal is what is left
        QVERIFY(**readJournal(m_dir) == unsaved);
        QVERIFY(removeJournal(m_dir).ok());
        QVERIFY(removeJournal(m_dir).ok());
        QVERIFY(!readJournal(m_dir)->has_value());
    }

    void brokenJournalIsAnError()
    {
        put(m_dir / kJournalFile, R"({"project": {"schema": 1}})");
        const auto read = readJournal(m_dir);
        QVERIFY(!read.ok());
        QVERIFY2(asQString(read.error().place).contains(".autosave.json"), read.error().text().c_str());
        put(m_dir / kJournalFile, "[1, 2");
        QVERIFY(asQString(readJournal(m_dir).error().place).contains("line 1, column 6"));
    }

    void hostileLayoutsAndJournalsAreRefused_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("kind");
        for (const char* const name : {kLayoutFile, kJournalFile}) {
            for (const char* const kind :
                 {"deep", "a key twice", "no text", "a list", "too large", "endless", "a pipe", "a folder"}) {
                QTest::addRow("%s: %s", name, kind) << name << kind;
            }
        }
    }
    /// A received project may have any file under these names. Each is refused by its name, and none is waited for.
    void hostileLayoutsAndJournalsAreRefused()
    {
        QFETCH(QString, name);
        QFETCH(QString, kind);
        const QTemporaryDir folder;
        const fs::path directory = folder.path().toStdString();
        QVERIFY(saveProject(directory, sample(1)).ok());
        const fs::path file = directory / name.toStdString();
        fs::remove(file);
        if (kind == "deep") {
            put(file, std::string(100'000, '[') + std::string(100'000, ']'));
        } else if (kind == "a key twice") {
            put(file, R"({"positions": {}, "positions": {}, "project": 1, "project": 2})");
        } else if (kind == "no text") {
            put(file, "{\"\xff\xfe\": 1}");
        } else if (kind == "a list") {
            put(file, "[]");
        } else if (kind == "too large") {
            put(file, "{}");
            fs::resize_file(file, kLargestText + 1); // takes no room on the disk
        } else if (kind == "endless") {
            fs::create_symlink("/dev/zero", file);
        } else if (kind == "a pipe") {
            QCOMPARE(mkfifo(file.c_str(), S_IRUSR | S_IWUSR), 0);
        } else {
            fs::create_directory(file);
        }
        const bool isLayout = name == kLayoutFile;
        const std::optional<Error> error = [&]() -> std::optional<Error> {
            const auto loaded = loadProject(directory);
            const auto journal = readJournal(directory);
            return isLayout ? (loaded ? std::nullopt : std::optional(loaded.error()))
                            : (journal ? std::nullopt : std::optional(journal.error()));
        }();
        QVERIFY(error);
        QVERIFY2(asQString(error->place).contains(name), error->text().c_str());
        QVERIFY2(error->text().size() < 1000, error->text().c_str());
    }

    void thousandNodes()
    {
        Document document;
        Graph& graph = document.project.network.blocks.emplace_back(Block{"long", "", {}}).graph;
        for (std::uint32_t id = 1; id <= 1000; ++id) {
            graph.nodes.push_back({NodeId{id}, "linear", "linear" + std::to_string(id), {{"out", std::string("d")}}});
            document.layout.positions[GraphRef::block("long")][NodeId{id}] = {id * 10.0, 0};
            if (id > 1) {
                graph.wires.push_back({{NodeId{id - 1}, "out"}, {NodeId{id}, "in"}});
            }
        }
        QVERIFY(saveProject(m_dir, document).ok());
        const auto loaded = loadProject(m_dir);
        QVERIFY2(loaded.ok(), loaded ? "" : loaded.error().text().c_str());
        QVERIFY(*loaded == document);
    }
};

RESIDUA_TEST(TestStore)
#include "tst_store.moc"
