// SPDX-License-Identifier: GPL-3.0-or-later
#include "import_harness.h"

#include "engine/queries/base/run_use.h"
#include "engine/results/run_reader.h"
#include "engine/train/tensor_io.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include <QJsonArray>

#include <algorithm>
#include <cmath>

namespace residua::tests {

namespace fs = std::filesystem;
using namespace residua::engine;

namespace {

constexpr double kTolerance = 1e-5;

} // namespace

Result<ImportReady> imported(const fs::path& folder, const fs::path& project)
{
    ImportRequest request;
    request.folder = folder;
    request.projectDirectory = project;
    return answerTo<ImportReady>(request);
}

/// How far the run's logits and greedy continuation are from `expected`. Empty: near enough.
QString faultOf(const fs::path& run, const QJsonObject& expected)
{
    const Result<OpenedCheckpoint> opened = openCheckpoint({run, {}, OtherData::Refuse}, std::nullopt, {});
    if (!opened) {
        return QString::fromStdString(opened.error().text());
    }
    auto network = CompiledNetwork::compile(opened->run.project, opened->dataset->schema(), "cpu");
    if (!network) {
        return QString::fromStdString(network.error().text());
    }
    if (const Status loaded = loadParameters(opened->checkpoint.model, (*network)->parameters()); !loaded) {
        return QString::fromStdString(loaded.error().text());
    }
    std::vector<std::int64_t> tokens;
    std::string prompt;
    for (const QJsonValue token : expected["tokens"].toArray()) {
        tokens.push_back(token.toInt());
        prompt += std::to_string(tokens.back()) + " ";
    }
    const at::NoGradGuard noGrad;
    const at::Tensor input = at::tensor(tokens).unsqueeze(0);
    const at::Tensor logits = (*network)->forward(input, passAfter(0)).select(0, 0).to(at::kDouble).contiguous();
    const QJsonArray rows = expected["logits"].toArray();
    if (tokens.empty() || rows.size() != logits.size(0)) {
        return QString("the case has %1 tokens and %2 rows of logits").arg(tokens.size()).arg(rows.size());
    }
    double away = 0;
    for (qsizetype i = 0; i < rows.size(); ++i) {
        const QJsonArray row = rows[i].toArray();
        if (row.size() != logits.size(1)) {
            return QString("row %1 of the case has %2 logits, expected %3").arg(i).arg(row.size()).arg(logits.size(1));
        }
        for (qsizetype j = 0; j < row.size(); ++j) {
            away = std::max(away, std::abs(logits[i][j].item<double>() - row[j].toDouble()));
        }
    }
    if (!(away <= kTolerance)) {
        return QString("logits differ by %1").arg(away);
    }
    const QJsonArray greedy = expected["greedy"].toArray();
    if (greedy.isEmpty()) {
        return "the case has no continuation";
    }
    SampleRequest request;
    request.runDirectory = run;
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

Result<ExportReady> exported(const fs::path& run, const fs::path& folder)
{
    ExportRequest request;
    request.format = ExportFormat::HuggingFace;
    request.runDirectory = run;
    request.folder = folder;
    return answerTo<ExportReady>(request);
}

Result<RetrofitReady> rewired(const fs::path& run, const fs::path& newRun)
{
    const auto reader = RunReader::open(run);
    const auto presets = projects::topologyPresets(reader->project()->network);
    const auto preset = std::ranges::find(presets, "grn-v3", &projects::TopologyPreset::name);
    RetrofitRequest request;
    request.runDirectory = run;
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
