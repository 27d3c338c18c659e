// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/shape.h"

#include "projects/base/text.h"
#include "projects/model/project.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/towers.h"

namespace residua::projects {

std::string Shape::text() const
{
    const auto textOf = [](std::int64_t dim) {
        return dim == kBatch ? "batch" : dim == kTime ? "time" : std::to_string(dim);
    };
    return (element == Element::Token ? "tokens [" : "[") + joinedText(dims, ", ", textOf) + "]";
}

namespace {

/// Returns a rank within its range. A rank out of its range is reported at the field, not at the nodes.
WeightRank usableRank(const WeightRank& rank)
{
    const auto* const fixed = std::get_if<FixedRank>(&rank);
    const auto* const share = std::get_if<RankScale>(&rank);
    const bool usable = (!fixed || fixed->rank >= 1) && (!share || (share->scale > 0 && share->scale <= 1));
    return usable ? rank : WeightRank(FullRank{});
}

} // namespace

Result<Sizes> sizesOf(const Project& project)
{
    return sizesOf(project, project.network, enteringShapeOf(project));
}

Result<Sizes> sizesOf(const Project& project, const Network& network, const Shape& entering)
{
    const auto positive = [](const char* place, std::int64_t size) -> Status {
        constexpr std::int64_t kMost = 100'000'000;
        const std::string got = "got " + std::to_string(size);
        return size >= 1 && size <= kMost ? Status(Done{})
                                          : Error{place, got + ", expected 1 to " + std::to_string(kMost)};
    };
    RESIDUA_TRY(positive("network · width", network.stack().width));
    Sizes sizes{{{"d", network.stack().width}}, usableRank(network.rank)};
    const ExampleSchema examples = examplesOf(project);
    if (examples.input().isTokens()) {
        const std::int64_t vocabulary = examples.input().vocabulary;
        RESIDUA_TRY(positive("data · vocabulary", vocabulary));
        RESIDUA_TRY(positive("training · sequence length", project.training.sequenceLength));
        sizes.named["vocab"] = vocabulary;
        sizes.named["seq"] = project.training.sequenceLength;
    }
    if (entering.element != Element::Token) {
        const std::int64_t in = entering.features();
        RESIDUA_TRY(positive("data · dimension", in));
        sizes.named["in"] = in;
    }
    if (!examples.target().isTokens() || examples.target().shape != examples.input().shape) {
        sizes.named["out"] = examples.output().features();
    }
    for (const ExampleField& field : examples.fields) {
        if (field.name == kClass && field.role == FieldRole::Condition) {
            sizes.named["classes"] = field.vocabulary;
        }
    }
    return sizes;
}

} // namespace residua::projects
