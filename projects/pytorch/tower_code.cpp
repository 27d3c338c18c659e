// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/pytorch/tower_code.h"

#include "projects/base/random.h"
#include "projects/base/text.h"
#include "projects/model/objective.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/pytorch/helper_code.h"
#include "projects/pytorch/python_text.h"

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>
#include <utility>

namespace residua::projects {
namespace {

constexpr const char* kLoader = R"(def read_safetensors(path):
    """The tensors of a safetensors file by name: a length, a header in JSON, then the numbers."""
    types = {
        "F64": torch.float64,
        "F32": torch.float32,
        "BF16": torch.bfloat16,
        "I64": torch.int64,
    }
    data = bytearray(Path(path).read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            numbers = torch.frombuffer(data[start + first : start + last] or bytearray(8), dtype=types[entry["dtype"]])
            tensors[name] = numbers[: math.prod(entry["shape"])].reshape(entry["shape"])
    return tensors


def load(folder="."):
    """The network with the weights of the folder, ready to evaluate; train() makes it ready to train."""
    config = Path(folder) / "config.json"
    code = json.loads(config.read_text(encoding="utf-8")).get("code", CODE) if config.exists() else CODE
    if code != CODE:
        raise ValueError(
            f"{folder}: its weights belong to the code {code}, but {__file__} is {CODE}; expected the model.py beside them"
        )
    weights = read_safetensors(Path(folder) / "weights.safetensors")
    network = Network()
    if weights:
        network = network.to(next(iter(weights.values())).dtype)
    network.load_state_dict(weights)
    return network.eval()
)";

/// Returns 16 hexadecimal digits that differ for different texts.
std::string digestOf(const std::string& text)
{
    std::ostringstream digits;
    digits << std::hex << std::setfill('0') << std::setw(16) << streamKey(0, text);
    return digits.str();
}

constexpr const char* kBeside = R"(def beside(name):
    """The module of a file beside this one, even if another module of its name is imported."""
    spec = importlib.util.spec_from_file_location(f"{__name__}.{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
)";

constexpr const char* kSoftTargets = R"(def soft_targets(output, target, temperature):
    """T² KL(softmax(target / T) || softmax(output / T)), a mean over all dimensions but the last."""
    mine = F.log_softmax(output / temperature, -1)
    wanted = F.log_softmax(target / temperature, -1)
    return (wanted.exp() * (wanted - mine)).sum(-1).mean() * temperature**2
)";

constexpr const char* kContrastive = R"(def contrastive(output, target, penalty):
    """A mean over the examples i of l_i - f_ii + penalty l_i²: f_ij = -|output_i - target_j|, l_i = log Σ_j exp f_ij."""
    energies = -torch.cdist(output, target, compute_mode="donot_use_mm_for_euclid_dist")
    normalisers = energies.logsumexp(1)
    return (normalisers - energies.diagonal()).mean() + penalty * normalisers.square().mean()
)";

/// Returns the expression of a value in the dictionary of values.
std::string valueText(const std::string& name)
{
    return "values[\"" + plainText(name) + "\"]";
}
std::string lossText(const std::string& name)
{
    return "losses[\"" + plainText(name) + "\"]";
}

/// Writes model.py of several towers, with a file for each.
class TowersWriter {
public:
    TowersWriter(const Project& project, const std::vector<std::vector<ExportedLayer>>& layers)
        : m_project(project),
          m_layers(layers),
          m_examples(examplesOf(project)),
          m_used(usedTowers(project)),
          m_variables(valueVariables(project))
    {
        if (project.network.ownLoss != OwnLoss::None) {
            for (const auto& [label, shape] : m_examples.furtherOutputs()) {
                m_code.labels.push_back(label);
            }
        }
    }

    Result<PyTorchCode> write()
    {
        const std::vector<std::size_t> order = RESIDUA_TRY(runOrder(m_project));
        for (const std::size_t index : order) {
            if (m_used.contains(index)) {
                RESIDUA_TRY(add(index));
            }
        }
        m_code.conditions.assign(m_conditions.begin(), m_conditions.end());
        writeClass();
        std::string imports;
        for (const Part& part : m_parts) {
            imports += part.module + " = beside(\"" + part.module + "\")\n";
        }
        std::string helpers;
        for (const auto& [kind, text] :
             {std::pair(LossKind::SoftTargets, kSoftTargets), std::pair(LossKind::Contrastive, kContrastive)}) {
            if (std::ranges::count(m_project.losses, kind, &Loss::kind) > 0) {
                helpers += "\n\n" + std::string(text);
            }
        }
        HelperCode loss(PythonNames({}));
        for (const Part& part : m_parts) {
            if (learnsVariance(m_project, part.network)) {
                loss.use(Helper::NoiseLoss);
            }
        }
        helpers += loss.text();
        finish(m_code,
               moduleOf({"The networks of the project " + plainText(m_project.name) + ".",
                         "Written by Residua. It needs PyTorch 2.5 or newer and the files of the towers beside "
                         "it: network = load(folder)."},
                        "\n\n" + std::string(kBeside) + "\n\n" + imports + helpers + "\n\n" + m_text.text(), true));
        return std::move(m_code);
    }

private:
    /// A tower as a module.
    struct Part {
        const Network& network;
        std::string attribute;
        std::string module; ///< the file without .py
        TowerCode code;
    };

    Status add(std::size_t index)
    {
        const Network& network = towerAt(m_project, index);
        if (!network.weights.empty()) {
            return Error{"tower " + network.name, "uses the weights of " + network.weights +
                                                      ", which exported code has once; expected --tower NAME of one "
                                                      "that reads no other"};
        }
        Result<TowerCode> code =
            towerCodeOf(viewOf(m_project, index),
                        index < m_layers.size() ? m_layers[index] : std::vector<ExportedLayer>(), m_variables);
        if (!code) {
            return Error{"tower " + network.name + " · " + code.error().place, code.error().message};
        }
        const std::string attribute = m_names.of(network.name);
        const std::string module = "tower_" + attribute;
        for (const auto& [ours, theirs] : code->code.names) {
            m_code.names[(index == 0 ? "" : network.name + ".") + ours] = attribute + "." + theirs;
        }
        for (const auto& [variable, name] : code->arguments) {
            if (!m_variables.contains(name)) {
                m_conditions.insert(variable);
            }
        }
        m_code.files[module + ".py"] = std::move(code->code.model);
        m_code.layers += code->code.layers;
        m_code.stored += code->code.stored;
        if (const std::int64_t longest = code->code.longest; longest > 0) {
            m_code.longest = m_code.longest == 0 ? longest : std::min(m_code.longest, longest);
        }
        if (index > 0) {
            m_code.others.push_back(outputOf(network));
        }
        m_parts.push_back({network, attribute, module, *std::move(code)});
        return Done{};
    }

    [[nodiscard]] bool readsTokens() const { return m_examples.input().isTokens(); }
    [[nodiscard]] std::string entering() const { return readsTokens() ? "tokens" : "x"; }
    [[nodiscard]] std::string target() const { return m_examples.target().isTokens() ? "targets" : "target"; }
    /// Returns the arguments of forward(), and those of loss().
    [[nodiscard]] std::string arguments() const
    {
        return entering() + (m_code.conditions.empty() ? "" : ", " + joinedText(m_code.conditions));
    }
    [[nodiscard]] std::string lossArguments() const
    {
        std::string text = entering() + ", " + target();
        for (const std::string& label : m_code.labels) {
            text += ", " + label + "_targets";
        }
        return text + (m_code.conditions.empty() ? "" : ", " + joinedText(m_code.conditions));
    }

    void writeClass()
    {
        PythonText& out = m_text;
        out.beginClass("Network",
                       {"The towers " +
                        joinedText(m_parts, ", ", [](const Part& part) { return plainText(part.network.name); }) +
                        ". Each reads values of those before it."});
        writeNames("conditions", m_code.conditions);
        writeNames("labels", m_code.labels);
        writeNames("others", m_code.others);
        out.define("__init__(self)");
        out.line("super().__init__()");
        for (const Part& part : m_parts) {
            out.line("self." + part.attribute + " = " + part.module + ".Network()");
        }
        for (const Part& part : m_parts) {
            out.lines("%1", {part.network.frozen ? "self." + part.attribute + ".requires_grad_(False)" : ""});
        }
        out.define("forward(self, " + arguments() + ")");
        out.line("return self.values(" + arguments() + ")[\"" + plainText(outputOf(m_project.network)) + "\"]");
        writeValues();
        out.define("outputs(self, " + arguments() + ")", {"What forward() returns, and the outputs of the others."});
        out.line("values = self.values(" + arguments() + ")");
        out.line("return tuple(values[name] for name in (\"" + plainText(outputOf(m_project.network)) +
                 "\", *self.others))");
        writeTrain();
        writeLosses();
        writeLoss();
    }

    void writeNames(const std::string& member, const std::vector<std::string>& names)
    {
        if (!names.empty()) {
            m_text.line();
            m_text.line(member + " = (" +
                        joinedText(names, ", ", [](const std::string& name) { return '"' + plainText(name) + '"'; }) +
                        ",)");
        }
    }

    void writeValues()
    {
        m_text.define("values(self, " + arguments() + ")",
                      {"What the towers make, by name: states before a head, output behind it."});
        m_text.line("values = {}");
        for (const Part& part : m_parts) {
            const std::string& input = part.network.input;
            std::string given = input.empty() ? entering() : valueText(input);
            for (const auto& [variable, name] : part.code.arguments) {
                given += ", " + variable + "=" + (m_variables.contains(name) ? valueText(name) : variable);
            }
            m_text.line(joinedText(part.code.values, ", ", valueText) + " = self." + part.attribute + "(" + given +
                        ")");
        }
        m_text.line("return values");
    }

    /// Frozen towers run as in an evaluation.
    void writeTrain()
    {
        if (std::ranges::none_of(m_parts, [](const Part& part) { return part.network.frozen; })) {
            return;
        }
        m_text.define("train(self, mode=True)", {"As of every module, but frozen towers always evaluate."});
        m_text.line("super().train(mode)");
        for (const Part& part : m_parts) {
            m_text.lines("%1", {part.network.frozen ? "self." + part.attribute + ".eval()" : ""});
        }
        m_text.line("return self");
    }

    /// Returns the name by which the tower's objective is recorded.
    [[nodiscard]] std::string objectiveName(const Network& network) const
    {
        return &network == &towerAt(m_project, judgingTower(m_project)) ? "loss" : "loss of " + network.name;
    }

    [[nodiscard]] static std::string expressionOf(const Loss& loss, const std::string& output,
                                                  const std::string& wanted)
    {
        switch (loss.kind) {
        case LossKind::SoftTargets:
            return "soft_targets(" + output + ", " + wanted + ", " + pythonReal(loss.temperature) + ")";
        case LossKind::SquaredError:
            return "(" + output + " - " + wanted + ").square().mean()";
        case LossKind::Contrastive:
            return "contrastive(" + output + ", " + wanted + ", " + pythonReal(loss.penalty) + ")";
        case LossKind::Mean:
            return output + ".mean()";
        case LossKind::CrossEntropy:
        case LossKind::ExpectedExit: // isExported()
            break;
        }
        return "F.cross_entropy(" + output + ".flatten(0, -2), " + wanted + ".flatten())";
    }

    void writeLosses()
    {
        m_text.define("losses(self, " + lossArguments() + ")", {"Every loss by the name that Residua records it by."});
        m_text.line("values = self.values(" + arguments() + ")");
        m_text.line("losses = {}");
        for (const Part& part : m_parts) {
            if (part.network.ownLoss == OwnLoss::None) {
                continue;
            }
            m_text.line("output = " + valueText(outputOf(part.network)));
            std::string value = objectiveText(m_project, part.network, entering());
            for (const std::string& label :
                 &part.network == &m_project.network ? m_code.labels : std::vector<std::string>()) {
                value += " + F.cross_entropy(" + valueText(valueOf(part.network, label)) + ", " + label + "_targets)";
            }
            m_text.line(lossText(objectiveName(part.network)) + " = " + value);
        }
        for (const Loss& loss : m_project.losses) {
            if (!isExported(loss)) {
                continue;
            }
            const std::string output = valueText(loss.output);
            const std::string wanted =
                loss.target.empty() ? target() : valueText(loss.target) + (trainsTarget(loss.kind) ? "" : ".detach()");
            m_text.line(lossText(loss.name) + " = " + expressionOf(loss, output, wanted));
        }
        m_text.line("return losses");
    }

    /// Returns the weighted sum of a group's losses.
    [[nodiscard]] std::string sumOf(const LossGroup& group) const
    {
        std::vector<std::string> terms;
        const auto addTerm = [&](const std::string& name, double weight) {
            terms.push_back((weight == 1 ? "" : pythonReal(weight) + " * ") + lossText(name));
        };
        for (const Part& part : m_parts) {
            if (group.hasObjectives && part.network.ownLoss == OwnLoss::Trained) {
                addTerm(objectiveName(part.network), part.network.lossWeight);
            }
        }
        for (const Loss& loss : group.losses) {
            if (isExported(loss)) {
                addTerm(loss.name, loss.weight);
            }
        }
        return terms.empty() ? lossText("loss") : joinedText(terms, " + ");
    }

    /// Returns the attributes of the towers that the group trains.
    [[nodiscard]] std::string trainedBy(const LossGroup& group) const
    {
        std::vector<std::string> names;
        for (const Part& part : m_parts) {
            if (group.trains.contains(towerNamed(m_project, part.network.name))) {
                names.push_back("\"" + part.attribute + "\"");
            }
        }
        return joinedText(names);
    }

    void writeLoss()
    {
        const std::vector<LossGroup> groups = lossGroupsOf(m_project);
        const bool several = groups.size() > 1;
        if (several) {
            m_text.define("train_only(self, *towers)");
            m_text.lines("for name, tower in self.named_children():\n    tower.requires_grad_(name in towers)");
        }
        m_text.define("loss(self, " + lossArguments() + ")",
                      {several
                           ? "The sum of all trained losses. Each gives gradients to the towers that it trains alone."
                           : "The sum of all trained losses."});
        for (std::size_t i = 0; i < groups.size(); ++i) {
            m_text.lines("%1", {several ? "self.train_only(" + trainedBy(groups[i]) + ")" : ""});
            m_text.line("losses = self.losses(" + lossArguments() + ")");
            m_text.line((i == 0 ? "loss = " : "loss = loss + ") + sumOf(groups[i]));
        }
        m_text.lines("%1", {several ? "self.train_only(" + trainedBy(groups.front()) + ")" : ""});
        std::string regularisers;
        for (const Part& part : m_parts) {
            regularisers += part.code.regularises ? " + self." + part.attribute + ".regulariser()" : "";
        }
        m_text.line("return loss" + (regularisers.empty() ? "" : regularisers + " if self.training else loss"));
    }

    const Project& m_project;
    const std::vector<std::vector<ExportedLayer>>& m_layers; ///< by tower; those that it lacks have all
    ExampleSchema m_examples;
    std::set<std::size_t> m_used;
    ValueVariables m_variables;
    PythonNames m_names{namesOfNetwork()};
    std::vector<Part> m_parts; ///< in the order in which they run
    std::set<std::string> m_conditions;
    PythonText m_text;
    PyTorchCode m_code;

    /// Returns the attributes of the class that no tower may use.
    [[nodiscard]] static std::set<std::string> namesOfNetwork()
    {
        std::set<std::string> names = moduleAttributes();
        names.insert({"conditions", "labels", "others", "values", "outputs", "losses", "loss", "train_only"});
        return names;
    }
};

} // namespace

bool learnsVariance(const Project& project, const Network& network)
{
    return traitsOf(network.objective).diffuses && project.data.diffusion.learnsVariance;
}

std::string objectiveText(const Project& project, const Network& network, const std::string& x)
{
    if (learnsVariance(project, network)) {
        const Diffusion& diffusion = project.data.diffusion;
        return "noise_loss(output, target, " + x + ", " + kTimestep + ", " + std::to_string(diffusion.steps) + ", " +
               pythonReal(diffusion.first) + ", " + pythonReal(diffusion.last) + ")";
    }
    const ObjectiveTraits& objective = traitsOf(network.objective);
    const std::string text(objective.pyTorch);
    return objective.smooths && network.labelSmoothing > 0
               ? text.substr(0, text.size() - 1) + ", label_smoothing=" + pythonReal(network.labelSmoothing) + ")"
               : text;
}

std::string conditionVariable(const std::string& condition)
{
    return PythonNames({}).of(condition);
}

bool isExported(const Loss& loss)
{
    const auto isAtExit = [](const std::string& value) {
        const std::optional<ValueName> name = valueNameFrom(value);
        return name && !name->exit.empty();
    };
    return loss.kind != LossKind::ExpectedExit && !isAtExit(loss.output) && !isAtExit(loss.target);
}

ValueVariables valueVariables(const Project& project)
{
    std::set<std::string> taken{"self", "tokens", "x", "layers", "table"};
    for (const auto& [name, shape] : examplesOf(project).conditions()) {
        taken.insert(name);
    }
    PythonNames names(std::move(taken));
    ValueVariables variables;
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        const Network& network = towerAt(project, index);
        std::vector<std::string> ports{"states", kOutputPort};
        for (const Graph* const graph : {&network.stem, &network.head}) {
            std::ranges::copy(furtherPorts(*graph), std::back_inserter(ports));
        }
        for (const std::string& port : ports) {
            variables[valueOf(network, port)] = names.of(network.name + "_" + port);
        }
    }
    return variables;
}

void finish(PyTorchCode& code, std::string text)
{
    std::string all = text;
    for (const auto& [name, file] : code.files) {
        all += file;
    }
    code.digest = digestOf(all);
    code.model = std::move(text) +
                 "\n\n# Names this code in config.json, so that load() finds weights of other code.\nCODE = \"" +
                 code.digest + "\"\n";
}

std::string moduleOf(const std::vector<std::string>& doc, const std::string& body, bool loads)
{
    const std::string all = loads ? body + "\n\n" + kLoader : body;
    PythonText head;
    head.docstring(doc);
    head.line();
    const auto importFor = [&](const char* use, const char* line) {
        if (all.find(use) != std::string::npos) {
            head.line(line);
        }
    };
    importFor("importlib.", "import importlib.util");
    importFor("itertools.", "import itertools");
    importFor("json.", "import json");
    importFor("math.", "import math");
    importFor("partial(", "from functools import partial");
    importFor("Path(", "from pathlib import Path");
    importFor("SimpleNamespace(", "from types import SimpleNamespace");
    head.line();
    importFor("torch.", "import torch");
    importFor("F.", "import torch.nn.functional as F");
    head.line("from torch import nn");
    return head.text() + all;
}

Result<PyTorchCode> codeOfTowers(const Project& project, const std::vector<std::vector<ExportedLayer>>& layers)
{
    return TowersWriter(project, layers).write();
}

} // namespace residua::projects
