// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/queries/base/query.h"
#include "projects/base/result.h"

#include <cstddef>
#include <span>
#include <utility>

namespace residua::engine {

/// A query with a list of stages, which are members of the derived class `Own`. A stage is repeated in pieces while
/// hasMore() is true. After the last stage, the answer is `m_ready`.
template <class Own, class Request, class Ready>
class StagedQuery : public Query {
public:
    explicit StagedQuery(Request request) : m_request(std::move(request)) { m_ready.tag = m_request.tag; }

    [[nodiscard]] QueryTag tag() const override { return m_request.tag; }

protected:
    using Stage = Status (Own::*)();

    Request m_request;
    Ready m_ready;

private:
    [[nodiscard]] virtual std::span<const Stage> stages() const = 0;
    /// True if the stage, which has just executed a piece, has another one.
    [[nodiscard]] virtual bool hasMore(Stage) const { return false; }
    /// Returns the event for an error.
    [[nodiscard]] virtual QueryFailed failed(const Error& error)
    {
        QueryFailed failed{tag(), error, {}, {}};
        if constexpr (requires { m_ready.notes; }) {
            failed.notes = m_ready.notes;
        }
        return failed;
    }

    [[nodiscard]] std::optional<Event> work() final
    {
        const std::span<const Stage> all = stages();
        const Stage stage = all[m_stage];
        if (const Status done = (static_cast<Own&>(*this).*stage)(); !done) {
            return failed(done.error());
        }
        if (hasMore(stage)) {
            return std::nullopt;
        }
        return ++m_stage == all.size() ? std::optional<Event>(std::move(m_ready)) : std::nullopt;
    }

    std::size_t m_stage = 0;
};

} // namespace residua::engine
