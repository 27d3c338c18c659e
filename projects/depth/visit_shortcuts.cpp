// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/visit_shortcuts.h"

#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/model/graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace residua::projects {
namespace {

constexpr std::string_view kSpan = "i:i+";

/// Returns the latest of the ascending `modules` before `target`.
std::optional<std::int64_t> lastBefore(const std::vector<std::int64_t>& modules, std::int64_t target)
{
    const auto after = std::ranges::lower_bound(modules, target);
    return after == modules.begin() ? std::nullopt : std::optional(*std::prev(after));
}

/// Moves the shortcuts that are the keys of `marks`.
template <class Mark>
void moveMarks(std::map<Shortcut, Mark>& marks, const DepthMix& mix, const VisitedModules& before,
               const VisitedModules& after, const std::function<std::optional<std::int64_t>(std::int64_t)>& storedTo,
               const std::function<std::optional<Shortcut>(const Shortcut&)>& moved)
{
    std::map<Shortcut, Mark> there;
    for (const auto& [shortcut, mark] : marks) {
        const Shortcut numbers{before.numberOf(shortcut.source), before.numberOf(shortcut.target)};
        const bool repeats = before.visitsOf(numbers.source).size() > 1 || before.visitsOf(numbers.target).size() > 1;
        const auto every = repeats && mix.blockLayers == 1 ? before.everyVisit(mix, numbers) : std::vector<Shortcut>();
        const bool everywhere =
            std::ranges::binary_search(every, shortcut) && std::ranges::all_of(every, [&](const Shortcut& each) {
                const auto found = marks.find(each);
                return found != marks.end() && found->second == mark;
            });
        const auto source = everywhere ? storedTo(numbers.source) : std::nullopt;
        const auto target = everywhere ? storedTo(numbers.target) : std::nullopt;
        if (source && target) {
            for (const Shortcut& each : after.everyVisit(mix, {*source, *target})) {
                there.emplace(each, mark);
            }
        } else if (const auto to = moved(shortcut)) {
            there.emplace(*to, mark);
        }
    }
    marks = std::move(there);
}

/// True if some layers have names with visits, and numbers of sources are those of modules.
bool namesVisits(const Stack& stack, const DepthMix& mix)
{
    for (std::size_t i = 0; i < stack.loops.size(); ++i) {
        if (stack.isSound(i) && mix.blockLayers == 1) {
            return true;
        }
    }
    return false;
}

/// Returns the modules by the numbers that people type.
VisitedModules typedModules(const Stack& stack, const DepthMix& mix)
{
    Stack executed;
    executed.segments = {{"", stack.depth()}};
    return storedModules(namesVisits(stack, mix) ? stack : executed, mixedModules(mix, 1));
}

/// Adds the shortcuts of one term. Returns false if it names none.
bool addTerm(std::string_view term, const Stack& stack, const DepthMix& mix, std::set<Shortcut>& shortcuts)
{
    const std::int64_t modules = mixedModules(mix, stack.depth());
    if (term == "cascaded" || term.starts_with(kSpan)) {
        const auto span = shortcutsFrom(term, modules);
        if (span) {
            shortcuts.insert(span->begin(), span->end());
        }
        return span.ok();
    }
    const std::size_t colon = term.find(':');
    if (colon == std::string_view::npos) {
        return false;
    }
    const std::vector<std::int64_t> sources = modulesFrom(term.substr(0, colon), stack, mix);
    const std::vector<std::int64_t> targets = modulesFrom(term.substr(colon + 1), stack, mix);
    std::vector<Shortcut> named;
    for (const std::int64_t target : targets) {
        const auto source = lastBefore(sources, target);
        if (source && (targets.size() == 1 || isReadable(mix, {*source, target}, modules))) {
            named.push_back({*source, target});
        }
    }
    shortcuts.insert(named.begin(), named.end());
    return !named.empty();
}

} // namespace

VisitedModules::VisitedModules(const std::vector<std::int64_t>& layers, std::int64_t perLayer) : m_numbers{0}
{
    for (const std::int64_t layer : layers) {
        for (std::int64_t part = 1; part <= perLayer; ++part) {
            m_numbers.push_back((layer - 1) * perLayer + part);
        }
    }
    m_numbers.push_back(*std::ranges::max_element(m_numbers) + 1);
    m_visits.resize(static_cast<std::size_t>(m_numbers.back() + 1));
    for (std::size_t module = 0; module < m_numbers.size(); ++module) {
        m_visits[static_cast<std::size_t>(m_numbers[module])].push_back(static_cast<std::int64_t>(module));
    }
}

std::int64_t VisitedModules::numberOf(std::int64_t module) const
{
    return module < 0 || module >= std::ssize(m_numbers) ? -1 : m_numbers[static_cast<std::size_t>(module)];
}

std::vector<std::int64_t> VisitedModules::visitsOf(std::int64_t number) const
{
    return number < 0 || number > last() ? std::vector<std::int64_t>() : m_visits[static_cast<std::size_t>(number)];
}

std::optional<std::int64_t> VisitedModules::latestBefore(std::int64_t number, std::int64_t target) const
{
    return number < 0 || number > last() ? std::nullopt
                                         : lastBefore(m_visits[static_cast<std::size_t>(number)], target);
}

std::vector<Shortcut> VisitedModules::everyVisit(const DepthMix& mix, const Shortcut& numbers) const
{
    std::vector<Shortcut> shortcuts;
    for (const std::int64_t target : visitsOf(numbers.target)) {
        const auto source = latestBefore(numbers.source, target);
        if (source && isReadable(mix, {*source, target}, std::ssize(m_numbers) - 2)) {
            shortcuts.push_back({*source, target});
        }
    }
    return shortcuts;
}

VisitedModules storedModules(const Stack& stack, std::int64_t perLayer)
{
    return {mapped(executionOf(stack), &LayerVisit::layer), perLayer};
}

bool listsShortcuts(const DepthMix& mix)
{
    return std::holds_alternative<ExplicitSources>(mix.sources) || !mix.states.empty();
}

void moveShortcuts(DepthMix& mix, const VisitedModules& before, const VisitedModules& after,
                   const std::function<std::optional<std::int64_t>(std::int64_t)>& storedTo,
                   const std::function<std::optional<Shortcut>(const Shortcut&)>& moved)
{
    if (auto* const sources = std::get_if<ExplicitSources>(&mix.sources)) {
        std::map<Shortcut, bool> marks;
        for (const Shortcut& shortcut : sources->shortcuts) {
            marks.emplace(shortcut, true);
        }
        moveMarks(marks, mix, before, after, storedTo, moved);
        sources->shortcuts.clear();
        for (const auto& [shortcut, mark] : marks) {
            sources->shortcuts.push_back(shortcut);
        }
    }
    moveMarks(mix.states, mix, before, after, storedTo, moved);
}

Result<std::vector<Shortcut>> shortcutsFrom(std::string_view text, const Stack& stack, const DepthMix& mix)
{
    const std::int64_t modules = mixedModules(mix, stack.depth());
    if (!namesVisits(stack, mix)) {
        auto shortcuts = shortcutsFrom(text, modules);
        auto withFinal = !shortcuts && mix.finalMix ? shortcutsFrom(text, modules + 1) : shortcuts;
        return withFinal ? withFinal : shortcuts;
    }
    std::set<Shortcut> shortcuts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t inside = text.substr(begin).starts_with(kSpan) ? kSpan.size() : 0;
        const std::size_t end = std::min(text.find('+', begin + inside), text.size());
        if (!addTerm(text.substr(begin, end - begin), stack, mix, shortcuts)) {
            return Error{"", "\"" + std::string(text) + "\" names no shortcuts; expected i:j such as 0:2 or 1:2+2:3 " +
                                 "of the stored layers 0 to " + std::to_string(mixedModules(mix, stack.stored())) +
                                 ": without a visit (2@3), j means each visit and i the latest one before it; or all "
                                 "of one span over executed layers such as i:i+2"};
        }
        begin = end + 1;
    }
    return std::vector<Shortcut>(shortcuts.begin(), shortcuts.end());
}

std::vector<std::int64_t> modulesFrom(std::string_view text, const Stack& stack, const DepthMix& mix)
{
    const std::int64_t each = mixedModules(mix, 1);
    const VisitedModules modules = typedModules(stack, mix);
    const std::int64_t layers = (modules.last() - 1) / each;
    const std::int64_t part = each == 2 && text.ends_with('a') ? 1 : each == 2 && text.ends_with('f') ? 2 : 0;
    text.remove_suffix(part > 0 ? 1 : 0);
    const std::size_t at = std::min(text.find('@'), text.size());
    const std::string_view name = text.substr(0, at);
    std::optional<std::int64_t> number = numberFrom<std::int64_t>(name);
    if (name.starts_with('L')) {
        const auto from = name.size() == 1 ? 0 : numberFrom<std::int64_t>(name.substr(1));
        number = from && *from <= 0 ? std::optional((part > 0 ? layers : modules.last() - 1) + *from) : number;
    }
    if (part > 0) {
        number =
            number && *number >= 1 && *number <= layers ? std::optional((*number - 1) * each + part) : std::nullopt;
    }
    const std::int64_t last = modules.last() - (mix.finalMix ? 0 : 1);
    number = name == "out" ? modules.last() : number.value_or(-1);
    const std::vector<std::int64_t> visits = modules.visitsOf(*number <= last ? *number : -1);
    if (at == text.size()) {
        return visits;
    }
    const auto visit = numberFrom<std::int64_t>(text.substr(at + 1)).value_or(0);
    return visit < 1 || visit > std::ssize(visits) ? std::vector<std::int64_t>()
                                                   : std::vector{visits[static_cast<std::size_t>(visit - 1)]};
}

std::optional<std::int64_t> sourceFrom(std::string_view text, const Stack& stack, const DepthMix& mix,
                                       std::int64_t target)
{
    if (namesVisits(stack, mix)) {
        return lastBefore(modulesFrom(text, stack, mix), target);
    }
    const auto source = numberFrom<std::int64_t>(text);
    return source && *source >= 0 && *source <= newestEntryBefore(mix, target) ? source : std::nullopt;
}

std::string shortcutName(const Project& project, const Shortcut& shortcut)
{
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    return mix != nullptr && namesVisits(project.stack(), *mix)
               ? moduleName(project, shortcut.source) + ":" + moduleName(project, shortcut.target)
               : nameOf(shortcut);
}

} // namespace residua::projects
