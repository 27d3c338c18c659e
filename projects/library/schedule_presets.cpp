// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/library/schedule_presets.h"

#include "projects/base/mapped.h"
#include "projects/schedule/kept_parts.h"
#include "projects/schedule/stage_schedule.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <sstream>

namespace residua::projects {

namespace {

constexpr const char* kPlace = "schedule";
constexpr std::int64_t kWarmupShare = 100; ///< of the steps

StageSchedule subnetworks(DropAxis axis)
{
    StageSchedule rules;
    rules.axis = axis;
    rules.scaling = axis == DropAxis::Layers ? DropScaling::SquareRoot : DropScaling::None;
    return rules;
}

/// Splits a text into its words of ASCII letters and digits, in lower case.
std::vector<std::string> wordsOf(std::string_view text)
{
    std::vector<std::string> words(1);
    for (const char c : text) {
        const bool isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (isLetter || (c >= '0' && c <= '9')) {
            words.back() += isLetter ? static_cast<char>(c | 0x20) : c;
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    return words;
}

/// True if some first words of `text` are `wanted`, which has no spaces.
bool beginsWith(std::string_view text, const std::string& wanted)
{
    std::string first;
    for (const std::string& word : wordsOf(text)) {
        first += word;
        if (!first.empty() && first == wanted) {
            return true;
        }
    }
    return false;
}

/// True if a part of a source, such as "Xiao et al., MUDDFormer", begins with `wanted`.
bool isInSource(const std::string& wanted, std::string_view source)
{
    for (std::size_t begin = 0; begin < source.size();) {
        const std::size_t end = std::min(source.find_first_of(",:", begin), source.size());
        if (beginsWith(source.substr(begin, end - begin), wanted)) {
            return true;
        }
        begin = end + 1;
    }
    return false;
}

StageSchedule growth(GrowthSource source, DropAxis axis = DropAxis::Layers)
{
    StageSchedule rules;
    rules.axis = axis;
    rules.sampling = DropSampling::First;
    rules.scaling = DropScaling::None;
    rules.growth = source;
    return rules;
}

StageSchedule opening(StageSchedule rules)
{
    rules.growthWarmup = 1; // scheduleOf() sets its length from the training
    return rules;
}

StageSchedule layerDropping(DropCourse course, DropScaling scaling)
{
    StageSchedule rules;
    rules.sampling = DropSampling::DeeperSeldomer;
    rules.course = course;
    rules.scaling = scaling;
    return rules;
}

StageSchedule lemon()
{
    StageSchedule rules = growth(GrowthSource::Adjacent);
    rules.growthWrites = GrowthWrites::Zero;
    return rules;
}

std::vector<SchedulePreset> makeSchedulePresets()
{
    const std::vector<double> raptr{1.0 / 2, 2.0 / 3, 5.0 / 6, 1};
    const std::vector<double> heads{1.0 / 2, 3.0 / 4, 1};
    const std::vector<double> doubling{1.0 / 4, 1.0 / 2, 1};
    const char* const msg = "Yao et al., Masked Structural Growth; RaPTr, D.2";
    return {
        {"none", "All layers, always", "", "Every step trains every layer.", {}, {}},
        {"raptr", "RaPTr", "RaPTr, section 2.1 and appendix E", "Random layers, more of them from stage to stage.",
         subnetworks(DropAxis::Layers), raptr, true},
        {"raptr-free", "RaPTr, none always kept", "RaPTr, section 3 and D.3", "The same without an always-kept set.",
         subnetworks(DropAxis::Layers), raptr},
        {"raptr-heads", "RaPTr, attention heads", "RaPTr, section 4.3", "Random heads of each layer, more and more.",
         subnetworks(DropAxis::Heads), heads},
        {"raptr-mlp", "RaPTr, MLP", "RaPTr, section 4.3", "Random quarters of each MLP, more and more.",
         subnetworks(DropAxis::Mlp), doubling},
        {"pld",
         "Progressive layer dropping",
         "Zhang and He, Progressive Layer Dropping; RaPTr, D.1",
         "Fewer and fewer layers along a curve, the deeper ones the less often.",
         layerDropping(DropCourse::Curve, DropScaling::InverseProbability),
         {}},
        {"stochastic-depth",
         "Stochastic depth",
         "Huang et al., Stochastic Depth",
         "The deeper a layer the less often it trains; its share counts in evaluation.",
         layerDropping(DropCourse::Stages, DropScaling::Evaluation),
         {}},
        {"stacking", "Gradual stacking", "Reddi et al., Gradual Stacking; RaPTr, D.2",
         "A network that grows: copies of its top layers on top.", growth(GrowthSource::Top), raptr},
        {"bert2bert", "bert2BERT", "Chen et al., bert2BERT; RaPTr, D.2", "A network whose depth doubles.",
         growth(GrowthSource::Top), doubling},
        {"lemon", "LEMON", "Wang et al., LEMON",
         "Copies of layers right after them, which write nothing at first: a plain residual network stays what it is.",
         lemon(), raptr},
        {"lemon-raptr", "LEMON, as RaPTr has it", "RaPTr, D.2",
         "Copies of layers right after them, which repeat their parameters and write at once.",
         growth(GrowthSource::Adjacent), raptr},
        {"msg", "MSG", msg, "Gradual stacking whose new branches open over a warm-up.",
         opening(growth(GrowthSource::Top)), raptr},
        {"msg-between", "MSG, layers between", msg, "The same with each copy right after its source.",
         opening(growth(GrowthSource::Adjacent)), raptr},
        {"msg-heads", "MSG, attention heads", msg, "Each layer's heads grow, opening over a warm-up.",
         opening(growth(GrowthSource::Fresh, DropAxis::Heads)), heads},
        {"msg-mlp", "MSG, MLP", msg, "Each MLP's hidden features grow, opening over a warm-up.",
         opening(growth(GrowthSource::Fresh, DropAxis::Mlp)), doubling},
    };
}

std::vector<double> lengthsOf(const SchedulePreset& preset, std::int64_t depth)
{
    std::set<double> lengths;
    const double least = preset.keepsEnds && depth > 1 ? 2 : 1;
    for (const double share : preset.shares) {
        const double length = share * static_cast<double>(depth);
        if (leavesOutLayers(preset.rules.axis)) {
            lengths.insert(std::max(std::round(length), least));
        } else if (length >= 1) {
            lengths.insert(length); // a share of the heads or parts of each layer, independent of the depth
        }
    }
    return {lengths.begin(), lengths.end()};
}

/// Returns stages of these lengths with the preset's rules.
Result<StageSchedule> staged(const SchedulePreset& preset, const std::vector<double>& lengths, StageSplit split,
                             std::int64_t depth, std::int64_t steps, double target)
{
    Result<StageSchedule> made = makeStages(preset.rules, lengths, split, depth, steps, target,
                                            preset.keepsEnds ? StageEnds::Kept : StageEnds::AsOthers);
    if (made && made->growthWarmup > 0) {
        made->growthWarmup = std::max<std::int64_t>(steps / kWarmupShare, 1);
    }
    return made;
}

std::vector<TopologyPreset> withSchedules(std::vector<TopologyPreset> presets)
{
    const Wiring plain = std::ranges::find(presets, kPlainPreset, &TopologyPreset::name)->wiring;
    presets.insert(std::ranges::find(presets, "value-residual", &TopologyPreset::name),
                   {"stochastic-depth", "Stochastic depth",
                    "Plain, with a schedule that leaves out layers at random, the deeper ones more often",
                    "Huang et al., Stochastic Depth", plain, "stochastic-depth"});
    return presets;
}

} // namespace

std::span<const SchedulePreset> schedulePresets()
{
    static const std::vector<SchedulePreset> all = makeSchedulePresets();
    return all;
}

const SchedulePreset* findSchedulePreset(std::string_view name)
{
    const auto found = std::ranges::find(schedulePresets(), name, &SchedulePreset::name);
    return found == schedulePresets().end() ? nullptr : &*found;
}

StageSchedule scheduleOf(const SchedulePreset& preset, std::int64_t depth, std::int64_t steps)
{
    if (depth > 0 && preset.rules.course == DropCourse::Stages &&
        preset.rules.sampling == DropSampling::DeeperSeldomer) {
        // One stage whose last layer is kept with probability 0.5 (Huang et al.).
        StageSchedule schedule = preset.rules;
        const auto all = static_cast<double>(depth);
        schedule.stages = {{0, all - 0.5 * (all + 1) / 2, {}}};
        return schedule;
    }
    if (preset.shares.empty() || depth < 1) {
        return preset.rules;
    }
    std::vector<double> lengths = lengthsOf(preset, depth);
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(steps, 1));
    if (lengths.size() > most) {
        lengths.erase(lengths.begin(), lengths.end() - static_cast<std::ptrdiff_t>(most));
    }
    const Result<StageSchedule> made =
        staged(preset, lengths, StageSplit::Equal, depth, std::max<std::int64_t>(steps, 1), 0);
    return made ? *made : preset.rules;
}

std::vector<TopologyPreset> topologyChoices(std::int64_t depth)
{
    return withSchedules(topologyPresets(depth));
}

std::vector<TopologyPreset> topologyChoices(const Network& network)
{
    return withSchedules(topologyPresets(network));
}

std::vector<std::string> variantsOf(std::string_view word, std::span<const TopologyPreset> presets)
{
    const std::string wanted = joinedText(wordsOf(word), "");
    std::vector<std::string> names;
    for (const bool bySource : {false, true}) {
        for (const TopologyPreset& preset : presets) {
            if (bySource ? isInSource(wanted, preset.source)
                         : beginsWith(preset.name, wanted) || beginsWith(preset.title, wanted)) {
                names.push_back(preset.name);
            }
        }
        if (!names.empty()) {
            break;
        }
    }
    return names;
}

std::string variantsText(std::string_view word, std::span<const TopologyPreset> presets)
{
    const std::vector<std::string> names = variantsOf(word, presets);
    return names.empty() ? std::string() : std::string(word) + " is " + choiceText(names);
}

std::string presetHint(std::string_view word, std::span<const TopologyPreset> presets, HintForm form,
                       std::string_view otherwise)
{
    const std::string variants = variantsText(word, presets);
    return variants.empty() ? meantHint(word, presets | std::views::transform(&TopologyPreset::name), form, otherwise)
                            : "; " + variants;
}

std::optional<StageSchedule> scheduleBeside(const TopologyPreset& preset, std::int64_t depth, std::int64_t steps)
{
    const SchedulePreset* const schedule = findSchedulePreset(preset.schedule);
    return schedule == nullptr ? std::nullopt : std::optional(scheduleOf(*schedule, depth, steps));
}

Result<StageSchedule> scheduleFrom(std::string_view text, std::int64_t depth, std::int64_t steps)
{
    std::istringstream stream{std::string(text)};
    std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    const SchedulePreset* const preset = findSchedulePreset(words.empty() ? "" : words[0]);
    if (preset == nullptr) {
        auto names = mapped(schedulePresets(), &SchedulePreset::name);
        return Error{kPlace, "got \"" + std::string(text) + "\", expected a preset's name such as raptr" +
                                 meantHint(words.empty() ? std::string_view() : words[0], names)};
    }
    SchedulePreset wanted = *preset;
    if (words.back() == "visits") {
        wanted.rules.unit = DropUnit::Visit;
        words.pop_back();
    }
    if (words.size() == 1) {
        return scheduleOf(wanted, depth, steps);
    }
    if (preset->rules.course == DropCourse::Curve) {
        const auto floor = numberFrom<double>(words[1]);
        if (!floor || !(*floor > 0 && *floor <= 1) || words.size() > 2) {
            return Error{kPlace,
                         "got \"" + std::string(text) + "\", expected ᾱ above 0 and at most 1 after " + words[0]};
        }
        StageSchedule schedule = wanted.rules;
        schedule.curveFloor = *floor;
        return schedule;
    }
    const std::vector<double> lengths = RESIDUA_TRY(stageLengthsFrom(words[1]));
    if (words.size() >= 4 && words[words.size() - 2] == "full") {
        const auto full = numberFrom<std::int64_t>(words.back());
        if (!full || *full < 0) {
            return Error{kPlace, "got \"" + std::string(text) + "\", expected a number of steps after \"full\""};
        }
        wanted.rules.fullModelSteps = *full;
        words.resize(words.size() - 2);
    }
    const bool average = words.size() == 4 && words[2] == "average";
    const auto target = average ? numberFrom<double>(words[3]) : std::optional(0.0);
    const bool proportional = words.size() == 3 && words[2] == "proportional";
    if (!target || (words.size() > 2 && !average && !proportional)) {
        return Error{kPlace,
                     "got \"" + std::string(text) +
                         "\", expected \"proportional\" or \"average N\", then \"full STEPS\", then \"visits\", "
                         "after the lengths"};
    }
    const StageSplit split = average        ? StageSplit::TargetAverage
                             : proportional ? StageSplit::Proportional
                                            : StageSplit::Equal;
    return staged(wanted, lengths, split, depth, steps, *target);
}

} // namespace residua::projects
