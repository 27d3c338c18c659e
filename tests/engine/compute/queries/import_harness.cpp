// SPDX-License-Identifier: GPL-3.0-or-later
#include "import_harness.h"

#include "model_folder.h"

#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/transfer_plan.h"
#include "engine/runs/results/run_reader.h"
#include "projects/huggingface/known_model.h"
#include "projects/huggingface/model_kinds.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

#include <QJsonArray>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace residua::tests {

namespace fs = std::filesystem;
using namespace residua::engine;

namespace {

constexpr double kTolerance = 1e-5;
constexpr double kGradientTolerance = 1e-4; ///< of a norm, relative

at::Tensor numbersIn(const QJsonArray& list, at::ScalarType type)
{
    std::vector<double> numbers;
    for (const QJsonValue number : list) {
        numbers.push_back(number.toDouble());
    }
    return at::tensor(numbers).to(type).unsqueeze(0);
}

at::Tensor valuesTensor(const std::string& name, const std::vector<std::int64_t>& shape)
{
    return at::tensor(valuesOf(name, shape)).reshape(shape);
}

/// The inputs of the case: tokens with the conditions that the examples have, or pictures.
DeviceBatch inputsOf(const QJsonObject& expected, const projects::ExampleSchema& schema)
{
    DeviceBatch batch;
    if (expected.contains("pixels")) {
        std::vector<std::int64_t> shape;
        for (const QJsonValue size : expected["pixels"].toArray()) {
            shape.push_back(size.toInt());
        }
        batch.input = valuesTensor("pixels", shape).reshape({1, -1});
    } else {
        batch.input = numbersIn(expected["tokens"].toArray(), at::kLong);
    }
    for (const auto& [name, shape] : schema.conditions()) {
        const bool tokens = shape.element == projects::Element::Token;
        batch.conditions[name] =
            numbersIn(expected[QString::fromStdString(name)].toArray(), tokens ? at::kLong : at::kFloat);
    }
    return batch;
}

QString faultOfLogits(const at::Tensor& logits, const QJsonArray& rows)
{
    if (rows.isEmpty() || rows.size() != logits.size(0)) {
        return QString("the case has %1 rows of logits, expected %2").arg(rows.size()).arg(logits.size(0));
    }
    double away = 0;
    for (qsizetype i = 0; i < rows.size(); ++i) {
        const at::Tensor row = numbersIn(rows[i].toArray(), at::kDouble)[0];
        if (row.sizes() != logits[i].sizes()) {
            return QString("row %1 of the case has %2 logits").arg(i).arg(row.numel());
        }
        away = std::max(away, (logits[i] - row).abs().max().item<double>());
    }
    return away <= kTolerance ? QString() : QString("logits differ by %1").arg(away);
}

/// Compares the norm of each file tensor's gradient of a sum of the logits with fixed weights.
QString faultOfGradients(const projects::Project& project, std::vector<NamedParameter>& parameters,
                         const QJsonObject& norms)
{
    const auto sound = projects::soundProject(project);
    const auto found = sound ? projects::knownModelOf(*sound) : Result<projects::FoundModel>(sound.error());
    if (!found) {
        return QString::fromStdString(found.error().text());
    }
    std::map<std::string, at::Tensor> gradients;
    for (const NamedParameter& parameter : parameters) {
        gradients[parameter.name] = parameter.tensor.grad();
    }
    int compared = 0;
    for (const projects::FileTensor& tensor : projects::fileTensorsOf(found->model)) {
        std::vector<at::Tensor> own;
        for (const std::string& name : tensor.parameters) {
            if (const auto gradient = gradients.find(found->parameter(name)); gradient != gradients.end()) {
                own.push_back(gradient->second);
            }
        }
        const QString name = QString::fromStdString(tensor.name);
        if (own.empty() || !norms.contains(name)) {
            continue;
        }
        ++compared;
        const double norm = packed(tensor, own).norm().item<double>();
        const double expected = norms[name].toDouble();
        if (!(std::abs(norm - expected) <= kGradientTolerance * std::max(expected, 1.0))) {
            return QString("the gradient of %1 has the norm %2, expected %3").arg(name).arg(norm).arg(expected);
        }
    }
    return compared == norms.size() && compared > 0
               ? QString()
               : QString("%1 of %2 gradients are compared").arg(compared).arg(norms.size());
}

/// Compares the run's greedy continuation of the tokens.
QString faultOfContinuation(const fs::path& run, const QJsonObject& expected)
{
    const QJsonArray greedy = expected["greedy"].toArray();
    std::string prompt;
    for (const QJsonValue token : expected["tokens"].toArray()) {
        prompt += std::to_string(token.toInt()) + " ";
    }
    SampleRequest request;
    request.of.runDirectory = run;
    request.prompt = prompt;
    request.tokens = greedy.size();
    request.temperature = 0;
    const auto sample = answerTo<SampleReady>(request);
    if (!sample) {
        return QString::fromStdString(sample.error().text());
    }
    for (const QJsonValue token : greedy) {
        prompt += std::to_string(token.toInt()) + " ";
    }
    return QString::fromStdString(sample->text).trimmed() == QString::fromStdString(prompt).trimmed()
               ? QString()
               : QString::fromStdString("continues " + sample->text + ", expected " + prompt);
}

/// Compares the candidates for a masked token.
QString faultOfFilling(const fs::path& run, const QJsonObject& expected)
{
    const QJsonObject filled = expected["filled"].toObject();
    const int position = filled["position"].toInt();
    const QJsonArray tokens = filled["tokens"].toArray();
    SampleRequest request;
    request.of.runDirectory = run;
    request.topK = tokens.size();
    int at = 0;
    for (const QJsonValue token : expected["tokens"].toArray()) {
        request.prompt += (at++ == position ? "[MASK]" : std::to_string(token.toInt())) + " ";
    }
    const auto sample = answerTo<SampleReady>(request);
    if (!sample) {
        return QString::fromStdString(sample.error().text());
    }
    if (sample->masked.size() != 1 || sample->masked[0].position != position ||
        std::ssize(sample->masked[0].candidates) != tokens.size()) {
        return "other tokens are masked";
    }
    for (qsizetype i = 0; i < tokens.size(); ++i) {
        const TokenCandidate& each = sample->masked[0].candidates[static_cast<std::size_t>(i)];
        const double probability = filled["probabilities"].toArray()[i].toDouble();
        if (each.token != std::to_string(tokens[i].toInt()) ||
            !(std::abs(each.probability - probability) <= kTolerance)) {
            return QString("candidate %1 is %2").arg(i).arg(QString::fromStdString(each.token));
        }
    }
    return {};
}

} // namespace

Result<ImportReady> imported(const fs::path& folder, const fs::path& project,
                             const std::optional<projects::Source>& data)
{
    ImportRequest request;
    request.folder = folder;
    request.projectDirectory = project;
    request.data = data;
    return answerTo<ImportReady>(request);
}

std::optional<projects::Source> dataOf(const QJsonObject& modelCase, const fs::path& folder)
{
    if (!modelCase.contains("segments")) {
        return std::nullopt;
    }
    fs::create_directories(folder);
    const fs::path table = folder / "pairs.csv";
    std::ofstream file(table);
    file << "text,second,label\n";
    for (int i = 0; i < 10; ++i) {
        file << "w1 w2 w3,w4 w5," << i % 2 << "\n";
    }
    return projects::LabelledTextData{
        .path = table.string(), .validationPath = {}, .second = "second", .tokeniser = {}};
}

QString faultOf(const fs::path& run, const QJsonObject& expected)
{
    const Result<OpenedCheckpoint> opened = openCheckpoint({run}, {});
    if (!opened) {
        return QString::fromStdString(opened.error().text());
    }
    const projects::ExampleSchema schema = opened->dataset->schema();
    auto network = CompiledNetwork::compile(opened->run.project, schema, "cpu");
    if (!network) {
        return QString::fromStdString(network.error().text());
    }
    if (const Status loaded = loadParameters(opened->checkpoint.model, (*network)->parameters()); !loaded) {
        return QString::fromStdString(loaded.error().text());
    }
    const at::Tensor output = (*network)->forward(inputsOf(expected, schema), passAfter(0))[0];
    const at::Tensor logits = output.detach().to(at::kDouble).reshape({-1, output.size(-1)});
    QString fault = faultOfLogits(logits, expected["logits"].toArray());
    if (!fault.isEmpty()) {
        return fault;
    }
    (output * valuesTensor("loss", output.sizes().vec())).sum().backward();
    fault = faultOfGradients(opened->run.project, (*network)->parameters(), expected["gradients"].toObject());
    if (fault.isEmpty() && expected.contains("greedy")) {
        fault = faultOfContinuation(run, expected);
    }
    if (fault.isEmpty() && expected.contains("filled")) {
        fault = faultOfFilling(run, expected);
    }
    return fault;
}

Result<ExportReady> exported(const fs::path& run, const fs::path& folder)
{
    ExportRequest request;
    request.format = ExportFormat::HuggingFace;
    request.of.runDirectory = run;
    request.folder = folder;
    return answerTo<ExportReady>(request);
}

Result<RetrofitReady> rewired(const fs::path& run, const fs::path& newRun, const std::string& topology)
{
    const auto reader = RunReader::open(run);
    const auto presets = projects::topologyPresets(reader->project()->network);
    const auto preset = std::ranges::find(presets, topology, &projects::TopologyPreset::name);
    RetrofitRequest request;
    request.of.runDirectory = run;
    request.topology = {preset->name, preset->wiring};
    request.newRun = newRun;
    return answerTo<RetrofitReady>(request);
}

/// All tensors of a folder, in however many files.
std::map<std::string, std::pair<StoredType, std::vector<std::byte>>> tensorsIn(const fs::path& folder)
{
    std::map<std::string, std::pair<StoredType, std::vector<std::byte>>> all;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".safetensors") {
            continue;
        }
        const auto file = SafetensorsFile::open(entry.path());
        for (const auto& [name, tensor] : file->tensors()) {
            all[name] = {tensor.type, {tensor.bytes.begin(), tensor.bytes.end()}};
        }
    }
    return all;
}

} // namespace residua::tests
