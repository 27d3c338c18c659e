// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/run_files.h"

#include "engine/base/files/json_record.h"
#include "projects/base/whole_file.h"
#include "projects/schema/method_keys.h"

#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using projects::LowRankInputs;
using projects::LowRankMethod;

constexpr const char* kGapFile = "gap.json";
constexpr std::size_t kLongestGap = std::size_t{1} << 24; ///< bytes; enough for some 50,000 weights

constexpr std::pair<const char*, double GapFit::*> kNumbers[] = {{"functionError", &GapFit::functionError},
                                                                 {"fullFunction", &GapFit::fullFunction},
                                                                 {"weightError", &GapFit::weightError},
                                                                 {"meanCorrelation", &GapFit::meanCorrelation},
                                                                 {"seconds", &GapFit::seconds}};
constexpr const char* kBound = "spectralGapBound"; ///< missing if it is unknown

RecordJson jsonOf(const GapWeight& weight, const GapFit& fit)
{
    const GapWeight::Columns of = weight.columns();
    RecordJson json = {
        {"name", weight.name}, {"out", of.out}, {"in", of.in}, {"rank", of.rank}, {"follows", of.follows}};
    for (const auto& [key, number] : kNumbers) {
        json[key] = fit.*number;
    }
    json["converged"] = fit.converged;
    json["note"] = fit.note;
    if (fit.spectralGapBound) {
        json[kBound] = *fit.spectralGapBound;
    }
    return json;
}

GapFit fitFrom(RecordFields& fields)
{
    GapFit fit{.state = GapFit::State::Fitted};
    for (const auto& [key, number] : kNumbers) {
        fit.*number = fields.number(key);
    }
    fit.note = fields.text("note");
    const RecordJson* const converged = fields.find("converged");
    if (converged == nullptr || !converged->is_boolean()) {
        fields.fail("converged", "is neither true nor false");
    }
    fit.converged = fields.error() ? false : converged->get<bool>();
    if (fields.find(kBound) != nullptr) {
        fit.spectralGapBound = fields.number(kBound);
    }
    return fit;
}

Result<Gap> gapFrom(const RecordJson& json, const fs::path& path)
{
    RecordFields fields(path.string(), json);
    Gap gap;
    const std::optional<LowRankMethod> method = projects::lowRankMethodFrom(fields.text("method"));
    const std::string named = fields.text("inputs");
    const std::optional<LowRankInputs> inputs = projects::lowRankInputsFrom(named);
    if (!method) {
        fields.fail("method", "is none that there is");
    }
    if (!inputs) {
        fields.fail("inputs", "is \"" + named + "\", expected " + keyOf(LowRankInputs::Gaussian) + " or " +
                                  keyOf(LowRankInputs::Data));
    }
    gap.inputs = inputs.value_or(LowRankInputs::Gaussian);
    gap.step = fields.count("step");
    fields.eachOf("weights", [&gap](RecordFields& element) {
        const std::string name = element.text("name");
        gap.weights.push_back(GapWeight::from(
            name, {element.count("out"), element.count("in"), element.count("rank"), element.text("follows")}));
        gap.fits.push_back(fitFrom(element));
    });
    if (fields.error()) {
        return *fields.error();
    }
    gap.methods = {*method};
    gap.outputs = {std::nullopt};
    return gap;
}

} // namespace

Status writeGap(const fs::path& runDirectory, const Gap& gap)
{
    RecordJson weights = RecordJson::array();
    for (std::size_t i = 0; i < gap.weights.size(); ++i) {
        weights.push_back(jsonOf(gap.weights[i], gap.fit(i, 0)));
    }
    const RecordJson json = {{"method", projects::keyOf(gap.methods.front())},
                             {"inputs", projects::keyOf(gap.inputs)},
                             {"step", gap.step},
                             {"weights", std::move(weights)}};
    return writeOwnFile(runDirectory / kGapFile, json.dump(1, ' ', false, RecordJson::error_handler_t::replace) + "\n");
}

Result<std::optional<Gap>> readGap(const fs::path& runDirectory)
{
    const fs::path path = runDirectory / kGapFile;
    if (!isThere(path)) {
        return std::optional<Gap>();
    }
    const auto text = RESIDUA_TRY(readFile(path));
    const auto json = RESIDUA_TRY(parseRecord(path, text, kLongestGap));
    return gapFrom(json, path).transform([](Gap gap) { return std::optional(std::move(gap)); });
}

} // namespace residua::engine
