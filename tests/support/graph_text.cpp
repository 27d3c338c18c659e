// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/graph_text.h"

#include "projects/library/presets.h"
#include "projects/nodes/graph_builder.h"
#include "projects/shipped/examples.h"

#include <charconv>
#include <sstream>

namespace residua::tests {

using namespace projects;

namespace {

ParamValue valueFrom(const std::string& text)
{
    if (text == "true" || text == "false") {
        return text == "true";
    }
    const char* const end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc{} && read.ptr == end) {
        return whole;
    }
    double real = 0;
    if (const auto read = std::from_chars(text.data(), end, real); read.ec == std::errc{} && read.ptr == end) {
        return real;
    }
    return text;
}

Project projectWith(const std::string& block, const std::string& stem, const std::string& head)
{
    Project project;
    project.network.blocks = {{"test", "", graphFrom(block)}};
    project.stack().segments = {{"test", 1}};
    project.network.stem = graphFrom(stem);
    project.network.head = graphFrom(head);
    return project;
}

} // namespace

Graph graphFrom(const std::string& text)
{
    GraphBuilder builder;
    std::istringstream statements(text);
    for (std::string statement; std::getline(statements, statement, ';');) {
        std::istringstream words(statement);
        std::string first;
        std::string second;
        words >> first >> second;
        if (second == ">") {
            words >> second;
            builder.wire(first, second);
            continue;
        }
        std::map<std::string, ParamValue> params;
        for (std::string word; words >> word;) {
            const std::size_t equals = word.find('=');
            params.emplace(word.substr(0, equals), valueFrom(word.substr(equals + 1)));
        }
        builder.node(first, second, std::move(params));
    }
    return builder.build();
}

Project languageProject(const std::string& block)
{
    Project project = projectWith(block, "x input; e token_embedding; y output; x > e; e > y",
                                  "x input; l linear out=vocab; y output; x > l; l > y");
    project.data.source = SyntheticLanguage{64, 4, 1'000'000};
    project.stack().width = 128;
    project.training.sequenceLength = 32;
    return project;
}

Project vectorProject(const std::string& block)
{
    Project project = projectWith(block, "x input; y output; x > y", "x input; y output; x > y");
    project.data.source = LowRankRegression{};
    project.stack().width = 100;
    project.network.objective = Objective::MeanSquaredError;
    return project;
}

projects::Project underTopology(const std::string& name, const std::string& block)
{
    Project project = findExample("plain-language")->project;
    for (const TopologyPreset& preset : topologyPresets(8)) {
        if (preset.name == name) {
            project.stack().topology = {name, preset.wiring};
        }
    }
    for (const BlockPreset& preset : blockPresets()) {
        if (preset.name == block) {
            project.network.blocks = {{"transformer", block, preset.graph}};
        }
    }
    return project;
}

} // namespace residua::tests
