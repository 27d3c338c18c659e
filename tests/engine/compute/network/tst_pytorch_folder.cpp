// SPDX-License-Identifier: GPL-3.0-or-later
// Networks as PyTorch code: outputs, losses and gradients are those of the engine. All folders are written first, and
// one process of Python, whose start takes seconds, then compares them all.
#include "network_harness.h"
#include "pytorch_cases.h"

#include "engine/base/files/safetensors.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/transfer/pytorch_folder.h"
#include "projects/base/whole_file.h"
#include "projects/huggingface/custom_model.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/stage_schedule.h"
#include "tests/support/python.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

using namespace residua;
using namespace residua::tests;
using engine::CompiledNetwork;
using engine::NamedParameter;
using projects::Project;
namespace fs = std::filesystem;

namespace {

/// Compares every folder below the first argument, each by its own check.py and by all gradients of the training loss;
/// a line for each: its name and what is wrong with it. Without PyTorch it says so and ends.
constexpr const char* kDriver = R"(
import sys
from pathlib import Path

try:
    import torch
except ImportError as error:
    print(f"no torch: {error}")
    sys.exit(0)

torch.set_num_threads(1)


def fault(folder):
    for name in ("model", "check"):
        sys.modules.pop(name, None)
    sys.path.insert(0, str(folder))
    try:
        import check
        import model

        found, tolerance = check.differences(folder)
        for name, value in found.items():
            if not value <= tolerance:
                return f"{name} differs by {value}"
        training = (folder / "training.safetensors").exists()
        recorded = model.read_safetensors(folder / "recorded.safetensors")
        gradients = model.read_safetensors(folder / ("training.safetensors" if training else "evaluation.safetensors"))
        network = model.load(folder).train(training)
        given = [recorded[name] for name in getattr(network, "conditions", ())]
        labels = [recorded[name] for name in getattr(network, "labels", ())]
        if hasattr(network, "exits"):
            outputs, shares = network.exits(recorded["input"], *given)
            sums = shares.sum(-1)
            if len(outputs) != shares.shape[-1] or not torch.equal(outputs[-1], network(recorded["input"], *given)):
                return "exits do not end with the output"
            if torch.equal(outputs[0], outputs[-1]) or not torch.allclose(sums, torch.ones_like(sums)):
                return "exits are one output, or their probabilities do not add up to 1"
        loss = network.loss(recorded["input"], recorded["target"], *labels, *given)
        expected = gradients.pop("loss").item()
        if not abs(loss.item() - expected) <= tolerance * (1 + abs(expected)):
            return f"loss {loss.item()}, expected {expected}"
        loss.backward()
        names = {name for name, _ in network.named_parameters()}
        if names != set(gradients):
            return f"parameters {names ^ set(gradients)} on one side alone"
        largest = max((g.abs().max().item() for g in gradients.values() if g.numel()), default=0)
        for name, parameter in network.named_parameters():
            mine = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            away = (mine - gradients[name]).abs().max().item() if mine.numel() else 0
            if not away <= 2 * tolerance * (1 + largest):  # both sides round their sums
                return f"gradient of {name} differs by {away}"
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        sys.path.pop(0)


def taken_for_another(earlier, folder):
    """What is wrong where the code of an earlier folder is asked for the weights of this one."""
    own = sys.modules["model"]
    if earlier is None or earlier.CODE == own.CODE:
        return ""
    try:
        earlier.load(folder)
    except ValueError as error:
        return "" if own.CODE in str(error) else str(error)
    return "the code of another network took these weights"


earlier = None
for folder in sorted(Path(sys.argv[1]).iterdir()):
    found = fault(folder) or taken_for_another(earlier, folder)
    earlier = sys.modules["model"]
    print(folder.name, found.replace("\n", " "), sep="\t", flush=True)
)";

/// Moves every parameter off the symmetric or zero place where it starts. Cheap: examples have millions of numbers.
void moveOff(CompiledNetwork& network)
{
    const at::NoGradGuard noGrad;
    double phase = 0;
    for (NamedParameter& parameter : network.parameters()) {
        const at::Tensor wave = at::arange(parameter.tensor.numel(), at::kDouble).mul_(0.7).add_(++phase).sin_();
        parameter.tensor.add_(wave.view(parameter.tensor.sizes()).to(parameter.tensor.scalar_type()), 0.1);
    }
}

/// The gradients of the training loss, where a step trains all that is there, and else of the loss in evaluation.
void writeGradients(const fs::path& folder, const PyTorchCase& each, CompiledNetwork& network,
                    const engine::DeviceBatch& batch)
{
    const bool trains = projects::trainsAll(each.project.stack().schedule) &&
                        std::ranges::none_of(each.project.stack().loops, [](const projects::Loop& loop) {
                            return loop.draw != projects::VisitDraw::All;
                        });
    const engine::Pass evaluation = engine::passAfter(each.step);
    for (const NamedParameter& parameter : network.parameters()) {
        parameter.tensor.mutable_grad().reset();
    }
    at::Tensor sum;
    for (std::size_t group = 0; group < network.lossGroups(); ++group) {
        const at::Tensor loss = network.lossOfGroup(group, batch, trains ? kTraining : evaluation).trained;
        sum = sum.defined() ? sum + loss.detach() : loss.detach();
        if (loss.requires_grad()) {
            loss.backward();
        }
    }
    engine::HostTensors gradients;
    gradients.add("loss", sum.reshape({1}));
    std::vector<std::vector<projects::ExportedLayer>> layers(projects::towerCount(each.project));
    for (std::size_t tower = 0; tower < layers.size(); ++tower) {
        for (const engine::LayerUse& use : network.layersOf(evaluation, tower)) {
            layers[tower].push_back({use.runs, use.factor});
        }
    }
    const auto code = projects::pyTorchCodeOf(*projects::soundProject(each.project), layers);
    for (const NamedParameter& parameter : network.parameters()) {
        if (parameter.isBuffer || !code->names.contains(parameter.name)) {
            continue; // without a gradient, or of a layer that is not there
        }
        const at::Tensor gradient =
            parameter.tensor.grad().defined() ? parameter.tensor.grad() : parameter.tensor.detach() * 0;
        gradients.add(code->names.at(parameter.name), gradient);
    }
    const Status written = engine::writeSafetensors(
        folder / (trains ? "training.safetensors" : "evaluation.safetensors"), gradients.stored(), {});
    if (!written) {
        throw std::runtime_error(written.error().text());
    }
}

/// Writes the folder of a case. What is wrong; empty where nothing is.
std::string written(const PyTorchCase& each, const fs::path& folder)
{
    fs::create_directories(folder);
    const auto sound = projects::soundProject(each.project);
    if (!sound) {
        return sound.error().text();
    }
    const auto network = compiled(each.project);
    moveOff(*network);
    const engine::DeviceBatch batch = randomBatch(each.project, 2, each.time, 7);
    const auto made = engine::writePyTorchFolder(folder, {*sound, *network, batch, {"first", each.step, 12, 0, 0}});
    if (!made) {
        return made.error().text();
    }
    const bool grown = each.name.starts_with("grown") || each.name == "opening";
    if ((made->leftOut > 0) != grown) {
        return std::to_string(made->leftOut) + " numbers left out";
    }
    writeGradients(folder, each, *network, batch);
    return {};
}

} // namespace

class TestPyTorchFolder : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(m_scratch.isValid());
        m_cases.addTopologies();
        m_cases.addConditions();
        m_cases.addMixOptions();
        m_cases.addOtherWirings();
        m_cases.addSequenceKinds();
        m_cases.addImageKinds();
        m_cases.addAttentions();
        m_cases.addNetworks();
        m_cases.addStages();
        m_cases.addLoops();
        m_cases.addTowers();
        m_cases.addExamples();
        for (const PyTorchCase& each : m_cases.all()) {
            try {
                m_faults[each.name] = written(each, fs::path(m_scratch.path().toStdString()) / each.name);
            } catch (const std::exception& error) {
                m_faults[each.name] = error.what();
            }
        }
        compareAll();
    }

    void isTheSameNetwork_data()
    {
        QTest::addColumn<QString>("name");
        for (const PyTorchCase& each : m_cases.all()) {
            QTest::newRow(each.name.c_str()) << QString::fromStdString(each.name);
        }
    }

    void isTheSameNetwork()
    {
        QFETCH(const QString, name);
        const std::string fault = m_faults.at(name.toStdString());
        QVERIFY2(fault.empty(), fault.c_str());
        if (!m_missing.isEmpty()) {
            QSKIP(qPrintable(
                "the folder is written and not compared: " + m_missing +
                "; packaging/python.sh installs what it needs, or RESIDUA_PYTHON names a Python that has PyTorch"));
        }
        QVERIFY2(m_compared.contains(name), qPrintable("Python did not come to it: " + m_errors));
        QCOMPARE(m_compared[name], QString());
    }

    /// All kinds of nodes are in one of the networks, or refused by their names.
    void everyKindIsExported()
    {
        std::set<std::string_view> kinds;
        const auto take = [&](const projects::Graph& graph) {
            for (const projects::Node& node : graph.nodes) {
                kinds.insert(projects::findNodeKind(node.kind)->key);
            }
        };
        for (const PyTorchCase& each : m_cases.all()) {
            take(each.project.network.stem);
            take(each.project.network.head);
            for (const projects::Block& block : each.project.network.blocks) {
                take(block.graph);
            }
        }
        for (const projects::NodeKind& kind : projects::nodeKinds()) {
            QVERIFY2(kinds.contains(kind.key), std::string(kind.key).c_str());
        }
    }

    void isCleanByRuff()
    {
        for (const auto& [name, text] : {std::pair(projects::kConfigurationFile, projects::configurationCode({})),
                                         std::pair(projects::kModelingFile, projects::modelingCode())}) {
            QVERIFY(writeFileAtomically(fs::path(m_scratch.path().toStdString()) / name, text).ok());
        }
        QProcess ruff;
        ruff.start(pythonProgram(),
                   {"-m", "ruff", "check", "--isolated", "--no-cache", "--output-format=concise", m_scratch.path()});
        if (!ruff.waitForStarted() || !ruff.waitForFinished(60'000)) {
            QSKIP("there is no Python");
        }
        if (ruff.readAllStandardError().contains("No module named")) {
            QSKIP("there is no ruff beside the Python that RESIDUA_PYTHON names");
        }
        QVERIFY2(ruff.exitCode() == 0, ruff.readAllStandardOutput().constData());
    }

    void writesNothingOfWhatIsRefused()
    {
        const fs::path folder = fs::path(m_scratch.path().toStdString()) / "refused";
        // Heads that come in stages: at step 6 half of them are there.
        Project project = tinyLanguage("transformer", "plain", kPyTorchDepth);
        project.training.steps = 12;
        project.stack().schedule = *projects::scheduleFrom("stacking 2-3-4", kPyTorchDepth, 12);
        project.stack().schedule.axis = projects::DropAxis::Heads;
        const std::string fault = written({"grown heads", project, 6}, folder);
        QVERIFY2(fault.find("attention heads") != std::string::npos, fault.c_str());
        QVERIFY(fs::is_empty(folder));
    }

private:
    void compareAll()
    {
        QProcess python;
        python.setProcessEnvironment(QProcessEnvironment::systemEnvironment());
        python.start(pythonProgram(), {"-B", "-c", kDriver, m_scratch.path()});
        if (!python.waitForStarted()) {
            m_missing = "there is no " + pythonProgram();
            return;
        }
        QVERIFY(python.waitForFinished(240'000));
        m_errors = QString::fromUtf8(python.readAllStandardError());
        const QString output = QString::fromUtf8(python.readAllStandardOutput());
        if (output.startsWith("no torch")) {
            m_missing = output.trimmed();
            return;
        }
        for (const QString& line : output.split('\n', Qt::SkipEmptyParts)) {
            m_compared[line.section('\t', 0, 0)] = line.section('\t', 1);
        }
    }

    QTemporaryDir m_scratch;
    PyTorchCases m_cases;
    std::map<std::string, std::string> m_faults;
    QMap<QString, QString> m_compared;
    QString m_missing;
    QString m_errors;
};

RESIDUA_TEST(TestPyTorchFolder)
#include "tst_pytorch_folder.moc"
