// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/engine/engine_bridge.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

namespace residua::app {

/// What the open window costs the training, measured over the last seconds. GUI thread.
class GuiCost : public QObject {
    Q_OBJECT
public:
    explicit GuiCost(const EngineBridge& engine, QObject* parent = nullptr);

    /// Share of its time that the training thread spent handing its numbers over, in per cent: what the window takes
    /// from it even where a core is free for the window.
    [[nodiscard]] double trainingPercent() const { return m_training; }
    /// Processor time of the GUI thread, in per cent of one core: lost to the training where no core is free.
    [[nodiscard]] double corePercent() const { return m_core; }
    /// Measures while there is something to measure.
    void setActive(bool active);

signals:
    void measured();

private:
    void begin();
    void measure();

    const EngineBridge& m_engine;
    QTimer m_timer;
    QElapsedTimer m_wall;
    double m_handedOver = 0; ///< seconds, when the interval began
    double m_processor = 0;  ///< seconds, when the interval began
    double m_training = 0;
    double m_core = 0;
};

} // namespace residua::app
