// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/alteration.h"

#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/depth/depth_parameters.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/depth_program.h"
#include "projects/depth/shared_mix.h"
#include "projects/depth/visit_shortcuts.h"
#include "projects/nodes/ffn_site.h"

#include <algorithm>

namespace residua::projects {
namespace {

/// Sets the factor of every weight of the input at `place` of a Mix to 0.
void switchOff(const DepthStep& step, std::size_t place, Alteration& alteration)
{
    for (std::size_t output = 0; output < step.outputs; ++output) {
        alteration.factors[step.firstTerm + output * step.inputs.size() + place] = 0;
    }
}

/// Returns an error about the project's wiring, by its name.
Error wiringLacks(const Topology& topology, const std::string& what)
{
    return {"topology", "the wiring " + topology.preset + " has no " + what};
}

Result<std::vector<KnockoutSubject>> termsOf(const Project& project, bool renormalises)
{
    const Topology& topology = project.stack().topology;
    const std::int64_t layers = project.network.depth();
    const Wiring& wiring = topology.wiring;
    const auto* const mix = std::get_if<DepthMix>(&wiring);
    if (mix == nullptr) {
        return wiringLacks(topology, "shortcuts with weights of their own; expected a knock-out by layer or half, or "
                                     "of parallel streams by stream");
    }
    if (renormalises && mix->normalise == NormaliseOver::None && !traitsOf(mix->weight).attends) {
        return wiringLacks(topology, "softmax over its weights, which therefore cannot be renormalised; expected a "
                                     "knock-out that does not renormalise");
    }
    std::vector<KnockoutSubject> subjects;
    const std::int64_t modules = modulesIn(wiring, layers);
    visitSteps(wiring, layers, [&](DepthStep&& step) {
        if (step.kind != DepthStepKind::Mix) {
            return;
        }
        const auto target = static_cast<std::int64_t>(step.row) + 1;
        const DepthReader reader = readerOf(*mix, target, modules);
        for (std::size_t place = 0; place < step.inputs.size(); ++place) {
            KnockoutSubject& subject = subjects.emplace_back();
            subject.first = reader.sources[place];
            subject.reader = target;
            subject.name = shortcutName(project, {subject.first, target});
            subject.alteration.renormalises = renormalises;
            switchOff(step, place, subject.alteration);
        }
    });
    return subjects;
}

Result<std::vector<KnockoutSubject>> streamsOf(const Topology& topology, std::int64_t layers)
{
    const Wiring& wiring = topology.wiring;
    const auto* const streams = std::get_if<MultiStream>(&wiring);
    if (streams == nullptr) {
        return wiringLacks(topology, "parallel streams; expected a knock-out by term, layer or half");
    }
    std::vector<KnockoutSubject> subjects(static_cast<std::size_t>(streams->streams));
    visitSteps(wiring, layers, [&](DepthStep&& step) {
        for (std::size_t stream = 0; step.kind == DepthStepKind::Mix && stream < subjects.size(); ++stream) {
            switchOff(step, stream, subjects[stream].alteration); // the streams are its first inputs
        }
    });
    for (std::size_t stream = 0; stream < subjects.size(); ++stream) {
        subjects[stream].first = static_cast<std::int64_t>(stream) + 1;
        subjects[stream].name = "stream " + std::to_string(stream + 1);
    }
    return subjects;
}

Result<std::vector<KnockoutSubject>> layersOf(const Project& project, bool halves)
{
    const Wiring& wiring = project.stack().topology.wiring;
    std::vector<KnockoutSubject> subjects;
    for (std::int64_t layer = 1; layer <= project.network.depth(); ++layer) {
        if (!halves && mayBeLeftOut(wiring, layer)) {
            subjects.push_back(
                {"layer " + layerName(project.stack(), layer), layer, 0, {{}, false, {{layer, LayerPart::Whole}}}});
        }
        const Block* const block = halves ? project.network.blockOfLayer(layer) : nullptr;
        if (block == nullptr || !halfEndsOf(*block)) {
            continue;
        }
        for (const auto& [part, name] : {std::pair(LayerPart::Attention, "attention "), {LayerPart::Ffn, "FFN "}}) {
            if (part == LayerPart::Ffn || mayBeLeftOut(wiring, layer)) {
                subjects.push_back({name + layerName(project.stack(), layer), layer, 0, {{}, false, {{layer, part}}}});
            }
        }
    }
    return subjects;
}

/// True if the stacks have the same parameters.
bool haveSameParameters(const Stack& a, const Stack& b)
{
    const auto of = [](const Stack& stack) {
        auto all = mapped(parametersOf(stack), [](const WiringParameter& parameter) {
            return std::pair<std::string, std::vector<std::int64_t>>(parameter.name, parameter.shape);
        });
        for (const Loop& loop : stack.loops) {
            all.emplace_back("adapters", std::vector{loop.adapterRank, loop.adapterRank > 0 ? loop.visits : 0});
        }
        return all;
    };
    return of(a) == of(b);
}

/// Returns the largest number of visits that is measured: twice those of the document for shared weights of a mix, for
/// which other networks are compiled.
std::int64_t mostVisits(const Stack& stack, std::size_t loop)
{
    const Stack more = withVisits(stack, loop, std::min(2 * stack.loops[loop].visits, kMaxVisits));
    return sharesMix(stack) && more.depth() <= kMaxLayers && haveSameParameters(stack, more) ? more.loops[loop].visits
                                                                                             : stack.loops[loop].visits;
}

Result<std::vector<KnockoutSubject>> visitsOf(const Project& project)
{
    const Stack& stack = project.stack();
    std::vector<KnockoutSubject> subjects;
    for (std::size_t i = 0; i < stack.loops.size(); ++i) {
        const Loop& loop = stack.loops[i];
        for (std::int64_t visits = 1; stack.isSound(i) && visits <= mostVisits(stack, i); ++visits) {
            if (visits == evaluatedVisits(loop)) {
                continue; // that of the whole network
            }
            KnockoutSubject& subject = subjects.emplace_back();
            subject.name = (stack.loops.size() > 1 ? "loop " + std::to_string(i + 1) + ", " : "") +
                           countText(static_cast<std::size_t>(visits), "visit");
            subject.first = visits;
            subject.alteration.visits = {{i, visits}};
        }
    }
    return subjects;
}

} // namespace

Project withMoreVisits(Project project, std::int64_t least)
{
    for (std::size_t i = 0; i < project.stack().loops.size(); ++i) {
        Stack more = project.stack();
        Loop& loop = more.loops[i];
        loop.mean = static_cast<double>(evaluatedVisits(loop));
        loop.draw = VisitDraw::Poisson;
        loop.visits = std::min(std::max(2 * loop.visits, least), kMaxVisits);
        const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
        const bool isRule = mix == nullptr || !listsShortcuts(*mix); // listed numbers are those of the run's visits
        const bool mayDraw = !loop.exitGate && isRule && !sharesMix(project.stack());
        if (project.stack().isSound(i) && mayDraw && more.depth() <= kMaxLayers &&
            haveSameParameters(project.stack(), more)) {
            project.stack() = std::move(more);
        }
    }
    return project;
}

Result<Wiring> withTerms(const Wiring& wiring, std::int64_t layers)
{
    const auto* const mix = std::get_if<DepthMix>(&wiring);
    if (mix == nullptr || !isRunningSum(*mix)) {
        return wiring;
    }
    ExplicitSources listed = RESIDUA_TRY(listedSources(*mix, modulesIn(wiring, layers)));
    DepthMix explicitMix = *mix;
    explicitMix.sources = std::move(listed);
    explicitMix.sites = sitesOf(*mix);
    return Wiring(std::move(explicitMix));
}

Result<std::vector<KnockoutSubject>> knockoutSubjects(const Project& project, KnockoutBy by, bool renormalises)
{
    if (renormalises && by != KnockoutBy::Term) {
        return Error{"renormalise", "it is of a knock-out by term, whose shortcuts a softmax may weigh; leave it out"};
    }
    const Topology& topology = project.stack().topology;
    const std::int64_t layers = project.network.depth();
    Result<std::vector<KnockoutSubject>> subjects = by == KnockoutBy::Term     ? termsOf(project, renormalises)
                                                    : by == KnockoutBy::Stream ? streamsOf(topology, layers)
                                                    : by == KnockoutBy::Visits
                                                        ? visitsOf(project)
                                                        : layersOf(project, by == KnockoutBy::Half);
    if (subjects && subjects->empty() && by == KnockoutBy::Visits) {
        return Error{"network · loops", "has none, so that no number of visits can change; expected a knock-out by "
                                        "term, layer or half"};
    }
    if (subjects && subjects->empty()) {
        return wiringLacks(topology, by == KnockoutBy::Term   ? "shortcuts; expected a knock-out by layer or half"
                                     : by == KnockoutBy::Half ? "layer with an attention and an FFN; expected a "
                                                                "knock-out by term, layer or stream"
                                                              : "layer that may be left out; expected a knock-out by "
                                                                "term or half");
    }
    return subjects;
}

Result<std::vector<KnockoutSubject>> chosenSubjects(std::vector<KnockoutSubject> subjects,
                                                    const std::vector<std::string>& names)
{
    for (const std::string& name : names) {
        if (std::ranges::find(subjects, name, &KnockoutSubject::name) == subjects.end()) {
            std::vector<std::string> known(subjects.size());
            std::ranges::transform(subjects, known.begin(), &KnockoutSubject::name);
            const std::string range = known.size() == 1 ? known.front() : known.front() + " to " + known.back();
            return Error{"only", "it has no part \"" + name + "\", expected of " + range + meantHint(name, known)};
        }
    }
    if (!names.empty()) {
        std::erase_if(subjects, [&](const KnockoutSubject& subject) {
            return std::ranges::find(names, subject.name) == names.end();
        });
    }
    return subjects;
}

} // namespace residua::projects
