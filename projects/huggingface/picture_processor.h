// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from known_model.h, because the file has a format of its own.

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// The name of the file that says how transformers prepares pictures for a model.
inline constexpr const char* kPictureProcessorFile = "preprocessor_config.json";

/// Takes the normalisation and the fit of a processor's file into a project whose data are pictures. `place` is the
/// file's name in errors. Returns notes for the user about what the file says and this program does otherwise.
[[nodiscard]] Result<std::vector<std::string>> readPictureProcessor(std::string_view text, const std::string& place,
                                                                    Project& project);
/// A processor's file, with notes for the user about what this program does and transformers does otherwise.
struct WrittenProcessor {
    std::string text;
    std::vector<std::string> notes;
};
/// Returns the file for the pictures of a project: values are rescaled and normalised as its data say. Grey pictures
/// stay grey, which transformers needs for a network with one channel.
[[nodiscard]] WrittenProcessor pictureProcessorOf(const Project& project);

} // namespace residua::projects
