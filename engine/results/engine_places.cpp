// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/results/engine_places.h"

#include "engine/files/json_record.h"
#include "engine/host/background_files.h"
#include "engine/results/run_reader.h"
#include "engine/results/run_upkeep.h"
#include "engine/runs/run_files.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kBackground = "background";

/// Returns the file of named places; empty if the user has no folder for it.
std::filesystem::path placesFile()
{
    const char* const config = std::getenv("XDG_CONFIG_HOME");
    const char* const home = std::getenv("HOME");
    const bool isConfig = config != nullptr && *config == '/';
    if (!isConfig && (home == nullptr || *home != '/')) {
        return {};
    }
    const auto root = isConfig ? std::filesystem::path(config) : std::filesystem::path(home) / ".config";
    return root / "residua" / "places.json";
}

Result<std::vector<EnginePlace>> placesFrom(const RecordJson& json, const std::string& file)
{
    std::vector<EnginePlace> places;
    RecordFields fields(file, json);
    fields.eachOf("places", [&](RecordFields& entry) {
        EnginePlace place;
        place.kind = EnginePlace::Kind::CommandLine;
        place.name = entry.text("name");
        place.command = entry.text("command");
        place.folder = entry.text("folder");
        places.push_back(std::move(place));
    });
    if (fields.error()) {
        return *fields.error();
    }
    return places;
}

} // namespace

const std::string& titleOf(const EnginePlace& place)
{
    return place.name.empty() ? place.command : place.name;
}

DistantCheckpoints distantCheckpoints(const std::filesystem::path& run)
{
    const auto reader = RunReader::open(run);
    const auto file = readRunFile(run);
    if (!reader || !file || !file->remote) {
        return {};
    }
    DistantCheckpoints found{titleOf(file->remote->place), {}};
    std::ranges::set_difference(resumableSteps(run), reader->checkpoints(), std::back_inserter(found.steps));
    return found;
}

EnginePlace backgroundPlace()
{
    EnginePlace place;
    place.name = kBackground;
    place.kind = EnginePlace::Kind::Background;
    return place;
}

Result<std::vector<EnginePlace>> namedPlaces()
{
    const std::filesystem::path file = placesFile();
    std::error_code ignored;
    if (file.empty() || !std::filesystem::exists(file, ignored)) {
        return std::vector<EnginePlace>();
    }
    const Result<std::string> text = readFile(file);
    const Result<RecordJson> json = text ? parseRecord(file, *text) : text.error();
    return json ? placesFrom(*json, file.string()) : json.error();
}

Status keepNamedPlaces(const std::vector<EnginePlace>& places)
{
    const std::filesystem::path file = placesFile();
    if (file.empty()) {
        return Error{"places", "cannot be kept: neither XDG_CONFIG_HOME nor HOME is set"};
    }
    std::set<std::string> names{kBackground};
    RecordJson list = RecordJson::array();
    for (const EnginePlace& place : places) {
        if (place.name.empty() || !names.insert(place.name).second) {
            return Error{"places", "the name \"" + place.name + "\" is empty, reserved or used twice"};
        }
        if (place.command.empty()) {
            return Error{"places", "\"" + place.name +
                                       "\" has no command line; expected one such as ssh gpu1 residua-engine --stdio"};
        }
        list.push_back({{"name", place.name}, {"command", place.command}, {"folder", place.folder.string()}});
    }
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    const RecordJson json = {{"places", list}};
    return writeFileAtomically(file, json.dump(1, ' ', false, RecordJson::error_handler_t::replace) + "\n");
}

Result<EnginePlace> placeCalled(const std::string& text)
{
    if (text.empty()) {
        return EnginePlace{};
    }
    if (text == kBackground) {
        return backgroundPlace();
    }
    const Result<std::vector<EnginePlace>> places = namedPlaces();
    if (!places) {
        return places.error();
    }
    const auto found = std::ranges::find(*places, text, &EnginePlace::name);
    if (found != places->end()) {
        return *found;
    }
    if (text.find(' ') != std::string::npos) {
        EnginePlace place;
        place.name = text;
        place.kind = EnginePlace::Kind::CommandLine;
        place.command = text;
        return place;
    }
    return Error{"place", "got \"" + text + "\", expected background, " +
                              joinedText(*places, ", ", [](const EnginePlace& place) { return place.name; }) +
                              (places->empty() ? "" : ", ") + "or a command line that ends in residua-engine --stdio"};
}

std::filesystem::path backgroundRun()
{
    const Result<BackgroundFiles> files = backgroundFiles();
    if (!files || !isBackgroundLocked(*files)) {
        return {};
    }
    const Result<std::string> run = readFile(files->run());
    return run ? std::filesystem::path(*run) : std::filesystem::path();
}

} // namespace residua::engine
