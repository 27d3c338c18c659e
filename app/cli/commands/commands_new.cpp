// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/data_argument.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/terminal_text.h"
#include "engine/base/api/data_summary.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/check/validate.h"
#include "projects/commands/new_project.h"
#include "projects/file/store.h"
#include "projects/library/schedule_presets.h"
#include "projects/model/data_source.h"
#include "projects/schema/describe_data.h"
#include "projects/shipped/examples.h"
#include "projects/shipped/recipes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace residua::cli {
namespace {

using nlohmann::json;

/// Prints what one option accepts, and appends it to `list`.
template <class Presets>
void listPresets(const Presets& presets, const char* option, json& list, const Console& console)
{
    for (const auto& preset : presets) {
        console.line(std::string(preset.name) + ": " + preset.title + "\n    " + preset.summary);
        list.push_back(
            {{"name", preset.name}, {"title", preset.title}, {"summary", preset.summary}, {"option", option}});
    }
}

/// Prints one line per first word that several names share, such as "ancre is ancre-ingoing, …". Omits a word that is
/// itself a preset.
void listVariants(const std::vector<projects::TopologyPreset>& presets, const Console& console)
{
    std::set<std::string> told;
    for (const projects::TopologyPreset& preset : presets) {
        const std::string word = preset.name.substr(0, preset.name.find('-'));
        const bool isPreset = std::ranges::find(presets, word, &projects::TopologyPreset::name) != presets.end();
        if (!isPreset && told.insert(word).second && projects::variantsOf(word, presets).size() > 1) {
            console.line(projects::variantsText(word, presets));
        }
    }
}

Exit listChoices(const Console& console)
{
    json list = json::array();
    console.line("examples (--example):");
    listPresets(projects::exampleCards(), "example", list, console);
    console.line("\nat a paper's size, of your data (--recipe):");
    listPresets(projects::recipes(), "recipe", list, console);
    console.line("\ntopologies (--topology, and --set topology=NAME; residua-cli explain NAME says more):");
    const std::vector<projects::TopologyPreset> topologies = projects::topologyPresets(1);
    listPresets(topologies, "topology", list, console);
    listVariants(topologies, console);
    console.value(list);
    return Exit::Ok;
}

/// The options that cannot be combined with an example.
constexpr const char* kSizes[] = {"recipe",    "data",     "mix",    "field", "label",
                                  "tokeniser", "topology", "layers", "width", "steps"};

/// The tokenisers that a word fully specifies. The others need a file.
std::vector<projects::TokeniserKind> wordTokenisers()
{
    std::vector<projects::TokeniserKind> kinds;
    for (std::size_t i = 0; i < std::size(projects::Choices<projects::TokeniserKind>::all); ++i) {
        if (const auto kind = static_cast<projects::TokeniserKind>(i); !projects::hasModel(kind)) {
            kinds.push_back(kind);
        }
    }
    return kinds;
}

std::vector<std::string> tokeniserWords()
{
    return mapped<std::vector<std::string>>(wordTokenisers(),
                                            [](const projects::TokeniserKind kind) { return projects::nameOf(kind); });
}

/// Describes the values of `--tokeniser` for help and errors.
std::string tokeniserText()
{
    return joinedText(tokeniserWords()) + ", a tokenizer.json or its folder, or a SentencePiece model";
}

/// Parses `--tokeniser`: a word of the schema, or a file whose tokens are counted. A folder means its tokenizer.json.
Result<projects::Tokeniser> tokeniserFrom(const std::string& text, const std::filesystem::path& project)
{
    for (const projects::TokeniserKind kind : wordTokenisers()) {
        if (text == projects::nameOf(kind)) {
            return projects::Tokeniser{.kind = kind, .model = {}};
        }
    }
    std::filesystem::path path = RESIDUA_TRY(absolutePath(text));
    std::error_code code;
    std::filesystem::path typed = text;
    if (std::filesystem::is_directory(path, code)) {
        path /= "tokenizer.json";
        typed /= "tokenizer.json";
    }
    if (!std::filesystem::exists(path, code)) {
        return Error{"--tokeniser", path.string() + " does not exist; expected " + tokeniserText()};
    }
    Result<projects::Tokeniser> tokeniser = engine::tokeniserAt(path);
    if (tokeniser) {
        tokeniser->model = storedPath(typed.string(), project);
    }
    return tokeniser;
}

/// Returns an error if the name is neither empty nor that of a preset.
Status checkTopology(const std::string& name)
{
    if (name.empty() || std::ranges::find(topologyNames(), name) != topologyNames().end()) {
        return Done{};
    }
    return Error{"--topology", "no preset \"" + shortened(name) + "\"" +
                                   projects::presetHint(name, projects::topologyPresets(1), kTypedHint,
                                                        "; residua-cli new --list shows them")};
}

/// Makes a project from data, sizes and a topology.
Result<projects::Project> sizedProject(const Arguments& arguments, const std::filesystem::path& directory)
{
    const projects::Recipe* const recipe = projects::findRecipe(arguments.text("recipe"));
    if (!recipe && arguments.has("recipe")) {
        return Error{"--recipe", "no recipe \"" + arguments.text("recipe") + "\"" +
                                     meantHint(arguments.text("recipe"), recipeNames(), kTypedHint,
                                               "; residua-cli new --list shows them")};
    }
    RESIDUA_TRY(checkTopology(arguments.text("topology")));
    projects::Source source = recipe ? recipe->project.data.source : projects::SyntheticLanguage{};
    std::error_code ignored;
    auto* const pictures = std::get_if<projects::PictureData>(&source);
    if (pictures != nullptr && arguments.has("data") && !std::filesystem::exists(arguments.text("data"), ignored)) {
        pictures->path = storedPath(arguments.text("data"), directory); // to be trained on another machine
    } else if (namesData(arguments)) {
        const projects::Source given = RESIDUA_TRY(dataSource(arguments, directory));
        const projects::Tokeniser* const usual = projects::tokeniserOf(source);
        const projects::Tokeniser tokeniser = recipe && usual ? *usual : projects::Tokeniser{};
        source = given;
        if (projects::Tokeniser* const place = recipe ? projects::tokeniserOf(source) : nullptr) {
            *place = tokeniser;
        }
    }
    if (arguments.has("tokeniser")) {
        const projects::Tokeniser tokeniser = RESIDUA_TRY(tokeniserFrom(arguments.text("tokeniser"), directory));
        projects::Tokeniser* const place = projects::tokeniserOf(source);
        if (place == nullptr) {
            return Error{
                "--tokeniser",
                "is for text, which --data or --mix name; expected a text, .jsonl, .parquet, or a folder of such"};
        }
        *place = tokeniser;
    }
    const std::filesystem::path folder = RESIDUA_TRY(absolutePath(directory));
    projects::NewProject wanted = projects::proposalFor(source, arguments.text("recipe"));
    wanted.name = folder.filename().string();
    wanted.topology = arguments.text("topology", wanted.topology);
    wanted.depth = arguments.integer("layers", wanted.depth);
    wanted.width = arguments.integer("width", wanted.width);
    wanted.steps = arguments.integer("steps", wanted.steps);
    return projects::projectFrom(wanted);
}

Result<projects::Project> exampleProject(const std::string& name)
{
    if (std::ranges::find(exampleNames(), name) != exampleNames().end()) {
        return projects::exampleProject(name);
    }
    return Error{"--example", "no example \"" + name + "\"" +
                                  meantHint(name, exampleNames(), kTypedHint, "; residua-cli new --list shows them")};
}

/// True if data are named that are on this machine. Pictures of a recipe may be elsewhere.
bool haveFiles(const Arguments& arguments)
{
    std::error_code ignored;
    return namesData(arguments) && (!arguments.has("data") || std::filesystem::exists(arguments.text("data"), ignored));
}

/// Returns the source of a project in a folder that may not exist yet, with absolute paths.
projects::Source withAbsolutePaths(projects::Source source, const std::filesystem::path& directory)
{
    projects::forEachPath(source, [&](std::string& path) {
        const Result<std::filesystem::path> absolute = absolutePath(directory / path);
        path = absolute && !path.empty() ? absolute->lexically_normal().string() : path;
    });
    return source;
}

/// Returns the command that may make the project after all, for data that cannot be read.
std::string otherCommand(const projects::Source& source, const Arguments& arguments)
{
    const std::string begin = "residua-cli new " + shellWord(arguments.positional(0)) + " --data ";
    const std::string same = begin + shellWord(arguments.text("data", "PATH"));
    if (std::holds_alternative<projects::LabelledTextData>(source)) {
        return "to name the columns of the text and of the label: " + same + " --field NAME --label NAME";
    }
    if (std::holds_alternative<projects::JsonLinesData>(source)) {
        return "to name the key or column of the text: " + same + " --field NAME";
    }
    const bool pictures = std::holds_alternative<projects::PictureData>(source);
    return "to take other data: " + begin + "PATH; to see what is read: residua-cli explain " +
           (pictures ? "picture-files" : "text");
}

/// Prints how the data of a new project are read and the problems that training would report. Returns both as JSON.
json showNewData(const projects::Project& project, const std::filesystem::path& directory, const Console& console)
{
    const std::vector<engine::DataReading> readings = engine::readingsOf(project, directory);
    json value = {{"data", showReadings(readings, console)}};
    if (const auto* const heldOut = projects::validationPathOf(project.data.source); heldOut && !heldOut->empty()) {
        console.line("held out for validation: " + printable(*heldOut, LineEnds::Escape));
    }
    const bool valid = !projects::hasErrors(projects::validate(project));
    if (console.rewritesProgress()) {
        console.status("reading the data");
    }
    const engine::DataJudgement judgement =
        valid ? engine::judgeData(project, directory, engine::CheckedData::Small) : engine::DataJudgement();
    if (console.rewritesProgress()) {
        console.status("");
    }
    if (judgement.summary) {
        console.line("data: " + splitsText(*judgement.summary));
        remarkNotes(judgement.summary->notes, console);
    } else {
        for (const engine::DataReading& reading : readings) {
            remarkNotes(reading.notes, console);
        }
    }
    value["notes"] = judgement.summary ? judgement.summary->notes : std::vector<std::string>();
    value["problems"] = tellProblems(judgement.problems, console);
    tellCures(judgement.problems, directory.string(), console);
    if (projects::hasErrors(judgement.problems)) {
        console.remark("it cannot be trained as it is: residua-cli set " + shellWord(directory.string()) +
                       " FIELD=VALUE changes it");
    }
    return value;
}

Exit runNew(const Arguments& arguments, const Console& console)
{
    if (arguments.has("list")) {
        return listChoices(console);
    }
    const std::filesystem::path directory = arguments.positional(0);
    if (directory.empty()) {
        return console.fail(Exit::Usage, {"", "missing argument DIR: where the project is to be made"});
    }
    const bool sized = std::ranges::any_of(kSizes, [&](const char* option) { return arguments.has(option); });
    if (sized && arguments.has("example")) {
        return console.fail(Exit::Usage, {"--example", "an example has its own data and sizes; make it, then change "
                                                       "it with residua-cli set"});
    }
    projects::Project project =
        RESIDUA_TRY_OR_FAIL(Exit::Usage, sized ? sizedProject(arguments, directory)
                                               : exampleProject(arguments.text("example", exampleNames().front())));
    std::error_code ignored;
    if (std::filesystem::exists(directory / projects::kProjectFile, ignored)) {
        return console.fail(Exit::Usage, {directory.string(), "there is a project already"});
    }
    const bool reads = sized && haveFiles(arguments);
    if (reads) {
        const projects::Source source = withAbsolutePaths(project.data.source, directory);
        if (const Status readable = engine::checkReadable(source, {}); !readable) {
            const Exit failed = console.fail(Exit::Usage, readable.error());
            console.remark(otherCommand(source, arguments));
            return failed;
        }
    }
    projects::Document document;
    document.project = std::move(project);
    RESIDUA_TRY_OR_FAIL(Exit::Usage, projects::saveProject(directory, document));
    const std::string title = printable(document.project.name, LineEnds::Escape);
    console.line("made " + (directory / projects::kProjectFile).string() + " (" + title + ")");
    json value = {{"project", directory.string()}, {"name", document.project.name}, {"data", json::array()}};
    if (reads) {
        value.update(showNewData(document.project, directory, console));
    }
    const projects::Recipe* const recipe = projects::findRecipe(arguments.text("recipe"));
    const std::vector<std::string> differences = recipe ? recipe->differences : std::vector<std::string>();
    for (const std::string& difference : differences) {
        console.line("differs from its source: " + difference);
    }
    console.line("train it with: residua-cli train " + shellWord(directory.string()));
    value["differences"] = differences;
    console.value(value);
    return Exit::Ok;
}

} // namespace

std::vector<Command> newCommands()
{
    return {
        {"new",
         "make a project: an example, or one of your data, sizes and topology",
         "residua-cli new --example ancre-language my-project",
         {{{"DIR", "where to make it; the directory may exist", Presence::Optional}},
          {offering(OptionSpec{"example", OptionKind::Text, "NAME", "which example (default: the first of --list)"},
                    exampleNames()),
           offering(OptionSpec{"recipe", OptionKind::Text, "NAME",
                               "instead: network and training at a paper's size; --data names what it trains on"},
                    recipeNames()),
           {"list", OptionKind::Flag, "", "list the examples, the recipes and the topologies"},
           {"data", OptionKind::Text, "PATH",
            "instead: a text or JSON Lines, also compressed by gzip, zstd, xz or bzip2, Parquet, ready-made tokens "
            "(.bin), or a folder of such; a table of labelled texts (.csv); pictures: a folder with a folder of PNG, "
            "JPEG or WebP files for each class, CIFAR, MNIST, or CSV; or latents: a safetensors file, or a folder with "
            "latents.npy. A folder of parts (train and val) gives both"},
           mixOption(),
           fieldOption(),
           labelOption(),
           {.name = "tokeniser",
            .kind = OptionKind::Text,
            .value = "KIND",
            .help = "how text becomes tokens: " + tokeniserText(),
            .choices = tokeniserWords(),
            .beside = Beside::Files},
           offering(OptionSpec{"topology", OptionKind::Text, "NAME",
                               "instead: a preset; blocks get the ports that it feeds"},
                    topologyNames()),
           fieldOption("/network/stack/N/repeat", "layers", "N", "instead: how many layers"),
           fieldOption("/network/width", "width", "N", "instead: features between layers"),
           fieldOption("/training/steps", "steps", "N", "instead: steps of training")}},
         &runNew},
    };
}

} // namespace residua::cli
