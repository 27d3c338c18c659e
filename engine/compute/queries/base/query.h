// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/base/machine/preparation.h"

#include <memory>
#include <optional>

namespace residua::engine {

/// A query that is answered in pieces, so that a run can continue beside it and a newer query can replace it. It loads
/// its own network from a checkpoint and draws its own random numbers, so it does not disturb a run. Engine thread.
class Query {
public:
    virtual ~Query() = default;

    [[nodiscard]] virtual QueryTag tag() const = 0;
    /// Executes one piece (loads, a token, a batch). Returns the answer once it is complete: the request's Ready event,
    /// or QueryFailed. Never throws. A long piece calls `watch`, and returns QueryFailed if it cancels.
    [[nodiscard]] std::optional<Event> advance(const PreparationWatch& watch = {});
    /// Returns the progress or the partial answer if it is new; else nullopt.
    [[nodiscard]] virtual std::optional<Event> takeNews() { return std::nullopt; }
    /// True if the query only waits for other threads, so that advancing again at once would do nothing.
    [[nodiscard]] virtual bool waits() const { return false; }

protected:
    /// Returns the watch, which a long piece of work() calls.
    [[nodiscard]] const PreparationWatch& watch() const { return m_watch; }

private:
    [[nodiscard]] virtual std::optional<Event> work() = 0;

    PreparationWatch m_watch; ///< of the current piece
};

// The queries by request, each made in the source of its name. Engine thread.

/// Queries on the network of a checkpoint, which they load.
[[nodiscard]] std::unique_ptr<Query> queryFor(const SampleRequest& request);
[[nodiscard]] std::unique_ptr<Query> queryFor(const EvaluateRequest& request);
[[nodiscard]] std::unique_ptr<Query> queryFor(const StabilityRequest& request);
[[nodiscard]] std::unique_ptr<Query> queryFor(const KnockoutRequest& request);
[[nodiscard]] std::unique_ptr<Query> queryFor(const InterventionRequest& request);

/// Measures the errors of factored weights against the full ones. Its fits have threads of their own.
[[nodiscard]] std::unique_ptr<Query> queryFor(const GapRequest& request);

/// Makes a run with factors that approximate another run's learned weights.
[[nodiscard]] std::unique_ptr<Query> queryFor(const FactoriseRequest& request);

/// Makes a run with another run's weights under another topology, after checking that the function is the same.
[[nodiscard]] std::unique_ptr<Query> queryFor(const RetrofitRequest& request);

/// Exports a checkpoint as code or as a model of transformers, into a folder.
[[nodiscard]] std::unique_ptr<Query> queryFor(const ExportRequest& request);

/// Imports a model of transformers as a project with a run at step 0.
[[nodiscard]] std::unique_ptr<Query> queryFor(const ImportRequest& request);

/// Loads a safetensors file as the first weights of a project's run, as far as it matches.
[[nodiscard]] std::unique_ptr<Query> queryFor(const LoadWeightsRequest& request);

/// Trains a tokeniser on text, on a separate thread.
[[nodiscard]] std::unique_ptr<Query> queryFor(const TokeniserRequest& request);

} // namespace residua::engine
