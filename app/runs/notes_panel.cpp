// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/notes_panel.h"

#include "app/records/runs_model.h"
#include "app/report/html_text.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/runs/shown_runs.h"

#include <QDesktopServices>
#include <QEvent>
#include <QImage>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QTextBrowser>
#include <QTextDocument>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <utility>

namespace residua::app {
namespace {

constexpr int kPageNameWidth = 150;
constexpr int kLowNotes = 320; ///< height in pixels below which the Markdown is to the left of the formatted note

/// Shows Markdown without loading images or other resources, because a note may come from other people.
class NoteReader : public QTextBrowser {
public:
    using QTextBrowser::QTextBrowser;

    /// Returns a transparent image for each URL. If it returned nothing, Qt would read local files.
    QVariant loadResource(int, const QUrl&) override
    {
        QImage none(1, 1, QImage::Format_ARGB32);
        none.fill(Qt::transparent);
        return none;
    }
};

QToolButton* button(const char* name, const QString& text, const QString& toolTip, QWidget* parent)
{
    auto* const made = new QToolButton(parent);
    visualizers::setNames(*made, name, {}, toolTip);
    made->setText(text);
    made->setFocusPolicy(Qt::TabFocus);
    return made;
}

} // namespace

NotesPanel::NotesPanel(RunsModel& runs, QWidget* parent)
    : QWidget(parent),
      m_runs(runs),
      m_shown(runs.shown()),
      m_open(
          button("pageOpen", tr("Open"), tr("Show the page's runs again, as they were shown when it was kept"), this)),
      m_keep(button("pageKeep", tr("Keep"),
                    tr("Keep the overlaid runs, their baseline, the plots and the page's note under this name"), this)),
      m_export(button("pageExport", tr("Export…"), tr("Write the page with its notes for a browser"), this)),
      m_remove(button("pageRemove", tr("Delete"), tr("Delete the page; its runs stay"), this)),
      m_read(new NoteReader(this))
{
    setObjectName(QStringLiteral("notesPanel"));
    setAttribute(Qt::WA_StyledBackground);
    layOut();
    connectParts();
    follow();
    updateButtons();
}

void NotesPanel::layOut()
{
    visualizers::setNames(*m_name, "pageName", tr("Page"));
    m_name->setEditable(true);
    m_name->setInsertPolicy(QComboBox::NoInsert);
    m_name->lineEdit()->setAccessibleName(tr("Name of a page"));
    m_name->setFixedWidth(kPageNameWidth);
    m_name->lineEdit()->setPlaceholderText(tr("Page name"));
    visualizers::setNames(*m_of, "noteOf", tr("Whose note"));
    m_of->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_of->addItems({tr("Note of the page"), {}, {}});
    visualizers::setNames(*m_text, "noteText", tr("Note, as Markdown"));
    m_text->setPlaceholderText(tr("A note, as Markdown: # title, *emphasis*, - item, `code`"));
    m_text->setTabChangesFocus(true);
    visualizers::setNames(*m_read, "noteRead", tr("Note, as it reads"));
    m_read->setOpenLinks(false);
    auto* const split = new visualizers::TurningSplit(kLowNotes, this);
    split->addWidget(m_text);
    split->addWidget(m_read);
    split->setShares({1, 1}, {1, 1});
    auto* const rows = new visualizers::ControlRows;
    for (QWidget* const part : std::initializer_list<QWidget*>{m_name, m_open, m_keep, m_export, m_remove, m_of}) {
        rows->addWidget(part);
    }
    visualizers::makeColumn(this, {QMargins(), 2}, {rows, {split, 1}});
}

void NotesPanel::connectParts()
{
    const auto asks = [this](QToolButton* of, void (NotesPanel::*request)(const QString&)) {
        connect(of, &QToolButton::clicked, this, [this, request] {
            commit();
            emit(this->*request)(m_name->currentText().trimmed());
        });
    };
    asks(m_open, &NotesPanel::openRequested);
    asks(m_keep, &NotesPanel::keepRequested);
    asks(m_export, &NotesPanel::exportRequested);
    asks(m_remove, &NotesPanel::removeRequested);
    connect(m_name, &QComboBox::activated, m_open, &QToolButton::click);
    connect(m_name, &QComboBox::currentTextChanged, this, &NotesPanel::updateButtons);
    connect(m_of, &QComboBox::currentIndexChanged, this, &NotesPanel::follow);
    connect(m_text, &QPlainTextEdit::textChanged, this, &NotesPanel::render);
    connect(m_read, &QTextBrowser::anchorClicked, this, [](const QUrl& url) {
        if (QStringList{"http", "https", "mailto"}.contains(url.scheme())) {
            QDesktopServices::openUrl(url);
        }
    });
    m_text->installEventFilter(this);
    connect(&m_shown, &visualizers::ShownRuns::chosenChanged, this, &NotesPanel::follow);
    connect(&m_shown, &visualizers::ShownRuns::frontChanged, this, &NotesPanel::follow);
    connect(&m_shown, &visualizers::ShownRuns::looksChanged, this, &NotesPanel::follow);
    connect(&m_runs, &RunsModel::listed, this, &NotesPanel::follow);
    connect(&m_runs, &RunsModel::dataChanged, this, &NotesPanel::follow);
}

bool NotesPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_text && event->type() == QEvent::FocusOut) {
        commit();
    }
    return QWidget::eventFilter(watched, event);
}

void NotesPanel::updateButtons()
{
    const QString name = m_name->currentText().trimmed();
    const bool isKept = m_name->findText(name, Qt::MatchExactly | Qt::MatchCaseSensitive) >= 0;
    m_open->setEnabled(isKept);
    m_remove->setEnabled(isKept);
    m_keep->setEnabled(!name.isEmpty());
    m_export->setEnabled(!name.isEmpty());
}

void NotesPanel::setPages(const QStringList& names)
{
    QStringList before;
    for (int i = 0; i < m_name->count(); ++i) {
        before << m_name->itemText(i);
    }
    if (before != names) {
        const QSignalBlocker quiet(m_name);
        const QString typed = m_name->currentText();
        m_name->clear();
        m_name->addItems(names);
        m_name->setEditText(typed);
    }
    updateButtons();
}

void NotesPanel::setPage(const QString& name, const QString& note)
{
    commit();
    m_page = name;
    m_pageNote = note;
    m_name->setEditText(name);
    follow();
}

void NotesPanel::setGroupNotes(std::map<std::string, std::string> notes)
{
    m_groupNotes = std::move(notes);
    follow();
}

NotesPanel::Subject NotesPanel::wanted() const
{
    const auto of = static_cast<Of>(m_of->currentIndex());
    const std::string run = m_shown.chosenOrFront();
    return {of, of == Of::Page ? std::string() : of == Of::Run ? run : m_shown.groupOf(run)};
}

QString NotesPanel::noteOf(const Subject& subject) const
{
    if (subject.of == Of::Page) {
        return m_pageNote;
    }
    if (subject.of == Of::Group) {
        const auto note = m_groupNotes.find(subject.key);
        return note == m_groupNotes.end() ? QString() : QString::fromStdString(note->second);
    }
    const engine::RunInfo* const run = m_runs.runAt(m_runs.indexOf(subject.key));
    return run ? QString::fromStdString(run->notes) : QString();
}

void NotesPanel::commit()
{
    if (!m_text->document()->isModified()) {
        return;
    }
    m_text->document()->setModified(false);
    const QString note = m_text->toPlainText();
    if (note == noteOf(m_subject)) {
        return;
    }
    if (m_subject.of == Of::Page) {
        m_pageNote = note;
        emit pageNoted(m_page, note);
    } else if (m_subject.of == Of::Group) {
        m_groupNotes[m_subject.key] = note.toStdString();
        emit groupNoted(m_subject.key, note);
    } else if (const QModelIndex run = m_runs.indexOf(m_subject.key); run.isValid()) {
        m_runs.setData(run.siblingAtColumn(RunsModel::Notes), note);
    }
}

void NotesPanel::follow()
{
    const std::string run = m_shown.chosenOrFront();
    const visualizers::ShownRuns::Look* const look = m_shown.lookOf(run);
    const engine::RunInfo* const info = m_runs.runAt(m_runs.indexOf(run));
    const QString name = look ? look->label : info ? QString::fromStdString(info->name) : tr("none");
    m_of->setItemText(1, tr("Note of the group: %1").arg(look ? look->groupLabel : tr("none")));
    m_of->setItemText(2, tr("Note of the run: %1").arg(name));
    const Subject subject = wanted();
    if (subject == m_subject && m_text->document()->isModified()) {
        return;
    }
    commit();
    m_subject = subject;
    m_text->setReadOnly(subject.of != Of::Page && subject.key.empty());
    if (const QString note = noteOf(subject); note != m_text->toPlainText()) {
        m_text->setPlainText(note);
    }
    m_text->document()->setModified(false);
}

void NotesPanel::render()
{
    m_read->setHtml(QString::fromStdString(report::htmlMarkdown(m_text->toPlainText().toStdString()))); // as exported
}

} // namespace residua::app
