// SPDX-License-Identifier: GPL-3.0-or-later
// Folders that come to be as a whole, or not at all.
#include "engine/compute/transfer/new_folder.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <iterator>
#include <memory>

#include <unistd.h>

using namespace residua;
using engine::NewFolder;
namespace fs = std::filesystem;

class TestNewFolder : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void comesAsAWhole()
    {
        const fs::path place = root() / "a" / "b" / "made";
        {
            Result<NewFolder> folder = NewFolder::begin(place);
            QVERIFY2(folder.ok(), folder ? "" : folder.error().text().c_str());
            std::ofstream(folder->path() / "file") << "text";
            QVERIFY(!fs::exists(place));
            const Status kept = folder->keep();
            QVERIFY2(kept.ok(), kept ? "" : kept.error().text().c_str());
        }
        QVERIFY(fs::exists(place / "file"));
        QCOMPARE(entriesOf(place.parent_path()), 1);
        const auto again = NewFolder::begin(place);
        QVERIFY(!again.ok() && again.error().message.find("exists") != std::string::npos);
        QVERIFY(fs::exists(place / "file"));
    }

    /// With the parents that were made for it, and no other.
    void leavesNothingOfWhatIsNotKept()
    {
        fs::create_directory(root() / "there");
        {
            Result<NewFolder> folder = NewFolder::begin(root() / "there" / "a" / "b" / "made");
            QVERIFY(folder.ok());
            std::ofstream(folder->path() / "file") << "text";
        }
        QVERIFY(fs::is_empty(root() / "there"));
        {
            const Result<NewFolder> folder = NewFolder::begin(root() / "new" / "a" / "made");
            QVERIFY(folder.ok());
            std::ofstream(root() / "new" / "other") << "somebody else's";
        }
        QVERIFY(fs::exists(root() / "new" / "other") && !fs::exists(root() / "new" / "a"));
    }

    /// A folder that an earlier process of the same number has left behind, or a link that somebody has put there.
    void takesNothingOver()
    {
        const std::string left = ".made." + std::to_string(::getpid());
        fs::create_directory(root() / left);
        std::ofstream(root() / left / "stale") << "stale";
        fs::create_directory(root() / "elsewhere");
        fs::create_directory_symlink(root() / "elsewhere", root() / (left + "-2"));
        {
            Result<NewFolder> folder = NewFolder::begin(root() / "made");
            QVERIFY2(folder.ok(), folder ? "" : folder.error().text().c_str());
            std::ofstream(folder->path() / "file") << "text";
            QVERIFY(folder->keep().ok());
        }
        QVERIFY(!fs::is_symlink(root() / "made"));
        QCOMPARE(entriesOf(root() / "made"), 1);
        QVERIFY(fs::is_empty(root() / "elsewhere"));
        QVERIFY(fs::exists(root() / left / "stale"));
    }

    void leftoversOfKilledProcessesAreRemoved()
    {
        fs::create_directories(root() / ".residua-making-1-0" / "below");
        fs::create_directory(root() / ".residua");
        Result<NewFolder> folder = NewFolder::begin(root() / "made");
        QVERIFY2(folder.ok(), folder ? "" : folder.error().text().c_str());
        QVERIFY(!fs::exists(root() / ".residua-making-1-0"));
        QVERIFY(fs::exists(root() / ".residua"));
        Result<NewFolder> second = NewFolder::begin(root() / "made");
        QVERIFY(second.ok() && second->path() != folder->path());
        QVERIFY(fs::exists(folder->path())); // which is in use
        QVERIFY(second->keep().ok());
    }

    void refusesWhatIsThere()
    {
        std::ofstream(root() / "file") << "text";
        for (const fs::path& place : {root() / "file", root() / "file" / "below"}) {
            const auto folder = NewFolder::begin(place);
            QVERIFY(!folder.ok());
            QVERIFY(folder.error().place.find("file") != std::string::npos);
        }
        const auto slash = NewFolder::begin(root() / "made" / "");
        QVERIFY2(slash.ok(), slash ? "" : slash.error().text().c_str());
        QCOMPARE(slash->path().parent_path(), root());
    }

private:
    [[nodiscard]] fs::path root() const { return m_folder->path().toStdString(); }
    static int entriesOf(const fs::path& folder)
    {
        return static_cast<int>(std::distance(fs::directory_iterator(folder), {}));
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

RESIDUA_TEST(TestNewFolder)
#include "tst_new_folder.moc"
