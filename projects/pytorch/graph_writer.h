// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/resolved_graph.h"
#include "projects/pytorch/graph_code.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace residua::projects {

/// Private to pytorch: one class of the module, method by method and node by node.
class GraphWriter {
public:
    GraphWriter(const Project& project, const GraphClass& made, HelperCode& helpers)
        : m_project(project), m_made(made), m_helpers(helpers), m_attributes(moduleAttributes())
    {
        for (const GraphMethod& method : made.methods) {
            m_attributes.take(method.name);
        }
        if (made.takesFactor) {
            m_attributes.take("factor");
        }
    }

    Result<GraphCode> write();

private:
    using Emit = Status (GraphWriter::*)(const ResolvedNode&);

    static Emit emitterOf(const std::string& kind)
    {
        static const std::map<std::string, Emit> kTable{
            {"add", &GraphWriter::addSum},
            {"multiply", &GraphWriter::addProduct},
            {"concat", &GraphWriter::addConcat},
            {"expression", &GraphWriter::addExpression},
            {"image", &GraphWriter::addImage},
            {"flatten", &GraphWriter::addFlatten},
            {"linear", &GraphWriter::addLinear},
            {"conv1d", &GraphWriter::addConv1d},
            {"conv2d", &GraphWriter::addConv2d},
            {"patchify", &GraphWriter::addPatchify},
            {"rms_norm", &GraphWriter::addNorm},
            {"layer_norm", &GraphWriter::addNorm},
            {"activation", &GraphWriter::addActivation},
            {"swiglu", &GraphWriter::addSwiglu},
            {"dropout", &GraphWriter::addDropout},
            {"scale", &GraphWriter::addScale},
            {"attention", &GraphWriter::addAttention},
            {"token_embedding", &GraphWriter::addTokenEmbedding},
            {"position_embedding", &GraphWriter::addPositionEmbedding},
            {"sinusoidal_positions", &GraphWriter::addSinusoids},
            {"mean_pool", &GraphWriter::addMeanPool},
        };
        const auto found = kTable.find(kind);
        return found == kTable.end() ? nullptr : found->second;
    }

    Status writeMethod(const GraphMethod& method, PythonText& text);

    void writeBody(std::string value, PythonText& text);

    /// What arrives at the port "output", or else at the first output node.
    [[nodiscard]] std::optional<PortRef> resultOf() const;

    [[nodiscard]] std::set<NodeId> nodesBehind(NodeId last) const;

    Status add(const ResolvedNode& node);

    // ---- What the emitters are made of ----

    [[nodiscard]] std::string in(const ResolvedNode& node, std::size_t port = 0) const;

    /// The node's value is that expression, under a name of its own.
    void define(const ResolvedNode& node, const std::string& expression);
    void alias(const ResolvedNode& node, const std::string& variable);

    /// The attribute that holds what the node of that name has.
    std::string attributeOf(const std::string& name);
    /// The node as a module, with these parameters: "self.up".
    std::string module(const std::string& made, const std::vector<std::string>& parameters);

    [[nodiscard]] static std::vector<std::string> weightNames(bool factored, bool bias);

    [[nodiscard]] std::string infix(const ResolvedNode& node, const char* sign) const;

    // ---- Arithmetic ----

    Status addSum(const ResolvedNode& node);
    Status addProduct(const ResolvedNode& node);
    Status addConcat(const ResolvedNode& node);
    Status addExpression(const ResolvedNode& node);
    Status addImage(const ResolvedNode& node);
    Status addFlatten(const ResolvedNode& node);

    // ---- Products with matrices ----

    Status addLinear(const ResolvedNode& node);

    Status addConv1d(const ResolvedNode& node);

    Status addConv2d(const ResolvedNode& node);

    Status addPatchify(const ResolvedNode& node);

    // ---- Norms and activations ----

    /// The norm that owns the weights: the node itself, or the one that it shares with.
    struct NormOwner {
        std::string name;
        bool bias = false; ///< as the first of those that share says
        double epsilon = 0;
    };
    [[nodiscard]] NormOwner ownerOf(const ResolvedNode& node) const;

    Status addNorm(const ResolvedNode& node);

    Status addActivation(const ResolvedNode& node);
    Status addSwiglu(const ResolvedNode& node);
    Status addDropout(const ResolvedNode& node);
    Status addScale(const ResolvedNode& node);

    // ---- Sequences ----

    Status addAttention(const ResolvedNode& node);

    Status addTokenEmbedding(const ResolvedNode& node);
    Status addPositionEmbedding(const ResolvedNode& node);
    Status addSinusoids(const ResolvedNode& node);
    Status addMeanPool(const ResolvedNode& node);

    const Project& m_project;
    const GraphClass& m_made;
    HelperCode& m_helpers;
    PythonNames m_attributes;
    std::map<std::string, std::string> m_attributeOf; ///< by the node's name
    std::vector<std::string> m_init;
    std::map<std::string, std::string> m_names;

    const GraphMethod* m_method = nullptr; ///< the one that is being written
    ResolvedGraph m_graph;
    std::optional<PythonNames> m_variables;
    std::map<PortRef, std::string> m_values;
    std::vector<std::string> m_body;
    const Node* m_node = nullptr;
};

} // namespace residua::projects
