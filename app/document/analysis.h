// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/document/data_check.h"
#include "app/properties/place.h"
#include "projects/check/validate.h"
#include "projects/cost/cost.h"

#include <QObject>
#include <QTimer>

#include <optional>
#include <vector>

namespace residua::app {

class DocumentSession;

/// The problems and the cost of the open document, computed once per round of changes. The problems of its data, which
/// are those that would stop a run, follow when they are read. GUI thread.
class Analysis : public QObject {
    Q_OBJECT
public:
    explicit Analysis(const DocumentSession& session, QObject* parent = nullptr);

    /// Returns all problems, with pointers into the session's view of the shown tower.
    [[nodiscard]] const std::vector<projects::Problem>& problems() const { return m_problems; }
    /// Returns whether the problems of the data are known yet.
    [[nodiscard]] DataCheck::State dataState() const { return m_data.state(); }
    /// Returns the total over all towers, and the parts of the shown one. Nullopt while the network has errors.
    [[nodiscard]] const std::optional<projects::CostReport>& cost() const { return m_cost; }
    /// Returns the cost of `place`; nullopt if it has no cost of its own.
    [[nodiscard]] std::optional<projects::Cost> costOf(const Place& place) const;
    /// True if the document has changed since, so that updated() will follow.
    [[nodiscard]] bool pending() const { return m_soon.isActive(); }
    /// Sets the kind of device for the cost. Initially the CPU.
    void setDevice(projects::DeviceKind device);
    /// Computes now what is otherwise computed on return to the event loop.
    void update();

signals:
    void updated();

private:
    void checkData();
    [[nodiscard]] std::optional<projects::Cost> costOfGraph(const projects::GraphRef& graph) const;

    const DocumentSession& m_session;
    QTimer m_soon;
    DataCheck m_data;
    projects::DeviceKind m_device = projects::DeviceKind::Cpu;
    std::vector<projects::Problem> m_problems;
    std::optional<projects::SoundProject> m_sound; ///< the session's view if the network has no errors
    std::optional<projects::CostReport> m_cost;
};

} // namespace residua::app
