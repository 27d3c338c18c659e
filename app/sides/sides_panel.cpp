// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sides/sides_panel.h"

#include "app/canvas/canvas_widget.h"
#include "app/canvas/shown_weights.h"
#include "app/engine/background.h"
#include "app/look/format.h"
#include "app/look/theme.h"
#include "app/records/runs_model.h"
#include "editor/canvas/canvas.h"
#include "engine/base/api/matrix_name.h"
#include "projects/diff/diff.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/runs/shown_runs.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSlider>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <set>
#include <utility>

namespace residua::app {

using visualizers::CellValue;

/// One of the runs.
struct Side {
    std::string directory;
    visualizers::ShownRuns runs; ///< the run in front is the only one
    visualizers::ShownMatrices matrices;
    std::unique_ptr<QSplitter> parts; ///< the canvas and the matrix
    CanvasWidget* canvas = nullptr;
    bool isTurned = false; ///< true once the parts have their direction and sizes
    RunMark mark;
    bool isRead = false; ///< false while its record is requested
};

namespace {

constexpr int kLowPanel = 420; ///< pixels; a lower panel has canvas and matrix beside each other
constexpr QSize kLeastPart(150, 110);
const QList<int> kShares{2000, 3000}; ///< of the canvas and of the matrix

/// Returns the kinds of matrices of shortcuts with their titles, the preferred one first.
std::vector<std::pair<std::string, QString>> namedKinds()
{
    return {{engine::matrix::kMix, SidesPanel::tr("weights applied")},
            {engine::matrix::kCoefficient, SidesPanel::tr("coefficients learned")},
            {engine::matrix::kSpread, SidesPanel::tr("spread over features")}};
}

/// Fills the box with the texts, and selects the current one again if it is among them.
void setTexts(QComboBox& box, const QStringList& texts)
{
    const QSignalBlocker quiet(box);
    const QString before = box.currentText();
    box.clear();
    box.addItems(texts);
    box.setCurrentIndex(std::max(0, static_cast<int>(texts.indexOf(before))));
    box.setVisible(texts.size() > 1);
}

} // namespace

SidesPanel::SidesPanel(const Look& look, RunsModel& runs, QWidget* parent)
    : QWidget(parent),
      m_look(look),
      m_runs(runs),
      m_invitation(new QLabel(tr("Select two to four runs in Runs, and choose Side by side in their menu."), this)),
      m_bar(new QWidget(this)),
      m_kind(new QComboBox(m_bar)),
      m_port(new QComboBox(m_bar)),
      m_value(new QComboBox(m_bar)),
      m_scrubber(new QSlider(Qt::Horizontal, m_bar)),
      m_step(new QLabel(m_bar)),
      m_scroll(nullptr),
      m_columns(nullptr)
{
    setObjectName(QStringLiteral("sidesPanel"));
    m_invitation->setAlignment(Qt::AlignCenter);
    visualizers::makeRemark(*m_invitation);
    m_kind->setAccessibleName(tr("Matrix"));
    m_port->setAccessibleName(tr("Port"));
    m_value->setAccessibleName(tr("Cell value"));
    m_value->addItems({tr("value"), tr("change since start")}); // the first values of CellValue
    m_scrubber->setAccessibleName(tr("Step of all runs"));
    m_scrubber->setToolTip(tr("Each run shows its last recorded step at or before this one"));
    m_scrubber->setMinimumWidth(120);
    auto* close = new QToolButton(m_bar);
    visualizers::setNames(*close, "closeSides", {}, tr("Return to the list of runs (Esc)"));
    close->setText(tr("Close"));
    auto* row = new visualizers::ControlRows(m_bar);
    for (QWidget* each : std::initializer_list<QWidget*>{m_kind, m_port, m_value, m_scrubber, m_step, close}) {
        row->addWidget(each);
    }
    auto* inner = new QWidget;
    m_columns = new QHBoxLayout(inner);
    m_columns->setContentsMargins(0, 0, 0, 0);
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(inner);
    m_scroll = scroll;
    visualizers::makeColumn(this, {QMargins(), 2}, {{m_invitation, 1}, m_bar, {m_scroll, 1}});
    for (QComboBox* box : {m_kind, m_port, m_value}) {
        connect(box, &QComboBox::currentIndexChanged, this, &SidesPanel::refresh);
    }
    connect(m_scrubber, &QSlider::valueChanged, this, &SidesPanel::share);
    connect(close, &QToolButton::clicked, this, &SidesPanel::leave);
    connect(&runs, &RunsModel::listed, this, &SidesPanel::follow);
    connect(&look, &Look::changed, this, [this] {
        for (const auto& side : m_sides) {
            side->canvas->setTheme(m_look.theme().kind());
        }
    });
    setRuns({});
}

SidesPanel::~SidesPanel() = default;

void SidesPanel::setRuns(const std::vector<std::string>& directories)
{
    m_sides.clear();
    for (const std::string& directory : directories) {
        addSide(directory);
    }
    m_invitation->setVisible(m_sides.empty());
    m_bar->setVisible(!m_sides.empty());
    m_scroll->setVisible(!m_sides.empty());
    turn();
    refresh();
}

void SidesPanel::addSide(const std::string& directory)
{
    auto made = std::make_unique<Side>();
    Side& side = *made;
    side.directory = directory;
    side.matrices.follow(side.runs);
    side.runs.bringToFront(directory);
    side.parts = std::make_unique<QSplitter>(Qt::Horizontal);
    side.canvas = new CanvasWidget(editor::makeDepthCanvas());
    side.canvas->setAccessibleName(tr("The wiring of the run"));
    side.canvas->setTheme(m_look.theme().kind());
    auto* view = new visualizers::HeatmapView(side.matrices);
    view->hideControls();
    view->setTheme(m_look.theme().kind());
    for (QWidget* part : std::initializer_list<QWidget*>{side.canvas, view}) {
        part->setMinimumSize(kLeastPart);
        side.parts->addWidget(part);
    }
    side.parts->setChildrenCollapsible(false);
    m_columns->addWidget(side.parts.get(), 1);
    connect(view, &visualizers::HeatmapView::cellHovered, side.canvas, [&side](int row, int column) {
        editor::ViewState state;
        if (row >= 0) {
            state.hovered = projects::Shortcut{column, row + 1};
        }
        side.canvas->canvas().setState(state);
        side.canvas->refresh();
    });
    m_sides.push_back(std::move(made));
    load(directory, {});
}

Side* SidesPanel::find(const std::string& directory) const
{
    const auto found = std::ranges::find_if(m_sides, [&](const auto& side) { return side->directory == directory; });
    return found == m_sides.end() ? nullptr : found->get();
}

void SidesPanel::load(const std::string& directory, const RunMark& since)
{
    find(directory)->isRead = false;
    inBackground(
        this, [directory, since] { return loadRunRecord(directory, Matrices::All, since); },
        [this, directory](const Result<RunRecord>& record) {
            if (Side* side = find(directory)) { // otherwise it was closed meanwhile
                side->isRead = true;
                record ? take(*side, *record) : side->matrices.setRemark(QString::fromStdString(record.error().text()));
                refresh();
            }
        });
}

void SidesPanel::take(Side& side, const RunRecord& record)
{
    if (record.since == RunMark{}) {
        side.runs.begin(side.directory, {.name = QString::fromStdString(record.name),
                                         .topology = record.project.stack().topology,
                                         .layers = record.project.network.depth(),
                                         .wiring = QString::fromStdString(projects::wiringName(
                                             record.project.stack().topology, record.project.network))});
        side.canvas->canvas().setDocument(
            std::make_shared<const projects::Document>(projects::Document{record.project, {}}));
    }
    side.runs.add(side.directory, record.numbers);
    side.mark = record.mark();
}

/// Reads the new steps of runs that are being trained.
void SidesPanel::follow()
{
    for (const auto& side : m_sides) {
        const engine::RunInfo* run = m_runs.runAt(m_runs.indexOf(side->directory));
        const bool grows =
            run && (run->status == engine::RunStatus::Running || run->status == engine::RunStatus::Paused);
        side->runs.setGrowing(grows ? std::set<std::string>{side->directory} : std::set<std::string>{});
        if (run && side->isRead && run->step > std::max<std::int64_t>(side->mark.step, 0)) {
            load(side->directory, side->mark);
        } else if (run && side->isRead && run->step < side->mark.step) { // resumed from an earlier checkpoint
            load(side->directory, {});
        }
    }
}

/// Updates the choices and the steps, which depend on the matrices of all runs.
void SidesPanel::refresh()
{
    QStringList kinds;
    QStringList ports;
    for (const auto& [kind, title] : namedKinds()) {
        const auto has = [&kind = kind](const auto& side) {
            return std::ranges::count(side->matrices.kinds(), kind) > 0;
        };
        if (std::ranges::any_of(m_sides, has)) {
            kinds << title;
        }
    }
    for (const auto& side : m_sides) {
        for (const projects::MixPort port : side->matrices.ports()) {
            const QString text = QString::fromUtf8(nameOf(port));
            if (!ports.contains(text)) {
                ports << text;
            }
        }
    }
    setTexts(*m_kind, kinds);
    setTexts(*m_port, ports);
    const bool atNewest = m_scrubber->value() == m_scrubber->maximum();
    std::set<std::int64_t> steps;
    for (const auto& side : m_sides) {
        visualizers::ShownMatrices& matrices = side->matrices;
        for (const projects::MixPort port : matrices.ports()) { // a run with a single mix has no port to choose
            if (QString::fromUtf8(nameOf(port)) == m_port->currentText()) {
                matrices.setPort(port);
            }
        }
        for (const auto& [kind, title] : namedKinds()) {
            if (title == m_kind->currentText()) {
                matrices.setKind(kind);
            }
        }
        matrices.setValue(static_cast<CellValue>(m_value->currentIndex()));
        for (std::size_t i = 0; i < matrices.frames().count(matrices.series()); ++i) {
            steps.insert(matrices.frames().frame(matrices.series(), i).step);
        }
    }
    m_steps.assign(steps.begin(), steps.end());
    const QSignalBlocker quiet(m_scrubber);
    m_scrubber->setMaximum(std::max(0, static_cast<int>(m_steps.size()) - 1));
    m_scrubber->setEnabled(m_steps.size() > 1);
    if (atNewest) {
        m_scrubber->setValue(m_scrubber->maximum());
    }
    share();
}

/// Shows the scrubber's step in every run, on one scale.
void SidesPanel::share()
{
    std::vector<projects::WeightScale> scales;
    for (const auto& side : m_sides) {
        if (side->matrices.any()) {
            scales.push_back(side->matrices.ownScale());
        }
    }
    const auto at = static_cast<std::size_t>(m_scrubber->value());
    m_step->setText(m_steps.empty() ? QString() : tr("step %1").arg(formatWhole(m_steps.at(at))));
    for (const auto& side : m_sides) {
        visualizers::ShownMatrices& matrices = side->matrices;
        if (matrices.any()) {
            matrices.shareScale(visualizers::commonScale(scales));
            matrices.showStep(m_steps.at(at));
            const bool later = *matrices.step() > m_steps.at(at);
            matrices.setRemark(later ? tr("Nothing is recorded at or before step %1.").arg(formatWhole(m_steps.at(at)))
                                     : QString());
        }
        draw(*side);
    }
}

void SidesPanel::draw(Side& side) const
{
    const auto live = std::make_shared<editor::LiveWeights>();
    takeFrames(side.matrices, side.matrices.framesShown(), *live);
    side.canvas->canvas().setLive(live);
    side.canvas->refresh();
}

/// Puts canvas and matrix below each other if there is height for them.
void SidesPanel::turn()
{
    const Qt::Orientation orientation = height() < kLowPanel ? Qt::Horizontal : Qt::Vertical;
    for (const auto& side : m_sides) {
        if (side->parts->orientation() != orientation || !side->isTurned) {
            side->isTurned = true;
            side->parts->setOrientation(orientation);
            side->parts->setSizes(kShares);
        }
    }
}

void SidesPanel::leave()
{
    setRuns({});
    emit closed();
}

bool SidesPanel::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape &&
        !m_sides.empty()) {
        event->accept(); // else the window would clear its selection
        return true;
    }
    return QWidget::event(event);
}

void SidesPanel::keyPressEvent(QKeyEvent* event)
{
    event->key() == Qt::Key_Escape && !m_sides.empty() ? leave() : QWidget::keyPressEvent(event);
}

void SidesPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    turn();
}

} // namespace residua::app
