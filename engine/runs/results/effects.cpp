// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/effects.h"

#include "engine/base/api/environment.h"
#include "engine/base/files/json_record.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_directory.h"
#include "projects/base/files.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/nodes/towers.h"
#include "projects/studies/paired_difference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <system_error>
#include <utility>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;
using projects::KnockoutBy;

constexpr std::int64_t kEffectsFormat = 1;
constexpr std::uintmax_t kMostEffectsBytes = 4 * kLongestEffects; ///< of all files that are read together
constexpr std::size_t kMostEffects = 1000;                        ///< files of a run
constexpr std::size_t kLongestSubject = 64;                       ///< bytes of a name
constexpr std::size_t kLongestIdentity = 64;

constexpr std::array<std::pair<const char*, double KnockoutRow::*>, 4> kRowNumbers{
    {{"weight", &KnockoutRow::weight},
     {"rise", &KnockoutRow::rise},
     {"error", &KnockoutRow::error},
     {"divergence", &KnockoutRow::divergence}}};

std::string wordOf(KnockoutBy by)
{
    return std::string(projects::kNamesOf<KnockoutBy>[static_cast<std::size_t>(by)]);
}

std::string fileNameOf(const EffectsKey& key)
{
    return effectsPrefix(key.step) + (key.tower.empty() ? "" : key.tower + ".") + wordOf(key.by) +
           (key.renormalise ? "-renormalised-" : "-") + (key.batches > 0 ? std::to_string(key.batches) : "all") +
           ".json";
}

fs::path folderOf(const fs::path& runDirectory)
{
    return runDirectory / kEffectsFolder;
}

void note(std::vector<std::string>* notes, const Error& error)
{
    if (notes != nullptr) {
        notes->push_back("a kept knock-out is left out: " + error.text());
    }
}

RecordJson jsonOf(const KeptEffects& effects)
{
    const EffectsKey& key = effects.key;
    const KnockoutReady& measured = effects.measured;
    RecordJson rows = RecordJson::array();
    for (const KnockoutRow& row : measured.rows) {
        RecordJson& json =
            rows.emplace_back(RecordJson{{"part", row.name}, {"first", row.first}, {"reader", row.reader}});
        for (const auto& [name, number] : kRowNumbers) {
            json[name] = row.*number; // NaN becomes null
        }
    }
    RecordJson json{{"format", kEffectsFormat},
                    {"step", key.step},
                    {"by", wordOf(key.by)},
                    {"renormalise", key.renormalise},
                    {"batches", key.batches},
                    {"checkpoint", measured.checkpoint},
                    {"measuredBatches", measured.batches},
                    {"loss", measured.loss},
                    {"keptBytes", measured.borderBytes},
                    {"rows", std::move(rows)}};
    if (!key.tower.empty()) {
        json["tower"] = key.tower;
    }
    return json;
}

/// Reads a text of at most `longest` bytes that can be shown on one line.
std::string shortText(RecordFields& fields, const char* key, std::size_t longest)
{
    std::string text = fields.text(key);
    if (text.size() > longest || !isPrintable(text)) {
        fields.fail(key, "is no text of at most " + std::to_string(longest) + " printable bytes");
        return {};
    }
    return text;
}

EffectsKey keyFrom(RecordFields& fields)
{
    EffectsKey key;
    key.step = fields.count("step");
    key.batches = fields.count("batches");
    const std::string word = fields.text("by");
    constexpr auto& words = projects::kNamesOf<KnockoutBy>;
    const auto* const found = std::ranges::find(words, word);
    if (found == words.end()) {
        fields.fail("by", "is none of term, layer, half and stream");
    } else {
        key.by = static_cast<KnockoutBy>(found - words.begin());
    }
    const RecordJson* const renormalise = fields.find("renormalise");
    if (renormalise == nullptr || !renormalise->is_boolean()) {
        fields.fail("renormalise", "is neither true nor false");
    } else {
        key.renormalise = renormalise->get<bool>();
    }
    if (fields.find("tower") != nullptr) {
        key.tower = shortText(fields, "tower", kLongestSubject);
    }
    return key;
}

Result<KeptEffects> effectsOf(const RecordJson& json, const fs::path& path)
{
    RecordFields fields(path.string(), json);
    if (const std::int64_t format = fields.count("format"); !fields.error() && format != kEffectsFormat) {
        fields.fail("format", "is " + std::to_string(format) + ", expected " + std::to_string(kEffectsFormat));
    }
    KeptEffects effects{keyFrom(fields), {}};
    KnockoutReady& measured = effects.measured;
    measured.step = effects.key.step;
    measured.checkpoint = shortText(fields, "checkpoint", kLongestIdentity);
    measured.batches = fields.count("measuredBatches");
    measured.borderBytes = fields.count("keptBytes");
    measured.loss = fields.number("loss");
    fields.eachOf("rows", [&measured](RecordFields& entry) {
        KnockoutRow& row = measured.rows.emplace_back();
        row.name = shortText(entry, "part", kLongestSubject);
        row.first = entry.count("first");
        row.reader = entry.count("reader");
        for (const auto& [name, number] : kRowNumbers) {
            row.*number = entry.number(name);
        }
    });
    return fields.error() ? Result<KeptEffects>(*fields.error()) : Result<KeptEffects>(std::move(effects));
}

/// Returns an error if the run has another checkpoint of the step than the one that was measured. The weights of a
/// checkpoint that is not here cannot be compared.
Status checkIdentity(const fs::path& runDirectory, const KnockoutReady& measured)
{
    const auto state = readState(checkpointDirectory(runDirectory, measured.step), measured.step);
    if (state && !measured.checkpoint.empty() && state->modelChecksum != measured.checkpoint) {
        return Error{runDirectory.string(), "step " + std::to_string(measured.step) +
                                                " was trained again since it was measured; measure it again"};
    }
    return Done{};
}

Result<KeptEffects> readOne(const fs::path& runDirectory, const std::string& name)
{
    const fs::path path = folderOf(runDirectory) / name;
    std::error_code code;
    if (!fs::is_regular_file(fs::symlink_status(path, code))) {
        return Error{path.string(), "is a link or no file"};
    }
    const auto text = readFile(path, kLongestEffects);
    Result<KeptEffects> effects = text ? effectsFrom(*text, path) : Result<KeptEffects>(text.error());
    RESIDUA_TRY(effects ? checkIdentity(runDirectory, effects->measured) : Status(Done{}));
    return effects;
}

/// Returns whether the run has a folder of results; an error if it is a link or no folder.
Result<bool> hasFolder(const fs::path& runDirectory)
{
    std::error_code code;
    const fs::path folder = folderOf(runDirectory);
    const fs::file_status status = fs::symlink_status(folder, code);
    if (!fs::exists(status)) {
        return false;
    }
    return fs::is_directory(status)
               ? Result<bool>(true)
               : Result<bool>(Error{folder.string(), "is a link or no folder; knock-outs are kept in a folder of the "
                                                     "run's own"});
}

} // namespace

EffectsKey effectsKeyFor(const KnockoutRequest& request, const projects::Project& project, std::int64_t step)
{
    const std::int64_t batches = request.batches > 0 ? request.batches : project.training.validationBatches;
    return {step, request.by, request.renormalise, std::max<std::int64_t>(batches, 0), request.tower};
}

std::optional<EffectsKey> effectsKeyOf(const KnockoutRequest& request)
{
    const RunRef& of = request.of;
    if (!request.only.empty() || !of.projectDirectory.empty() || of.otherData != OtherData::Refuse) {
        return std::nullopt;
    }
    const auto project = readRunProject(of.runDirectory);
    const std::vector<std::int64_t> steps = of.step ? std::vector{*of.step} : resumableSteps(of.runDirectory);
    const auto tower = project ? projects::chosenTower(*project, request.tower) : Result<std::size_t>(project.error());
    if (!tower || steps.empty()) {
        return std::nullopt;
    }
    EffectsKey key = effectsKeyFor(request, *project, steps.back());
    if (*tower == 0) {
        key.tower.clear();
    }
    return key;
}

Result<std::vector<KeptEffects>> readEffects(const fs::path& runDirectory, std::vector<std::string>* notes)
{
    const Result<bool> has = hasFolder(runDirectory);
    if (!has || !*has) {
        return has ? Result(std::vector<KeptEffects>()) : has.error();
    }
    std::vector<std::string> names;
    std::error_code code;
    for (fs::directory_iterator entry(folderOf(runDirectory), code), end;
         !code && entry != end && names.size() <= kMostEffects; entry.increment(code)) {
        std::string name = entry->path().filename().string();
        if (!name.starts_with('.') && name.find(kTemporaryMark) == std::string::npos) {
            names.push_back(std::move(name));
        }
    }
    if (code) {
        return systemError(folderOf(runDirectory), "cannot be listed", code.value());
    }
    if (names.size() > kMostEffects) {
        return Error{folderOf(runDirectory).string(),
                     "has more than " + std::to_string(kMostEffects) + " files; remove those that nobody needs"};
    }
    std::ranges::sort(names);
    std::vector<KeptEffects> all;
    std::uintmax_t bytes = 0;
    for (const std::string& name : names) {
        const std::uintmax_t size = fs::file_size(folderOf(runDirectory) / name, code);
        bytes += code ? 0 : size;
        Result<KeptEffects> effects =
            bytes > kMostEffectsBytes
                ? Result<KeptEffects>(Error{(folderOf(runDirectory) / name).string(),
                                            "the results have more than " + std::to_string(kMostEffectsBytes) +
                                                " bytes in all; remove those that nobody needs"})
                : readOne(runDirectory, name);
        if (effects) {
            all.push_back(std::move(*effects));
        } else {
            note(notes, effects.error());
        }
    }
    std::ranges::stable_sort(all, {}, [](const KeptEffects& effects) { return effects.key.step; });
    return all;
}

std::optional<KeptEffects> keptEffects(const fs::path& runDirectory, const EffectsKey& key,
                                       std::vector<std::string>* notes)
{
    const std::string name = fileNameOf(key);
    std::error_code code;
    const Result<bool> has = hasFolder(runDirectory);
    if (has && (!*has || !fs::exists(fs::symlink_status(folderOf(runDirectory) / name, code)))) {
        return std::nullopt;
    }
    Result<KeptEffects> effects = has ? readOne(runDirectory, name) : Result<KeptEffects>(has.error());
    if (!effects) {
        note(notes, effects.error());
        return std::nullopt;
    }
    return std::move(*effects);
}

Result<KeptEffects> effectsFrom(std::string_view text, const fs::path& path)
{
    const auto json = parseRecord(path, text, kLongestEffects);
    Result<KeptEffects> effects = json ? effectsOf(*json, path) : Result<KeptEffects>(json.error());
    if (effects && path.filename() != fileNameOf(effects->key)) {
        return Error{path.string(), "is not named by what it holds, expected " + fileNameOf(effects->key)};
    }
    return effects;
}

fs::path effectsPath(const fs::path& runDirectory, const EffectsKey& key)
{
    return folderOf(runDirectory) / fileNameOf(key);
}

Status keepEffects(const fs::path& runDirectory, const KeptEffects& effects)
{
    const fs::path folder = folderOf(runDirectory);
    const std::string text = jsonOf(effects).dump(-1, ' ', false, RecordJson::error_handler_t::replace) + "\n";
    if (text.size() > kLongestEffects) {
        return Error{folder.string(), "the result has " + std::to_string(text.size()) + " bytes, expected at most " +
                                          std::to_string(kLongestEffects)};
    }
    const bool has = RESIDUA_TRY(hasFolder(runDirectory));
    std::error_code code;
    if (!has && !fs::create_directory(folder, code) && code) {
        return systemError(folder, "cannot be made", code.value());
    }
    const Status written = writeOwnFile(effectsPath(runDirectory, effects.key), text);
    return written && !has ? syncDirectory(runDirectory) : written;
}

Status copyEffects(const fs::path& from, const fs::path& to, std::int64_t upTo)
{
    const auto all = readEffects(from); // a damaged one is not copied
    for (std::size_t i = 0; all && i < all->size(); ++i) {
        const KeptEffects& effects = (*all)[i];
        RESIDUA_TRY(effects.key.step <= upTo ? keepEffects(to, effects) : Status(Done{}));
    }
    return Done{};
}

double weightAgainstEffect(const KnockoutReady& measured)
{
    std::vector<double> weights;
    std::vector<double> effects;
    for (const KnockoutRow& row : measured.rows) {
        if (!std::isnan(row.weight)) {
            weights.push_back(std::abs(row.weight));
            effects.push_back(row.rise);
        }
    }
    return projects::rankCorrelation(weights, effects);
}

std::vector<projects::ShortcutStrength> strengthsOf(const KnockoutReady& measured)
{
    std::vector<projects::ShortcutStrength> strengths;
    for (const KnockoutRow& row : measured.rows) {
        if (row.reader > 0) {
            strengths.push_back({{row.first, row.reader}, row.weight, row.rise});
        }
    }
    return strengths;
}

std::string effectsCsv(const KnockoutReady& measured)
{
    std::string csv = "part,first,reader,weight,loss_rise,standard_error,divergence\n";
    for (const KnockoutRow& row : measured.rows) {
        csv += row.name + "," + std::to_string(row.first) + "," + std::to_string(row.reader);
        for (const auto& [name, number] : kRowNumbers) {
            csv += "," + (std::isnan(row.*number) ? std::string() : numberText(row.*number));
        }
        csv += "\n";
    }
    return csv;
}

} // namespace residua::engine
