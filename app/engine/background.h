// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/background_pool.h"

#include <QPointer>
#include <QThreadPool>

#include <memory>
#include <type_traits>
#include <utility>

namespace residua::app {

/// Runs `work` on a thread of `pool` and passes its result to `done` on the GUI thread, unless `owner` has been
/// destroyed. A pool with one thread runs its work in order.
template <class Work, class Done>
void inBackground(QThreadPool& pool, QObject* owner, Work work, Done done)
{
    visualizers::startOn(pool, [owner = QPointer<QObject>(owner), work = std::move(work), done = std::move(done)] {
        const auto result = std::make_shared<std::invoke_result_t<const Work&>>(work());
        visualizers::onGuiThread([owner, result, done] {
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
    inBackground(visualizers::backgroundPool(), owner, std::move(work), std::move(done));
}

} // namespace residua::app
