// SPDX-License-Identifier: GPL-3.0-or-later
// The files beside model.py.
#include "projects/base/json_tree.h"
#include "projects/base/utf8.h"
#include "projects/nodes/example_schema.h"
#include "projects/pytorch/python_text.h"
#include "projects/pytorch/pytorch_code.h"
#include "projects/schedule/stage_schedule.h"

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
    worst = max(found, key=found.get)
    for name in ("output", "loss", worst):
        print(f"{name}: differs by {found[name]:.2g} of its size, at most {tolerance:g} expected")
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

} // namespace

std::string pyTorchConfig(const SoundProject& project, const PyTorchCode& code, const ExportedRun& run)
{
    JsonObject object;
    object.push_back(member("project", {asUtf8(project->name)}));
    object.push_back(member("run", {asUtf8(run.name)}));
    object.push_back(member("step", {run.step}));
    object.push_back(member("steps", {run.steps}));
    object.push_back(member("parameters", {run.parameters}));
    object.push_back(member("layers", {code.layers}));
    object.push_back(member("width", {project->stack().width}));
    object.push_back(member("topology", {project->stack().topology.preset}));
    const ExampleSchema examples = examplesOf(project->data);
    if (examples.input().isTokens()) {
        object.push_back(member("vocabulary", {examples.input().vocabulary}));
        object.push_back(member("sequence_length", {project->training.sequenceLength}));
    } else {
        object.push_back(member("inputs", {examples.input().shape.features()}));
        object.push_back(member("outputs", {examples.output().features()}));
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
    const bool tokens = examplesOf(project->data).input().isTokens();
    const std::int64_t depth = project->network.depth();
    std::string text = "# " + plainText(project->name) + "\n\nThe network of the run " + plainText(run.name) +
                       " after step " + std::to_string(run.step) + " of " + std::to_string(run.steps) +
                       ", as PyTorch code that needs nothing else: " + count(run.parameters, "parameter") + ", " +
                       count(code.layers, "layer") + ".\n\n";
    text += "```python\nfrom model import load\n\nnetwork = load(\".\")\n";
    text += tokens ? "logits = network(tokens)  # int64 [batch, time] to [batch, time, vocabulary]\n"
                   : "output = network(x)  # [batch, inputs] to [batch, outputs]\n";
    text += std::string("network.train()\nnetwork.loss(") + (tokens ? "tokens, targets" : "x, target") +
            ").backward()\n```\n\n";
    text +=
        "| file | what it is |\n|---|---|\n"
        "| model.py | the network, a class for each block; its topology is the class Topology |\n"
        "| weights.safetensors | its parameters, by the names of `network.state_dict()` |\n"
        "| config.json | what the network is, for programs; `renamed` has the parameters' names in Residua where they "
        "differ |\n"
        "| recorded.safetensors | a small batch " +
        std::string(run.drawn ? "of tokens drawn at random, for the data were not there, " : "") +
        "with the output, the loss and the norms of the gradients that Residua computes |\n"
        "| check.py | compares the network with them: `python check.py` |\n\n";
    text += "## What is lost\n\n"
            "The optimiser's state, the learning rate's schedule and the data are not here";
    text += trainsAll(project->stack().schedule)
                ? "."
                : ", and neither is the schedule that leaves out parts of the network in a "
                  "step: all that is here trains always.";
    if (code.layers < depth) {
        text += " The network grows: " + std::to_string(depth - code.layers) + " of its " + std::to_string(depth) +
                " layers had not begun, and are not here.";
    }
    if (run.leftOut > 0) {
        text += " " + count(run.leftOut, "parameter") + " of the checkpoint that nothing reads " +
                (run.leftOut == 1 ? "is" : "are") + " left out.";
    }
    if (project->training.precision == Precision::Bf16) {
        text += " Training used bf16; the code computes in fp32 unless `torch.autocast` says otherwise.";
    }
    text += "\n\n## Going on with training\n\nIn Residua, where nothing is lost: `residua-cli resume RUN`, with the "
            "folder of the run. In PyTorch a new optimiser begins: what its moments were at step " +
            std::to_string(run.step) + " is not known to it, so let its rate rise from a low one again.\n";
    return text;
}

} // namespace residua::projects
