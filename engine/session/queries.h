// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"

#include <memory>
#include <optional>

namespace residua::engine {

/// A question that is answered a piece at a time, so that a run beside it goes on and a newer question can take its
/// place. It loads a network of its own from a checkpoint and draws its own random numbers: a run is not disturbed.
/// Engine thread.
class Query {
public:
    virtual ~Query() = default;
    [[nodiscard]] static std::unique_ptr<Query> make(const SampleRequest& request);
    [[nodiscard]] static std::unique_ptr<Query> make(const EvaluateRequest& request);
    [[nodiscard]] static std::unique_ptr<Query> make(const StabilityRequest& request);
    [[nodiscard]] static std::unique_ptr<Query> make(const RetrofitRequest& request);    ///< retrofit.cpp
    [[nodiscard]] static std::unique_ptr<Query> make(const FactoriseRequest& request);   ///< factorise.cpp
    [[nodiscard]] static std::unique_ptr<Query> make(const ImportRequest& request);      ///< import.cpp
    [[nodiscard]] static std::unique_ptr<Query> make(const LoadWeightsRequest& request); ///< load_weights.cpp
    [[nodiscard]] static std::unique_ptr<Query> make(const ExportRequest& request);      ///< export.cpp
    [[nodiscard]] static std::unique_ptr<Query> make(const GapRequest& request);         ///< gap.cpp
    [[nodiscard]] static std::unique_ptr<Query> make(const TokeniserRequest& request);   ///< tokenise.cpp

    [[nodiscard]] virtual QueryTag tag() const = 0;
    /// Does one piece (loads, a token, a batch). The answer once there is one: the request's Ready, or QueryFailed.
    /// Never throws.
    [[nodiscard]] std::optional<Event> advance();
    /// What is there of the answer, where that is new and worth telling.
    [[nodiscard]] virtual std::optional<Event> takeNews() { return std::nullopt; }
    /// Whether nothing but other threads' work is missing: to advance again at once finds nothing.
    [[nodiscard]] virtual bool waits() const { return false; }

private:
    [[nodiscard]] virtual std::optional<Event> work() = 0;
};

} // namespace residua::engine
