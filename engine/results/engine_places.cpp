// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/results/engine_places.h"

#include "engine/files/json_record.h"
#include "engine/host/background_files.h"
#include "engine/results/run_reader.h"
#include "engine/results/run_upkeep.h"
#include "engine/runs/run_files.h"
#include "projects/base/printable.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kBackground = "background";
constexpr const char* kSpaces = " \t\r\n";
constexpr char kBeforeFolder = ':'; ///< separates a place's name from a further folder
constexpr const char* kExample = "\"ssh gpu1 residua-engine --stdio\"";

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

const EnginePlace* known(const std::vector<EnginePlace>& places, const std::string& name)
{
    const auto found = std::ranges::find(places, name, &EnginePlace::name);
    return found == places.end() ? nullptr : &*found;
}

bool isPlain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
}

std::vector<std::string> wordsOf(const std::string& text)
{
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    return words;
}

/// Returns a place with a name that the list does not have.
ChosenPlace unnamed(const std::string& command, const std::vector<EnginePlace>& places)
{
    const std::string name = nameForCommand(command);
    std::string free = name;
    for (int number = 2; known(places, free) != nullptr; ++number) {
        free = name + "-" + std::to_string(number);
    }
    return {{free, EnginePlace::Kind::CommandLine, command, {}}, true, {}};
}

/// Returns the place that `text` gives, with the folder that the list has for it.
Result<ChosenPlace> chosenFrom(const std::string& text, const std::optional<std::filesystem::path>& folder,
                               const std::vector<EnginePlace>& places)
{
    if (const EnginePlace* const place = known(places, text)) {
        return ChosenPlace{*place, false, {}};
    }
    const std::size_t space = text.find_first_of(kSpaces);
    const std::size_t sign = text.find('=');
    if (sign < space) { // NAME=COMMAND
        const std::string name = text.substr(0, sign);
        const std::string command = text.substr(sign + 1);
        if (name.empty() || name == kBackground || command.find_first_not_of(kSpaces) == std::string::npos) {
            return Error{"place", "got \"" + text + "\", expected NAME=COMMAND, such as gpu1=" + kExample};
        }
        const EnginePlace* const place = known(places, name);
        if (place == nullptr) {
            return ChosenPlace{{name, EnginePlace::Kind::CommandLine, command, {}}, true, {}};
        }
        ChosenPlace chosen{*place, place->command != command, {}};
        chosen.formerCommand = chosen.isNew ? place->command : std::string();
        chosen.place.command = command;
        return chosen;
    }
    if (space == std::string::npos) {
        return Error{"place", "got \"" + text + "\", expected background" +
                                  joinedText(places, "", [](const EnginePlace& place) { return ", " + place.name; }) +
                                  ", or a new place as NAME=COMMAND: " + text + "=" + kExample};
    }
    const auto same = std::ranges::find_if(places, [&](const EnginePlace& place) {
        return place.command == text && (!folder || place.folder == *folder);
    });
    if (same != places.end()) {
        return ChosenPlace{*same, false, {}};
    }
    if (folder) {
        return Error{"place", "needs a name where a folder is given, because its runs record the name: " +
                                  nameForCommand(text) + "=\"" + text + "\""};
    }
    return unnamed(text, places);
}

/// Returns the place's name if a shell takes it as one word, else a name for it. Earlier versions recorded a command
/// line as the name of a place without one.
std::string offeredName(const std::string& place)
{
    return !place.empty() && shellWord(place) == place && place.find('=') == std::string::npos ? place
                                                                                               : nameForCommand(place);
}

/// Describes a place that the list lacks, and how to add it.
Error unknownPlace(const RemoteRun& remote, const std::filesystem::path& run, const std::vector<EnginePlace>& places)
{
    const EnginePlace* const other = known(places, remote.place);
    const std::string fault = other == nullptr ? "your list of places lacks"
                              : other->folder.empty()
                                  ? "has no folder in your list of places"
                                  : "has the folder \"" + other->folder.string() + "\" in your list of places";
    const std::string name = other == nullptr ? offeredName(remote.place) + "=COMMAND" : shellWord(remote.place);
    std::string text = "is at the place \"" + remote.place + "\" in the folder \"" + remote.folder.string() +
                       "\" there, which " + fault + " (" + placesFile().string() +
                       "). If that is right, give --place " + name + " --folder " + shellWord(remote.folder.string());
    if (other == nullptr) {
        text += ", where COMMAND is a command line that ends in residua-engine --stdio";
    }
    if (!remote.formerCommand.empty()) {
        text += ". The run names this command line, which was not run: " + remote.formerCommand;
    }
    return {run.string(), printable(text, LineEnds::Escape)};
}

} // namespace

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

DistantCheckpoints distantCheckpoints(const std::filesystem::path& run)
{
    const auto reader = RunReader::open(run);
    const auto file = readRunFile(run);
    if (!reader || !file || !file->remote) {
        return {};
    }
    DistantCheckpoints found{file->remote->place, {}};
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
        if (const std::string shown = printable(place.name, LineEnds::Escape); shown != place.name) {
            return Error{"places", "the name \"" + shown + "\" has control characters"};
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

Status keepNamedPlace(const EnginePlace& place)
{
    Result<std::vector<EnginePlace>> places = namedPlaces();
    if (!places) {
        return places.error();
    }
    const auto found = std::ranges::find(*places, place.name, &EnginePlace::name);
    if (found != places->end()) {
        *found = place;
    } else {
        places->push_back(place);
    }
    return keepNamedPlaces(*places);
}

std::string nameForCommand(const std::string& command)
{
    const std::vector<std::string> words = wordsOf(command);
    const auto plain = [](const std::string& word) {
        std::string name = word.substr(word.find_last_of("/@") + 1); // npos + 1 is 0
        std::erase_if(name, [](char c) { return !isPlain(c); });
        return name;
    };
    // These options of ssh take a value.
    constexpr std::string_view kWithValue = "bcDeEFIiJLlmOopQRSWw";
    std::string name = words.empty() ? std::string() : plain(words[0]);
    for (std::size_t i = 1; name == "ssh" && i < words.size(); ++i) {
        if (!words[i].starts_with('-')) {
            name = plain(words[i]);
            break;
        }
        i += words[i].size() == 2 && kWithValue.find(words[i][1]) != std::string_view::npos ? 1 : 0;
    }
    return name.empty() || name == kBackground ? "place" : name;
}

Result<ChosenPlace> choosePlace(const std::string& text, const std::optional<std::filesystem::path>& folder)
{
    if (text.empty() || text == kBackground) {
        return folder ? Result<ChosenPlace>(Error{"folder", "is only for a place with a command line of its own"})
                      : ChosenPlace{text.empty() ? EnginePlace{} : backgroundPlace(), false, {}};
    }
    const Result<std::vector<EnginePlace>> places = namedPlaces();
    if (!places) {
        return places.error();
    }
    Result<ChosenPlace> chosen = chosenFrom(text, folder, *places);
    if (!chosen || !folder || chosen->place.folder == *folder) {
        return chosen;
    }
    EnginePlace& place = chosen->place;
    if (known(*places, place.name) != nullptr) { // its runs there stay where they are
        place.name += kBeforeFolder + folder->string();
        const EnginePlace* const listed = known(*places, place.name);
        chosen->isNew = listed == nullptr || listed->command != place.command;
        chosen->formerCommand = listed != nullptr && chosen->isNew ? listed->command : std::string();
    }
    place.folder = *folder;
    return chosen;
}

Result<EnginePlace> placeOf(const RemoteRun& remote, const std::filesystem::path& run)
{
    const Result<std::vector<EnginePlace>> places = namedPlaces();
    if (!places) {
        return places.error();
    }
    const auto isIt = [&remote](const EnginePlace& place) {
        const bool isNamed =
            place.name == remote.place || place.name == remote.place + kBeforeFolder + remote.folder.string();
        const bool isFormer = !remote.formerCommand.empty() && place.command == remote.formerCommand;
        return place.folder == remote.folder && (isNamed || isFormer);
    };
    const auto found = std::ranges::find_if(*places, isIt);
    return found != places->end() ? Result<EnginePlace>(*found) : unknownPlace(remote, run, *places);
}

Status recordPlace(const std::filesystem::path& run, const EnginePlace& place)
{
    const Result<FileDescriptor> guard = guardRunFile(run);
    Result<RunFile> file = guard ? readRunFile(run) : guard.error();
    if (!file) {
        return file.error();
    }
    if (!file->remote) {
        return Done{};
    }
    const RemoteRun now{place.name, place.folder, file->remote->directory};
    return *file->remote == now ? Status(Done{}) : (file->remote = now, writeRunFile(run, *file));
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
