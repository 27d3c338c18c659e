// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Private to network.cpp: what is checked before a network is built.

#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/nodes/example_schema.h"

#include <string>

namespace residua::engine {

/// Returns an error if the data do not match the document.
[[nodiscard]] Status checkExamples(const projects::Project& project, const projects::ExampleSchema& examples);
/// Returns an error if the device has too little memory for the weights. Checks the size before allocating, because the
/// kernel may overcommit memory and kill the process later.
[[nodiscard]] Status checkWeights(const projects::SoundProject& project, const std::string& device);

} // namespace residua::engine
