// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/studies/halving.h"

#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/studies/paired_difference.h"
#include "projects/studies/sweep_grid.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::projects {
namespace {

using Group = std::vector<std::string>;

/// The groups that go on from a rung, or nullopt while some of their members have not reached it.
std::optional<std::vector<Group>> betterHalf(const std::vector<Group>& groups, std::span<const HalvedMember> members,
                                             std::size_t rung, const Judge& judge)
{
    std::vector<std::pair<double, Group>> ranked;
    for (const Group& group : groups) {
        std::vector<double> values;
        for (const HalvedMember& member : members) {
            if (member.group != group) {
                continue;
            }
            if (!member.values[rung] && !member.hasFailed) {
                return std::nullopt;
            }
            values.push_back(member.values[rung].value_or(std::nan("")));
        }
        ranked.emplace_back(meanOf(values).mean, group);
    }
    std::ranges::stable_sort(ranked, [&](const auto& a, const auto& b) {
        return judge.prefers(a.first, b.first) || (std::isnan(b.first) && !std::isnan(a.first));
    });
    ranked.resize((ranked.size() + 1) / 2);
    return mapped(ranked, [](const auto& each) { return each.second; });
}

} // namespace

Result<Rungs> rungsFrom(std::string_view text)
{
    Rungs rungs;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const auto step = numberFrom<std::int64_t>(text.substr(from, comma - from));
        if (!step || *step < 1 || (!rungs.empty() && *step <= rungs.back())) {
            return Error{"", "got \"" + std::string(text) + "\", expected steps in ascending order such as 50,100,200"};
        }
        rungs.push_back(*step);
        from = comma + 1;
    }
    return rungs;
}

Rungs rungsFor(std::int64_t steps)
{
    Rungs rungs;
    for (const std::int64_t part : {8, 4, 2}) {
        if (const std::int64_t step = steps / part; step >= 1 && (rungs.empty() || step > rungs.back())) {
            rungs.push_back(step);
        }
    }
    return rungs;
}

Status checkRungs(const Rungs& rungs, const Sweep& sweep, std::int64_t steps)
{
    if (rungs.empty()) {
        return Done{};
    }
    if (setsField(sweep, "/training/steps")) {
        return Error{"sweep " + sweep.name, "varies the steps; expected members with the same steps for rungs"};
    }
    if (rungs.back() >= steps) {
        return Error{"sweep " + sweep.name, "has members of " + groupedText(steps) + " steps and a rung at " +
                                                groupedText(rungs.back()) + "; expected rungs before the last step"};
    }
    return Done{};
}

std::vector<HalvingTurn> halve(const Rungs& rungs, std::span<const HalvedMember> members, const Judge& judge)
{
    std::vector<Group> groups;
    for (const HalvedMember& member : members) {
        if (std::ranges::find(groups, member.group) == groups.end()) {
            groups.push_back(member.group);
        }
    }
    std::vector<HalvingTurn> turns(members.size());
    for (std::size_t rung = 0; rung < rungs.size(); ++rung) {
        const std::optional<std::vector<Group>> kept = betterHalf(groups, members, rung, judge);
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (std::ranges::find(groups, members[i].group) == groups.end()) {
                continue; // left out at an earlier rung
            }
            const bool isKept = kept && std::ranges::find(*kept, members[i].group) != kept->end();
            const auto kind = !kept    ? members[i].values[rung] ? HalvingTurn::Kind::Wait : HalvingTurn::Kind::Train
                              : isKept ? HalvingTurn::Kind::Train
                                       : HalvingTurn::Kind::LeftOut;
            turns[i] = {kind, isKept ? 0 : rungs[rung]};
        }
        if (!kept) {
            break;
        }
        groups = *kept;
    }
    return turns;
}

std::size_t groupCount(const Sweep& sweep)
{
    std::size_t groups = 1;
    for (const SweepAxis& axis : sweep.axes) {
        groups *= isSeedField(axis.field) ? 1 : axis.values.size();
    }
    return groups;
}

double halvedShare(const Rungs& rungs, std::size_t groups, std::int64_t steps)
{
    const auto all = static_cast<double>(groups) * static_cast<double>(steps);
    double trained = 0;
    std::int64_t before = 0;
    for (const std::int64_t rung : rungs) {
        trained += static_cast<double>(groups) * static_cast<double>(rung - before);
        before = rung;
        groups = (groups + 1) / 2;
    }
    trained += static_cast<double>(groups) * static_cast<double>(steps - before);
    return all > 0 ? trained / all : 1;
}

} // namespace residua::projects
