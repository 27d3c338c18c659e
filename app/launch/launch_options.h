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
    Screenshot, ///< draw a state to a file and exit
    Report,     ///< residua report RUN -o FILE
    Help,
    Version,
};

/// The page or dialog of a picture in front of the workspace, or instead of it.
enum class PictureFront {
    Workspace,
    Start,      ///< the start page
    Comparison, ///< the two newest runs compared, drawn alone
    Keys,       ///< the page of keyboard shortcuts, drawn alone
    Commands,   ///< the command palette over the workspace
    Help,       ///< the help page of the project's topology, drawn alone
};

/// The parsed command line of `residua`.
struct LaunchOptions {
    LaunchVerb verb = LaunchVerb::Window;
    QString project; ///< the folder of a project or a run; for the window also a bundle
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

/// `arguments` start with the program's name. Needs no application object. Errors list the expected values.
[[nodiscard]] Result<LaunchOptions> parseLaunch(const QStringList& arguments);
[[nodiscard]] std::string launchHelp();

} // namespace residua::app
