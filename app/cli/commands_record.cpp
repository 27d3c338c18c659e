// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/engine_link.h"
#include "app/report/comparison.h"
#include "app/report/report.h"
#include "engine/api/run_reader.h"
#include "projects/store.h"

#include <nlohmann/json.hpp>

#include <variant>

namespace residua::cli {
namespace {

using nlohmann::json;

Exit runRuns(const Arguments& arguments, const Console& console)
{
    std::filesystem::path folder = arguments.positional(0);
    std::error_code ignored;
    if (std::filesystem::exists(folder / projects::kProjectFile, ignored)) {
        folder /= projects::kRunsFolder;
    }
    std::vector<std::vector<std::string>> rows{{"run", "status", "step", "loss", "validation", "device", "created"}};
    json list = json::array();
    for (const engine::RunInfo& run : engine::listRuns(folder)) {
        const std::string name = std::filesystem::path(run.directory).filename().string();
        rows.push_back({name, engine::toString(run.status), grouped(run.step) + "/" + grouped(run.steps),
                        lossText(run.loss), lossText(run.validationLoss), run.device, run.created});
        list.push_back({{"directory", run.directory},
                        {"name", run.name},
                        {"status", engine::toString(run.status)},
                        {"message", run.message},
                        {"step", run.step},
                        {"steps", run.steps},
                        {"loss", run.loss},
                        {"validationLoss", run.validationLoss},
                        {"device", run.device},
                        {"created", run.created}});
    }
    console.line(rows.size() > 1 ? table(rows) : "no runs in " + folder.string());
    console.value(list);
    return Exit::Ok;
}

Exit runReport(const Arguments& arguments, const Console& console)
{
    const std::filesystem::path run = arguments.positional(0);
    const std::filesystem::path output = arguments.text("output", (run / "report.html").string());
    // What is no run itself is a folder of them.
    const Status written =
        engine::RunReader::open(run) ? report::writeReport(run, output) : report::writeComparison(run, output);
    if (!written) {
        return console.fail(Exit::RunFailed, written.error());
    }
    console.line("wrote " + output.string());
    console.value({{"report", output.string()}});
    return Exit::Ok;
}

Exit runDevices(const Arguments&, const Console& console)
{
    EngineLink link;
    link.post(engine::ListDevices{engine::QueryTag{1}});
    const std::optional<engine::Event> answer = link.next();
    const auto* const listed = answer ? std::get_if<engine::DevicesListed>(&*answer) : nullptr;
    if (listed == nullptr) {
        return Exit::Interrupted;
    }
    json list = json::array();
    for (const engine::DeviceInfo& device : listed->devices) {
        const std::string memory = device.totalBytes > 0
                                       ? bytesText(static_cast<double>(device.freeBytes)) + " free of " +
                                             bytesText(static_cast<double>(device.totalBytes))
                                       : "";
        console.line(device.key + "  " + device.name + (memory.empty() ? "" : ", " + memory) +
                     (device.usable ? "" : "  not usable: " + device.reason));
        list.push_back({{"key", device.key},
                        {"name", device.name},
                        {"usable", device.usable},
                        {"reason", device.reason},
                        {"freeBytes", device.freeBytes},
                        {"totalBytes", device.totalBytes}});
    }
    console.value(list);
    return Exit::Ok;
}

} // namespace

std::vector<Command> recordCommands()
{
    return {
        {"runs",
         "list runs, the newest first",
         "residua-cli runs my-project",
         {{{"DIR", "a project's directory, or a folder of runs"}}, {}},
         &runRuns},
        {"report",
         "write a run, or a comparison of the runs in a folder, as one HTML page",
         "residua-cli report my-project/runs/RUN -o report.html",
         {{{"RUN", "a run's directory, or a folder of runs"}},
          {{"output", OptionKind::Text, "FILE", "the page (default: RUN/report.html)", "o"}}},
         &runReport},
        {"devices", "list where a run can compute", "residua-cli devices", {}, &runDevices},
    };
}

} // namespace residua::cli
