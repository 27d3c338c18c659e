// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/theme.h"
#include "app/workspace/workspace.h"
#include "projects/base/result.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <string>

namespace residua::app {

enum class LaunchVerb {
    Window,     ///< the workbench
    Screenshot, ///< draw a state to a file and end
    Report,     ///< residua report RUN -o FILE
    Help,
    Version,
};

/// What a picture shows before, or instead of, the workspace.
enum class PictureFront {
    Workspace,
    Start,      ///< the start page
    Comparison, ///< the two newest runs compared, drawn alone
    Keys,       ///< the page of keyboard shortcuts, drawn alone
    Commands,   ///< the command palette over the workspace
    Help,       ///< what the project's topology computes, drawn alone
};

/// The command line of `residua`.
struct LaunchOptions {
    LaunchVerb verb = LaunchVerb::Window;
    QString project; ///< a folder of one or of a run; for the window, a bundle too
    QString example;
    std::int64_t steps = 0;
    QString output; ///< of a screenshot or a report
    QString run;    ///< of a report
    QSize size{1440, 900};
    std::optional<ThemeKind> theme;
    double scale = 1;
    Arrangement arrangement;
    PictureFront front = PictureFront::Workspace;
};

/// `arguments` start with the program's name. Needs no application object. Errors say what was expected.
[[nodiscard]] Result<LaunchOptions> parseLaunch(const QStringList& arguments);
[[nodiscard]] std::string launchHelp();

} // namespace residua::app
