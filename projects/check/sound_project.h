// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <memory>
#include <utility>

namespace residua::projects {

/// A document whose network is sound: validate() finds no error in its network, its wiring and the sizes of a step. So
/// every wire has its ends, every port its shape, and no number is absurd. Elsewhere it may have errors yet: what a
/// network costs can be told before its data has a path. What needs a sound network takes this type, which
/// soundProject() alone makes; it is a snapshot that nothing changes, and cheap to copy.
class SoundProject {
public:
    [[nodiscard]] const Project& operator*() const { return *m_project; }
    [[nodiscard]] const Project* operator->() const { return m_project.get(); }

private:
    friend Result<SoundProject> soundProject(std::shared_ptr<const Project> project);
    explicit SoundProject(std::shared_ptr<const Project> project) : m_project(std::move(project)) {}

    std::shared_ptr<const Project> m_project;
};

/// The document, or the first error that stands in the way. Of a snapshot, the same object and no copy of it; never
/// null.
[[nodiscard]] Result<SoundProject> soundProject(std::shared_ptr<const Project> project);
[[nodiscard]] Result<SoundProject> soundProject(Project project);

} // namespace residua::projects
