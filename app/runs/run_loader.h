// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/result.h"

#include <QObject>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace residua::app {

/// The curves and matrices of a run, as its store holds them.
struct RunRecord {
    std::string directory;
    std::string name;
    std::vector<engine::StepRecord> steps;
    std::vector<engine::ValidationRecord> validations;
    std::vector<engine::Matrix> matrices; ///< ascending by step
    std::vector<engine::RunEvent> events;
    std::map<std::string, std::vector<engine::MetricPoint>> figures; ///< throughput and memory, by name
};

/// Blocking; any thread.
[[nodiscard]] Result<RunRecord> loadRunRecord(const std::string& directory);

/// Reads runs on a thread of the pool, so that a long one does not stop the window.
class RunLoader : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    void load(const std::string& directory);

signals:
    void loaded(const std::shared_ptr<const residua::app::RunRecord>& record);
    void failed(const QString& reason);
};

} // namespace residua::app
