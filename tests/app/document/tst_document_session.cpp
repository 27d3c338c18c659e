// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/document/document_session.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"
#include "projects/shipped/examples.h"
#include "tests/app/dead_lock.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace residua;
using namespace residua::app;

namespace {

projects::Document example()
{
    return {projects::findExample("ancre-language")->project, {}};
}

std::filesystem::path pathOf(const QString& text)
{
    return text.toStdString();
}

} // namespace

class TestDocumentSession : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_drafts = pathOf(m_folder->filePath("drafts"));
        m_project = pathOf(m_folder->filePath("project"));
        QVERIFY(projects::saveProject(m_project, example()).ok());
    }

    void savingMakesItClean()
    {
        DocumentSession session(m_drafts);
        QVERIFY(session.start(example()).ok());
        QVERIFY(session.isDraft());
        QVERIFY(!session.modified());
        QVERIFY(session.perform(projects::SetField{"/name", {"Other"}}).ok());
        QVERIFY(session.modified());
        QVERIFY(!session.save().ok()); // it has no place yet
        QVERIFY(session.saveAs(m_project).ok());
        QVERIFY(!session.modified());
        QCOMPARE(projects::loadProject(m_project)->project.name, std::string("Other"));
        session.undo();
        QVERIFY(session.modified());
        session.redo();
        QVERIFY(!session.modified());
    }

    /// Edits of a shown tower apply to it alone, files and journal have the whole document.
    void aTowerIsShownAndEditedAsTheFirstOne()
    {
        projects::Document document = example();
        document.project.towers = {{document.project.network}};
        document.project.towers[0].network.name = "second";
        DocumentSession session(m_drafts);
        QVERIFY(session.start(document).ok());
        QSignalSpy shown(&session, &DocumentSession::towerShown);
        QSignalSpy changed(&session, &DocumentSession::changed);
        session.showTower(1);
        QCOMPARE(shown.count(), 1);
        QCOMPARE(changed.count(), 1);
        QVERIFY(!session.modified());
        QCOMPARE(session.project().network.name, std::string("second"));
        QCOMPARE(session.wholeProject().network.name, document.project.network.name);
        QVERIFY(session.snapshot()->project == session.project());
        QCOMPARE(session.snapshot(), session.snapshot());
        QVERIFY(session.perform(projects::SetField{"/network/width", {"24"}}).ok());
        QVERIFY(session.perform(projects::SetLayerGroups{{{"both", 1, 2}}}).ok());
        QVERIFY(session.wholeProject().network == document.project.network);
        QCOMPARE(session.wholeProject().towers[0].network.stack().width, std::int64_t{24});
        QVERIFY(session.wholeDocument().layout.groups.empty());
        QCOMPARE(session.document().layout.groups.size(), std::size_t{1});
        QVERIFY(session.saveAs(m_project).ok());
        QVERIFY(projects::loadProject(m_project)->project == session.wholeProject());
        QVERIFY(session.changesOnDisk()->empty());
        QCOMPARE(session.shownTower(), std::size_t{1});
        // An edit of the whole document that removes the tower shows the first one.
        QVERIFY(session.performWhole(projects::RemoveTower{0}).ok());
        QCOMPARE(session.shownTower(), std::size_t{0});
        QCOMPARE(shown.count(), 2);
        session.undo();
        QCOMPARE(session.project().network.name, document.project.network.name);
        session.showTower(1);
        session.showTower(7); // there is none
        QCOMPARE(session.shownTower(), std::size_t{0});
        session.showTower(1);
        QVERIFY(session.start(document).ok());
        QCOMPARE(session.shownTower(), std::size_t{0});
    }

    void aJournalComesBackAsItWas()
    {
        {
            DocumentSession session(m_drafts);
            QVERIFY(session.open(m_project).ok());
            QVERIFY(session.perform(projects::SetField{"/name", {"Unsaved"}}).ok());
            session.flushJournal();
        }
        DocumentSession session(m_drafts);
        QVERIFY(session.open(m_project / "project.json").ok());
        QCOMPARE(session.origin(), Origin::Kept);
        QCOMPARE(session.project().name, std::string("Unsaved"));
        QVERIFY(session.modified());

        QVERIFY(session.load("Load").ok());
        QCOMPARE(session.origin(), Origin::Saved);
        QCOMPARE(session.project(), example().project);
        QVERIFY(!session.modified());
        QVERIFY(!std::filesystem::exists(m_project / projects::kJournalFile));

        session.undo(); // undoing by mistake loses nothing
        QCOMPARE(session.project().name, std::string("Unsaved"));
        QVERIFY(session.modified());
        session.redo();
        QVERIFY(!session.modified());
    }

    /// Whoever closes a document takes its lock away: one that is left is of a program that died.
    void onlyADeadProgramsChangesAreRecovered()
    {
        {
            DocumentSession session(m_drafts);
            QVERIFY(session.open(m_project).ok());
            QVERIFY(session.perform(projects::SetField{"/name", {"Unsaved"}}).ok());
        }
        QVERIFY(leaveDeadLock(m_project));
        DocumentSession session(m_drafts);
        QVERIFY(session.open(m_project).ok());
        QCOMPARE(session.origin(), Origin::Recovered);
        QCOMPARE(session.project().name, std::string("Unsaved"));
        QVERIFY(session.start(example()).ok());
        QVERIFY(session.open(m_project).ok()); // and back
        QCOMPARE(session.origin(), Origin::Kept);
        QCOMPARE(session.project().name, std::string("Unsaved"));
        QVERIFY(session.modified());
    }

    /// The changes went to the other folder: the first opens as it was saved.
    void savingElsewhereLeavesNoJournalBehind()
    {
        DocumentSession session(m_drafts);
        QVERIFY(session.open(m_project).ok());
        QVERIFY(session.perform(projects::SetField{"/name", {"Moved"}}).ok());
        session.flushJournal();
        QVERIFY(session.saveAs(pathOf(m_folder->filePath("another"))).ok());
        QVERIFY(session.open(m_project).ok());
        QCOMPARE(session.origin(), Origin::Saved);
        QCOMPARE(session.project(), example().project);
    }

    void reopeningTakesUpWhatWasJustChanged()
    {
        DocumentSession session(m_drafts);
        QVERIFY(session.open(m_project).ok());
        QVERIFY(session.perform(projects::SetField{"/name", {"Unsaved"}}).ok());
        QVERIFY(session.open(m_project).ok());
        QCOMPARE(session.project().name, std::string("Unsaved"));
    }

    void theJournalFollowsAChangeByItself()
    {
        DocumentSession session(m_drafts);
        QVERIFY(session.open(m_project).ok());
        QVERIFY(session.perform(projects::SetField{"/name", {"Unsaved"}}).ok());
        QTRY_VERIFY(std::filesystem::exists(m_project / projects::kJournalFile));
        const auto journal = projects::readJournal(m_project);
        QVERIFY(journal.ok() && journal->has_value());
        QCOMPARE((*journal)->project.name, std::string("Unsaved"));
    }

    void anUnreadableJournalDoesNotShutTheProjectOut()
    {
        QVERIFY(writeFileAtomically(m_project / projects::kJournalFile, "{ broken").ok());
        DocumentSession session(m_drafts);
        QSignalSpy failed(&session, &DocumentSession::journalFailed);
        QVERIFY(session.open(m_project).ok());
        QCOMPARE(session.origin(), Origin::Saved);
        QCOMPARE(failed.count(), 1);
    }

    void anErrorLeavesTheOpenDocument()
    {
        DocumentSession session(m_drafts);
        QVERIFY(session.open(m_project).ok());
        QVERIFY(!session.open(m_project / "nowhere").ok());
        QVERIFY(session.isOpen());
        QCOMPARE(session.directory(), m_project);
    }

    void draftsOutliveTheirSession()
    {
        {
            DocumentSession session(m_drafts);
            QVERIFY(session.start(example()).ok());
            QVERIFY(session.perform(projects::SetField{"/name", {"Draft"}}).ok());
            session.flushJournal();
            QCOMPARE(leftDrafts(m_drafts).size(), std::size_t(0)); // it is held by a living session
        }
        const std::vector<Draft> drafts = leftDrafts(m_drafts);
        QCOMPARE(drafts.size(), std::size_t(1));
        QCOMPARE(drafts.front().name, QString("Draft"));

        DocumentSession session(m_drafts);
        QVERIFY(session.resumeDraft(drafts.front().folder).ok());
        QCOMPARE(session.project().name, std::string("Draft"));
        QVERIFY(session.isDraft() && session.modified());
        QVERIFY(session.saveAs(m_project).ok());
        QVERIFY(session.close().ok());
        QVERIFY(leftDrafts(m_drafts).empty());
    }

    void anUntouchedDraftLeavesNothing()
    {
        {
            DocumentSession session(m_drafts);
            QVERIFY(session.start(example()).ok());
            QVERIFY(session.close().ok());
        }
        QVERIFY(leftDrafts(m_drafts).empty());
        QVERIFY(std::filesystem::is_empty(m_drafts));
    }

    /// As where the project's folder is read-only, or its disk is full.
    void aProjectThatCannotBeWrittenKeepsItsChangesAsADraft()
    {
        blockJournal();
        {
            DocumentSession session(m_drafts);
            QSignalSpy kept(&session, &DocumentSession::draftKept);
            QVERIFY(session.open(m_project).ok());
            QVERIFY(!session.keepsDraft());
            QVERIFY(session.perform(projects::SetField{"/name", {"Unsaved"}}).ok());
            QVERIFY(session.keepUnsaved().ok());
            QCOMPARE(kept.count(), 1);
            QVERIFY(session.keepsDraft());
            QVERIFY(!session.isElsewhere());
            QVERIFY(leftDrafts(m_drafts).empty()); // held
            QVERIFY(session.perform(projects::SetField{"/name", {"Still unsaved"}}).ok());
        }
        const std::vector<Draft> drafts = leftDrafts(m_drafts);
        QCOMPARE(drafts.size(), std::size_t(1));
        QCOMPARE(drafts.front().name, QString("Still unsaved"));
        DocumentSession session(m_drafts);
        QVERIFY(session.resumeDraft(drafts.front().folder).ok());
        QCOMPARE(session.project().name, std::string("Still unsaved"));
    }

    void aDocumentThatCanBeKeptNowhereStaysOpen()
    {
        blockJournal();
        QVERIFY(writeFileAtomically(m_drafts, "a file where the folder of drafts would be").ok());
        DocumentSession session(m_drafts);
        QVERIFY(session.open(m_project).ok());
        QVERIFY(session.perform(projects::SetField{"/name", {"Unsaved"}}).ok());
        QVERIFY(!session.keepUnsaved().ok());
        QVERIFY(!session.close().ok());
        QVERIFY(!session.start(example()).ok());
        QVERIFY(!session.open(m_project).ok());
        QVERIFY(session.isOpen());
        QCOMPARE(session.project().name, std::string("Unsaved"));
        QVERIFY(session.saveAs(pathOf(m_folder->filePath("another"))).ok());
        QVERIFY(session.close().ok());
    }

    void aChangeOnDiskIsReported()
    {
        DocumentSession session(m_drafts);
        QVERIFY(session.open(m_project).ok());
        QSignalSpy changed(&session, &DocumentSession::changedOnDisk);
        QVERIFY(session.perform(projects::SetField{"/name", {"Mine"}}).ok());
        QVERIFY(session.save().ok());
        projects::Document other = example();
        other.project.name = "Theirs";
        QVERIFY(projects::saveProject(m_project, other).ok());
        QTRY_COMPARE(changed.count(), 1); // and not for our own saving before it
        QVERIFY(session.load("Load").ok());
        QCOMPARE(session.project().name, std::string("Theirs"));
    }

    void aSecondWindowIsWarned()
    {
        DocumentSession first(m_drafts);
        QVERIFY(first.open(m_project).ok());
        DocumentSession second(m_drafts);
        QSignalSpy elsewhere(&second, &DocumentSession::openElsewhere);
        bool opened = false; // what is said after `opened` is not swept away by it
        connect(&second, &DocumentSession::opened, this, [&] { opened = elsewhere.isEmpty(); });
        QVERIFY(second.open(m_project).ok());
        QCOMPARE(elsewhere.count(), 1);
        QVERIFY(opened);
    }

    void aSecondWindowLeavesTheFirstOnesJournalAlone()
    {
        DocumentSession first(m_drafts);
        QVERIFY(first.open(m_project).ok());
        QVERIFY(first.perform(projects::SetField{"/name", {"First"}}).ok());
        first.flushJournal();
        const auto kept = [this] {
            const auto journal = projects::readJournal(m_project);
            return journal.ok() && journal->has_value() && (*journal)->project.name == "First";
        };
        DocumentSession second(m_drafts);
        QVERIFY(second.open(m_project).ok());
        QCOMPARE(second.origin(), Origin::Saved);
        QCOMPARE(second.project(), example().project);
        QVERIFY(second.close().ok());
        QVERIFY(kept());

        QVERIFY(second.open(m_project).ok());
        QVERIFY(second.perform(projects::SetField{"/name", {"Second"}}).ok());
        second.flushJournal();
        QVERIFY(kept());
        QVERIFY(second.close().ok()); // what it has not saved stays as a draft
        QCOMPARE(leftDrafts(m_drafts).size(), std::size_t(1));
        QCOMPARE(leftDrafts(m_drafts).front().name, QString("Second"));

        QVERIFY(second.open(m_project).ok());
        QVERIFY(second.perform(projects::SetField{"/name", {"Third"}}).ok());
        QVERIFY(second.save().ok());
        QCOMPARE(projects::loadProject(m_project)->project.name, std::string("Third"));
        QVERIFY(kept());
        QVERIFY(second.close().ok());
        QCOMPARE(leftDrafts(m_drafts).size(), std::size_t(1));
    }

    void aLayoutChangedOnDiskIsReported()
    {
        DocumentSession session(m_drafts);
        QVERIFY(session.open(m_project).ok());
        QSignalSpy changed(&session, &DocumentSession::changedOnDisk);
        projects::Document other = example();
        other.layout.groups = {{"middle", 1, 2}};
        QVERIFY(projects::saveProject(m_project, other).ok());
        QTRY_COMPARE(changed.count(), 1);
        QVERIFY(session.load("Load").ok());
        QCOMPARE(session.document().layout, other.layout);
    }

private:
    /// A folder stands where the project's journal would be.
    void blockJournal() const
    {
        QVERIFY(std::filesystem::create_directories(m_project / projects::kJournalFile / "x"));
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path m_drafts;
    std::filesystem::path m_project;
};

RESIDUA_TEST_IN(QCoreApplication, TestDocumentSession)
#include "tst_document_session.moc"
