// SPDX-License-Identifier: GPL-3.0-or-later
#include "network_harness.h"

#include "projects/base/random.h"
#include "projects/check/validate.h"
#include "projects/library/presets.h"
#include "projects/model/data_source.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "projects/shipped/examples.h"
#include "projects/shipped/recipes.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace residua::tests {

using engine::CompiledNetwork;
using engine::DeviceBatch;
using projects::GraphBuilder;
using projects::Project;

std::unique_ptr<CompiledNetwork> compiled(const Project& project, engine::SumOrder sums)
{
    Result<std::unique_ptr<CompiledNetwork>> network =
        CompiledNetwork::compile(project, projects::examplesOf(project), "cpu", sums);
    if (!network) {
        throw std::runtime_error(network.error().text());
    }
    if (const Status started = (*network)->initialise({}, {}); !started) {
        throw std::runtime_error(started.error().text());
    }
    return std::move(*network);
}

std::string compileError(const Project& project)
{
    const auto network = CompiledNetwork::compile(project, projects::examplesOf(project), "cpu");
    return network ? "" : network.error().text();
}

std::string firstErrorPath(const Project& project)
{
    const std::vector<projects::Problem> problems = projects::validate(project);
    const auto error = std::ranges::find(problems, projects::Severity::Error, &projects::Problem::severity);
    return error == problems.end() ? std::string() : error->path;
}

std::string errorsOf(const Project& project)
{
    std::string errors;
    for (const projects::Problem& problem : projects::validate(project)) {
        errors += problem.severity == projects::Severity::Error ? problem.path + ": " + problem.message + "\n" : "";
    }
    return errors;
}

at::Tensor parameter(CompiledNetwork& network, const std::string& name)
{
    const auto found = std::ranges::find(network.parameters(), name, &engine::NamedParameter::name);
    if (found == network.parameters().end()) {
        throw std::runtime_error("no parameter is named " + name);
    }
    return found->tensor;
}

std::int64_t parameterCount(CompiledNetwork& network)
{
    return countOf(network.parameters());
}

at::Tensor randomTensor(at::IntArrayRef shape, std::uint64_t seed)
{
    at::Tensor result = at::empty(shape, at::kDouble);
    const Philox random(seed);
    for (std::int64_t i = 0; i < result.numel(); ++i) {
        // A sum of 12 uniforms less 6 has mean 0 and variance 1.
        double sum = -6;
        for (std::uint64_t k = 0; k < 3; ++k) {
            for (const std::uint32_t word : random.at(3 * static_cast<std::uint64_t>(i) + k)) {
                sum += word / 4294967296.0;
            }
        }
        result.mutable_data_ptr<double>()[i] = sum;
    }
    return result;
}

at::Tensor leaf(at::IntArrayRef shape, std::uint64_t seed, double scale)
{
    return (randomTensor(shape, seed) * scale).requires_grad_(true);
}

DeviceBatch randomBatch(const Project& project, std::int64_t batch, std::int64_t time, std::uint64_t seed)
{
    const projects::ExampleSchema examples = projects::examplesOf(project);
    if (!examples.hasTime()) {
        const at::ScalarType type = project.training.precision == projects::Precision::Fp64 ? at::kDouble : at::kFloat;
        const at::Tensor input = randomTensor({batch, examples.input().shape.features()}, seed).to(type);
        if (examples.target().isTokens()) {
            return {input, at::arange(batch, at::kLong).remainder(examples.target().vocabulary)};
        }
        DeviceBatch vectors{input, randomTensor({batch, examples.target().shape.features()}, seed + 1).to(type)};
        for (const projects::ExampleField& field : examples.fields) {
            if (field.role == projects::FieldRole::Condition && field.isTokens()) { // the first number, and others
                vectors.conditions.emplace(field.name, (at::arange(batch, at::kLong) * 7).remainder(field.vocabulary));
            }
        }
        return vectors;
    }
    const Philox random(seed);
    at::Tensor tokens = at::empty({batch, time + 1}, at::kLong);
    for (std::int64_t i = 0; i < tokens.numel(); ++i) {
        tokens.mutable_data_ptr<std::int64_t>()[i] =
            random.at(static_cast<std::uint64_t>(i))[0] % examples.input().vocabulary;
    }
    const at::Tensor input = tokens.narrow(1, 0, time).contiguous();
    const at::Tensor label = tokens.select(1, time);
    const bool perToken = examples.target().shape == examples.input().shape;
    DeviceBatch labelled{input, perToken ? tokens.narrow(1, 1, time).contiguous()
                                         : label.remainder(examples.target().vocabulary)};
    at::Tensor mask = at::ones({batch, time}, at::kDouble);
    for (std::int64_t row = 1; row < batch; ++row) {
        const std::int64_t length = std::max<std::int64_t>(time - row, 1);
        mask[row].narrow(0, length, time - length).zero_();
    }
    for (const auto& [name, shape] : examples.conditions()) {
        labelled.conditions.emplace(name, shape.element == projects::Element::Token ? input.remainder(2) : mask);
    }
    for (const auto& [name, logits] : examples.furtherOutputs()) {
        labelled.conditions.emplace(name, label.remainder(logits.features()));
    }
    return labelled;
}

void shake(CompiledNetwork& network, double scale, std::uint64_t seed)
{
    const at::NoGradGuard noGrad;
    for (engine::NamedParameter& parameter : network.parameters()) {
        const at::Tensor noise = randomTensor(parameter.tensor.sizes(), seed++).to(parameter.tensor.scalar_type());
        parameter.tensor.add_(parameter.isBuffer ? noise.abs() : noise, scale); // a variance stays positive
    }
}

namespace {

projects::Topology namedAmong(const std::vector<projects::TopologyPreset>& presets, const std::string& name)
{
    const auto found = std::ranges::find(presets, name, &projects::TopologyPreset::name);
    if (found == presets.end()) {
        throw std::runtime_error("no topology preset is named " + name);
    }
    return {name, found->wiring};
}

} // namespace

projects::Topology topologyNamed(const std::string& name, std::int64_t depth)
{
    return namedAmong(projects::topologyPresets(depth), name);
}

projects::Topology topologyNamed(const std::string& name, const projects::Network& network)
{
    return namedAmong(projects::topologyPresets(network), name);
}

namespace {

void stackOf(Project& project, const std::string& block, std::int64_t depth)
{
    const auto& presets = projects::blockPresets();
    const auto found = std::ranges::find(presets, block, &projects::BlockPreset::name);
    if (found == presets.end()) {
        throw std::runtime_error("no block preset is named " + block);
    }
    project.network.blocks = {{block, block, found->graph}};
    project.stack().segments = {{block, depth}};
}

} // namespace

Project tinyLanguage(const std::string& block, const std::string& topology, std::int64_t depth)
{
    Project project;
    project.data.source = projects::SyntheticLanguage{.vocabulary = 11, .levels = 2, .tokens = 1000};
    project.stack().width = 8;
    project.network.stem = GraphBuilder()
                               .node("input", "input")
                               .node("embed", "token_embedding")
                               .node("output", "output")
                               .wire("input", "embed")
                               .wire("embed", "output")
                               .build();
    project.network.head = GraphBuilder()
                               .node("input", "input")
                               .node("norm", "rms_norm")
                               .node("logits", "linear", {{"out", std::string("vocab")}})
                               .node("output", "output")
                               .wire("input", "norm")
                               .wire("norm", "logits")
                               .wire("logits", "output")
                               .build();
    stackOf(project, block, depth);
    for (projects::Node& node : project.network.blocks[0].graph.nodes) {
        if (node.kind == "attention") {
            node.params["heads"] = std::int64_t{2};
        }
    }
    project.stack().topology = topologyNamed(topology, project.network);
    project.initialisation.scale = 0.3;
    project.training.sequenceLength = 5;
    project.training.precision = projects::Precision::Fp64;
    return project;
}

Project tinyClassifier(const std::string& topology, std::int64_t depth, bool pairs)
{
    const projects::Topology wiring = topologyNamed(topology, depth);
    Project project = tinyLanguage(projects::blockPresetFor(wiring.wiring).name, topology, depth);
    project.data.source = projects::LabelledTextData{.path = "a.csv",
                                                     .validationPath = {},
                                                     .second = pairs ? "other" : "",
                                                     .classes = 3,
                                                     .tokeniser = {projects::TokeniserKind::Characters, {}, 11}};
    project.network.objective = projects::Objective::Classification;
    for (projects::Block& block : project.network.blocks) {
        block.graph = projects::withMask(projects::bidirectional(block.graph), "mask");
    }
    GraphBuilder head;
    head.node("input", "input").node("mean", "mean_pool").node("classes", "linear", {{"out", std::string("out")}});
    head.node("output", "output").wire("input", "mean").wire("mean", "classes").wire("classes", "output");
    project.network.head = projects::withMask(head.build(), "mask");
    if (pairs) {
        project.network.stem = GraphBuilder()
                                   .node("input", "input")
                                   .node("segments", "input", {{"port", std::string("segments")}})
                                   .node("embed", "token_embedding")
                                   .node("segment", "segment_embedding", {{"paired", true}})
                                   .node("output", "output")
                                   .wire("input", "embed")
                                   .wire("embed", "segment")
                                   .wire("segments", "segment.segments")
                                   .wire("segment", "output")
                                   .build();
    }
    return project;
}

Project tinyVectors(const std::string& block, const std::string& topology, std::int64_t depth)
{
    Project project;
    project.data.source = projects::LinearRegression{.dim = 6, .samples = 6};
    project.stack().width = 6;
    project.network.stem =
        GraphBuilder().node("input", "input").node("output", "output").wire("input", "output").build();
    project.network.head = project.network.stem;
    stackOf(project, block, depth);
    project.stack().topology = topologyNamed(topology, project.network);
    project.network.objective = projects::Objective::HalfSquaredError;
    project.initialisation.scale = 0.3;
    project.training.precision = projects::Precision::Fp64;
    return project;
}

void shrinkPictures(Project& project, std::int64_t side)
{
    removeDropout(project);
    for (projects::Graph* const graph : projects::graphsOf(project)) {
        projects::setParam(*graph, "image", "height", side);
        projects::setParam(*graph, "image", "width", side);
    }
}

void removeDropout(Project& project)
{
    for (projects::Graph* const graph : projects::graphsOf(project)) {
        projects::setParam(*graph, "dropout", "rate", 0.0);
        for (projects::Node& node : graph->nodes) {
            node.params.erase(projects::kLastRateParam);
        }
    }
}

Project tinyPictures(const std::string& example)
{
    constexpr std::int64_t kSide = 16;
    Project project = projects::findExample(example)->project;
    project.training.precision = projects::Precision::Fp64;
    project.data.source = projects::DrawnPictures{.size = kSide, .samples = 20};
    shrinkPictures(project, kSide);
    for (projects::Graph* const graph : projects::graphsOf(project)) {
        if (example == "small-resnet") {
            projects::setParam(*graph, "activation", "function", std::string("silu"));
        }
    }
    return project;
}

StepGradients stepGradients(engine::CompiledNetwork& network, const engine::DeviceBatch& batch, bool sharesValues)
{
    for (engine::NamedParameter& each : network.parameters()) {
        each.tensor.mutable_grad().reset();
    }
    StepGradients result;
    engine::SharedValues shared;
    for (std::size_t group = 0; group < network.lossGroups(); ++group) {
        const engine::GroupLoss loss = network.lossOfGroup(group, batch, kTraining, sharesValues ? &shared : nullptr);
        if (loss.judged.defined()) {
            result.judged = loss.judged.detach();
        }
        if (loss.trained.defined() && loss.trained.requires_grad()) {
            loss.trained.backward();
        }
    }
    for (const engine::NamedParameter& each : network.parameters()) {
        result.gradients.push_back(each.tensor.grad().defined() ? each.tensor.grad() : at::zeros_like(each.tensor));
    }
    return result;
}

double distance(const at::Tensor& a, const at::Tensor& b)
{
    return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

double gradientDistance(CompiledNetwork& network, const at::Tensor& a, const at::Tensor& b)
{
    std::vector<at::Tensor> parameters;
    for (const engine::NamedParameter& parameter : network.parameters()) {
        parameters.push_back(parameter.tensor);
    }
    const at::Tensor probe = randomTensor(a.sizes(), 900);
    const auto gradients = [&](const at::Tensor& value) {
        return torch::autograd::grad({(value * probe).sum()}, parameters, {}, /*retain_graph=*/true, false,
                                     /*allow_unused=*/true);
    };
    const std::vector<at::Tensor> ofA = gradients(a);
    const std::vector<at::Tensor> ofB = gradients(b);
    double worst = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const at::Tensor zeros = at::zeros_like(parameters[i]);
        worst = std::max(worst, distance(ofA[i].defined() ? ofA[i] : zeros, ofB[i].defined() ? ofB[i] : zeros));
    }
    return worst;
}

std::string precisionFault(projects::Project project, double bf16)
{
    const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
    const auto lossIn = [&](projects::Precision precision) {
        project.training.precision = precision;
        return compiled(project)->loss(batch, kTraining).item<double>();
    };
    const double exact = compiled(project)->loss(batch, kTraining).item<double>();
    if (const double single = lossIn(projects::Precision::Fp32); !(std::abs(single - exact) < 1e-5)) {
        return "fp32: loss " + std::to_string(single) + ", expected " + std::to_string(exact);
    }
    project.training.precision = projects::Precision::Bf16;
    const auto network = compiled(project);
    const at::Tensor loss = network->loss(batch, kTraining);
    if (!(std::abs(loss.item<double>() - exact) < bf16)) {
        return "bf16: loss " + std::to_string(loss.item<double>()) + ", expected " + std::to_string(exact);
    }
    loss.backward();
    for (const engine::NamedParameter& parameter : network->parameters()) {
        if (!parameter.tensor.grad().defined() || parameter.tensor.scalar_type() != at::kFloat) {
            return "bf16: " + parameter.name + " has no gradient, or not in fp32";
        }
    }
    return {};
}

GradientCheck checkGradients(CompiledNetwork& network, const DeviceBatch& batch, int samples, const engine::Pass& pass)
{
    constexpr double kStep = 1e-5;
    const at::NoGradGuard noGrad;
    GradientCheck check;
    for (engine::NamedParameter& parameter : network.parameters()) {
        if (parameter.isBuffer) {
            continue;
        }
        double* const values = parameter.tensor.mutable_data_ptr<double>();
        const at::Tensor gradient =
            parameter.tensor.grad().defined() ? parameter.tensor.grad().contiguous() : at::Tensor();
        const std::int64_t count = parameter.tensor.numel();
        for (int s = 0; s < std::min<std::int64_t>(samples, count); ++s) {
            const std::int64_t i = s * count / std::min<std::int64_t>(samples, count);
            const double start = values[i];
            values[i] = start + kStep;
            const double above = network.loss(batch, pass).item<double>();
            values[i] = start - kStep;
            const double below = network.loss(batch, pass).item<double>();
            values[i] = start;
            const double expected = (above - below) / (2 * kStep);
            const double got = gradient.defined() ? gradient.const_data_ptr<double>()[i] : 0.0;
            const double difference = std::abs(got - expected) / (1 + std::abs(expected));
            if (!(difference <= check.worst)) {
                check = {difference, parameter.name};
            }
        }
    }
    return check;
}

} // namespace residua::tests
