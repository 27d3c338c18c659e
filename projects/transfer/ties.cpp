// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/transfer/ties.h"

#include "projects/base/text.h"
#include "projects/check/validate.h"
#include "projects/layers/layer_edits.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

namespace residua::projects {
namespace {

constexpr const char* kTies = "layers";
constexpr std::string_view kRankWord = "rank=";
constexpr const char* kTieForms = "expected layers and visits such as 3:10,4, with average or stepwise, cycle or "
                                  "in_place, and rank=N; or untie";

/// Returns the loops of one visit that keep what the visits of `loop` do beside running their layers.
std::vector<Loop> loopsOfVisits(const Loop& loop)
{
    std::vector<Loop> loops;
    Loop each = loop;
    each.visits = 1;
    each.mean = 1;
    each.draw = VisitDraw::All;
    each.gradientVisits = 0;
    each.order = VisitOrder::Cycle;
    each.rows = VisitRows::Visit;
    each.adapterRank = 0;
    const std::int64_t length = loop.last - loop.first + 1;
    const std::int64_t made = changesState(loop) ? loop.visits : 1; // a factor alone needs one loop
    for (std::int64_t visit = 0; visit < made; ++visit) {
        each.first = loop.first + visit * length;
        each.last = loop.first - 1 + length * (made > 1 ? visit + 1 : loop.visits);
        each.norm = loop.norm == LoopNorm::Visits || visit + 1 == made ? loop.norm : LoopNorm::None;
        if (each.scale != 1 || changesState(each)) {
            loops.push_back(each);
        }
    }
    return loops;
}

Status checkUntied(const Stack& stack, std::size_t index)
{
    if (index >= stack.loops.size() || !stack.isSound(index)) {
        return Error{kTies, "there is no loop " + std::to_string(index + 1) + "; the stack has " +
                                std::to_string(stack.loops.size())};
    }
    const Loop& loop = stack.loops[index];
    if (loop.exitGate) {
        return Error{kTies, "an exit gate weighs the visits of loop " + std::to_string(index + 1) +
                                ", which layers of their own are not; expected a loop without exit_gate"};
    }
    const bool reads = loop.injection != LoopInjection::None || loop.streams != LoopStreams::None;
    if (reads && evaluatedVisits(loop) > 1) {
        return Error{kTies, "the visits of loop " + std::to_string(index + 1) +
                                " read the loop's input (injection) or streams, which layers of their own cannot; "
                                "expected a loop without injection and streams"};
    }
    return Done{};
}

/// Returns the loop that makes the visits of an evaluation in every step.
Loop withoutDraw(Loop loop)
{
    loop.visits = evaluatedVisits(loop);
    loop.draw = VisitDraw::All;
    loop.mean = 1;
    return loop;
}

/// Returns the stack whose loop at `index` makes as many visits in every step, and whose visits are layers.
SetStack untiedStack(const Stack& stack, std::size_t index)
{
    const Loop& loop = stack.loops[index];
    const std::int64_t more = (loop.last - loop.first + 1) * (loop.visits - 1);
    SetStack set;
    const std::vector<std::string> blocks = blocksOfLayers(stack.segments);
    std::vector<std::string> made;
    for (std::int64_t layer = 1; layer <= std::ssize(blocks); ++layer) {
        if (layer < loop.first || layer > loop.last) {
            made.push_back(blocks[static_cast<std::size_t>(layer - 1)]);
        } else if (layer == loop.first) {
            const std::int64_t first = stack.numberOf({loop.first, 1});
            const std::int64_t last = stack.numberOf({loop.last, loop.visits});
            for (std::int64_t number = first; number <= last; ++number) {
                made.push_back(blocks[static_cast<std::size_t>(stack.visitAt(number).layer - 1)]);
            }
        }
    }
    set.stack = segmentsOf(made);
    for (std::size_t i = 0; i < stack.loops.size(); ++i) {
        Loop other = stack.loops[i];
        other.first = movedLayer(other.first, loop.last, more);
        other.last = movedLayer(other.last, loop.last, more);
        const std::vector<Loop> kept = i == index ? loopsOfVisits(loop) : std::vector{other};
        set.loops.insert(set.loops.end(), kept.begin(), kept.end());
    }
    return set;
}

/// Returns the losses with the names that the executed layers have in another stack of as many.
std::vector<Loss> namedBy(const Project& project, const Stack& after)
{
    return renumberedLosses(project, after, [](std::int64_t layer) { return std::optional(layer); });
}

Result<Project> checked(Project project)
{
    for (const Problem& problem : validate(project)) {
        if (problem.severity == Severity::Error) {
            return Error{kTies, problem.text()};
        }
    }
    return project;
}

/// Fills RetiedProject::made.
RetiedProject withSources(const Project& before, RetiedProject made)
{
    for (std::int64_t layer = 1; layer <= made.project.stack().stored(); ++layer) {
        made.made.push_back(storedSources(before.stack(), made.project.stack(), made.layers, layer));
    }
    return made;
}

/// Returns the sources of layer k of a loop's B layers, of which each has `visits`, spread evenly over them all.
std::int64_t spread(std::int64_t k, std::int64_t layers, std::int64_t visits)
{
    const double all = static_cast<double>(layers * visits - 1);
    return layers == 1 ? 0 : std::llround(all * static_cast<double>(k) / static_cast<double>(layers - 1));
}

} // namespace

std::vector<std::int64_t> storedSources(const Stack& before, const Stack& after,
                                        const std::vector<std::int64_t>& layers, std::int64_t layer)
{
    std::set<std::int64_t> sources;
    for (const std::int64_t number : after.visitsOf(layer)) {
        sources.insert(before.visitAt(layers.at(static_cast<std::size_t>(number - 1))).layer);
    }
    return {sources.begin(), sources.end()};
}

Result<Edit> untieEdit(const Document& document, std::size_t loop)
{
    const Stack& stack = document.project.stack();
    RESIDUA_TRY(checkUntied(stack, loop));
    EditGroup group{"Untie loop " + std::to_string(loop + 1), {}};
    Document fixed = document;
    if (const Loop all = withoutDraw(stack.loops[loop]); all != stack.loops[loop]) {
        std::vector<Loop> loops = stack.loops;
        loops[loop] = all;
        group.edits.push_back(loopsEdit(document, std::move(loops), group.title));
        RESIDUA_TRY(applyEdit(fixed, group.edits.back()));
    }
    SetStack set = untiedStack(fixed.project.stack(), loop);
    Stack after = fixed.project.stack();
    after.segments = set.stack;
    after.loops = set.loops;
    group.edits.emplace_back(std::move(set));
    if (std::vector<Loss> losses = namedBy(fixed.project, after); losses != fixed.project.losses) {
        group.edits.emplace_back(SetLosses{std::move(losses)});
    }
    return Edit{std::move(group)};
}

Result<RetiedProject> untied(const Project& project)
{
    const auto isTied = [](const Loop& loop) { return loop.visits > 1; };
    Document document{project, {}};
    Stack fixed = project.stack(); // with the visits of an evaluation
    std::ranges::transform(fixed.loops, fixed.loops.begin(), withoutDraw);
    for (;;) {
        const std::vector<Loop>& loops = document.project.stack().loops;
        const auto loop = std::ranges::find_if(loops, isTied);
        if (loop == loops.end()) {
            break;
        }
        const Result<Edit> edit = untieEdit(document, static_cast<std::size_t>(loop - loops.begin()));
        RESIDUA_TRY(edit ? applyEdit(document, *edit) : Status(edit.error()));
    }
    if (!std::ranges::any_of(project.stack().loops, isTied)) {
        return Error{kTies, "the stack has no loop; expected one whose visits become layers"};
    }
    Project valid = RESIDUA_TRY(checked(std::move(document.project)));
    RetiedProject made{std::move(valid), {}, {}};
    for (const LayerVisit& at : executionOf(fixed)) {
        made.layers.push_back(project.stack().numberOf(at));
    }
    return withSources(project, std::move(made));
}

Result<Tie> tieFrom(std::string_view text)
{
    const Error refused{kTies, "got \"" + std::string(text.substr(0, 40)) + "\", " + kTieForms};
    std::vector<std::string_view> words;
    constexpr std::string_view kBetween = ", ";
    for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;
         at = text.find_first_not_of(kBetween, at)) {
        const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    const std::size_t colon = words.empty() ? std::string_view::npos : words[0].find(':');
    if (words.size() < 2 || colon == std::string_view::npos) {
        return refused;
    }
    const auto first = numberFrom<std::int64_t>(words[0].substr(0, colon));
    const auto last = numberFrom<std::int64_t>(words[0].substr(colon + 1));
    const auto visits = numberFrom<std::int64_t>(words[1]);
    if (!first || !last || !visits || *first < 1 || *last <= *first || *last > kMaxLayers || *visits < 2) {
        return refused;
    }
    const std::int64_t layers = *last - *first + 1;
    if (layers % *visits != 0) {
        return Error{kTies, std::to_string(layers) + " layers are no multiple of " + std::to_string(*visits) +
                                " visits; expected as many layers in each visit"};
    }
    Tie tie{{.first = *first, .last = *first + layers / *visits - 1, .visits = *visits}, TieBy::Average};
    for (std::size_t i = 2; i < words.size(); ++i) {
        if (words[i] == "in_place" || words[i] == "cycle") {
            tie.loop.order = words[i] == "cycle" ? VisitOrder::Cycle : VisitOrder::InPlace;
        } else if (words[i] == "average" || words[i] == "stepwise") {
            tie.by = words[i] == "average" ? TieBy::Average : TieBy::Stepwise;
        } else if (const auto rank = words[i].starts_with(kRankWord)
                                         ? numberFrom<std::int64_t>(words[i].substr(kRankWord.size()))
                                         : std::nullopt;
                   rank && *rank >= 1 && *rank <= kMostAdapterRank) {
            tie.loop.adapterRank = *rank;
        } else {
            return refused;
        }
    }
    return tie;
}

Result<RetiedProject> tied(const Project& project, const Tie& tie)
{
    const Stack& stack = project.stack();
    const std::int64_t length = tie.loop.last - tie.loop.first + 1;
    const std::int64_t end = tie.loop.first - 1 + length * tie.loop.visits;
    const auto overlaps = [&](const Loop& loop) { return loop.first <= end && loop.last >= tie.loop.first; };
    if (end > stack.stored() || std::ranges::any_of(stack.loops, overlaps)) {
        return Error{kTies, "layers " + std::to_string(tie.loop.first) + " to " + std::to_string(end) +
                                " are not all of the " + std::to_string(stack.stored()) +
                                " stored layers and outside loops; expected such (residua-cli untie)"};
    }
    Stack after;
    after.loops = {tie.loop};
    const std::vector<std::string> blocks = blocksOfLayers(stack.segments);
    std::vector<std::string> kept(blocks.begin(), blocks.begin() + tie.loop.last);
    kept.insert(kept.end(), blocks.begin() + end, blocks.end());
    after.segments = segmentsOf(kept);
    for (std::int64_t layer = tie.loop.first; layer <= end; ++layer) {
        const std::string& block = blocks[static_cast<std::size_t>(layer - 1)];
        const std::string& own = kept[static_cast<std::size_t>(after.visitAt(layer).layer - 1)];
        if (block != own) {
            return Error{kTies, "layer " + std::to_string(layer) + " has the block " + block +
                                    ", and the layer that it becomes a visit of has " + own + "; expected one block"};
        }
    }
    for (Loop loop : stack.loops) {
        const std::int64_t less = loop.first > end ? end - tie.loop.last : 0;
        loop.first -= less;
        loop.last -= less;
        after.loops.push_back(loop);
    }
    std::ranges::sort(after.loops, {}, &Loop::first);
    RetiedProject made{project, std::vector<std::int64_t>(static_cast<std::size_t>(stack.depth())), {}};
    std::iota(made.layers.begin(), made.layers.end(), 1);
    made.project.stack().segments = after.segments;
    made.project.stack().loops = after.loops;
    made.project.losses = namedBy(project, made.project.stack());
    made.project = RESIDUA_TRY(checked(std::move(made.project)));
    made = withSources(project, std::move(made));
    for (std::int64_t k = 0; tie.by == TieBy::Stepwise && k < length; ++k) {
        made.made.at(static_cast<std::size_t>(tie.loop.first - 1 + k)) = {tie.loop.first +
                                                                          spread(k, length, tie.loop.visits)};
    }
    return made;
}

Result<RetiedProject> retied(const Project& project, std::string_view text)
{
    if (text == kUntie) {
        return untied(project);
    }
    const Result<Tie> tie = tieFrom(text);
    return tie ? tied(project, *tie) : Result<RetiedProject>(tie.error());
}

} // namespace residua::projects
