// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/engine/engine_bridge.h"
#include "app/training/run_controller.h"
#include "engine/base/api/values.h"

#include <QComboBox>
#include <QLabel>
#include <QProgressBar>
#include <QToolBar>
#include <QToolButton>

#include <vector>

class QAction;
class QMenu;

namespace residua::app {

class ElidedLabel;
class Look;

/// The actions run, pause, step and stop, which belong to the window and are shared with menus.
struct RunActions {
    QAction* run = nullptr;
    QAction* pause = nullptr;
    QAction* step = nullptr;
    QAction* stop = nullptr;
};

class RunBar : public QToolBar {
    Q_OBJECT
public:
    RunBar(RunController& controller, const EngineBridge& engine, const RunActions& actions, const Look& look,
           QWidget* parent = nullptr);

    void setDevices(const std::vector<engine::DeviceInfo>& devices);
    /// Called if the devices cannot be listed. Known devices stay.
    void setDevicesUnknown(const QString& why);
    /// True until the devices are listed or the query fails.
    [[nodiscard]] bool awaitsDevices() const { return m_awaitsDevices; }
    /// Sets the presets by title, and the current one; −1: none of them. `custom` means that it was changed.
    void setTopologies(const QStringList& titles, int current, bool custom);
    /// Sets the menu of the places where runs train. Visible if another place than the window's engine is chosen.
    void setPlaces(QMenu& menu);
    [[nodiscard]] const QComboBox& topologyChooser() const { return *m_topology; }

signals:
    void topologyChosen(int index);
    /// The user wants to see the topologies, below the chooser.
    void topologiesWanted();
    void deviceChosen(const residua::engine::DeviceInfo& device);

private:
    void addRunButtons(const Look& look);
    void addChoices();
    void addProgress();
    void showPlace();
    void showPhase();
    void showRunText();
    void showProgress();
    [[nodiscard]] QStringList speed(const engine::RunProgress& progress) const;
    [[nodiscard]] static QStringList outcome(const engine::RunProgress& progress);
    void showCost();

    RunController& m_controller;
    const EngineBridge& m_engine;
    RunActions m_actions;
    GuiCost m_guiCost;
    std::vector<engine::DeviceInfo> m_devices;
    bool m_awaitsDevices = true;
    QToolButton* m_run = new QToolButton(this);
    QToolButton* m_place = new QToolButton(this);
    QAction* m_placeItem = nullptr; ///< of m_place in the bar
    QComboBox* m_device = new QComboBox(this);
    QComboBox* m_topology;
    QProgressBar* m_bar = new QProgressBar(this);
    QLabel* m_step = new QLabel(this);
    ElidedLabel* m_speed;
    QLabel* m_cost = new QLabel(this);
};

} // namespace residua::app
