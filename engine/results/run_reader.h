// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/gap.h"
#include "engine/api/values.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Reads a run that may still be growing, in this process or another. One instance is used by one thread; several
/// instances may read the same run. Where its store is lost it still tells the info, the project and the checkpoints,
/// and the series are empty; of a damaged store it gives what makes sense, and faults() tells of the rest.
class RunReader {
public:
    [[nodiscard]] static Result<RunReader> open(const std::filesystem::path& runDirectory);
    RunReader(RunReader&&) noexcept;
    RunReader& operator=(RunReader&&) noexcept;
    ~RunReader();

    /// Why the store cannot be read, where that is so.
    [[nodiscard]] const std::optional<Error>& storeError() const;
    /// run.json, with step and losses as the store has them now; the loss is NaN before the first step. A run that no
    /// process writes is Interrupted where run.json still calls it running or paused.
    [[nodiscard]] Result<RunInfo> info() const;
    [[nodiscard]] Result<projects::Project> project() const;    ///< the frozen copy
    [[nodiscard]] std::vector<std::string> metricNames() const; ///< sorted
    /// Points with step > `after`, ascending; each step once. Empty where there are none.
    [[nodiscard]] std::vector<MetricPoint> metric(const std::string& name, std::int64_t after = -1) const;
    /// The last point with step <= `upTo`, without the others being read.
    [[nodiscard]] std::optional<MetricPoint> lastPoint(const std::string& name, std::int64_t upTo) const;
    /// The validation losses; where there are none, those of training.
    [[nodiscard]] std::vector<MetricPoint> judgedLosses() const;
    [[nodiscard]] std::vector<MatrixName> matrixNames() const;                         ///< sorted by their texts
    [[nodiscard]] std::vector<std::int64_t> matrixSteps(const MatrixName& name) const; ///< ascending
    /// Its values are rows · columns.
    [[nodiscard]] Result<Matrix> matrix(const MatrixName& name, std::int64_t step) const;
    [[nodiscard]] std::vector<RunEvent> events() const;
    /// What of the store could not be read until now, or made no sense and was left out. Each once, the first 30.
    [[nodiscard]] std::vector<Error> faults() const;
    /// How far the factors that the run's weights started with were from the full ones, by its one method; nullopt
    /// where none were fitted.
    [[nodiscard]] Result<std::optional<Gap>> gap() const;
    /// Steps that have a complete checkpoint, ascending.
    [[nodiscard]] std::vector<std::int64_t> checkpoints() const;

private:
    class Impl;
    explicit RunReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

/// Every run in `folder` (usually <project>/runs) and in the folders in it (a sweep's), newest first. Unreadable ones
/// come with status Failed and the reason as their message.
[[nodiscard]] std::vector<RunInfo> listRuns(const std::filesystem::path& folder);
/// The same with those of `further`, directories of runs that lie elsewhere; one that is no run any more is left out.
[[nodiscard]] std::vector<RunInfo> listRuns(const std::filesystem::path& folder,
                                            const std::vector<std::filesystem::path>& further);
/// The absolute directory of a run's project, which relative data paths start from. Whether it is there is not asked.
[[nodiscard]] Result<std::filesystem::path> projectDirectoryOf(const std::filesystem::path& runDirectory);
/// What runs are compared by: the validation loss where there is one, otherwise the training loss. Nothing unless the
/// run has finished: what it had before is no result.
[[nodiscard]] std::optional<double> finalLoss(const RunInfo& info);
/// Replaces the name in run.json; a name of nothing but space is refused.
[[nodiscard]] Status renameRun(const std::filesystem::path& runDirectory, const std::string& name);
/// Replaces tags and notes in run.json.
[[nodiscard]] Status annotateRun(const std::filesystem::path& runDirectory, const std::vector<std::string>& tags,
                                 const std::string& notes);

} // namespace residua::engine
