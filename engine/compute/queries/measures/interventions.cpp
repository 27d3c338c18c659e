// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/measures/interventions.h"

#include "projects/base/text.h"
#include "projects/depth/depth_names.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace residua::engine {
namespace {

using projects::FilledStreams;
using projects::InterventionKind;
using projects::StreamFill;
using projects::TransitionForm;

constexpr std::size_t kMostInterventions = 20'000;
constexpr std::size_t kMostQuoted = 40; ///< characters of a list that an error repeats

struct ModuleRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
};
using StreamSet = std::vector<std::int64_t>; ///< ascending, without repetition

std::vector<std::string_view> partsOf(std::string_view text, char between)
{
    std::vector<std::string_view> parts;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(between, start), text.size());
        parts.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

Error notIn(const char* field, std::string_view part, const std::string& expected)
{
    return {field, "got \"" + std::string(part.substr(0, kMostQuoted)) + "\", expected " + expected};
}

Result<std::vector<StreamSet>> setsFrom(const char* field, const std::string& text, std::int64_t streams)
{
    std::vector<StreamSet> sets;
    if (text.empty()) {
        for (std::int64_t stream = 1; stream <= streams; ++stream) {
            sets.push_back({stream});
        }
        return sets;
    }
    for (const std::string_view part : partsOf(text, ',')) {
        StreamSet& set = sets.emplace_back();
        for (const std::string_view word : partsOf(part, '+')) {
            const std::optional<std::int64_t> stream = numberFrom<std::int64_t>(word);
            if (!stream || *stream < 1 || *stream > streams || std::ranges::find(set, *stream) != set.end()) {
                return notIn(field, part,
                             "different streams of 1 to " + std::to_string(streams) + ", such as 1 or 1+2");
            }
            set.push_back(*stream);
        }
        std::ranges::sort(set);
    }
    return sets;
}

std::vector<ModuleRange> eachFrom(std::int64_t first, std::int64_t last)
{
    std::vector<ModuleRange> each;
    for (std::int64_t module = first; module <= last; ++module) {
        each.push_back({module, module});
    }
    return each;
}

std::string setText(const StreamSet& set)
{
    return joinedText(set, "+", [](std::int64_t stream) { return std::to_string(stream); });
}

/// Makes the interventions of a request on a wiring of `m_streams` streams and `m_modules` modules.
class Making {
public:
    Making(const InterventionRequest& request, const projects::Project& project, std::int64_t streams)
        : m_request(request),
          m_project(project),
          m_streams(streams),
          m_modules(projects::modulesIn(project.stack().topology.wiring, project.network.depth()))
    {
    }

    Result<std::vector<Intervention>> make()
    {
        const bool ofTransitions = m_request.what == InterventionKind::Transitions;
        Status made = checkFields();
        if (made) {
            made = ofTransitions ? transitions() : fills();
        }
        if (made && m_made.size() > kMostInterventions) {
            made = Error{"after", "they are more than " + groupedText(kMostInterventions / 2) +
                                      " interventions; expected fewer streams or modules"};
        }
        return made ? Result<std::vector<Intervention>>(std::move(m_made)) : made.error();
    }

private:
    /// Refuses a field that the kind of intervention does not use.
    [[nodiscard]] Status checkFields() const
    {
        const bool ofTransitions = m_request.what == InterventionKind::Transitions;
        if (ofTransitions && !m_request.streams.empty()) {
            return Error{"streams", "transitions are replaced whole; expected no streams"};
        }
        if (ofTransitions && (m_request.fill != StreamFill::Zero || m_request.copied != 0)) {
            return Error{"fill", "only streams are filled; expected by, or another value of what"};
        }
        if (!ofTransitions && m_request.by != TransitionForm::Identity) {
            return Error{"by", "only transitions are replaced; expected what transitions"};
        }
        if (m_request.top != 1 && m_request.by < TransitionForm::Top) {
            return Error{"top", "only by top and top-scaled keep some weights; expected one of them"};
        }
        if (m_request.what != InterventionKind::Rescue && !(m_request.restored.empty() && m_request.at.empty())) {
            return Error{m_request.restored.empty() ? "at" : "restored",
                         "only a rescue restores streams; expected what rescue"};
        }
        return Done{};
    }

    /// Returns the module with a number, or with a name as "2a" (projects::moduleName).
    [[nodiscard]] std::optional<std::int64_t> moduleFrom(std::string_view word) const
    {
        const std::optional<std::int64_t> number = numberFrom<std::int64_t>(word);
        for (std::int64_t module = 1; !number && module <= m_modules; ++module) {
            if (word == projects::moduleName(m_project, module)) {
                return module;
            }
        }
        return number;
    }

    [[nodiscard]] Result<std::vector<ModuleRange>> ranges(const char* field, const std::string& text,
                                                          std::int64_t least) const
    {
        std::vector<ModuleRange> found;
        for (const std::string_view part : partsOf(text, ',')) {
            const std::size_t dash = part.find('-');
            const auto first = moduleFrom(part.substr(0, dash));
            const auto last = dash == std::string_view::npos ? first : moduleFrom(part.substr(dash + 1));
            if (!first || !last || *first < least || *last > m_modules || *first > *last) {
                const bool isNamed = !projects::numbersNameModules(m_project);
                return notIn(field, part,
                             "a module of " + std::to_string(least) + " to " + std::to_string(m_modules) +
                                 (isNamed ? ", its name such as 1f" : "") + ", or an ascending range such as 1-2");
            }
            found.push_back({*first, *last});
        }
        return found;
    }

    Status transitions()
    {
        const std::int64_t half = m_modules / 2;
        std::vector<ModuleRange> places{{1, m_modules}};
        if (half > 0) {
            places.push_back({1, half});
            places.push_back({half + 1, m_modules});
        }
        if (!m_request.after.empty()) {
            places = RESIDUA_TRY(ranges("after", m_request.after, 1));
        }
        if (m_request.by >= TransitionForm::Top && (m_request.top < 1 || m_request.top > m_streams)) {
            return Error{"top", "got " + std::to_string(m_request.top) + ", expected 1 to " +
                                    std::to_string(m_streams) + ", the number of streams"};
        }
        for (const ModuleRange& range : places) {
            projects::Alteration alteration;
            alteration.transitions = {{range.first, range.last, m_request.by, m_request.top}};
            InterventionRow row;
            row.name = "transition" + std::string(range.last > range.first ? "s" : "") + " of " + textOf(range) + " " +
                       nameOfForm();
            row.first = range.first;
            row.last = range.last;
            add(std::move(row), std::move(alteration), {});
        }
        return Done{};
    }

    Status fills()
    {
        const auto sets = RESIDUA_TRY(setsFrom("streams", m_request.streams, m_streams));
        const bool rescues = m_request.what == InterventionKind::Rescue;
        const auto places = RESIDUA_TRY(!m_request.after.empty() ? ranges("after", m_request.after, 0)
                                                                 : eachFrom(1, rescues ? 1 : m_modules));
        RESIDUA_TRY(checkCopied(sets));
        for (const ModuleRange& range : places) {
            RESIDUA_TRY(m_request.what == InterventionKind::Pairs ? pairs(sets, range)
                        : rescues                                 ? rescue(sets, range)
                                                                  : each(sets, range));
            if (m_made.size() > kMostInterventions) {
                break; // make() refuses them
            }
        }
        return Done{};
    }

    [[nodiscard]] Status checkCopied(const std::vector<StreamSet>& sets) const
    {
        if (m_request.fill != StreamFill::Stream) {
            return m_request.copied == 0 ? Status(Done{})
                                         : Error{"copied", "only the filling stream copies one; expected none"};
        }
        if (m_request.copied < 1 || m_request.copied > m_streams) {
            return Error{"copied", "got " + std::to_string(m_request.copied) + ", expected a stream of 1 to " +
                                       std::to_string(m_streams)};
        }
        for (const StreamSet& set : sets) {
            if (!m_request.streams.empty() && std::ranges::find(set, m_request.copied) != set.end()) {
                return Error{"copied", "stream " + std::to_string(m_request.copied) +
                                           " is filled itself; expected one that is not among " + setText(set)};
            }
        }
        return Done{};
    }
    /// True if the set is filled. Without a list of sets, all streams are but the copied one.
    [[nodiscard]] bool isFilled(const StreamSet& set) const
    {
        return m_request.fill != StreamFill::Stream || std::ranges::find(set, m_request.copied) == set.end();
    }

    Status each(const std::vector<StreamSet>& sets, const ModuleRange& range)
    {
        for (const StreamSet& set : sets) {
            if (isFilled(set)) {
                static_cast<void>(fill(set, range));
            }
        }
        return Done{};
    }

    Status pairs(const std::vector<StreamSet>& sets, const ModuleRange& range)
    {
        StreamSet all;
        for (const StreamSet& set : sets) {
            std::ranges::copy_if(set, std::back_inserter(all), [&](std::int64_t s) { return isFilled({s}); });
        }
        std::ranges::sort(all);
        const auto again = std::ranges::unique(all);
        all.erase(again.begin(), again.end());
        if (all.size() < 2) {
            return Error{"streams", "got \"" + m_request.streams + "\", expected at least two streams for a pair"};
        }
        std::vector<std::size_t> alone;
        for (const std::int64_t stream : all) {
            alone.push_back(fill({stream}, range));
        }
        for (std::size_t a = 0; a < all.size(); ++a) {
            for (std::size_t b = a + 1; b < all.size(); ++b) {
                static_cast<void>(fill({all[a], all[b]}, range, {alone[a], alone[b]}));
            }
        }
        return Done{};
    }

    Status rescue(const std::vector<StreamSet>& sets, const ModuleRange& range)
    {
        const auto restored = RESIDUA_TRY(setsFrom("restored", m_request.restored, m_streams));
        const auto places = RESIDUA_TRY(m_request.at.empty() ? eachFrom(range.first, m_modules)
                                                             : ranges("at", m_request.at, range.first));
        for (const StreamSet& set : sets) {
            if (!isFilled(set)) {
                continue;
            }
            const std::size_t without = fill(set, range);
            for (const StreamSet& one : restored) {
                if (one.size() != 1) {
                    return notIn("restored", setText(one), "single streams, which are restored one at a time");
                }
                if (m_made.size() > kMostInterventions) {
                    return Done{}; // make() refuses them
                }
                for (const ModuleRange& place : places) {
                    for (std::int64_t at = place.first; at <= place.last; ++at) {
                        restore(without, one.front(), at);
                    }
                }
            }
        }
        return Done{};
    }

    /// Adds the filling of a set. Returns its index with the routing recomputed; the next one has it frozen.
    std::size_t fill(const StreamSet& set, const ModuleRange& range, const std::vector<std::size_t>& of = {})
    {
        InterventionRow row;
        row.streams = setText(set);
        row.name =
            (set.size() > 1 ? "streams " : "stream ") + row.streams + " " + nameOfFill() + " after " + textOf(range);
        row.first = range.first;
        row.last = range.last;
        projects::Alteration alteration;
        alteration.fills = {{set, range.first, range.last, m_request.fill, m_request.copied}};
        return add(std::move(row), std::move(alteration), of);
    }

    void restore(std::size_t without, std::int64_t stream, std::int64_t at)
    {
        InterventionRow row = m_made[without].row;
        row.name += ", stream " + std::to_string(stream) + " restored after " + textOf({at, at});
        row.restored = stream;
        row.at = at;
        projects::Alteration alteration = m_made[without].alteration;
        alteration.fills.push_back({{stream}, at, at, std::nullopt, 0});
        static_cast<void>(add(std::move(row), std::move(alteration), {without}));
    }

    std::size_t add(InterventionRow row, projects::Alteration alteration, const std::vector<std::size_t>& of)
    {
        const std::size_t index = m_made.size();
        for (const bool frozen : {false, true}) {
            Intervention& made = m_made.emplace_back(Intervention{row, alteration});
            made.row.frozen = made.alteration.frozenRouting = frozen;
            for (const std::size_t other : of) {
                made.of.push_back(other + (frozen ? 1 : 0));
            }
        }
        return index;
    }

    /// Returns "the entry", "2a" and "2a-3f", or "layer 3" and "layers 3-5" if modules are layers.
    [[nodiscard]] std::string textOf(const ModuleRange& range) const
    {
        const bool isSingle = range.first == range.last;
        if (isSingle && range.first == 0) {
            return "the entry";
        }
        const auto nameOf = [&](std::int64_t module) { return projects::moduleName(m_project, module); };
        const std::string names = nameOf(range.first) + (isSingle ? "" : "-" + nameOf(range.last));
        return (!projects::numbersNameModules(m_project) ? "" : isSingle ? "layer " : "layers ") + names;
    }

    [[nodiscard]] std::string nameOfFill() const
    {
        return m_request.fill == StreamFill::Zero   ? "zero"
               : m_request.fill == StreamFill::Mean ? "at the mean"
                                                    : "as stream " + std::to_string(m_request.copied);
    }
    [[nodiscard]] std::string nameOfForm() const
    {
        const std::string top = "top " + std::to_string(m_request.top);
        return m_request.by == TransitionForm::Identity ? "identity"
               : m_request.by == TransitionForm::Mean   ? "at the mean"
               : m_request.by == TransitionForm::Top    ? top
                                                        : top + " scaled";
    }

    const InterventionRequest& m_request;
    const projects::Project& m_project;
    const std::int64_t m_streams;
    const std::int64_t m_modules;
    std::vector<Intervention> m_made;
};

} // namespace

Result<std::vector<Intervention>> interventionsFor(const projects::Project& project, const InterventionRequest& request)
{
    const projects::Wiring& wiring = project.stack().topology.wiring;
    const auto* const streams = std::get_if<projects::MultiStream>(&wiring);
    if (streams == nullptr) {
        return Error{"topology", "it has no parallel streams; expected a run with hyper-connections, mHC, iHC or "
                                 "Frac-Connections, or analyze knockout for its parts"};
    }
    const bool sharesRows = std::ranges::any_of(project.stack().loops, [](const projects::Loop& loop) {
        return loop.rows == projects::VisitRows::Layer && loop.visits > 1;
    });
    if (sharesRows) { // the kept weights of a module are those of its last visit
        return Error{"network · loops", "the visits of a loop share the weights of the streams; expected a run whose "
                                        "visits have weights of their own"};
    }
    return Making(request, project, streams->streams).make();
}

std::vector<InterventionRow> derivedRows(const std::vector<Intervention>& interventions, double noise)
{
    std::vector<InterventionRow> rows;
    for (const Intervention& each : interventions) {
        InterventionRow& row = rows.emplace_back(each.row);
        const auto divergenceOf = [&](std::size_t index) { return interventions.at(index).row.divergence; };
        row.derived = std::numeric_limits<double>::quiet_NaN();
        if (row.restored > 0) {
            const double without = divergenceOf(each.of.front());
            row.derived = without > noise ? 1 - row.divergence / without : row.derived;
        } else if (!each.of.empty()) {
            row.derived = row.divergence - divergenceOf(each.of[0]) - divergenceOf(each.of[1]);
        }
    }
    return rows;
}

} // namespace residua::engine
