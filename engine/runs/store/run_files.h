// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/environment.h"
#include "engine/base/api/gap.h"
#include "engine/base/api/session.h"
#include "engine/base/api/values.h"
#include "engine/base/files/safetensors.h"
#include "projects/base/files.h"
#include "projects/base/result.h"
#include "projects/depth/depth_plan.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// A source of a run's examples, as the run records it: files below a path, a tokeniser's model, or a generator.
struct DataPart {
    std::string name;       ///< the path in the project, or the generator's kind
    std::int64_t files = 0; ///< 0: a generator
    std::int64_t bytes = 0; ///< of all files
    std::string content;    ///< the hexadecimal hash of the files, or the generator's parameters and seed
    /// A hash of every byte, for files with a `content` that covers only some blocks. May be empty.
    std::string everyByte = {};
    bool operator==(const DataPart&) const = default;
};

/// Identifies the data of a run (engine/data/sets/fingerprint.h). Never empty for existing data.
using DataFingerprint = std::vector<DataPart>;

inline constexpr const char* kLockFile = "lock";
inline constexpr const char* kFrozenProject = "project";

/// The other machine that a run is on. The run's directory here records what happens there. It names no program: the
/// user's list of places has the command line (engine/runs/results/remotes.h).
struct RemoteRun {
    std::string place;               ///< its name in that list
    std::filesystem::path folder;    ///< the place's folder
    std::filesystem::path directory; ///< of the run there, relative to the folder; leads to a place below it
    std::string formerCommand = {};  ///< a command line that an earlier version recorded: shown, never run
    bool operator==(const RemoteRun&) const = default;
};

/// The contents of run.json: RunInfo, the start of relative data paths, and the data's fingerprint.
struct RunFile {
    RunInfo info;                           ///< its parent is an absolute path
    std::filesystem::path projectDirectory; ///< as returned by keptProjectDirectory()
    std::optional<DataFingerprint> data;    ///< nullopt for a run of a version without fingerprints
    std::string identity = {}; ///< identifies the run to its checkpoints; empty for a run of an earlier version
    std::optional<RemoteRun> remote = std::nullopt; ///< nullopt for a run on this machine
};
/// Reads run.json. Errors name the field, its value and the expected one.
[[nodiscard]] Result<RunFile> readRunFile(const std::filesystem::path& runDirectory);
/// Reads the text of a run.json. `path` is named in errors, and its folder is the run's directory.
[[nodiscard]] Result<RunFile> runFileFrom(const std::filesystem::path& path, const std::string& text);
/// Returns the text of run.json, with the parent's path as in `file`.
[[nodiscard]] std::string runFileText(const RunFile& file);
/// Replaces run.json atomically. If run.json is a link, replaces the link, not its target.
[[nodiscard]] Status writeRunFile(const std::filesystem::path& runDirectory, const RunFile& file);
/// Returns the path of a project's directory to store in its run. It is relative to the run if the run is inside the
/// project, so that both can be moved together, or if both are given as relative paths; else absolute. If
/// `projectDirectory` is empty, uses the working directory.
[[nodiscard]] std::filesystem::path keptProjectDirectory(const std::filesystem::path& runDirectory,
                                                         const std::filesystem::path& projectDirectory);
/// Returns the stored path as an absolute path.
[[nodiscard]] std::filesystem::path resolvedProjectDirectory(const std::filesystem::path& runDirectory,
                                                             const std::filesystem::path& kept);
/// Returns the path of the run's parent to store in run.json. It is relative to the run if both are in one folder, or
/// in one project directory (as from keptProjectDirectory()); else absolute. Empty if the run has no parent.
[[nodiscard]] std::filesystem::path keptParent(const std::filesystem::path& runDirectory, const RunFile& file);

/// Prevents other processes from replacing run.json between a read and a write, during the value's lifetime. Waits at
/// most `patience`; others hold this for milliseconds.
[[nodiscard]] Result<FileDescriptor> guardRunFile(const std::filesystem::path& runDirectory,
                                                  std::chrono::milliseconds patience = std::chrono::seconds(10));

/// Marks the run as being written until the value is destroyed or the process ends. Refused while another process holds
/// it.
[[nodiscard]] Result<FileDescriptor> lockRun(const std::filesystem::path& runDirectory);
/// True if a process is writing the run. Does not take the lock.
[[nodiscard]] bool isRunLocked(const std::filesystem::path& runDirectory);

/// Writes gap.json of a run: the errors of its initial factors against the full weights, for one method.
[[nodiscard]] Status writeGap(const std::filesystem::path& runDirectory, const Gap& gap);
/// Reads gap.json; nullopt if the run has none. Errors name the field, its value and the expected one.
[[nodiscard]] Result<std::optional<Gap>> readGap(const std::filesystem::path& runDirectory);

/// The record of a run whose first weights were imported: import.json, which its branches have too. An export restores
/// these settings.
struct ImportRecord {
    std::string source;                      ///< the name of the folder
    std::string config;                      ///< its unchanged config.json
    StoredType type = StoredType::F32;       ///< of most of its tensors
    std::map<std::string, StoredType> types; ///< of tensors with another type
};
/// Reads import.json; nullopt if the run has none. Returns an error if it is damaged.
[[nodiscard]] Result<std::optional<ImportRecord>> readImport(const std::filesystem::path& runDirectory);
[[nodiscard]] Status writeImport(const std::filesystem::path& runDirectory, const ImportRecord& record);

/// The cells of mixing weights in recorded matrices.

/// Adds to `result` the matrices of `kind` (one per port if layers have several) from one value per term of the plan;
/// NaN where there is no shortcut.
void addMatrices(std::vector<Matrix>& result, const std::string& kind, const projects::DepthPlan& plan,
                 std::span<const float> values, std::int64_t step);

} // namespace residua::engine
