// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/engine/gui_cost.h"

#include <ctime>

namespace residua::app {

namespace {

constexpr int kIntervalMilliseconds = 2000;

/// Returns the processor time of the calling thread so far.
double processorSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace

GuiCost::GuiCost(const EngineBridge& engine, QObject* parent) : QObject(parent), m_engine(engine)
{
    m_timer.setInterval(kIntervalMilliseconds);
    connect(&m_timer, &QTimer::timeout, this, &GuiCost::measure);
}

void GuiCost::setActive(bool active)
{
    if (active == m_timer.isActive()) {
        return;
    }
    if (active) {
        begin();
        m_timer.start();
    } else {
        m_timer.stop();
    }
}

void GuiCost::begin()
{
    m_wall.start();
    m_handedOver = m_engine.secondsHandingOver();
    m_processor = processorSeconds();
}

void GuiCost::measure()
{
    const double wall = 1e-9 * static_cast<double>(m_wall.nsecsElapsed());
    m_training = 100 * (m_engine.secondsHandingOver() - m_handedOver) / wall;
    m_core = 100 * (processorSeconds() - m_processor) / wall;
    begin();
    emit measured();
}

} // namespace residua::app
