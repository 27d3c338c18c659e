// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/actions/command_groups.h"
#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/engine/engine_bridge.h"
#include "app/runs/checkpoint_dialogs.h"

#include <QPointer>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace residua::app {

/// Copies checkpoints of runs on other machines to this one: on request, and before a command that reads one here.
/// Carries out what dialogs about a run ask for. GUI thread.
class FetchCommands : public CommandGroup {
    Q_OBJECT
public:
    /// Called with true when the checkpoint is on this machine, with false if the user does not fetch it.
    using Next = std::function<void(bool here)>;

    explicit FetchCommands(const WindowParts& parts);

    /// Asks which checkpoint of the run to fetch. `reason` says why something failed without one; empty: nothing did.
    /// If all are here, it is refused with that reason.
    void ask(const std::string& run, const Next& next = {}, const QString& reason = {});
    /// Fetches the checkpoint of `step` if it is on another machine only, in a dialog that can be cancelled.
    void need(const std::string& run, std::int64_t step, const Next& next);
    /// Returns the refusal of a request for a checkpoint that was not fetched.
    [[nodiscard]] static QString notFetched(std::int64_t step);

    /// Calls `open` with what `read` returns on another thread, or shows its error, unless another project was opened.
    template <class Read, class Open>
    void read(Read read, Open open)
    {
        const auto opened = [this, open = std::move(open), project = m_session.directory()](auto result) {
            if (project == m_session.directory() && result) {
                open(std::move(*result));
            } else if (project == m_session.directory()) {
                refuse(QString::fromStdString(result.error().text()));
            }
        };
        inBackground(this, std::move(read), opened);
    }

    /// Carries out what a dialog has asked for with the engine. Fetches the checkpoint first if it is on another
    /// machine only. Shows the progress and the reason of a failure in the dialog, and does nothing once it is closed.
    /// Calls `onAnswer` even then. `tag` has the query's tag while the engine works on it, and must outlive it.
    template <class Request, class OnAnswer>
    void carryOut(Request request, QPointer<AskDialog> dialog, engine::QueryTag& tag, OnAnswer onAnswer)
    {
        request.of.projectDirectory = m_session.directory();
        const std::int64_t step = request.of.step.value_or(0);
        need(request.of.runDirectory.string(), step, [=, this, &tag](bool here) {
            if (!dialog || !dialog->isVisible()) {
                return; // it was closed meanwhile
            }
            if (!here) {
                dialog->refuse(notFetched(step));
                return;
            }
            tag = m_engine.ask(
                request, this,
                [onAnswer, &tag](const engine::AnswerOf<Request>& answer) {
                    tag = {};
                    onAnswer(answer);
                },
                [dialog, &tag](const engine::QueryFailed& failed) {
                    tag = {};
                    if (dialog && dialog->isVisible()) {
                        dialog->refuse(QString::fromStdString(failed.error.text()));
                    }
                },
                [dialog](const engine::QueryProgress& progress) {
                    if (dialog && progress.share >= 0) {
                        dialog->setShare(progress.share);
                    }
                });
        });
    }

private:
    void open(GoOnSource source, Next next);
    void finish(bool here);

    QPointer<FetchDialog> m_dialog; ///< the open dialog
    engine::QueryTag m_fetch{};     ///< of the last request
    Next m_next;                    ///< of the open dialog
};

} // namespace residua::app
