// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/open_commands.h"
#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/records/run_archive.h"
#include "app/report/report.h"
#include "app/runs/notes_panel.h"
#include "app/workspace/banner.h"
#include "app/workspace/kept_view.h"
#include "app/workspace/workspace.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/study_page.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace residua::app {
namespace {

using visualizers::ShownRuns;

class PageCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(PageCommands)
public:
    PageCommands(const WindowParts& parts, OpenCommands& open);

private:
    void connectPanel();
    /// Returns the folder of the project's runs; empty for a draft, which has none.
    [[nodiscard]] std::filesystem::path folder() const;
    void refresh();
    void open(const QString& name);
    /// Returns false if there is nothing to keep, which it has reported.
    bool keep(const QString& name);
    void exportPage(const QString& name);
    void remove(const QString& name);
    void keepNote(const QString& name, const QString& note);
    void refuseFailed(const Status& status);
    /// Returns a page of what the window shows now.
    [[nodiscard]] engine::StudyPage shownPage() const;
    [[nodiscard]] std::string sweepOf(const std::vector<const engine::RunInfo*>& runs) const;

    /// Does those of the steps that show a page for which the runs have been listed and read.
    void proceed();
    void showRuns();
    [[nodiscard]] std::string keyOf(const std::string& path) const;

    /// A page that is being shown.
    struct Showing {
        QString name;
        engine::StudyPage page;
        bool hasRuns = false;          ///< true if its runs are overlaid
        bool hasView = false;          ///< true if baseline and view are set
        std::set<std::string> awaited; ///< overlaid runs that have not been read
    };

    ShownRuns& m_shown;
    RunArchive& m_archive;
    NotesPanel& m_panel;
    std::optional<Showing> m_showing;
};

PageCommands::PageCommands(const WindowParts& parts, OpenCommands& open)
    : CommandGroup(parts),
      m_shown(m_workspace.shownRuns()),
      m_archive(parts.archive),
      m_panel(m_workspace.view<NotesPanel>())
{
    connectPanel();
    connect(&m_session, &DocumentSession::aboutToClose, &m_panel, &NotesPanel::commit);
    connect(&m_session, &DocumentSession::opened, this, [this] {
        m_showing.reset();
        m_panel.setPage({}, {});
        refresh();
    });
    connect(&open, &OpenCommands::pageGiven, this, [this](const QString& name) { this->open(name); });
    // Later, because those who follow the list overlay runs of their own.
    const auto later = [this] {
        QMetaObject::invokeMethod(
            this, [this] { proceed(); }, Qt::QueuedConnection);
    };
    connect(&m_workspace.runsModel(), &RunsModel::listed, this, &PageCommands::refresh);
    connect(&m_workspace.runsModel(), &RunsModel::listed, this, later);
    connect(&m_shown, &ShownRuns::looksChanged, this, later);
    connect(&m_shown, &ShownRuns::looksChanged, this, &PageCommands::refresh); // notes may have the keys of now
    connect(&m_shown, &ShownRuns::added, this, [this, later](const std::string& run) {
        if (m_showing && m_showing->awaited.erase(run) > 0) {
            later();
        }
    });
}

void PageCommands::connectPanel()
{
    connect(&m_panel, &NotesPanel::openRequested, this, &PageCommands::open);
    connect(&m_panel, &NotesPanel::keepRequested, this, &PageCommands::keep);
    connect(&m_panel, &NotesPanel::exportRequested, this, &PageCommands::exportPage);
    connect(&m_panel, &NotesPanel::removeRequested, this, &PageCommands::remove);
    connect(&m_panel, &NotesPanel::pageNoted, this, &PageCommands::keepNote);
    connect(&m_panel, &NotesPanel::groupNoted, this, [this](const std::string& group, const QString& note) {
        inBackground(
            m_archive.thread(), this,
            [at = folder(), group, text = note.toStdString()] { return engine::noteGroup(at, group, text); },
            [this](const Status& kept) {
                refuseFailed(kept);
                refresh(); // a list that was read before lacks the note
            });
    });
}

std::filesystem::path PageCommands::folder() const
{
    const bool hasFolder = m_session.isOpen() && !m_session.isDraft();
    return hasFolder ? m_session.directory() / projects::kRunsFolder : std::filesystem::path();
}

void PageCommands::refuseFailed(const Status& status)
{
    if (!status) {
        refuse(QString::fromStdString(status.error().text()));
    }
}

void PageCommands::refresh()
{
    inBackground(
        m_archive.thread(), this, [at = folder()] { return std::pair(engine::listPages(at), engine::groupNotes(at)); },
        [this, at = folder()](std::pair<std::vector<std::string>, std::map<std::string, std::string>> found) {
            if (at != folder()) {
                return; // another project is open meanwhile
            }
            QStringList names;
            std::ranges::transform(found.first, std::back_inserter(names), &QString::fromStdString);
            m_panel.setPages(names);
            m_panel.setGroupNotes(std::move(found.second));
        });
}

void PageCommands::open(const QString& name)
{
    const auto file = engine::pageFile(folder(), name.toStdString());
    if (!file) {
        refuse(QString::fromStdString(file.error().text()));
        return;
    }
    inBackground(
        m_archive.thread(), this, [file = *file] { return engine::readPage(file); },
        [this, at = folder(), name](Result<engine::StudyPage> page) {
            if (at != folder()) {
                return; // another project is open meanwhile
            }
            if (!page) {
                refuse(QString::fromStdString(page.error().text()));
                return;
            }
            m_panel.setPage(name, QString::fromStdString(page->notes));
            m_showing = Showing{name, std::move(*page), false, false, {}};
            proceed();
        });
}

std::string PageCommands::keyOf(const std::string& path) const
{
    const std::string key = path.empty() ? std::string() : (folder() / path).string();
    return m_workspace.runsModel().indexOf(key).isValid() ? key : std::string();
}

void PageCommands::showRuns()
{
    const engine::StudyPage& page = m_showing->page;
    const engine::PageRuns found = engine::runsOf(page, m_workspace.runsModel().runs(), folder());
    std::set<std::string> wanted;
    for (const engine::RunInfo& run : found.runs) {
        wanted.insert(run.directory);
        if (!m_shown.isOverlaid(run.directory)) {
            m_showing->awaited.insert(run.directory);
        }
    }
    for (const ShownRuns::Run& run : std::vector(m_shown.runs())) {
        if (!wanted.contains(run.key)) {
            m_shown.removeOverlay(run.key);
        }
    }
    if (const std::string front = keyOf(page.front); !front.empty() || !wanted.empty()) {
        m_shown.bringToFront(front.empty() ? *wanted.begin() : front);
    }
    for (const std::string& run : wanted) {
        m_shown.overlay(run);
    }
    m_shown.choose(keyOf(page.chosen));
    if (!found.missing.empty()) {
        constexpr std::size_t kMostNamed = 10;
        QStringList names;
        std::ranges::transform(found.missing | std::views::take(kMostNamed), std::back_inserter(names),
                               &QString::fromStdString);
        if (found.missing.size() > kMostNamed) {
            names << tr("and %n more", nullptr, static_cast<int>(found.missing.size() - kMostNamed));
        }
        m_banner.say(
            BannerKind::Note,
            tr("The page %1 has runs that are not here: %2.").arg(m_showing->name, names.join(QStringLiteral(", "))));
    }
}

void PageCommands::proceed()
{
    if (!m_showing || m_workspace.runsModel().runs().empty()) {
        return;
    }
    if (!std::exchange(m_showing->hasRuns, true)) {
        showRuns();
    }
    engine::StudyPage& page = m_showing->page;
    const bool isFirst = !m_showing->hasView;
    if (isFirst) {
        const std::string baseline = keyOf(page.baseline);
        const bool isGroup = !baseline.empty() && !page.baselineAlone;
        if (isGroup && m_shown.lookOf(baseline) == nullptr) {
            return; // its group is not known yet
        }
        m_showing->hasView = true;
        m_shown.setBaseline(isGroup ? m_shown.groupOf(baseline) : baseline);
        bringForward(m_workspace, page.view);
        showColumnsAndCurves(m_workspace, page.view, folder());
    }
    const std::size_t left = page.view.controls.size();
    takeChoices(m_workspace, page.view);
    if (isFirst || page.view.controls.size() != left) {
        zoomPlots(m_workspace, page.view); // a choice shows everything
    }
    if (m_showing->awaited.empty()) {
        m_showing.reset();
    }
}

std::string PageCommands::sweepOf(const std::vector<const engine::RunInfo*>& runs) const
{
    const std::string sweep = runs.front()->membership ? runs.front()->membership->sweep : std::string();
    const auto isMember = [&](const engine::RunInfo& run) { return run.membership && run.membership->sweep == sweep; };
    const auto members = std::ranges::count_if(m_workspace.runsModel().runs(), isMember);
    const bool isWhole =
        std::ranges::all_of(runs, [&](const auto* run) { return isMember(*run); }) && members == std::ssize(runs);
    return isWhole ? sweep : std::string();
}

engine::StudyPage PageCommands::shownPage() const
{
    engine::StudyPage page;
    std::vector<const engine::RunInfo*> runs;
    for (const engine::RunInfo& run : m_workspace.runsModel().runs()) {
        const std::string path = engine::pathOnPage(folder(), run.directory);
        if (page.baseline.empty() && m_shown.isOfBaseline(run.directory)) {
            page.baseline = path;
            page.baselineAlone = run.directory == m_shown.baseline();
        }
        if (m_shown.isOverlaid(run.directory) && !path.empty()) {
            runs.push_back(&run);
            page.runs.push_back(path);
        }
    }
    if (!runs.empty()) {
        page.sweep = sweepOf(runs);
    }
    if (!page.sweep.empty()) {
        page.runs.clear(); // so that the page has later members too
    }
    page.front = m_shown.front().empty() ? "" : engine::pathOnPage(folder(), m_shown.front());
    page.chosen = m_shown.chosen().empty() ? "" : engine::pathOnPage(folder(), m_shown.chosen());
    page.notes = m_panel.pageNote().toStdString();
    page.view = keptView(m_workspace, folder());
    return page;
}

bool PageCommands::keep(const QString& name)
{
    engine::StudyPage page = shownPage();
    if (page.runs.empty() && page.sweep.empty()) {
        refuse(tr("A page needs runs: check some in the list of runs, so that their curves are drawn."));
        return false;
    }
    const QString about = page.sweep.empty() ? tr("%n runs", nullptr, static_cast<int>(page.runs.size()))
                                             : tr("the sweep %1").arg(QString::fromStdString(page.sweep));
    const QString note = m_panel.pageNote();
    inBackground(
        m_archive.thread(), this,
        [at = folder(), name, page = std::move(page)] { return engine::writePage(at, name.toStdString(), page); },
        [this, name, about, note](const Status& kept) {
            refuseFailed(kept);
            if (kept) {
                m_panel.setPage(name, note);
                this->note(tr("The page %1 is about %2").arg(name, about));
                refresh();
            }
        });
    return true;
}

/// Reads the page again, because another program may have changed it.
void PageCommands::keepNote(const QString& name, const QString& note)
{
    if (name.isEmpty()) {
        return; // it is written with the page
    }
    inBackground(
        m_archive.thread(), this,
        [at = folder(), name = name.toStdString(), text = note.toStdString()]() -> Status {
            const auto file = engine::pageFile(at, name);
            auto page = RESIDUA_TRY(file ? engine::readPage(*file) : Result<engine::StudyPage>(file.error()));
            page.notes = text;
            return engine::writePage(at, name, page);
        },
        [this](const Status& kept) { refuseFailed(kept); });
}

void PageCommands::exportPage(const QString& name)
{
    const bool isKept = keep(name);
    const auto file = engine::pageFile(folder(), name.toStdString());
    if (!isKept || !file) {
        return; // keep() reports the reason
    }
    const QString path = QFileDialog::getSaveFileName(m_window, tr("Export the page %1").arg(name),
                                                      name + QStringLiteral(".html"), tr("Page (*.html)"));
    if (path.isEmpty()) {
        return;
    }
    inBackground(
        m_archive.thread(), this, // after the page is kept
        [file = *file, path]() -> Status {
            const Result<std::string> html = report::pageHtml(file);
            return html ? writeOutput(path.toStdString(), *html) : Status(html.error());
        },
        [this, path](const Status& written) {
            refuseFailed(written);
            if (written) {
                note(tr("The page is in %1").arg(QDir::toNativeSeparators(path)));
            }
        });
}

void PageCommands::remove(const QString& name)
{
    const auto file = engine::pageFile(folder(), name.toStdString());
    if (!file) {
        return;
    }
    m_banner.ask(tr("Delete the page %1 with its note? Its runs stay.").arg(name),
                 {{tr("Delete"),
                   [this, file = *file] {
                       inBackground(
                           m_archive.thread(), this, // after a note that is being written to it
                           [file]() -> Status {
                               std::error_code code;
                               std::filesystem::remove(file, code);
                               return code ? Status(Error{file.string(), code.message()}) : Done{};
                           },
                           [this](const Status& removed) {
                               refuseFailed(removed);
                               m_panel.setPage({}, {});
                               refresh();
                           });
                   }},
                  {tr("Keep"), [] {}}});
}

} // namespace

void addPageCommands(const WindowParts& parts, OpenCommands& open)
{
    new PageCommands(parts, open);
}

} // namespace residua::app
