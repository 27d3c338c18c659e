// SPDX-License-Identifier: GPL-3.0-or-later
// Gates on the residual or the branch of each layer, and concatenation.
#include "projects/pytorch/topology_code.h"

#include <algorithm>

namespace residua::projects {
namespace {

std::string text(std::int64_t number)
{
    return std::to_string(number);
}

class GateWriter {
public:
    GateWriter(const TopologySetting& setting, const BranchGate& gate)
        : m_setting(setting), m_gate(gate), m_modules(modulesIn(setting.project.topology.wiring, setting.layers))
    {
    }

    TopologyCode write()
    {
        beginTopology(m_setting, m_code.text, {equation()});
        out().line();
        out().line("def __init__(self):");
        out().indent();
        out().line("super().__init__()");
        writeParameters();
        out().outdent();
        if (hasResidualWeights(m_gate.gate)) {
            writeFactors();
        }
        writeForward();
        return std::move(m_code);
    }

private:
    [[nodiscard]] PythonText& out() { return m_code.text; }
    [[nodiscard]] std::string equation() const
    {
        const std::string bound = m_gate.bound == LaurelBound::None      ? "α and β are free numbers."
                                  : m_gate.bound == LaurelBound::Sigmoid ? "α and β are sigmoids of learned logits."
                                                                         : "α + β = 1, by a softmax of learned logits.";
        switch (m_gate.gate) {
        case BranchGateKind::Highway:
            return "x_j = t f_j(x_{j-1}) + (1 - t) x_{j-1} with t = sigmoid(W_j x_{j-1} + b_j), feature by feature.";
        case BranchGateKind::ReZero:
            return "x_j = x_{j-1} + α_j f_j(x_{j-1}); the halves of a layer share its α, which starts at 0.";
        case BranchGateKind::LaurelRw:
            return "x_j = α_j f_j(x_{j-1}) + β_j x_{j-1}. " + bound;
        case BranchGateKind::LaurelLr:
            return "x_j = f_j(x_{j-1}) + x_{j-1} + A_j B_j x_{j-1}, where A B is of low rank.";
        case BranchGateKind::LaurelRwLr:
            return "x_j = α_j f_j(x_{j-1}) + β_j (x_{j-1} + A_j B_j x_{j-1}), where A B is of low rank. " + bound;
        case BranchGateKind::LaurelPa:
            return "x_j = f_j(x_{j-1}) + x_{j-1} + A_j B_j Σ_k γ_jk x_k over the latest activations x_k.";
        case BranchGateKind::LaurelRwLrPa:
            return "x_j = α_j f_j(x_{j-1}) + β_j (x_{j-1} + A_j B_j Σ_k γ_jk x_k) over the latest activations x_k. " +
                   bound;
        case BranchGateKind::PostNorm:
            return "x_j = norm_j(x_{j-1} + f_j(x_{j-1})).";
        case BranchGateKind::ValueResidual:
            break;
        }
        return "x_j = x_{j-1} + f_j(x_{j-1}), where the attention of layer j > 1 uses λ_j1 V_1 + λ_j2 V_j as its "
               "values: those of the first layer and its own.";
    }

    void parameter(const std::string& name, const std::string& shape, const std::string& made)
    {
        out().line("self." + name + " = nn.Parameter(" + made + "(" + shape + "))");
        m_code.keepName(name);
    }

    void writeParameters()
    {
        const std::string d = text(m_setting.width());
        if (m_gate.gate == BranchGateKind::ReZero) {
            parameter("alpha", text(m_setting.layers), "torch.zeros");
        } else if (m_gate.gate == BranchGateKind::ValueResidual) {
            out().line("self.values = nn.Parameter(torch.full((" + text(m_modules - 1) + ", 2), 0.5))");
            m_code.names[kTopologyValues] = kTopologyValues;
        } else if (m_gate.gate == BranchGateKind::Highway) {
            out().line("self.gates = nn.ModuleList(nn.Linear(" + d + ", " + d + ") for _ in range(" + text(m_modules) +
                       "))");
            nameEach("gate.weight", "gates", "weight");
            nameEach("gate.bias", "gates", "bias");
        } else if (m_gate.gate == BranchGateKind::PostNorm) {
            const bool hasBias = m_gate.norm == NormKind::Layer;
            out().line(std::string("self.norms = nn.ModuleList(nn.") + (hasBias ? "LayerNorm(" : "RMSNorm(") + d +
                       ", eps=" + pythonReal(m_gate.epsilon) + ") for _ in range(" + text(m_modules) + "))");
            nameEach("norm.weight", "norms", "weight");
            if (hasBias) {
                nameEach("norm.bias", "norms", "bias");
            }
        }
        if (hasResidualWeights(m_gate.gate)) {
            parameter("factor", text(m_modules) + ", 2",
                      m_gate.bound == LaurelBound::None ? "torch.ones" : "torch.zeros");
        }
        if (hasLowRankMaps(m_gate.gate)) {
            const std::string r = text(m_gate.rank);
            const std::string each = ", bias=False) for _ in range(" + text(m_modules) + "))";
            out().line("self.down = nn.ModuleList(nn.Linear(" + d + ", " + r + each);
            out().line("self.up = nn.ModuleList(nn.Linear(" + r + ", " + d + each);
            nameEach("down.weight", "down", "weight");
            nameEach("up.weight", "up", "weight");
        }
        if (mixesPrevious(m_gate.gate)) {
            out().line("self.counts = [min(" + text(m_gate.window) + ", j) for j in range(1, " + text(m_modules + 1) +
                       ")]");
            out().line("self.coefficient = nn.Parameter(torch.tensor([1 / n for n in self.counts for _ in "
                       "range(n)]))");
            m_code.names[kTopologyCoefficient] = kTopologyCoefficient;
        }
    }

    /// Maps names such as "topology.3.gate.weight" to "topology.gates.2.weight".
    void nameEach(const std::string& ours, const std::string& list, const std::string& theirs)
    {
        for (std::int64_t j = 1; j <= m_modules; ++j) {
            m_code.names[topologyParameter(j, ours)] = topologyParameter(list + "." + text(j - 1) + "." + theirs);
        }
    }

    void writeFactors()
    {
        out().line();
        out().line("def factors(self):");
        out().indent();
        out().docstring({"α and β of each layer: [layers, 2]."});
        switch (m_gate.bound) {
        case LaurelBound::None:
            out().line("return self.factor");
            break;
        case LaurelBound::Sigmoid:
            out().line("return torch.sigmoid(self.factor)");
            break;
        case LaurelBound::Softmax:
            out().line("return torch.softmax(self.factor, dim=1)");
            break;
        }
        out().outdent();
    }

    void writeForward()
    {
        beginForward(m_setting, out());
        switch (m_gate.gate) {
        case BranchGateKind::Highway:
            out().line("for layer, gate in zip(layers, self.gates):");
            out().indent();
            out().line("t = torch.sigmoid(gate(x))");
            out().line("x = x + t * (layer(x) - x)");
            break;
        case BranchGateKind::ReZero: {
            const std::int64_t each = m_modules / m_setting.layers;
            out().line("for j, layer in enumerate(layers):");
            out().indent();
            out().line("x = x + self.alpha[" + std::string(each == 2 ? "j // 2" : "j") + "] * layer(x)");
            break;
        }
        case BranchGateKind::LaurelRw:
            out().line("for layer, (a, b) in zip(layers, self.factors()):");
            out().indent();
            out().line("x = a * layer(x) + b * x");
            break;
        case BranchGateKind::LaurelLr:
            out().line("for layer, down, up in zip(layers, self.down, self.up):");
            out().indent();
            out().line("x = layer(x) + x + up(down(x))");
            break;
        case BranchGateKind::LaurelRwLr:
            out().line("for layer, down, up, (a, b) in zip(layers, self.down, self.up, self.factors()):");
            out().indent();
            out().line("x = a * layer(x) + b * (x + up(down(x)))");
            break;
        case BranchGateKind::LaurelPa:
        case BranchGateKind::LaurelRwLrPa:
            writePrevious();
            break;
        case BranchGateKind::PostNorm:
            out().line("for layer, norm in zip(layers, self.norms):");
            out().indent();
            out().line("x = norm(x + layer(x))");
            break;
        case BranchGateKind::ValueResidual:
            writeValues();
            break;
        }
        out().outdent();
        out().line("return x");
    }

    void writePrevious()
    {
        const bool weighs = hasResidualWeights(m_gate.gate);
        out().line("latest = [x]");
        out().line("shares = self.coefficient.split(self.counts)");
        if (weighs) {
            out().line("factors = self.factors()");
        }
        out().line("for j, layer in enumerate(layers):");
        out().indent();
        out().line("mixed = sum(g * e for g, e in zip(shares[j], latest[-self.counts[j] :]))");
        out().line("added = self.up[j](self.down[j](mixed))");
        out().line(weighs ? "x = factors[j, 0] * layer(x) + factors[j, 1] * (x + added)" : "x = layer(x) + x + added");
        out().line("latest.append(x)");
    }

    void writeValues()
    {
        out().line("first = None");
        out().line("for j, layer in enumerate(layers):");
        out().indent();
        out().line("branch, values = layer(x, first, None if j == 0 else self.values[j - 1])");
        out().line("first = values if j == 0 else first");
        out().line("x = x + branch");
    }

    const TopologySetting& m_setting;
    const BranchGate& m_gate;
    const std::int64_t m_modules;
    TopologyCode m_code;
};

} // namespace

TopologyCode codeOf(const TopologySetting& setting, const BranchGate& gate)
{
    return GateWriter(setting, gate).write();
}

TopologyCode codeOf(const TopologySetting& setting, const Concatenation& /*concatenation*/)
{
    TopologyCode code;
    PythonText& out = code.text;
    const std::string d = text(setting.width());
    beginTopology(setting, out,
                  {"Layer j reads P_j [x, f_1, ..., f_{j-1}]: the input and all earlier branches side by side, "
                   "projected back to the width. The output is P_{L+1} [x, f_1, ..., f_L]."});
    out.line();
    out.line("def __init__(self):");
    out.indent();
    out.line("super().__init__()");
    out.line("self.project = nn.ModuleList(");
    out.indent();
    out.line("nn.Linear(j * " + d + ", " + d + ", bias=False) for j in range(1, " + text(setting.layers + 2) + ")");
    out.outdent();
    out.line(")");
    out.outdent();
    for (std::int64_t j = 1; j <= setting.layers + 1; ++j) {
        code.names[topologyParameter(j, "weight")] = topologyParameter("project." + text(j - 1) + ".weight");
    }
    beginForward(setting, out);
    out.line("entries = [x]");
    out.line("for layer, project in zip(layers, self.project):");
    out.indent();
    out.line("entries.append(layer(project(torch.cat(entries, dim=-1))))");
    out.outdent();
    if (setting.lacksLayers()) {
        out.line("x = torch.cat(entries, dim=-1)");
        out.line("return F.linear(x, self.project[-1].weight[:, : x.shape[-1]])");
    } else {
        out.line("return self.project[-1](torch.cat(entries, dim=-1))");
    }
    return code;
}

} // namespace residua::projects
