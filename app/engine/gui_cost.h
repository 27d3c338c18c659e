// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/engine/engine_bridge.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

namespace residua::app {

/// The cost of the open window for the training, measured over the last seconds. GUI thread.
class GuiCost : public QObject {
    Q_OBJECT
public:
    explicit GuiCost(const EngineBridge& engine, QObject* parent = nullptr);

    /// Returns the share of its time that the training thread spends in delivering its numbers, in per cent. This cost
    /// exists even if a core is free for the window.
    [[nodiscard]] double trainingPercent() const { return m_training; }
    /// Returns the processor time of the GUI thread, in per cent of one core. The training loses it if no core is free.
    [[nodiscard]] double corePercent() const { return m_core; }
    /// Starts or stops the measurement.
    void setActive(bool active);

signals:
    void measured();

private:
    void begin();
    void measure();

    const EngineBridge& m_engine;
    QTimer m_timer;
    QElapsedTimer m_wall;
    double m_handedOver = 0; ///< seconds at the start of the interval
    double m_processor = 0;  ///< seconds at the start of the interval
    double m_training = 0;
    double m_core = 0;
};

} // namespace residua::app
