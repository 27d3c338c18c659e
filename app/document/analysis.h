// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/place.h"
#include "projects/check/validate.h"
#include "projects/cost/cost.h"

#include <QObject>
#include <QTimer>

#include <optional>
#include <vector>

namespace residua::app {

class DocumentSession;

/// What follows from the open document: its problems and its cost. Worked out once per round of changes. GUI thread.
class Analysis : public QObject {
    Q_OBJECT
public:
    explicit Analysis(const DocumentSession& session, QObject* parent = nullptr);

    [[nodiscard]] const std::vector<projects::Problem>& problems() const { return m_problems; }
    /// nullopt while the network has errors (the problems say which).
    [[nodiscard]] const std::optional<projects::CostReport>& cost() const { return m_cost; }
    /// The part of the cost that `place` is to blame for; nullopt where it has none of its own.
    [[nodiscard]] std::optional<projects::Cost> costOf(const Place& place) const;
    /// Whether the document changed since, so that updated() is to come.
    [[nodiscard]] bool pending() const { return m_soon.isActive(); }
    /// Sets the kind of device that the cost is for; the CPU at first.
    void setDevice(projects::DeviceKind device);
    /// Works out now what is otherwise worked out on return to the event loop.
    void update();

signals:
    void updated();

private:
    [[nodiscard]] std::optional<projects::Cost> costOfGraph(const projects::GraphRef& graph) const;

    const DocumentSession& m_session;
    QTimer m_soon;
    projects::DeviceKind m_device = projects::DeviceKind::Cpu;
    std::vector<projects::Problem> m_problems;
    std::optional<projects::SoundProject> m_sound; ///< the document, where its network has no errors
    std::optional<projects::CostReport> m_cost;
};

} // namespace residua::app
