// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/queries.h"

#include <cstdint>
#include <optional>
#include <variant>

namespace residua::app {

enum class GoOnKind {
    Resume,    ///< continues the run itself from a checkpoint
    Fork,      ///< copies it up to a checkpoint
    Retrofit,  ///< makes a copy with another wiring that initially computes the same function
    Factorise, ///< makes a copy whose weights are products of two thin matrices that approximate the learned ones
};

/// Resumes a run, or copies it up to the checkpoint and resumes the copy.
struct ContinueRun {
    engine::RunRef of;
    std::optional<std::int64_t> steps; ///< a new total of steps
    /// The project that a fork trains; nullopt: the one of the run.
    std::optional<projects::Project> project;
};

/// The way in which a run is continued.
struct GoOnRequest {
    using Asked = std::variant<ContinueRun, engine::RetrofitRequest, engine::FactoriseRequest>;

    GoOnKind kind{};
    Asked asked;

    [[nodiscard]] engine::RunRef& of()
    {
        return std::visit([](auto& asks) -> engine::RunRef& { return asks.of; }, asked);
    }
};

} // namespace residua::app

template <>
struct residua::projects::Fields<residua::app::ContinueRun> {
    static constexpr void visit(auto&& v)
    {
        using residua::app::ContinueRun;
        v(engine::keyed("of"), &ContinueRun::of);
        v(engine::kNewSteps, &ContinueRun::steps);
        v(engine::keyed("project"), &ContinueRun::project);
    }
};
