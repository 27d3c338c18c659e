// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/branch_queries.h"
#include "engine/base/api/measure_queries.h"
#include "engine/base/api/model_queries.h"

#include <type_traits>
#include <variant>
#include <vector>

// All queries, and the progress that they tell.
namespace residua::engine {

struct DevicesListed {
    QueryTag tag{};
    std::vector<DeviceInfo> devices;
};

struct ListDevices {
    using Answer = DevicesListed;
    QueryTag tag{};
};
constexpr void describe(const ListDevices*, auto&&) {}

/// The progress of a query: either a share or a text. Sent at most about thirty times a second.
struct QueryProgress {
    QueryTag tag{};
    double share = -1;     ///< the fraction of the work that is done; negative if `text` is sent
    std::string text = {}; ///< a message for the user while the query is prepared
    FedBatch made = {};    ///< the images so far of a query that makes some, if it was asked to show them
};

/// The queries, as alternatives of variants with others: commands, or the events that answer them.
template <class... Query>
struct QueryList {
    template <class... Other>
    using Commands = std::variant<Query..., Other...>;
    template <class... Other>
    using Events = std::variant<typename Query::Answer..., Other...>;
};
using Queries = QueryList<ListDevices, SampleRequest, EvaluateRequest, RetrofitRequest, FactoriseRequest, ImportRequest,
                          LoadWeightsRequest, ExportRequest, StabilityRequest, KnockoutRequest, InterventionRequest,
                          GapRequest, VisitsRequest, TokeniserRequest, FetchCheckpoint>;

/// True for the queries: requests that an event with their tag answers.
template <class Asked>
inline constexpr bool kIsQuery = requires
{
    typename Asked::Answer;
};

/// The event that answers a query, unless QueryFailed does.
template <class Query>
using AnswerOf = typename Query::Answer;

/// The event that tells the progress of a query.
template <class Query>
using ProgressOf = std::conditional_t<std::is_same_v<Query, GapRequest>, GapProgress, QueryProgress>;

} // namespace residua::engine

namespace residua::projects {

/// The fields of a query: `tag`, `of` and those of describe().
template <class Query>
requires engine::kIsQuery<Query>
struct Fields<Query> {
    static constexpr void visit(auto&& v)
    {
        v(engine::keyed("tag"), &Query::tag);
        if constexpr (requires { &Query::of; }) {
            v(engine::keyed("of"), &Query::of);
        }
        describe(static_cast<const Query*>(nullptr), v);
    }
};

} // namespace residua::projects
