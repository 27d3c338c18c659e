// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <memory>
#include <utility>

namespace residua::projects {

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
    explicit SoundProject(std::shared_ptr<const Project> project) : m_project(std::move(project)) {}

    std::shared_ptr<const Project> m_project;
};

/// Returns the document, or the first error that prevents it from being sound. A snapshot is shared and not copied; it
/// must not be null.
[[nodiscard]] Result<SoundProject> soundProject(std::shared_ptr<const Project> project);
[[nodiscard]] Result<SoundProject> soundProject(Project project);

} // namespace residua::projects
