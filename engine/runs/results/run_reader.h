// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/gap.h"
#include "engine/base/api/values.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Reads a run that may still be growing, in this process or another. Each instance is used by one thread; several
/// instances may read the same run. If the store is lost, info, project and checkpoints are still available, and the
/// series are empty. From a damaged store, the valid parts are returned, and faults() lists the rest.
class RunReader {
public:
    [[nodiscard]] static Result<RunReader> open(const std::filesystem::path& runDirectory);
    RunReader(RunReader&&) noexcept;
    RunReader& operator=(RunReader&&) noexcept;
    ~RunReader();

    /// Returns why the store cannot be read; nullopt if it can.
    [[nodiscard]] const std::optional<Error>& storeError() const;
    /// Returns run.json, with step and values from the store; there is no loss before the first step. If run.json says
    /// running or paused but no process writes the run, the status is Interrupted.
    [[nodiscard]] Result<RunInfo> info() const;
    [[nodiscard]] Result<projects::Project> project() const;    ///< the frozen copy
    [[nodiscard]] std::vector<std::string> metricNames() const; ///< sorted
    /// Returns the points with step > `after`, ascending; each step once. Empty if the metric does not exist.
    [[nodiscard]] std::vector<MetricPoint> metric(const std::string& name, std::int64_t after = -1) const;
    /// Returns the last point with step <= `upTo` without reading the others.
    [[nodiscard]] std::optional<MetricPoint> lastPoint(const std::string& name, std::int64_t upTo) const;
    /// Sets the values of `info` to those of the last points with step <= `upTo`. Keeps values that the store lacks.
    void readValues(RunInfo& info, std::int64_t upTo) const;
    /// Returns the quantity that the run is judged by: of validation, or of training if the run has none.
    [[nodiscard]] std::vector<MetricPoint> judgedPoints() const;
    [[nodiscard]] std::vector<MatrixName> matrixNames() const;                         ///< sorted by their texts
    [[nodiscard]] std::vector<std::int64_t> matrixSteps(const MatrixName& name) const; ///< ascending
    /// Returns a matrix with rows · columns values.
    [[nodiscard]] Result<Matrix> matrix(const MatrixName& name, std::int64_t step) const;
    [[nodiscard]] std::vector<RunEvent> events() const;
    /// Returns the parts of the store that could not be read or were invalid, each once and at most 30.
    [[nodiscard]] std::vector<Error> faults() const;
    /// Returns the gap of the factors that the run's weights started with, by its one method; nullopt if no factors
    /// were fitted.
    [[nodiscard]] Result<std::optional<Gap>> gap() const;
    /// Returns the steps that have a complete checkpoint, ascending.
    [[nodiscard]] std::vector<std::int64_t> checkpoints() const;

private:
    class Impl;
    explicit RunReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

/// Opens a run for one of its parts.
[[nodiscard]] Result<RunInfo> readRunInfo(const std::filesystem::path& runDirectory);
[[nodiscard]] Result<projects::Project> readRunProject(const std::filesystem::path& runDirectory);
/// Returns every run in `folder` (usually <project>/runs) and its subfolders (of sweeps), newest first. Unreadable runs
/// have status Failed and the reason as their message.
[[nodiscard]] std::vector<RunInfo> listRuns(const std::filesystem::path& folder);
/// Also returns the runs in `further`, directories of runs elsewhere; skips those that no longer hold a run.
[[nodiscard]] std::vector<RunInfo> listRuns(const std::filesystem::path& folder,
                                            const std::vector<std::filesystem::path>& further);
/// True if any process trains a run in the folder of this project. Blocking; any thread.
[[nodiscard]] bool hasRunUnderWay(const std::filesystem::path& projectDirectory);
/// Returns the absolute directory of a run's project, where relative data paths start. It may not exist.
[[nodiscard]] Result<std::filesystem::path> projectDirectoryOf(const std::filesystem::path& runDirectory);
/// Returns the value that the run is judged by (RunInfo::judged); nullopt unless the run has finished.
[[nodiscard]] std::optional<double> finalValue(const RunInfo& info);
/// Returns the last values with step <= `upTo` that rate the run, by their metrics. Empty if the run cannot be read.
[[nodiscard]] std::map<std::string, double> valuesUpTo(const std::filesystem::path& runDirectory, std::int64_t upTo);
/// Replaces the name in run.json. Returns an error if the name is blank.
[[nodiscard]] Status renameRun(const std::filesystem::path& runDirectory, const std::string& name);
/// Replaces tags and notes in run.json.
[[nodiscard]] Status annotateRun(const std::filesystem::path& runDirectory, const std::vector<std::string>& tags,
                                 const std::string& notes);

} // namespace residua::engine
