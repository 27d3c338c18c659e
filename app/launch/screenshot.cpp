// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/screenshot.h"

#include "app/actions/open_commands.h"
#include "app/actions/training_commands.h"
#include "app/canvas/canvas_widget.h"
#include "app/commands/key_bindings.h"
#include "app/help/help_window.h"
#include "app/runs/run_bar.h"
#include "app/runs/run_comparison_dialog.h"
#include "app/runs/runs_panel.h"
#include "app/views/document_views.h"
#include "app/views/run_follower.h"
#include "app/window/main_window.h"

#include <QAction>
#include <QCoreApplication>
#include <QPixmap>
#include <QTimer>

#include <cstdio>
#include <utility>

namespace residua::app {

namespace {

constexpr int kFramesUntilStill = 12; ///< for layouts, fits and replots that wait for the event loop
constexpr int kFrameMilliseconds = 40;
constexpr int kPatience = 500; ///< frames that reading runs or listing devices may take

} // namespace

Screenshot::Screenshot(MainWindow& window, LaunchOptions options, QObject* parent)
    : QObject(parent), m_window(window), m_options(std::move(options))
{
}

void Screenshot::begin()
{
    m_window.trainingCommands().keepNoEngineQuiet();
    m_window.resize(m_options.size);
    m_window.show();
    m_window.workspace().arrange(m_options.arrangement, m_options.size);
    m_window.resize(m_options.size);
    QTimer::singleShot(0, this, m_options.steps > 0 ? &Screenshot::train : &Screenshot::waitForFrames);
}

void Screenshot::train()
{
    if (!m_window.session().isOpen()) {
        fail(tr("--steps needs a project or an example to train."));
        return;
    }
    connect(&m_window.runs(), &RunController::refused, this, &Screenshot::fail);
    connect(&m_window.runs(), &RunController::phaseChanged, this, [this] {
        const RunPhase phase = m_window.runs().phase();
        if (phase == RunPhase::Paused || phase == RunPhase::Idle) {
            m_window.runs().disconnect(this);
            waitForFrames();
        }
    });
    m_window.runs().runSteps(m_options.steps);
}

bool Screenshot::openFront()
{
    switch (m_options.front) {
    case PictureFront::Workspace:
        break;
    case PictureFront::Start:
        m_window.showStartPage();
        break;
    case PictureFront::Keys:
        m_window.actions().keys->trigger();
        break;
    case PictureFront::Commands:
        m_window.actions().commands->trigger();
        break;
    case PictureFront::Help:
        if (m_window.session().isOpen()) {
            m_window.documents().choose(SectionPlace{Section::Topology});
        }
        m_window.actions().explain->trigger();
        break;
    case PictureFront::Comparison: {
        const auto& runs = m_window.workspace().runsModel().runs();
        if (runs.size() < 2) {
            return false;
        }
        emit m_window.workspace().view<RunsPanel>().compareRequested(runs[1].directory, runs[0].directory);
        break;
    }
    }
    return true;
}

QWidget* Screenshot::subject() const
{
    switch (m_options.front) {
    case PictureFront::Keys:
        return m_window.findChild<KeysDialog*>();
    case PictureFront::Help:
        return m_window.findChild<HelpWindow*>();
    case PictureFront::Comparison:
        return m_window.findChild<RunComparisonDialog*>();
    default:
        return &m_window;
    }
}

void Screenshot::waitForFrames()
{
    m_opened = m_opened || openFront();
    if (!m_opened || !subject()) {
        if (++m_waits > kPatience) {
            fail(tr("a comparison needs a project with two runs"));
            return;
        }
        QTimer::singleShot(kFrameMilliseconds, this, &Screenshot::waitForFrames);
        return;
    }
    const bool complete = !m_window.findChild<RunBar*>()->awaitsDevices() && !m_window.runFollower().isReading();
    if (!complete && ++m_waits <= kPatience) {
        m_frames = 0; // the last changes are laid out and drawn too
    }
    if (++m_frames > kFramesUntilStill) {
        take();
    } else {
        QTimer::singleShot(kFrameMilliseconds, this, &Screenshot::waitForFrames);
    }
}

void Screenshot::take()
{
    if (m_window.session().isOpen() && !m_window.workspace().canvas().drawable()) {
        fail(tr("the canvas cannot be drawn here for want of OpenGL; run it under xvfb-run"));
        return;
    }
    const QPixmap picture = subject()->grab();
    if (!picture.save(m_options.output, "PNG")) {
        fail(tr("%1 cannot be written").arg(m_options.output));
        return;
    }
    QCoreApplication::exit(0);
}

void Screenshot::fail(const QString& reason)
{
    std::fprintf(stderr, "residua: %s\n", qPrintable(reason));
    QCoreApplication::exit(1);
}

Status openAtStart(MainWindow& window, const LaunchOptions& options)
{
    if (!options.example.isEmpty()) {
        return window.openCommands().openExample(options.example.toStdString());
    }
    if (options.project.isEmpty()) {
        return Done{};
    }
    if (options.verb == LaunchVerb::Screenshot) {
        return window.openCommands().openFolder(options.project.toStdString());
    }
    window.openProject(options.project.toStdString());
    return Done{};
}

} // namespace residua::app
