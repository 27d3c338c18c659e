// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/transfer/pytorch_folder.h"

#include "engine/base/machine/machine.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"
#include "projects/huggingface/custom_model.h"
#include "projects/nodes/towers.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/zeros.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace residua::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kWeightsFile = "weights.safetensors";
constexpr const char* kCustomWeightsFile = "model.safetensors";

/// Returns the use of each layer of a tower in evaluation; an error if it runs only a part of a layer.
Result<std::vector<projects::ExportedLayer>> layersIn(CompiledNetwork& network, std::size_t tower, const Pass& pass)
{
    std::vector<projects::ExportedLayer> layers;
    for (const LayerUse& use : network.layersOf(pass, tower)) {
        if (use.runs && (!use.heads.all() || !use.mlp.all())) {
            return Error{"schedule", "after step " + std::to_string(pass.step) +
                                         " the network has only some of its attention heads or MLP parts, which is not "
                                         "exported; expected a step of the last stage, where all are there"};
        }
        layers.push_back({use.runs, use.factor});
    }
    return layers;
}

/// Replaces the name of the weights' file by the one that transformers expects.
void renameWeights(std::string& text)
{
    const std::string old = kWeightsFile;
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at)) {
        text.replace(at, old.size(), kCustomWeightsFile);
    }
}

} // namespace

Status PyTorchWriter::advance()
{
    if (m_code.model.empty()) {
        return makeCode();
    }
    if (m_recorded.stored().empty()) {
        return gather();
    }
    if (!m_file) {
        return begin();
    }
    return m_file->next() != nullptr ? writeNext() : end();
}

PyTorchFolder PyTorchWriter::folder() const
{
    return {m_code.layers, m_source.run.parameters, m_source.run.leftOut};
}

Status PyTorchWriter::makeCode()
{
    std::vector<std::vector<projects::ExportedLayer>> all;
    for (std::size_t tower = 0; tower < projects::towerCount(*m_source.project); ++tower) {
        std::vector<projects::ExportedLayer> layers =
            RESIDUA_TRY(layersIn(m_source.network, tower, passAfter(m_source.run.step)));
        all.push_back(std::move(layers));
    }
    m_code = RESIDUA_TRY(projects::pyTorchCodeOf(m_source.project, all));
    return Done{};
}

/// Collects the weights, and the network's results for the sample.
Status PyTorchWriter::gather()
{
    CompiledNetwork& network = m_source.network;
    for (const NamedParameter& parameter : network.parameters()) {
        parameter.tensor.mutable_grad().reset();
    }
    const Pass pass = passAfter(m_source.run.step);
    const at::Tensor output = network.forward(m_source.sample, pass);
    at::Tensor sum;
    for (std::size_t group = 0; group < network.lossGroups(); ++group) {
        const at::Tensor loss = network.lossOfGroup(group, m_source.sample, pass).trained;
        if (loss.requires_grad()) {
            loss.backward();
        }
        sum = sum.defined() ? sum + loss.detach() : loss.detach();
    }
    m_recorded.add("input", m_source.sample.input);
    m_recorded.add("target", m_source.sample.target);
    for (const auto& [name, values] : m_source.sample.conditions) {
        m_recorded.add(projects::conditionVariable(name), values);
    }
    m_recorded.add("output", output.detach());
    m_recorded.add("loss", sum.reshape({1}).to(output.scalar_type()));
    if (!m_code.others.empty()) {
        const at::NoGradGuard noGrad;
        const std::map<std::string, at::Tensor> values = network.values(m_source.sample, pass);
        for (const std::string& name : m_code.others) {
            m_recorded.add("value." + name, values.at(name));
        }
    }
    for (const NamedParameter& parameter : network.parameters()) {
        const auto name = m_code.names.find(parameter.name);
        if (name == m_code.names.end()) {
            m_source.run.leftOut += parameter.isBuffer ? 0 : parameter.tensor.numel();
            continue;
        }
        m_weights.add(name->second, parameter.tensor.detach());
        if (parameter.isBuffer) {
            continue;
        }
        m_source.run.parameters += parameter.tensor.numel();
        const at::Tensor gradient = parameter.tensor.grad();
        m_recorded.add("gradient_norm." + name->second,
                       gradient.defined() ? gradient.norm().reshape({1})
                                          : at::zeros({1}, parameter.tensor.options().requires_grad(false)));
    }
    if (m_weights.stored().size() != m_code.names.size()) {
        return Error{"export", "the code has " + std::to_string(m_code.names.size()) + " parameters, the network has " +
                                   std::to_string(m_weights.stored().size()) + " of them"};
    }
    return Done{};
}

Status PyTorchWriter::begin()
{
    const bool custom = std::holds_alternative<CustomModel>(m_source.use);
    SafetensorsWriter file = RESIDUA_TRY(SafetensorsWriter::begin(m_path / (custom ? kCustomWeightsFile : kWeightsFile),
                                                                  formsOf(m_weights.stored()), {{"format", "pt"}}));
    m_file.emplace(std::move(file));
    return Done{};
}

Status PyTorchWriter::writeNext()
{
    ++m_written;
    return m_file->write(m_weights.stored().at(*m_file->next()).bytes);
}

Status PyTorchWriter::end()
{
    RESIDUA_TRY(m_file->end());
    RESIDUA_TRY(writeNewSafetensors(m_path / "recorded.safetensors", m_recorded.stored(), {{"format", "pt"}}));
    const auto* const custom = std::get_if<CustomModel>(&m_source.use);
    for (const auto& [name, text] : custom == nullptr ? texts() : textsOf(*custom)) {
        RESIDUA_TRY(writeFileAtomically(m_path / name, text));
    }
    m_ended = true;
    return custom == nullptr ? Status(Done{}) : addCompanions(m_path, custom->companions);
}

std::map<std::string, std::string> PyTorchWriter::texts() const
{
    std::map<std::string, std::string> all{
        {"model.py", m_code.model},
        {"check.py", projects::pyTorchCheck()},
        {"config.json", projects::pyTorchConfig(m_source.project, m_code, m_source.run)},
        {"README.md", projects::pyTorchReadme(m_source.project, m_code, m_source.run)}};
    all.insert(m_code.files.begin(), m_code.files.end());
    return all;
}

std::map<std::string, std::string> PyTorchWriter::textsOf(const CustomModel& custom) const
{
    const bool exact = m_source.project->training.precision == projects::Precision::Fp64;
    std::map<std::string, std::string> all = texts();
    for (const char* const name : {"model.py", "README.md"}) {
        renameWeights(all[name]);
    }
    all["README.md"] =
        projects::customReadme(m_source.project, custom.reason, custom.companions.tokeniser) + all["README.md"];
    all["config.json"] = projects::customConfig(m_source.project, m_code, m_source.run, exact ? "float64" : "float32");
    all[projects::kConfigurationFile] = projects::configurationCode(m_code);
    all[projects::kModelingFile] = projects::modelingCode();
    return all;
}

Result<PyTorchFolder> writePyTorchFolder(const fs::path& folder, PyTorchSource source)
{
    PyTorchWriter writer(folder, std::move(source));
    while (!writer.atEnd()) {
        RESIDUA_TRY(writer.advance());
    }
    return writer.folder();
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kScript = "export_onnx.py";
constexpr const char* kLog = ".export_onnx.log";
constexpr int kNoPackages = 3; ///< the script's exit status if Python lacks a package

constexpr const char* kCode =
    R"("""Writes model.onnx, which computes what model.py does, and compares it with what Residua recorded.

    python export_onnx.py        needs torch, onnx and onnxscript; compares by onnxruntime where that is there
"""

import json
import math
import sys
import warnings
from pathlib import Path

if len(sys.argv) > 1:  # as Residua starts it: ends with the process of this number, even if that is killed
    import ctypes
    import os
    import signal

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != int(sys.argv[1]):
        sys.exit(1)

try:
    import numpy
    import onnx
    import onnxscript  # noqa: F401
    import torch
except ImportError as missing:
    print(f"Python at {sys.executable}: {missing}", file=sys.stderr)
    sys.exit(3)

from model import load, read_safetensors

TOLERANCE = 1e-4

def outputs_of(path, values):
    """What the graph computes of the values by name, in the order of its outputs."""
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(str(path)).run(None, values)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, values)

def difference(path, values, expected):
    """How far the graph's outputs are from what is expected, relative to their sizes."""
    found = outputs_of(path, {name: value.numpy() for name, value in values.items()})
    return max(
        (numpy.abs(one - other.numpy()).max() / (1 + numpy.abs(other.numpy()).max()) for one, other in zip(found, expected)),
        key=lambda each: (math.isnan(each), each),
    )

def add_classes(path, folder):
    """Writes the names of the classes into the graph's metadata, as config.json has them."""
    names = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("id2label")
    if names:
        model = onnx.load(str(path), load_external_data=False)
        model.metadata_props.add(key="id2label", value=json.dumps(names, ensure_ascii=False))
        onnx.save(model, str(path))

def main():
    folder = Path(__file__).resolve().parent
    path = folder / "model.onnx"
    recorded = read_safetensors(folder / "recorded.safetensors")
    network = load(folder).eval()
    others = getattr(network, "others", ())
    if others:  # the outputs of the other towers, too
        network.forward = network.outputs
    values = {name: recorded[name] for name in ("input", *getattr(network, "conditions", ()))}
    value = values["input"]
    time = value.shape[1] if value.dtype == torch.int64 else 0

    def per_token(each):
        return time > 0 and each.dim() > 1 and each.shape[1] == time

    # any number of examples, and of tokens
    names = ("batch", "time")
    sizes = tuple(dict(enumerate(names[: 2 if per_token(each) else 1])) for each in values.values())
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            tuple(values.values()),
            str(path),
            input_names=list(values),
            output_names=["output", *others],
            dynamo=True,
            dynamic_shapes=sizes,
            verbose=False,
        )
    add_classes(path, folder)
    onnx.checker.check_model(str(path))
    worst = difference(path, values, [recorded["output"], *(recorded["value." + name] for name in others)])
    # Other sizes, so that those of the sample are not built into the graph.
    smaller = {name: each[:1, :-1] if per_token(each) and time > 1 else each[:1] for name, each in values.items()}
    larger = {name: torch.cat([each, each[:1]]) for name, each in values.items()}
    for other in (smaller, larger):
        with torch.no_grad():
            made = network(*other.values())
            found = difference(path, other, made if others else [made])
        worst = max(worst, found, key=lambda each: (math.isnan(each), each))
    print(f"output: differs by {worst:.2g} of its size, at most {TOLERANCE:g} expected")
    if not worst <= TOLERANCE:  # a number that is none is no agreement
        sys.exit("the graph does not compute what the network computes")

if __name__ == "__main__":
    main()
)";

constexpr const char* kReadme = R"(
## ONNX

`model.onnx` computes what the network computes when it evaluates: its inputs, named as above but for the first, which is
`input`, to `output`. The number of examples (`batch`) and of tokens (`time`) is free within the limits above. `python export_onnx.py` made it of the code here, and compared it with the recorded output.
)";

constexpr const char* kAdvice =
    "; packaging/python.sh installs what it needs, RESIDUA_PYTHON names a Python that has it, "
    "and the export as PyTorch code needs none";

/// Returns the last line of the process's output, for the user.
std::string lastLine(const fs::path& log)
{
    const auto text = readFile(log);
    std::string line;
    for (std::size_t begin = 0; text && begin < text->size();) {
        const std::size_t end = std::min(text->find('\n', begin), text->size());
        line = end > begin ? text->substr(begin, end - begin) : line;
        begin = end + 1;
    }
    constexpr std::size_t kLong = 400;
    return line.substr(0, kLong);
}

} // namespace

Result<OnnxGraph> OnnxGraph::begin(const fs::path& folder)
{
    RESIDUA_TRY(writeFileAtomically(folder / kScript, kCode));
    const std::string python = pythonCommand();
    const FileDescriptor log(::open((folder / kLog).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!log.isOpen()) {
        return systemError(folder / kLog, "cannot be made", errno);
    }
    // -B: leaves no __pycache__ beside the code.
    auto process = ChildProcess::start(
        {.words = {python, "-B", (folder / kScript).string(), std::to_string(::getpid())}, .errors = log.get()});
    if (!process) {
        return Error{"python", python + " " + process.error().message + kAdvice};
    }
    return OnnxGraph(folder, *std::move(process));
}

std::optional<Status> OnnxGraph::ended()
{
    const std::optional<int> result = m_process.ended();
    if (!result) {
        return std::nullopt;
    }
    const std::string said = lastLine(m_folder / kLog);
    discard(m_folder / kLog);
    if (*result == 0) {
        const auto readme = readFile(m_folder / "README.md");
        return writeFileAtomically(m_folder / "README.md", (readme ? *readme : std::string()) + kReadme);
    }
    if (*result == kNoPackages) {
        return Status(Error{"python", said + kAdvice});
    }
    return Status(
        Error{"python", "PyTorch made no ONNX graph of the network: " + (said.empty() ? "it was ended" : said)});
}

} // namespace residua::engine
