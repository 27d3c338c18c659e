// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QPlainTextEdit>
#include <QString>
#include <QStringList>
#include <QWidget>

#include <map>
#include <string>

class QTextBrowser;
class QToolButton;

namespace residua::visualizers {
class ShownRuns;
} // namespace residua::visualizers

namespace residua::app {

class RunsModel;

/// The notes, as Markdown and as they read, of the open page, of the chosen run and of its group; and the pages of the
/// project. A note is kept when its field loses the focus or another note is shown. GUI thread.
class NotesPanel : public QWidget {
    Q_OBJECT
public:
    /// Follows the list, which must outlive the panel.
    explicit NotesPanel(RunsModel& runs, QWidget* parent = nullptr);

    /// Sets the names of the project's pages.
    void setPages(const QStringList& names);
    /// Shows the note of the open page, or an empty one of a page without a name.
    void setPage(const QString& name, const QString& note);
    [[nodiscard]] const QString& pageNote() const { return m_pageNote; }
    /// Sets the notes of groups by their keys.
    void setGroupNotes(std::map<std::string, std::string> notes);
    /// Keeps the note that is being typed.
    void commit();

signals:
    void openRequested(const QString& page);
    void keepRequested(const QString& page);
    void exportRequested(const QString& page);
    void removeRequested(const QString& page);
    /// The note of the open page was changed.
    void pageNoted(const QString& page, const QString& note);
    void groupNoted(const std::string& group, const QString& note);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// The subject of a note.
    enum class Of { Page, Group, Run };
    struct Subject {
        Of of = Of::Page;
        std::string key; ///< of the group or run
        bool operator==(const Subject&) const = default;
    };

    void layOut();
    void connectParts();
    void updateButtons();
    [[nodiscard]] Subject wanted() const;
    [[nodiscard]] QString noteOf(const Subject& subject) const;
    /// Offers the notes that there can be now, and shows the wanted one unless it is being typed.
    void follow();
    void render();

    RunsModel& m_runs;
    visualizers::ShownRuns& m_shown;
    QComboBox* m_name = new QComboBox(this); ///< of a page
    QToolButton* m_open;
    QToolButton* m_keep;
    QToolButton* m_export;
    QToolButton* m_remove;
    QComboBox* m_of = new QComboBox(this);
    QPlainTextEdit* m_text = new QPlainTextEdit(this);
    QTextBrowser* m_read;
    Subject m_subject; ///< of the shown note
    QString m_page;
    QString m_pageNote;
    std::map<std::string, std::string> m_groupNotes;
};

} // namespace residua::app
