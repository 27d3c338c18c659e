// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/run_settings_dialog.h"

#include "app/canvas/canvas_widget.h"
#include "app/look/theme.h"
#include "app/runs/settings_list.h"
#include "editor/canvas/canvas.h"
#include "projects/commands/commands.h"
#include "projects/diff/diff.h"
#include "visualizers/plot/arrange.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include <memory>
#include <utility>

namespace residua::app {

namespace {

constexpr QSize kSize(820, 640);
constexpr QSize kLeastCanvas(300, 180);

} // namespace

RunSettingsDialog::RunSettingsDialog(const QString& run, projects::Project trained, const Look& look, QWidget* parent)
    : QDialog(parent), m_run(run), m_trained(std::move(trained)), m_settings(new SettingsList(this)), m_use(nullptr)
{
    setObjectName(QStringLiteral("runSettings"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Settings of %1").arg(run));
    resizeWithinScreen(*this, kSize);
    m_settings->setTitles(tr("the project has"), tr("the run has"));
    m_settings->setInvitation(tr("The project has every setting that the run was trained with."));
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(makeWiring(look));
    split->addWidget(m_settings);
    split->setChildrenCollapsible(false);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_use = buttons->addButton(tr("Use the chosen settings"), QDialogButtonBox::ActionRole);
    visualizers::setNames(*m_use, "useSettings", {}, tr("Change the project so that it has them; one step to undo"));
    visualizers::makeColumn(this, {}, {{split, 1}, buttons});
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_settings, &SettingsList::chosenChanged, this,
            [this] { m_use->setEnabled(!m_settings->chosen().empty()); });
    connect(m_use, &QPushButton::clicked, this, [this] {
        emit editRequested(
            projects::editOf(tr("Use the settings of %1").arg(m_run).toStdString(), m_settings->chosen()));
    });
}

/// A canvas that is only looked at: what it asks for is left unheard.
QWidget* RunSettingsDialog::makeWiring(const Look& look)
{
    auto* wiring = new QWidget(this);
    const std::string name = projects::wiringName(m_trained.stack().topology, m_trained.network);
    auto* title = new QLabel(tr("Wired as %1").arg(QString::fromStdString(name)), wiring);
    title->setTextFormat(Qt::PlainText);
    setRole(*title, QStringLiteral("heading"));
    auto* canvas = new CanvasWidget(editor::makeDepthCanvas(), wiring);
    visualizers::setNames(*canvas, "runWiring", tr("The wiring of the run"));
    canvas->setMinimumSize(kLeastCanvas);
    canvas->setTheme(look.theme().kind());
    canvas->canvas().setDocument(std::make_shared<const projects::Document>(projects::Document{m_trained, {}}));
    canvas->refresh();
    connect(&look, &Look::changed, canvas, [canvas, &look] { canvas->setTheme(look.theme().kind()); });
    visualizers::makeColumn(wiring, visualizers::kNoMargins, {title, {canvas, 1}});
    return wiring;
}

void RunSettingsDialog::setDocument(const projects::Document& document)
{
    m_settings->setSettings(projects::settingsThatDiffer(document, m_trained), Qt::Checked);
}

} // namespace residua::app
