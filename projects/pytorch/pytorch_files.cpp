// SPDX-License-Identifier: GPL-3.0-or-later
// The files beside model.py.
#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/base/utf8.h"
#include "projects/nodes/attention_options.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/towers.h"
#include "projects/pytorch/python_text.h"
#include "projects/pytorch/pytorch_code.h"
#include "projects/schedule/stage_schedule.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

namespace residua::projects {
namespace {

constexpr const char* kCheck =
    R"("""Loads this folder and compares it with what Residua recorded of the same network on a small batch."""

import sys
from pathlib import Path

from model import load, read_safetensors


def differences(folder):
    """How far output, loss and gradients are from the recorded ones, each relative to their size; and how far they may
    be.
    """
    recorded = read_safetensors(Path(folder) / "recorded.safetensors")
    network = load(folder)
    given = [recorded[name] for name in getattr(network, "conditions", ())]
    output = network(recorded["input"], *given)
    labels = [recorded[name] for name in getattr(network, "labels", ())]
    loss = network.loss(recorded["input"], recorded["target"], *labels, *given)
    loss.backward()
    parameters = dict(network.named_parameters())
    found = {"output": output, "loss": loss.reshape(1)}
    others = getattr(network, "others", ())
    if others:
        values = network.values(recorded["input"], *given)
        found.update({"value." + name: values[name] for name in others})
    for name in (name for name in recorded if name.startswith("gradient_norm.")):
        gradient = parameters[name.removeprefix("gradient_norm.")].grad
        found[name] = recorded[name] * 0 if gradient is None else gradient.norm().reshape(1)
    largest = max([t.item() for name, t in recorded.items() if name.startswith("gradient_norm.")], default=0.0)
    result = {}
    for name, value in found.items():
        expected = recorded[name]
        size = largest if name.startswith("gradient_norm.") else 1 + expected.abs().max().item()
        result[name] = (value.detach() - expected).abs().max().item() / (size or 1)
    return result, 1e-5 if output.element_size() == 4 else 1e-9


def main():
    found, tolerance = differences(Path(__file__).parent)
    gradients = [name for name in found if name.startswith("gradient_norm.")]
    values = [name for name in found if name.startswith("value.")]
    for name in ("output", *values, "loss", *sorted(gradients, key=found.get)[-1:]):
        most = f", the largest of {len(gradients)} gradients" if name in gradients else ""
        print(f"{name}{most}: differs by {found[name]:.2g} of its size, at most {tolerance:g} expected")
    agrees = all(value <= tolerance for value in found.values())  # a number that is none is no agreement
    print("The network is the one that was exported." if agrees else "The network is NOT the one that was exported.")
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
)";

JsonMember member(std::string key, JsonValue value)
{
    return {std::move(key), std::move(value)};
}

JsonValue names(const std::map<std::string, std::string>& renamed)
{
    JsonObject object;
    for (const auto& [ours, theirs] : renamed) {
        if (ours != theirs) {
            object.push_back(member(theirs, {ours}));
        }
    }
    return {std::move(object)};
}

std::string count(std::int64_t number, const std::string& what)
{
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// Returns what the tokens of the input are.
std::string tokensOf(const Source& source)
{
    const Tokeniser* const tokeniser = tokeniserOf(source);
    if (tokeniser == nullptr) {
        return "the numbers of tokens that the data has";
    }
    switch (tokeniser->kind) {
    case TokeniserKind::Bytes:
        return "the bytes of the text in UTF-8";
    case TokeniserKind::Characters:
        return "the characters of the text, numbered by the project's tokeniser";
    case TokeniserKind::SentencePiece:
    case TokeniserKind::TokenizerJson:
        break;
    }
    return "as the project's tokeniser " + std::filesystem::path(tokeniser->model).filename().string() + " gives them";
}

/// Returns the form and order of the values of pictures.
std::string picturesOf(const DataSource& data)
{
    const auto [channels, height, width] = *imageSizeOf(data.source);
    const Augmentation& a = data.augmentation;
    const auto colours = [&](double first, double green, double blue, double absent) {
        const auto orFirst = [&](double value) { return pythonReal(value == absent ? first : value); };
        return pythonReal(first) + (channels == 1 ? "" : ", " + orFirst(green) + ", " + orFirst(blue));
    };
    const std::string size = "the " + std::to_string(channels) + " · " + std::to_string(height) + " · " +
                             std::to_string(width) + " values of ";
    if (const auto* const latents = std::get_if<LatentData>(&data.source)) {
        return size + "a latent by channel, row and column, times " + pythonReal(latents->scale);
    }
    return size + "a picture by channel" + (channels == 1 ? "" : " (red, green, blue)") +
           ", row and column, each (value / 255 − mean) / deviation; mean " +
           colours(a.mean, a.meanGreen, a.meanBlue, -1) + ", deviation " +
           colours(a.deviation, a.deviationGreen, a.deviationBlue, 0);
}

/// Returns the values of a field of the examples in words; empty if its shape says all.
std::string valuesOf(const SoundProject& project, const ExampleField& field)
{
    const bool pictures = imageSizeOf(project->data.source).has_value();
    if (field.role == FieldRole::Mask) {
        return "1 for a token, 0 for padding";
    }
    if (field.role == FieldRole::Condition) {
        return field.name == kTimestep       ? "the step of the noise, from 0"
               : field.name == kClass        ? "the class; the last number is none"
               : field.name == kSegmentsPort ? "0 for tokens of the first text, 1 for those of the second"
                                             : "";
    }
    if (field.role == FieldRole::Input) {
        return field.isTokens() ? tokensOf(project->data.source) : pictures ? picturesOf(project->data) : "";
    }
    return field.isTokens() && field.shape.dims.size() == 1 ? "the number of the class" : "";
}

/// Returns Python code that calls the network, and a list of its arguments.
std::string callsOf(const SoundProject& project, const PyTorchCode& code)
{
    const ExampleSchema examples = examplesOf(*project);
    const std::string input = examples.input().isTokens() ? "tokens" : "x";
    const std::string target = examples.target().isTokens() ? "targets" : "target";
    const std::string given = joinedText(code.conditions);
    const std::string further =
        joinedText(code.labels, "", [](const std::string& label) { return ", " + label + "_targets"; });
    const std::string after = given.empty() ? "" : ", " + given;
    std::string text = "output = network(" + input + after + ")\nnetwork.train()\nnetwork.loss(" + input + ", " +
                       target + further + after + ").backward()\n```\n\n";
    const auto line = [&](const std::string& name, const Shape& shape, const std::string& values) {
        text += "- `" + name + "`: " + (shape.element == Element::Token ? "int64 " : "") + Shape{shape.dims}.text() +
                (values.empty() ? "" : ": " + values) + ".\n";
    };
    for (const ExampleField& field : examples.fields) {
        const bool condition =
            std::ranges::find(code.conditions, conditionVariable(field.name)) != code.conditions.end();
        const bool label = std::ranges::find(code.labels, field.name) != code.labels.end();
        const std::string name = field.role == FieldRole::Input    ? input
                                 : field.role == FieldRole::Target ? target
                                 : condition                       ? conditionVariable(field.name)
                                 : label                           ? field.name + "_targets"
                                                                   : "";
        if (!name.empty()) {
            std::string values = valuesOf(project, field);
            if (field.role == FieldRole::Input && code.longest > 0) {
                values += ", at most " + count(code.longest, "token");
            }
            line(name, field.shape, values);
        }
    }
    line("output", examples.output(), examples.target().isTokens() ? "logits" : "");
    return text + "\n";
}

/// Returns the rows of the files beside model.py, one for each tower.
std::string filesOf(const PyTorchCode& code)
{
    std::string rows;
    for (const auto& [name, text] : code.files) {
        rows += "| " + name + " | a tower: a class for each block; its topology is the class Topology |\n";
    }
    return rows;
}

bool trainsAllTowers(const Project& project)
{
    const std::set<std::size_t> used = usedTowers(project);
    return std::ranges::all_of(used,
                               [&](std::size_t index) { return trainsAll(towerAt(project, index).stack().schedule); });
}

/// Returns the section on what a run has and its exported code lacks.
std::string whatIsLost(const SoundProject& project, const PyTorchCode& code, const ExportedRun& run)
{
    std::string text = "## What is lost\n\n"
                       "The optimiser's state, the learning rate's schedule and the data are not here";
    text += trainsAllTowers(*project) ? "."
                                      : ", and neither is the schedule that leaves out parts of the network in a "
                                        "step: all that is here trains always.";
    if (rowsOf(project->data) == DocumentRows::Packed) {
        text += " Training kept the documents of a row apart; the code reads each row as one text.";
    }
    if (traitsOf(project->network.objective).denoises) {
        text +=
            " In training, all tokens see a text before its hidden spans; in the code, each token sees earlier ones.";
    }
    const auto differs = [](const Loop& loop) { return loop.draw != VisitDraw::All || loop.gradientVisits > 0; };
    bool anyDiffers = false;
    std::int64_t depth = 0;
    for (const std::size_t index : usedTowers(*project)) {
        const Network& network = towerAt(*project, index);
        anyDiffers |= std::ranges::any_of(network.stack().loops, differs);
        depth += network.depth();
    }
    if (anyDiffers) {
        text += " The code makes the same visits in training as in evaluation, and all of them have gradients.";
    }
    if (code.layers < depth) {
        text += " The network grows: " + std::to_string(depth - code.layers) + " of its " + std::to_string(depth) +
                " layers had not begun, and are not here.";
    }
    if (run.leftOut > 0) {
        text += " " + count(run.leftOut, "parameter") + " of the checkpoint that nothing reads " +
                (run.leftOut == 1 ? "is" : "are") + " left out.";
    }
    if (roundsToBf16(project->training.precision)) {
        text += std::string(" Training used ") + (project->training.precision == Precision::Fp8 ? "fp8" : "bf16") +
                "; the code computes in fp32 unless `torch.autocast` says otherwise.";
    }
    return text;
}

} // namespace

JsonObject classNames(const std::vector<std::string>& classes)
{
    JsonObject labels;
    JsonObject numbers;
    std::set<std::string> written;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        labels.push_back(member(std::to_string(i), {classes[i]}));
        if (written.insert(classes[i]).second) {
            numbers.push_back(member(classes[i], {static_cast<std::int64_t>(i)}));
        }
    }
    return {member("id2label", {std::move(labels)}), member("label2id", {std::move(numbers)})};
}

std::string pyTorchConfig(const SoundProject& project, const PyTorchCode& code, const ExportedRun& run)
{
    JsonObject object;
    object.push_back(member("project", {asUtf8(project->name)}));
    object.push_back(member("run", {asUtf8(run.name)}));
    object.push_back(member("step", {run.step}));
    object.push_back(member("steps", {run.steps}));
    object.push_back(member("parameters", {run.parameters}));
    object.push_back(member("layers", {code.stored}));
    if (code.layers > code.stored) {
        object.push_back(member("visited_layers", {code.layers}));
    }
    object.push_back(member("code", {code.digest}));
    object.push_back(member("width", {project->stack().width}));
    object.push_back(member("topology", {project->stack().topology.preset}));
    if (!code.files.empty()) {
        JsonArray towers;
        for (std::size_t index = 0; index < towerCount(*project); ++index) {
            towers.push_back({towerAt(*project, index).name});
        }
        object.push_back(member("towers", {std::move(towers)}));
    }
    const ExampleSchema examples = examplesOf(*project);
    if (examples.input().isTokens()) {
        object.push_back(member("vocabulary", {examples.input().vocabulary}));
        object.push_back(member("sequence_length", {project->training.sequenceLength}));
    } else {
        object.push_back(member("inputs", {examples.input().shape.features()}));
        object.push_back(member("outputs", {examples.output().features()}));
    }
    if (!run.classes.empty()) {
        std::ranges::move(classNames(run.classes), std::back_inserter(object));
    }
    object.push_back(member("renamed", names(code.names)));
    return printJson({std::move(object)});
}

std::string pyTorchCheck()
{
    return kCheck;
}

std::string pyTorchReadme(const SoundProject& project, const PyTorchCode& code, const ExportedRun& run)
{
    std::string text = "# " + plainText(project->name) + "\n\nThe network of the run " + plainText(run.name) +
                       " after step " + std::to_string(run.step) + " of " + std::to_string(run.steps) +
                       ", as PyTorch code that needs nothing else: " + count(run.parameters, "parameter") + ", " +
                       count(code.stored, "layer") +
                       (code.layers > code.stored ? ", visited " + count(code.layers, "time") + " by loops" : "") +
                       ".\n\n";
    text += "```python\nfrom model import load\n\nnetwork = load(\".\")\n";
    text += callsOf(project, code);
    text +=
        std::string("| file | what it is |\n|---|---|\n") +
        (code.files.empty()
             ? "| model.py | the network, a class for each block; its topology is the class Topology |\n"
             : "| model.py | the towers together, and their losses by `network.losses(...)`; `network.values(...)` has "
               "all values by name |\n") +
        filesOf(code) +
        "| weights.safetensors | its parameters, by the names of `network.state_dict()` |\n"
        "| config.json | what the network is, for programs; `renamed` has the parameters' names in Residua where they "
        "differ |\n"
        "| recorded.safetensors | a small batch " +
        std::string(run.drawn ? "of tokens drawn at random, for the data were not there, " : "") +
        "with the output, the loss and the norms of the gradients that Residua computes |\n"
        "| check.py | compares the network's output, loss and gradients with them: `python check.py` |\n\n";
    text += whatIsLost(project, code, run);
    text += "\n\n## Going on with training\n\nIn Residua, where nothing is lost: `residua-cli resume RUN`, with the "
            "folder of the run. In PyTorch a new optimiser begins: what its moments were at step " +
            std::to_string(run.step) + " is not known to it, so let its rate rise from a low one again.\n";
    return text;
}

} // namespace residua::projects
