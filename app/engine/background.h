// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QThreadPool>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace residua::app {

/// The threads for work that would block the GUI thread, such as reading runs and making tables. Not Qt's global pool,
/// because Qt paints with that one. At its end the application waits for running tasks. GUI thread.
[[nodiscard]] QThreadPool& backgroundPool();

/// Runs `work` on a thread of `pool`; in order if the pool has one thread. Any thread.
void startOn(QThreadPool& pool, std::function<void()> work);

/// Posts `work` to the GUI thread. Any thread.
void onGuiThread(std::function<void()> work);

/// Runs `work` on a thread of `pool` and passes its result to `done` on the GUI thread, unless `owner` has been
/// destroyed. A pool with one thread runs its work in order.
template <class Work, class Done>
void inBackground(QThreadPool& pool, QObject* owner, Work work, Done done)
{
    startOn(pool, [owner = QPointer<QObject>(owner), work = std::move(work), done = std::move(done)] {
        const auto result = std::make_shared<std::invoke_result_t<const Work&>>(work());
        onGuiThread([owner, result, done] {
            if (owner) {
                done(std::move(*result));
            }
        });
    });
}

/// Does so on a thread of the shared pool.
template <class Work, class Done>
void inBackground(QObject* owner, Work work, Done done)
{
    inBackground(backgroundPool(), owner, std::move(work), std::move(done));
}

} // namespace residua::app
