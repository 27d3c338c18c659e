// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/screenshot.h"

#include "app/canvas/canvas_widget.h"
#include "app/window/main_window.h"

#include <QCoreApplication>
#include <QPixmap>
#include <QTimer>

#include <cstdio>
#include <utility>

namespace residua::app {

namespace {

constexpr int kFramesToSettle = 12; ///< layouts, fits and replots that wait for the event loop
constexpr int kFrameMilliseconds = 40;

} // namespace

Screenshot::Screenshot(MainWindow& window, LaunchOptions options, QObject* parent)
    : QObject(parent), m_window(window), m_options(std::move(options))
{
}

void Screenshot::begin()
{
    m_window.resize(m_options.size);
    m_window.show();
    m_window.workspace().arrange(m_options.view, m_options.size);
    m_window.resize(m_options.size);
    QTimer::singleShot(0, this, m_options.steps > 0 ? &Screenshot::train : &Screenshot::settle);
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
            settle();
        }
    });
    m_window.runs().runSteps(m_options.steps);
}

void Screenshot::settle()
{
    if (++m_frames > kFramesToSettle) {
        take();
    } else {
        QTimer::singleShot(kFrameMilliseconds, this, &Screenshot::settle);
    }
}

void Screenshot::take()
{
    if (m_window.session().isOpen() && !m_window.workspace().canvas().drawable()) {
        fail(tr("the canvas cannot be drawn here for want of OpenGL; run it under xvfb-run"));
        return;
    }
    const QPixmap picture = m_window.grab();
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

} // namespace residua::app
