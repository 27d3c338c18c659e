// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

namespace residua::cli {

Exit saveNumbers(const std::string& csv, const std::string& what, const Arguments& arguments, const Console& console,
                 nlohmann::json told)
{
    const std::string path = arguments.text("output");
    told["file"] = path;
    return deliver({path, csv, "csv"}, "wrote " + path + ": " + what, told, console);
}

Exit saveFigure(const std::function<std::string()>& svg, const std::function<std::string()>& csv,
                const std::string& what, const Arguments& arguments, const Console& console, nlohmann::json told)
{
    const std::filesystem::path path = arguments.text("output");
    if (path.extension() == ".svg") {
        return saveNumbers(svg(), what, arguments, console, std::move(told));
    }
    return isStandardOutput(path) || path.extension() == ".csv"
               ? saveNumbers(csv(), what, arguments, console, std::move(told))
               : console.fail(Exit::Usage, {"--output", "got " + path.string() + ", expected FILE.csv, FILE.svg or -"});
}

} // namespace residua::cli
