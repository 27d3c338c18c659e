// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/save_commands.h"

#include "app/actions/window_actions.h"
#include "app/document/document_session.h"
#include "app/workspace/banner.h"

#include <QDir>
#include <QFileDialog>

namespace residua::app {

namespace {

constexpr std::size_t kChangesTold = 6;

} // namespace

SaveCommands::SaveCommands(const WindowParts& parts) : CommandGroup(parts)
{
    connect(m_actions.save, &QAction::triggered, this, &SaveCommands::save);
    connect(m_actions.saveAs, &QAction::triggered, this, &SaveCommands::saveAs);
    connect(m_actions.revert, &QAction::triggered, this, &SaveCommands::revert);
    connectSession();
}

void SaveCommands::connectSession()
{
    connect(&m_session, &DocumentSession::aboutToClose, this, [this] { finishTyping(); });
    connect(&m_session, &DocumentSession::opened, this, [this] { m_filesChanged = false; });
    connect(&m_session, &DocumentSession::changedOnDisk, this, &SaveCommands::offerReload);
    connect(&m_session, &DocumentSession::openElsewhere, this, [this] {
        m_banner.say(BannerKind::Note, tr("This project is open in another window of Residua: the last to save wins."));
    });
    connect(&m_session, &DocumentSession::journalFailed, this, [this](const Error& error) {
        m_banner.refuse(tr("Changes are not being kept: %1").arg(QString::fromStdString(error.text())));
    });
    connect(&m_session, &DocumentSession::draftKept, this, [this](const Error& error) {
        m_banner.say(BannerKind::Note,
                     tr("The project's folder cannot be written. Unsaved changes are kept apart from it, and the start "
                        "page offers them: %1")
                         .arg(QString::fromStdString(error.text())),
                     {{tr("Save to another folder…"), [this] { saveAs(); }}});
        m_banner.whileTrue([this] { return m_session.keepsDraft(); });
    });
}

void SaveCommands::save()
{
    finishTyping();
    if (m_filesChanged) {
        askBeforeReplacing();
    } else if (m_session.isDraft()) {
        saveTo(freeProjectFolder(m_folders.projects, m_session.project().name));
    } else if (const Status saved = m_session.save(); saved) {
        note(tr("Saved"));
    } else {
        m_banner.refuse(QString::fromStdString(saved.error().text()));
    }
}

void SaveCommands::askBeforeReplacing()
{
    m_banner.ask(tr("Another program changed this project's files. Saving would replace what it wrote."),
                 {{tr("Load them"), [this] { load(tr("Load from disk")); }}, {tr("Save over them"), [this] {
                                                                                  m_filesChanged = false;
                                                                                  save();
                                                                              }}});
    m_banner.whileTrue([this] { return m_filesChanged; });
}

void SaveCommands::saveAs()
{
    finishTyping();
    const auto proposal = freeProjectFolder(m_folders.projects, m_session.project().name);
    QFileDialog dialog(m_window, tr("Save the project to a folder"),
                       QString::fromStdString(proposal.parent_path().string()));
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setFileMode(QFileDialog::AnyFile);
    dialog.selectFile(QString::fromStdString(proposal.filename().string()));
    if (dialog.exec() == QDialog::Accepted && !dialog.selectedFiles().isEmpty()) {
        saveTo(dialog.selectedFiles().front().toStdString());
    }
}

/// Saves the document to another folder.
void SaveCommands::saveTo(const std::filesystem::path& folder)
{
    if (const Status saved = m_session.saveAs(folder); !saved) {
        m_banner.refuse(QString::fromStdString(saved.error().text()));
        return;
    }
    m_filesChanged = false; // the changed files belong to another project now
    note(tr("Saved to %1").arg(QDir::toNativeSeparators(QString::fromStdString(folder.string()))));
}

bool SaveCommands::saveChanges()
{
    finishTyping();
    if (m_session.isDraft() || m_session.modified()) {
        save();
    }
    return !m_session.isDraft() && !m_session.modified(); // otherwise save() has reported the reason
}

void SaveCommands::revert()
{
    m_banner.hide();
    load(tr("Go back to the saved version"));
}

void SaveCommands::load(const QString& title)
{
    m_filesChanged = false;
    if (const Status loaded = m_session.load(title.toStdString()); !loaded) {
        m_banner.refuse(QString::fromStdString(loaded.error().text()));
    }
}

void SaveCommands::tellRecovered()
{
    if (m_session.origin() == Origin::Kept) {
        note(tr("The changes that were not saved are here as they were left."));
    }
    if (m_session.origin() != Origin::Recovered) {
        return;
    }
    if (m_session.isDraft()) {
        m_banner.say(BannerKind::Note, tr("This is unsaved work of an earlier session, as it was left."));
    } else {
        m_banner.say(BannerKind::Note,
                     tr("Residua ended before these changes were saved. They have been recovered; saving keeps them."),
                     {{tr("Save"), [this] { save(); }}, {tr("Go back to the saved version"), [this] { revert(); }}});
    }
    m_banner.whileTrue([this] { return m_session.origin() == Origin::Recovered; });
}

void SaveCommands::offerReload()
{
    m_filesChanged = true;
    const auto changes = m_session.changesOnDisk();
    if (!changes) { // partly written, or no longer a project: there is nothing to load
        m_banner.refuse(
            tr("Another program changed this project's files: %1").arg(QString::fromStdString(changes.error().text())));
        return;
    }
    QStringList lines{tr("Another program changed this project's files.")};
    for (std::size_t i = 0; i < changes->size() && i < kChangesTold; ++i) {
        lines << QString::fromStdString((*changes)[i].text());
    }
    if (changes->size() > kChangesTold) {
        lines << tr("… and %n more", nullptr, static_cast<int>(changes->size() - kChangesTold));
    }
    m_banner.say(BannerKind::Note, lines.join(QLatin1Char('\n')),
                 {{tr("Load them"), [this] { load(tr("Load from disk")); }},
                  {tr("Keep what is here"), [this] { m_filesChanged = false; }}});
    m_banner.whileTrue([this] { return m_filesChanged; });
}

bool SaveCommands::mayClose()
{
    finishTyping();
    const Status kept = m_session.keepUnsaved();
    const bool comesBack = kept && !m_session.keepsDraft(); // on the next open, so there is no question
    if (!comesBack && !m_closes) {
        askBeforeClosing(kept);
        return false;
    }
    return true;
}

/// Asks if the project's folder cannot be written.
void SaveCommands::askBeforeClosing(const Status& kept)
{
    const QString name = QString::fromStdString(m_session.project().name);
    const QString leave = kept ? tr("Leave; the start page offers them") : tr("Leave and lose them");
    m_banner.ask(
        kept ? tr("The changes to %1 are not saved: its folder cannot be written. They are kept apart from it.")
                   .arg(name)
             : tr("The changes to %1 can be kept nowhere: %2").arg(name, QString::fromStdString(kept.error().text())),
        {{tr("Save to another folder…"), [this] { saveAs(); }},
         {leave,
          [this] {
              m_closes = true;
              m_window->close();
          }},
         {tr("Stay"), [] {}}});
}

} // namespace residua::app
