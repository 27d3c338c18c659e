// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/huggingface/known_model.h"
#include "projects/model/project.h"

#include <cstdint>
#include <string>

namespace residua::projects {

/// Returns the length of the sequences that projectOf() trains on.
[[nodiscard]] std::int64_t trainedLength(const KnownModel& model);
/// Returns a project that continues training from given weights. Its network is a stack of one block, or of two if only
/// later layers have a window. It reads the padding mask and the segments if the examples of the source have them.
[[nodiscard]] Project projectOf(const KnownModel& model, const std::string& name, const Source& source);

} // namespace residua::projects
