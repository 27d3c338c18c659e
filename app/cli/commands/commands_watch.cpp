// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/runs/run_monitor.h"
#include "engine/base/api/session.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <thread>

namespace residua::cli {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kPause{500};
constexpr std::chrono::seconds kBetweenLines{10}; ///< between lines of progress, if the console cannot rewrite lines

/// Prints the news of a run that another process trains, and remembers what has been printed.
class Watcher {
public:
    explicit Watcher(const Console& console) : m_console(console) {}

    void tell(const engine::RunReader& reader, const engine::RunInfo& info)
    {
        tellEvents(reader.events());
        tellStep(info);
    }

private:
    void tellEvents(const std::vector<engine::RunEvent>& events)
    {
        for (; m_events < events.size(); ++m_events) {
            const engine::RunEvent& event = events[m_events];
            const std::string kind = engine::textOf(event.kind);
            m_console.line("step " + groupedText(event.step) + ": " + kind +
                           (event.text.empty() ? "" : ": " + event.text));
            m_console.value({{"event", kind}, {"step", event.step}, {"text", event.text}});
        }
    }

    void tellStep(const engine::RunInfo& info)
    {
        if (info.step == m_step) {
            return;
        }
        m_step = info.step;
        m_console.value({{"event", "step"},
                         {"step", info.step},
                         {"steps", info.steps},
                         {"loss", json(info.loss())}, // NaN becomes null
                         {"validation", json(info.validationLoss())}});
        const std::string text = progressText(
            {.step = info.step, .steps = info.steps, .loss = info.loss(), .validationLoss = info.validationLoss()});
        const auto now = std::chrono::steady_clock::now();
        if (m_console.rewritesProgress()) {
            m_console.status(text);
        } else if (now - m_told >= kBetweenLines) {
            m_told = now;
            m_console.line(text);
        }
    }

    const Console& m_console;
    std::size_t m_events = 0;
    std::int64_t m_step = -1;
    std::chrono::steady_clock::time_point m_told{};
};

bool isOver(engine::RunStatus status)
{
    return status != engine::RunStatus::Running && status != engine::RunStatus::Paused;
}

Exit conclude(const engine::RunReader& reader, const engine::RunInfo& info, const Console& console)
{
    console.status("");
    const Result<projects::Project> project = reader.project();
    console.value({{"event", "ended"}, {"status", engine::textOf(info.status)}, {"step", info.step}});
    if (info.status == engine::RunStatus::Failed) {
        return console.fail(Exit::RunFailed, {info.directory, "failed: " + info.message});
    }
    console.line(engine::textOf(info.status) + " at step " + groupedText(info.step) + " of " + groupedText(info.steps) +
                 ": " + resultText(info, project ? &*project : nullptr));
    return Exit::Ok;
}

Exit runWatch(const Arguments& arguments, const Console& console)
{
    const engine::RunReader reader =
        RESIDUA_TRY_OR_FAIL(Exit::RunFailed, engine::RunReader::open(arguments.positional(0)));
    Watcher watcher(console);
    for (;;) {
        const engine::RunInfo info = RESIDUA_TRY_OR_FAIL(Exit::RunFailed, reader.info());
        watcher.tell(reader, info);
        if (isOver(info.status)) {
            return conclude(reader, info, console);
        }
        if (console.outputLost()) {
            return Exit::Usage;
        }
        std::this_thread::sleep_for(kPause);
    }
}

Exit runStop(const Arguments& arguments, const Console& console)
{
    const std::string run = arguments.positional(0);
    const std::int64_t step = arguments.integer("at", 0);
    const auto asked = RESIDUA_TRY_OR_FAIL(Exit::RunFailed, engine::stopRun(run, step));
    const bool trains = asked == engine::StopAsked::Asked;
    const Result<engine::RunInfo> info = engine::readRunInfo(run);
    const std::int64_t done = info ? info->step : 0;
    const std::string when = step > done ? "after step " + groupedText(step) : "after the step under way";
    const std::string passed =
        step > 0 && step <= done
            ? " (step " + groupedText(step) + " has passed: " + groupedText(done) + " steps are recorded)"
            : std::string();
    console.line(trains ? "asked: it ends " + when + passed + ", with a checkpoint"
                        : "no process trains it: nothing is to be stopped");
    console.value({{"run", run}, {"asked", trains}, {"step", step}, {"passed", !passed.empty()}, {"done", done}});
    return Exit::Ok;
}

Exit runFetch(const Arguments& arguments, const Console& console)
{
    engine::FetchCheckpoint request = RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::FetchCheckpoint>(arguments));
    request.runDirectory = arguments.positional(0);
    Computing computing;
    RESIDUA_TRY_OR_FAIL(Exit::Usage, readPlace(computing, arguments));
    const engine::CheckpointFetched fetched =
        RESIDUA_TRY(answerOf(request, console, computing, shareTeller(console, "fetched "), "nothing was fetched"));
    remarkNotes(fetched.notes, console);
    console.line("fetched the checkpoint of step " + groupedText(fetched.step) + ", " +
                 bytesText(static_cast<double>(fetched.bytes)) + ": " + fetched.checkpoint.string());
    console.value({{"checkpoint", fetched.checkpoint.string()}, {"step", fetched.step}, {"bytes", fetched.bytes}});
    return Exit::Ok;
}

} // namespace

std::vector<Command> watchCommands()
{
    return {{"watch",
             "follow a run that another process trains, until it ends; Ctrl-C ends the watching, not the run",
             "residua-cli watch my-project/runs/first",
             {{{"RUN", "the run's directory"}}, {}},
             &runWatch},
            {"stop",
             "ask the process that trains a run, in a terminal or a window, to end it with a checkpoint",
             "residua-cli stop my-project/runs/first",
             {{{"RUN", "the run's directory"}},
              {{"at", OptionKind::Integer, "STEP", "after this step (default: the one under way)", {}, 1}}},
             &runStop},
            {"fetch",
             "copy a checkpoint of a run that trains on another machine into its directory here",
             "residua-cli fetch my-project/runs/first --step 500",
             {{{"RUN", "the run's directory on this machine"}},
              {optionsOf<engine::FetchCheckpoint>().front(), placeOption(), folderOption()}},
             &runFetch,
             Yields::Files}};
}

} // namespace residua::cli
