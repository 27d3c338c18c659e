// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/queries/base/query.h"
#include "projects/base/result.h"

#include <cstddef>
#include <span>
#include <utility>

namespace residua::engine {

/// A query whose work is a list of stages, one after another: members of `Own`, the class that is made of this one. A
/// stage is done piece by piece where hasMore() says so. After the last the answer is `m_ready`.
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
    /// Whether the stage, which has just done a piece, has a further one.
    [[nodiscard]] virtual bool hasMore(Stage) const { return false; }
    /// What is told of an error.
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
