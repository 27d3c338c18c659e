// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/run_bar.h"

#include "app/look/format.h"
#include "app/look/theme.h"
#include "app/look/widgets.h"
#include "app/properties/customisation.h"
#include "engine/runs/results/remotes.h"
#include "visualizers/plot/arrange.h"

#include <QAction>
#include <QHBoxLayout>
#include <QMenu>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace residua::app {

namespace {

constexpr int kWidestChoice = 220;
constexpr int kProgressSteps = 1000;
constexpr int kProgressWidth = 340;
constexpr int kLeastProgress = 190; ///< minimum in a narrow window

/// As wide as the longest that it has said, so that it does not move with every step; narrower only in a narrow window.
/// Takes no room while there is no progress to show.
class ProgressArea : public QWidget {
public:
    ProgressArea(const QProgressBar& bar, QWidget* parent) : QWidget(parent), m_bar(bar) {}
    [[nodiscard]] QSize sizeHint() const override
    {
        const QSize wanted = QWidget::sizeHint();
        if (m_bar.isHidden()) {
            return wanted;
        }
        m_widest = std::max(m_widest, wanted.width());
        return {m_widest, wanted.height()};
    }
    [[nodiscard]] QSize minimumSizeHint() const override
    {
        return {m_bar.isHidden() ? 0 : kLeastProgress, QWidget::minimumSizeHint().height()};
    }

private:
    const QProgressBar& m_bar;
    mutable int m_widest = kProgressWidth;
};

/// Has its list shown by somebody else.
class ListlessChoice : public QComboBox {
public:
    ListlessChoice(std::function<void()> open, QWidget* parent) : QComboBox(parent), m_open(std::move(open)) {}
    void showPopup() override { m_open(); }

private:
    std::function<void()> m_open;
};

QLabel* captionFor(QWidget* field, const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setProperty("role", QStringLiteral("muted"));
    label->setContentsMargins(4, 0, 2, 0);
    label->setBuddy(field);
    return label;
}

QString deviceLine(const engine::DeviceInfo& device)
{
    const QString name = QString::fromStdString(device.name);
    if (!device.usable) {
        return RunBar::tr("%1 — not used").arg(name);
    }
    if (device.key == "cpu") {
        return name;
    }
    const QString free = formatBytes(static_cast<double>(device.freeBytes));
    return device.withoutKernels.empty() ? RunBar::tr("%1 — %2 free").arg(name, free)
                                         : RunBar::tr("%1 — %2 free, without custom kernels").arg(name, free);
}

} // namespace

RunBar::RunBar(RunController& controller, const EngineBridge& engine, const RunActions& actions, const Look& look,
               QWidget* parent)
    : QToolBar(tr("Run"), parent),
      m_controller(controller),
      m_engine(engine),
      m_actions(actions),
      m_guiCost(engine),
      m_topology(new ListlessChoice([this] { emit topologiesWanted(); }, this)),
      m_speed(new ElidedLabel(Qt::ElideRight, this))
{
    setObjectName(QStringLiteral("runBar"));
    setMovable(false);
    setIconSize({16, 16});
    addRunButtons(look);
    addSeparator();
    addChoices();
    auto* gap = new QWidget(this);
    gap->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    addWidget(gap);
    addProgress();
    connect(m_topology, &QComboBox::activated, this, &RunBar::topologyChosen);
    connect(m_device, &QComboBox::activated, this, [this](int index) {
        m_controller.setDevice(m_devices.at(static_cast<std::size_t>(index)).key);
        emit deviceChosen(m_devices.at(static_cast<std::size_t>(index)));
    });
    connect(&controller, &RunController::phaseChanged, this, &RunBar::showPhase);
    connect(&controller, &RunController::progressed, this, &RunBar::showProgress);
    connect(&controller, &RunController::started, this, &RunBar::showProgress);
    showPhase();
}

void RunBar::addRunButtons(const Look& look)
{
    // Not the action's own button, because on the accent colour the icon needs another colour than in the menu.
    m_run->setObjectName(QStringLiteral("runButton"));
    m_run->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    connect(m_actions.run, &QAction::changed, m_run, [this] { m_run->setToolTip(m_actions.run->toolTip()); });
    connect(m_run, &QToolButton::clicked, m_actions.run, &QAction::trigger);
    addWidget(m_run);
    for (QAction* action : {m_actions.pause, m_actions.step, m_actions.stop}) {
        addAction(action);
    }
    const auto colourRun = [this, &look] {
        m_run->setIcon(themedIcon(QStringLiteral("run"), look.theme().colour(QStringLiteral("onAccent"))));
    };
    connect(&look, &Look::changed, this, colourRun);
    colourRun();
}

void RunBar::addChoices()
{
    visualizers::setNames(*m_place, "placeChooser", tr("Train in"), tr("Where the next run of this project trains"));
    m_place->setPopupMode(QToolButton::InstantPopup);
    m_placeItem = addWidget(m_place);
    connect(&m_engine, &EngineBridge::placeChanged, this, &RunBar::showPlace);
    showPlace();
    addWidget(captionFor(m_device, tr("Device"), this));
    visualizers::setNames(*m_device, "deviceChooser", tr("Device"));
    m_device->setSizeAdjustPolicy(QComboBox::AdjustToContents); // its list arrives when the engine is loaded
    m_device->setPlaceholderText(tr("…"));
    m_device->setMinimumWidth(80);
    m_device->setMaximumWidth(kWidestChoice);
    addWidget(m_device);
    addWidget(captionFor(m_topology, tr("Topology"), this));
    visualizers::setNames(*m_topology, "topologyChooser", tr("Topology preset"));
    m_topology->setSizeAdjustPolicy(QComboBox::AdjustToContents); // its list arrives when a project is opened
    m_topology->setMinimumWidth(110);
    m_topology->setMaximumWidth(kWidestChoice);
    m_topology->setToolTip(tr("Wire the depth as a known method does; the canvas changes single shortcuts"));
    addWidget(m_topology);
}

void RunBar::setPlaces(QMenu& menu)
{
    m_place->setMenu(&menu);
}

void RunBar::showPlace()
{
    const engine::EngineRemote& place = m_engine.place();
    m_placeItem->setVisible(place.kind != engine::EngineRemote::Kind::Child);
    m_place->setText(m_engine.outlivesWindow() ? tr("in the background")
                                               : tr("in %1").arg(QString::fromStdString(place.name)));
}

void RunBar::addProgress()
{
    auto* progress = new ProgressArea(*m_bar, this);
    auto* column = new QVBoxLayout(progress);
    column->setContentsMargins(8, 0, 4, 0); // no higher than the buttons, so the height is constant
    column->setSpacing(4);
    auto* line = visualizers::makeRow(nullptr, {}, {m_step, {m_speed, 1}, m_cost});
    column->addLayout(line);
    column->addWidget(m_bar);
    m_step->setFont(numberFont());
    m_speed->setFont(numberFont());
    m_speed->setObjectName(QStringLiteral("runSpeed"));
    m_speed->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_speed->setProperty("role", QStringLiteral("muted"));
    m_cost->setFont(numberFont());
    m_cost->setProperty("role", QStringLiteral("faint"));
    m_cost->setContentsMargins(10, 0, 0, 0);
    m_cost->setAccessibleName(tr("What the window costs the training"));
    m_cost->hide();
    connect(&m_guiCost, &GuiCost::measured, this, &RunBar::showCost);
    m_bar->setRange(0, kProgressSteps);
    m_bar->setTextVisible(false);
    m_bar->setAccessibleName(tr("Progress of the run"));
    addWidget(progress);
}

void RunBar::setDevices(const std::vector<engine::DeviceInfo>& devices)
{
    const QSignalBlocker quiet(m_device);
    m_awaitsDevices = false;
    const int before = m_device->currentIndex();
    const std::string kept = before >= 0 ? m_devices.at(static_cast<std::size_t>(before)).key : std::string();
    m_devices = devices;
    m_device->clear();
    QStringList notes;
    int chosen = -1;
    auto* model = qobject_cast<QStandardItemModel*>(m_device->model());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const engine::DeviceInfo& device = devices[i];
        m_device->addItem(deviceLine(device));
        if (!device.usable) {
            const QString reason = QString::fromStdString(device.reason);
            notes << tr("%1 is not used: %2").arg(QString::fromStdString(device.name), reason);
            m_device->setItemData(static_cast<int>(i), reason, Qt::ToolTipRole);
            model->item(static_cast<int>(i))->setEnabled(false);
            continue;
        }
        if (const QString kernels = QString::fromStdString(engine::kernelsText(device)); !kernels.isEmpty()) {
            notes << tr("%1: %2").arg(QString::fromStdString(device.name), kernels);
            m_device->setItemData(static_cast<int>(i), kernels, Qt::ToolTipRole);
        }
        if (chosen < 0 || devices[static_cast<std::size_t>(chosen)].key == "cpu") {
            chosen = static_cast<int>(i); // prefers a GPU
        }
    }
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices[i].usable && devices[i].key == kept) {
            chosen = static_cast<int>(i); // keeps the user's choice when only the free memory is updated
        }
    }
    m_device->setCurrentIndex(chosen);
    m_device->setAccessibleDescription({});
    m_device->setToolTip(notes.isEmpty() ? tr("Where the next run computes") : notes.join(QLatin1Char('\n')));
    if (chosen >= 0) {
        m_controller.setDevice(devices[static_cast<std::size_t>(chosen)].key);
        emit deviceChosen(devices[static_cast<std::size_t>(chosen)]);
    }
}

void RunBar::setDevicesUnknown(const QString& why)
{
    m_awaitsDevices = false;
    m_device->setPlaceholderText(tr("Unknown"));
    m_device->setMinimumContentsLength(static_cast<int>(m_device->placeholderText().size())); // it fits only its items
    m_device->setToolTip(why);
    m_device->setAccessibleDescription(why);
}

void RunBar::setTopologies(const QStringList& titles, int current, bool custom)
{
    const QSignalBlocker quiet(m_topology);
    m_topology->clear();
    m_topology->addItems(titles);
    m_topology->setPlaceholderText(custom && current >= 0 ? customTitle(titles.at(current)) : tr("Custom"));
    m_topology->setCurrentIndex(custom ? -1 : current);
}

void RunBar::showPhase()
{
    const RunPhase phase = m_controller.phase();
    const bool idle = phase == RunPhase::Idle;
    const bool paused = phase == RunPhase::Paused;
    m_actions.run->setEnabled(idle || paused);
    m_actions.run->setText(paused ? tr("Continue") : tr("Run"));
    showRunText();
    m_run->setEnabled(m_actions.run->isEnabled());
    m_actions.pause->setEnabled(phase == RunPhase::Running);
    m_actions.step->setEnabled(idle || paused);
    m_actions.stop->setEnabled(phase == RunPhase::Starting || phase == RunPhase::Running || paused);
    m_device->setEnabled(idle);
    m_guiCost.setActive(phase == RunPhase::Running);
    m_cost->setVisible(m_cost->isVisible() && phase == RunPhase::Running);
    showProgress();
}

/// As wide as the longer of its texts, so that other widgets do not move.
void RunBar::showRunText()
{
    int width = 0;
    for (const QString& text : {tr("Run"), tr("Continue"), m_actions.run->text()}) {
        m_run->setText(text);
        width = std::max(width, m_run->sizeHint().width());
    }
    m_run->setMinimumWidth(width);
}

void RunBar::showCost()
{
    m_cost->setText(tr("GUI %1 %").arg(m_guiCost.trainingPercent(), 0, 'f', 2));
    m_cost->setToolTip(tr("Of the training thread's time in the last two seconds, this share went into handing its "
                          "numbers to the window.\nThe window's own thread used %1 % of one core meanwhile, which "
                          "slows the training only where no core is free.")
                           .arg(m_guiCost.corePercent(), 0, 'f', 1));
    m_cost->show();
}

/// Returns the speed of the training and the remaining time.
QStringList RunBar::speed(const engine::RunProgress& progress) const
{
    const RunPhase phase = m_controller.phase();
    QStringList parts;
    if (!m_controller.isOfDocument()) { // its buttons act on this run whichever document is shown
        parts << tr("of %1").arg(QString::fromStdString(m_controller.runProject().filename().string()));
    }
    if (progress.unitsPerSecond > 0) {
        parts << tr("%1 %2/s").arg(formatCount(progress.unitsPerSecond), formatUnits(progress.unit));
    }
    if (phase == RunPhase::Running && progress.secondsLeft() >= 0) {
        parts << tr("%1 left").arg(formatDuration(progress.secondsLeft()));
    } else if (phase == RunPhase::Paused) {
        parts << tr("paused");
    } else if (phase == RunPhase::Stopping) {
        parts << tr("stopping…");
    }
    return parts;
}

/// Returns the results of the run that has ended.
QStringList RunBar::outcome(const engine::RunProgress& progress)
{
    QStringList parts;
    if (progress.step > 0 && std::isfinite(progress.loss)) {
        parts << tr("loss %1").arg(QString::number(progress.loss, 'g', 4));
    }
    if (std::isfinite(progress.validationLoss)) {
        parts << tr("validation %1").arg(QString::number(progress.validationLoss, 'g', 4));
    }
    if (progress.seconds > 0) {
        parts << formatDuration(progress.seconds);
    }
    return parts;
}

void RunBar::showProgress()
{
    const engine::RunProgress& progress = m_controller.progress();
    const RunPhase phase = m_controller.phase();
    m_bar->setVisible(progress.steps > 0);
    m_bar->setValue(progress.steps > 0 ? static_cast<int>(progress.step * kProgressSteps / progress.steps) : 0);
    if (progress.steps == 0) {
        m_step->setText(QString());
        m_speed->setText(QString());
        return;
    }
    m_step->setText(phase == RunPhase::Starting
                        ? tr("starting…")
                        : QStringLiteral("%1 / %2").arg(formatWhole(progress.step), formatWhole(progress.steps)));
    const QStringList parts = phase == RunPhase::Idle ? outcome(progress) : speed(progress);
    m_speed->setText(parts.join(QStringLiteral("  ·  ")));
    m_speed->setAccessibleName(m_speed->text());
}

} // namespace residua::app
