// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::projects {

enum class Severity { Error, Warning };

/// A problem that prevents training (Error) or that the user should check (Warning).
struct Problem {
    Severity severity = Severity::Error;
    std::string path;    ///< JSON pointer into project.json, to navigate to it
    std::string place;   ///< for people: "block transformer · node up"
    std::string message; ///< the value got and the values expected
    /// A value of the field at `path` with which the problem is gone; nullopt if none is known.
    std::optional<std::int64_t> wanted = std::nullopt;

    [[nodiscard]] std::string text() const; ///< "[place] message"
    bool operator==(const Problem&) const = default;
};

/// Returns all problems, errors first, then in document order. The project can be trained if it has no errors. Does not
/// open the files of data sources; the engine's data module checks them before training.
[[nodiscard]] std::vector<Problem> validate(const Project& project);
/// Returns the first error of the data, of the length of an example, and of a full batch. The data module checks this
/// before it generates or reads data.
[[nodiscard]] Status checkData(const Project& project);
[[nodiscard]] bool hasErrors(const std::vector<Problem>& problems);

/// The most layers, or halves of layers, that a mix reads. The mixing kernels also read the stack's input.
inline constexpr std::int64_t kMostMixedLayers = 511;

/// Returns an error for each part of the document that the engine cannot run yet. This is the only such list: remove a
/// line when the engine supports it.
[[nodiscard]] std::vector<Problem> unsupported(const Project& project);

/// A document whose network is sound: validate() finds no error in its network, its wiring and the sizes of a step.
/// Every wire has its ends, every port its shape, and all sizes are valid. Other parts may still have errors, so that
/// the cost of a network is known before its data has a path. Code that needs a sound network takes this type. Only
/// soundProject() makes it. It is an immutable snapshot that is cheap to copy.
class SoundProject {
public:
    [[nodiscard]] const Project& operator*() const { return *m_project; }
    [[nodiscard]] const Project* operator->() const { return m_project.get(); }

private:
    friend Result<SoundProject> soundProject(std::shared_ptr<const Project> project);
    friend SoundProject viewOf(const SoundProject& project, std::size_t index);
    explicit SoundProject(std::shared_ptr<const Project> project) : m_project(std::move(project)) {}

    std::shared_ptr<const Project> m_project;
};

/// Returns the document, or the first error that prevents it from being sound. A snapshot is shared and not copied; it
/// must not be null.
[[nodiscard]] Result<SoundProject> soundProject(std::shared_ptr<const Project> project);
[[nodiscard]] Result<SoundProject> soundProject(Project project);
/// Returns the view of tower `index` (projects/nodes/towers.h), whose graphs, wiring and sizes are sound too.
[[nodiscard]] SoundProject viewOf(const SoundProject& project, std::size_t index);

} // namespace residua::projects
