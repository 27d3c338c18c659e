// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from the dialogs and the window, which all judge dropped and typed paths by it.

#include <QString>

#include <filesystem>
#include <functional>
#include <initializer_list>

namespace residua::app {

/// The kind of a file or folder, by its name and by the names of the files in it. Its content is not read.
enum class PathKind {
    Project, ///< a project's folder, or its project.json
    Run,     ///< a run's folder, or its run.json
    Bundle,  ///< a file of a project with its runs, *.residua
    Model,   ///< a folder with config.json, as transformers saves a model
    Tensors, ///< *.safetensors
    Picture, ///< one picture, also of a format that is not read
    File,    ///< any other file, also one that is not there
    Folder,  ///< any other folder
};
[[nodiscard]] PathKind pathKindOf(const std::filesystem::path& path);

/// Returns a function that tells why a path cannot be used ("a is the folder of a run; expected …"), or an empty text
/// if its kind is one of `kinds`. `expected` describes them: "a picture".
[[nodiscard]] std::function<QString(const QString& path)> onlyPaths(std::initializer_list<PathKind> kinds,
                                                                    const QString& expected);
/// Accepts data: a file or a folder that is no project, run, bundle or model's file. One picture is no data.
[[nodiscard]] std::function<QString(const QString& path)> onlyData();
/// Accepts a model of a tokeniser: a file.
[[nodiscard]] std::function<QString(const QString& path)> onlyTokenisers();

} // namespace residua::app
