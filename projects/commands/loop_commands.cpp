// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/text.h"
#include "projects/commands/commands.h"
#include "projects/layers/layer_edits.h"

#include <algorithm>
#include <utility>

namespace residua::projects {
namespace {

std::string rangeText(std::int64_t first, std::int64_t last)
{
    return first == last ? "layer " + std::to_string(first)
                         : "layers " + std::to_string(first) + "–" + std::to_string(last);
}

/// Returns the stored layers from the first to the last selected one, as a loop; nullopt if no layer is selected.
std::optional<Loop> selectedRange(const Stack& stack, const Selection& selection)
{
    std::optional<Loop> range;
    for (const std::int64_t layer : selection.layers) {
        if (layer >= 1 && layer <= stack.depth()) {
            const std::int64_t stored = stack.visitAt(layer).layer;
            range = Loop{.first = range ? std::min(range->first, stored) : stored,
                         .last = range ? std::max(range->last, stored) : stored};
        }
    }
    return range;
}

Error noLayer()
{
    return {"selection", "no layer is selected"};
}

/// Returns the change to these loops, which selects all visits of the layers of `range`. Returns an error if there
/// would be too many executed layers.
Result<DocumentChange> changeTo(const Document& document, std::vector<Loop> loops, const Loop& range,
                                const std::string& title)
{
    DocumentChange change{loopsEdit(document, std::move(loops), title), Selection{}};
    Document after = document;
    RESIDUA_TRY(applyEdit(after, change.edit));
    for (std::int64_t layer = range.first; layer <= range.last; ++layer) {
        const std::vector<std::int64_t> numbers = after.project.stack().visitsOf(layer);
        change.selection->layers.insert(numbers.begin(), numbers.end());
    }
    return change;
}

} // namespace

const Loop* loopOfSelection(const Project& project, const Selection& selection)
{
    const std::optional<Loop> range = selectedRange(project.stack(), selection);
    const Loop* const loop = range ? project.stack().loopOf(range->first) : nullptr;
    return loop != nullptr && range->last <= loop->last ? loop : nullptr;
}

Result<DocumentChange> visitLayers(const Document& document, const Selection& selection, std::int64_t visits)
{
    const Stack& stack = document.project.stack();
    std::optional<Loop> wanted = selectedRange(stack, selection);
    if (!wanted) {
        return noLayer();
    }
    if (visits < 1 || visits > kMaxVisits) {
        return Error{"visits", "got " + std::to_string(visits) + ", expected 1 to " + std::to_string(kMaxVisits) +
                                   " visits; Visit once removes a loop"};
    }
    std::vector<Loop> loops = stack.loops;
    const std::string selected = rangeText(wanted->first, wanted->last);
    const auto meets = [&wanted](const Loop& loop) { return loop.first <= wanted->last && loop.last >= wanted->first; };
    const auto own = std::ranges::find_if(loops, meets);
    if (own == loops.end()) {
        if (visits == 1) {
            return Error{"visits", selected + " is visited once already"};
        }
        wanted->visits = visits;
        loops.push_back(*wanted);
    } else {
        const bool within = own->first <= wanted->first && wanted->last <= own->last;
        const bool around = wanted->first <= own->first && own->last <= wanted->last;
        if ((!within && !around) || std::any_of(std::next(own), loops.end(), meets)) {
            return Error{"loops", selected + " overlap the loop of " + rangeText(own->first, own->last) +
                                      ", and loops cannot be nested: select all layers of one loop, or none"};
        }
        const Loop before = *own;
        own->visits = visits;
        if (around) { // widens the loop
            own->first = wanted->first;
            own->last = wanted->last;
        }
        if (*own == before) {
            return Error{"visits", rangeText(own->first, own->last) + " is visited " +
                                       countText(static_cast<std::size_t>(visits), "time") + " already"};
        }
        wanted = *own;
    }
    const std::string title =
        "Visit " + rangeText(wanted->first, wanted->last) + " " + countText(static_cast<std::size_t>(visits), "time");
    return changeTo(document, std::move(loops), *wanted, title);
}

Result<DocumentChange> visitLayersOnce(const Document& document, const Selection& selection)
{
    const Stack& stack = document.project.stack();
    const std::optional<Loop> range = selectedRange(stack, selection);
    if (!range) {
        return noLayer();
    }
    std::vector<Loop> loops = stack.loops;
    const auto removed = std::erase_if(
        loops, [&range](const Loop& loop) { return loop.first <= range->last && loop.last >= range->first; });
    if (removed == 0) {
        return Error{"loops", rangeText(range->first, range->last) + " is in no loop"};
    }
    return changeTo(document, std::move(loops), *range, "Visit " + rangeText(range->first, range->last) + " once");
}

Edit keepingNumbers(const Document& document, Edit edit)
{
    const auto* const set = std::get_if<SetField>(&edit);
    const Stack& stack = document.project.stack();
    Document trial{document.project, {}};
    if (stack.loops.empty() || set == nullptr || !set->pointer.starts_with("/network/") || !applyEdit(trial, edit)) {
        return edit;
    }
    Stack after = trial.project.stack();
    std::ranges::sort(after.loops, {}, &Loop::first);
    return restackEdit(document, after, titleOf(edit)).value_or(edit);
}

} // namespace residua::projects
