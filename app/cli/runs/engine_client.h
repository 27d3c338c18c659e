// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/terminal/console.h"
#include "engine/base/api/session.h"
#include "projects/base/result.h"

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

namespace residua::cli {

/// Decides when a run must stop so that its checkpoint is written before the time limit. The times are measured: the
/// current step, validation or checkpoint may take as long as the longest pause between two events, and the last
/// checkpoint as long as the longest one. If no checkpoint has been written by half of the time, one is requested.
class TimeLimit {
public:
    using Clock = std::chrono::steady_clock;

    TimeLimit(Clock::time_point begin, Clock::duration limit) : m_begin(begin), m_limit(limit), m_last(begin) {}

    /// Called when the training of a run begins. The members of a sweep share one limit.
    void started(Clock::time_point now);
    /// Called when an event of the run arrives.
    void heard(Clock::time_point now);
    /// Called when the event of a checkpoint arrives. Must be called before heard() of the same event, because it
    /// measures the time since the event before.
    void checkpointed(Clock::time_point now);

    enum class Act { Nothing, Checkpoint, Stop };
    /// Returns the act that is due. Each act is returned once per run.
    [[nodiscard]] Act due(Clock::time_point now);
    /// Returns the time of the next call of due(); nullopt after Stop.
    [[nodiscard]] std::optional<Clock::time_point> next() const;
    /// True if no new work may begin.
    [[nodiscard]] bool isOver(Clock::time_point now) const { return now >= stopAt(); }

private:
    enum class State { Preparing, Unmeasured, Asked, Measured, Stopped };

    [[nodiscard]] Clock::time_point stopAt() const;

    Clock::time_point m_begin;
    Clock::duration m_limit;
    Clock::time_point m_last;              ///< of the events
    Clock::duration m_longestPause{};      ///< between two events
    Clock::duration m_longestCheckpoint{}; ///< in this process
    bool m_measured = false;
    State m_state = State::Preparing;
};

/// The request of a signal.
enum class Signal {
    Interrupt,  ///< SIGINT: the user presses Ctrl-C
    Terminate,  ///< SIGTERM, SIGHUP: a scheduler, or a closed terminal; both may come more than once
    Checkpoint, ///< SIGUSR1
};

struct TimeUp {};

/// The first thing that happened while waiting.
using Heard = std::variant<engine::Event, Signal, TimeUp>;

/// A session that waits for its events and for signals to this process in one place. One instance per process. During
/// its lifetime SIGINT, SIGTERM and SIGHUP do not end the process, and SIGUSR1 is received. SIGHUP stays ignored if it
/// was (nohup). Used by the thread that made it.
class EngineClient {
public:
    using Clock = std::chrono::steady_clock;

    /// `threads` is the number of processor threads for the engine's computations; 0: all.
    explicit EngineClient(int threads = 0, const engine::EngineRemote& place = {});
    ~EngineClient();
    EngineClient(const EngineClient&) = delete;
    EngineClient& operator=(const EngineClient&) = delete;

    void post(engine::Command command) { m_session->post(std::move(command)); }
    /// Waits until `until` at most. A signal has priority over the time, and the time over events.
    [[nodiscard]] Heard next(std::optional<Clock::time_point> until = {});

private:
    [[nodiscard]] std::optional<Signal> takeSignal();
    [[nodiscard]] std::optional<engine::Event> takeEvent();

    int m_signals = -1; ///< signalfd
    int m_wake = -1;    ///< eventfd, written when an event comes
    std::mutex m_mutex; ///< guards m_events
    std::deque<engine::Event> m_events;
    std::unique_ptr<engine::Session> m_session;
};

/// The computing options that commands share.
struct Computing {
    int threads = 0;                      ///< of the processor; 0: all
    engine::EngineRemote place;           ///< a child of this process unless readPlace() says otherwise
    bool isNewPlace = false;              ///< the user's list of places does not have `place` as it is
    std::string formerCommand;            ///< the command line that the list has under its name; may be empty
    bool detach = false;                  ///< returns when the run has begun in the background
    std::shared_ptr<TimeLimit> timeLimit; ///< may be null; shared by everything that the command trains

    /// Reads the options. The time limit starts now.
    [[nodiscard]] static Computing from(const Arguments& arguments);
};

/// Reads --place, --folder and --detach.
[[nodiscard]] Status readPlace(Computing& computing, const Arguments& arguments);
/// Adds a new place to the user's list once an engine has answered there, and records that `run` is there if that is a
/// run at another place with a folder. `run` may be empty. Reports what it has changed.
void keepPlace(const Computing& computing, const std::filesystem::path& run, const Console& console);

/// Sends one request to a new engine and waits for the answer. An interrupt cancels the request and returns nullopt,
/// unless the answer was ready before the engine received it. `news` receives the events that are part of the answer
/// but not its end; the status that it shows ends with the answer. Calls keepPlace() if the answer is no failure.
[[nodiscard]] std::optional<engine::Event> ask(const engine::Command& question, const Console& console,
                                               const Computing& computing = {},
                                               const std::function<void(const engine::Event&)>& news = {});

/// Returns a function for ask() that shows the share of a query that is done, in per cent, between two texts.
[[nodiscard]] std::function<void(const engine::Event&)> shareTeller(const Console& console, std::string before,
                                                                    std::string after = " %");

/// Returns the path for the engine. The background engine has a working directory of its own.
[[nodiscard]] std::filesystem::path pathFor(const Computing& computing, const std::filesystem::path& path);

/// Sets the paths of a run for the engine, as pathFor() does.
void setPaths(engine::RunRef& of, const Computing& computing);

/// Asks as ask() does. Without an answer, prints the error, or the interrupt followed by `after`, and returns the exit
/// code.
template <class Request>
[[nodiscard]] ValueOr<engine::AnswerOf<Request>, Exit>
answerOf(const Request& request, const Console& console, const Computing& computing = {},
         const std::function<void(const engine::Event&)>& news = {}, const std::string& after = "there is no answer")
{
    std::optional<engine::Event> answer = ask(request, console, computing, news);
    auto* const ready = answer ? std::get_if<engine::AnswerOf<Request>>(&*answer) : nullptr;
    return ready != nullptr ? ValueOr<engine::AnswerOf<Request>, Exit>(std::move(*ready))
                            : unanswered(answer, console, after);
}

/// Asks about the run of a request at the place that the arguments name, and prints the notes of the answer. Prints the
/// error if the request is one, or without an answer, and returns the exit code. `news` as in ask().
template <class Request>
[[nodiscard]] ValueOr<engine::AnswerOf<Request>, Exit>
answerTo(Result<Request>& request, const Arguments& arguments, const Console& console,
         const std::function<void(const engine::Event&)>& news = {})
{
    if (!request) {
        return console.fail(Exit::Usage, request.error());
    }
    Computing computing = Computing::from(arguments);
    RESIDUA_TRY_OR_FAIL(Exit::Usage, readPlace(computing, arguments));
    setPaths(request->of, computing);
    engine::AnswerOf<Request> ready = RESIDUA_TRY(answerOf(*request, console, computing, news));
    remarkNotes(ready.notes, console);
    return ready;
}

[[nodiscard]] OptionSpec placeOption();
[[nodiscard]] OptionSpec folderOption();
[[nodiscard]] OptionSpec detachOption();
[[nodiscard]] OptionSpec deviceOption();
[[nodiscard]] OptionSpec threadsOption();
[[nodiscard]] OptionSpec timeLimitOption();

} // namespace residua::cli
