// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/results/remotes.h"

#include "engine/base/files/json_record.h"
#include "engine/base/machine/background_files.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/store/run_files.h"
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

Result<std::vector<EngineRemote>> placesFrom(const RecordJson& json, const std::string& file)
{
    std::vector<EngineRemote> places;
    RecordFields fields(file, json);
    fields.eachOf("places", [&](RecordFields& entry) {
        EngineRemote place;
        place.kind = EngineRemote::Kind::CommandLine;
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

const EngineRemote* known(const std::vector<EngineRemote>& places, const std::string& name)
{
    const auto found = std::ranges::find(places, name, &EngineRemote::name);
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

/// Returns a name for a command line: the host of ssh, or the program. The list need not lack it.
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

/// Returns a place with a name that the list does not have.
ChosenRemote unnamed(const std::string& command, const std::vector<EngineRemote>& places)
{
    const auto isTaken = [&](const std::string& name) { return known(places, name) != nullptr; };
    return {{freeName(nameForCommand(command), isTaken, "-"), EngineRemote::Kind::CommandLine, command, {}}, true, {}};
}

/// Returns the place that `text` gives, with the folder that the list has for it.
Result<ChosenRemote> chosenFrom(const std::string& text, const std::optional<std::filesystem::path>& folder,
                                const std::vector<EngineRemote>& places)
{
    if (const EngineRemote* const place = known(places, text)) {
        return ChosenRemote{*place, false, {}};
    }
    const std::size_t space = text.find_first_of(kSpaces);
    const std::size_t sign = text.find('=');
    if (sign < space) { // NAME=COMMAND
        const std::string name = text.substr(0, sign);
        const std::string command = text.substr(sign + 1);
        if (name.empty() || name == kBackground || command.find_first_not_of(kSpaces) == std::string::npos) {
            return Error{"place", "got \"" + text + "\", expected NAME=COMMAND, such as gpu1=" + kExample};
        }
        const EngineRemote* const place = known(places, name);
        if (place == nullptr) {
            return ChosenRemote{{name, EngineRemote::Kind::CommandLine, command, {}}, true, {}};
        }
        ChosenRemote chosen{*place, place->command != command, {}};
        chosen.formerCommand = chosen.isNew ? place->command : std::string();
        chosen.place.command = command;
        return chosen;
    }
    if (space == std::string::npos) {
        return Error{"place", "got \"" + text + "\", expected background" +
                                  joinedText(places, "", [](const EngineRemote& place) { return ", " + place.name; }) +
                                  ", or a new place as NAME=COMMAND: " + text + "=" + kExample};
    }
    const auto same = std::ranges::find_if(places, [&](const EngineRemote& place) {
        return place.command == text && (!folder || place.folder == *folder);
    });
    if (same != places.end()) {
        return ChosenRemote{*same, false, {}};
    }
    if (folder) {
        return Error{"place", "needs a name where a folder is given, because its runs record the name: " +
                                  nameForCommand(text) + "=\"" + text + "\""};
    }
    return unnamed(text, places);
}

/// Describes a place that the list lacks, and how to add it.
Error unknownPlace(const RemoteRun& remote, const std::filesystem::path& run, const std::vector<EngineRemote>& places)
{
    const EngineRemote* const other = known(places, remote.place);
    const std::string fault = other == nullptr ? "your list of places lacks"
                              : other->folder.empty()
                                  ? "has no folder in your list of places"
                                  : "has the folder \"" + other->folder.string() + "\" in your list of places";
    const std::string name = other == nullptr
                                 ? proposedRemote(remote.place, remote.folder, remote.formerCommand).name + "=COMMAND"
                                 : shellWord(remote.place);
    std::string text = "is at the place \"" + remote.place + "\" in the folder \"" + remote.folder.string() +
                       "\" there, which " + fault + " (" + remotesFile().string() +
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

std::filesystem::path remotesFile()
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

EngineRemote backgroundRemote()
{
    EngineRemote place;
    place.name = kBackground;
    place.kind = EngineRemote::Kind::Background;
    return place;
}

Result<std::vector<EngineRemote>> namedRemotes()
{
    const std::filesystem::path file = remotesFile();
    if (file.empty() || !isThere(file)) {
        return std::vector<EngineRemote>();
    }
    const Result<std::string> text = readFile(file);
    const Result<RecordJson> json = text ? parseRecord(file, *text) : text.error();
    return json ? placesFrom(*json, file.string()) : json.error();
}

Status keepNamedRemotes(const std::vector<EngineRemote>& places)
{
    const std::filesystem::path file = remotesFile();
    if (file.empty()) {
        return Error{"places", "cannot be kept: neither XDG_CONFIG_HOME nor HOME is set"};
    }
    std::set<std::string> names{kBackground};
    RecordJson list = RecordJson::array();
    for (const EngineRemote& place : places) {
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

Status keepNamedRemote(const EngineRemote& place)
{
    std::vector<EngineRemote> places = RESIDUA_TRY(namedRemotes());
    const auto found = std::ranges::find(places, place.name, &EngineRemote::name);
    if (found != places.end()) {
        *found = place;
    } else {
        places.push_back(place);
    }
    return keepNamedRemotes(places);
}

Result<ChosenRemote> chooseRemote(const std::string& text, const std::optional<std::filesystem::path>& folder)
{
    if (text.empty() || text == kBackground) {
        return folder ? Result<ChosenRemote>(Error{"folder", "is only for a place with a command line of its own"})
                      : ChosenRemote{text.empty() ? EngineRemote{} : backgroundRemote(), false, {}};
    }
    const std::vector<EngineRemote> places = RESIDUA_TRY(namedRemotes());
    Result<ChosenRemote> chosen = chosenFrom(text, folder, places);
    if (!chosen || !folder || chosen->place.folder == *folder) {
        return chosen;
    }
    EngineRemote& place = chosen->place;
    if (known(places, place.name) != nullptr) { // its runs there stay where they are
        place.name += kBeforeFolder + folder->string();
        const EngineRemote* const listed = known(places, place.name);
        chosen->isNew = listed == nullptr || listed->command != place.command;
        chosen->formerCommand = listed != nullptr && chosen->isNew ? listed->command : std::string();
    }
    place.folder = *folder;
    return chosen;
}

EngineRemote proposedRemote(const std::string& name, const std::filesystem::path& folder,
                            const std::string& formerCommand)
{
    const Result<std::vector<EngineRemote>> places = namedRemotes();
    if (places && known(*places, name) != nullptr) { // with another folder
        if (Result<ChosenRemote> chosen = chooseRemote(name, folder)) {
            return chosen->place;
        }
    }
    // Earlier versions recorded a command line as the name of a place without one.
    const bool isPlain =
        !name.empty() && name != kBackground && shellWord(name) == name && name.find('=') == std::string::npos;
    return {isPlain ? name : nameForCommand(formerCommand.empty() ? name : formerCommand),
            EngineRemote::Kind::CommandLine, formerCommand, folder};
}

Result<EngineRemote> placeOf(const RemoteRun& remote, const std::filesystem::path& run)
{
    const std::vector<EngineRemote> places = RESIDUA_TRY(namedRemotes());
    const auto isIt = [&remote](const EngineRemote& place) {
        const bool isNamed =
            place.name == remote.place || place.name == remote.place + kBeforeFolder + remote.folder.string();
        const bool isFormer = !remote.formerCommand.empty() && place.command == remote.formerCommand;
        return place.folder == remote.folder && (isNamed || isFormer);
    };
    const auto found = std::ranges::find_if(places, isIt);
    return found != places.end() ? Result<EngineRemote>(*found) : unknownPlace(remote, run, places);
}

Status recordRemote(const std::filesystem::path& run, const EngineRemote& place)
{
    const FileDescriptor guard = RESIDUA_TRY(guardRunFile(run));
    RunFile file = RESIDUA_TRY(readRunFile(run));
    if (!file.remote) {
        return Done{};
    }
    const RemoteRun now{place.name, place.folder, file.remote->directory};
    return *file.remote == now ? Status(Done{}) : (file.remote = now, writeRunFile(run, file));
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
