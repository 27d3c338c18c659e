// SPDX-License-Identifier: GPL-3.0-or-later
// Gates on the residual or the branch of each layer, and concatenation.
#include "projects/pytorch/topology_code.h"

namespace residua::projects {
namespace {

class GateWriter {
public:
    GateWriter(const TopologySetting& setting, const BranchGate& gate)
        : m_setting(setting),
          m_gate(gate),
          m_modules(modulesIn(setting.project.stack().topology.wiring, setting.layers))
    {
    }

    TopologyCode write()
    {
        beginTopology(m_setting, m_code.text, {equation()});
        m_code.beginInit();
        writeParameters();
        out().outdent();
        if (hasResidualWeights(m_gate.gate)) {
            writeFactors();
        }
        beginForward(m_setting, out());
        writeLoop();
        out().line("return x");
        return std::move(m_code);
    }

private:
    [[nodiscard]] PythonText& out() { return m_code.text; }

    /// Returns LAuReL's sum of branch and residual, to which a map of low rank may be added. With RW, it begins with
    /// the factors `a` and `b`.
    [[nodiscard]] std::string laurelSum(const std::string& a, const std::string& branch, const std::string& b,
                                        const std::string& residual, const std::string& map) const
    {
        const std::string carried = hasLowRankMaps(m_gate.gate) ? residual + " + " + map : residual;
        if (!hasResidualWeights(m_gate.gate)) {
            return branch + " + " + carried;
        }
        return a + branch + " + " + b + (hasLowRankMaps(m_gate.gate) ? "(" + carried + ")" : carried);
    }

    [[nodiscard]] std::string laurelEquation() const
    {
        const bool previous = mixesPrevious(m_gate.gate);
        const std::string map = previous ? "A_j B_j Σ_k γ_jk x_k" : "A_j B_j x_{j-1}";
        std::string text = "x_j = " + laurelSum("α_j ", "f_j(x_{j-1})", "β_j ", "x_{j-1}", map) +
                           (previous                      ? " over the latest activations x_k."
                            : hasLowRankMaps(m_gate.gate) ? ", where A B is of low rank."
                                                          : ".");
        if (hasResidualWeights(m_gate.gate)) {
            text += m_gate.bound == LaurelBound::None      ? " α and β are free numbers."
                    : m_gate.bound == LaurelBound::Sigmoid ? " α and β are sigmoids of learned logits."
                                                           : " α + β = 1, by a softmax of learned logits.";
        }
        return text;
    }

    [[nodiscard]] std::string equation() const
    {
        switch (m_gate.gate) {
        case BranchGateKind::Highway:
            return "x_j = t f_j(x_{j-1}) + (1 - t) x_{j-1} with t = sigmoid(W_j x_{j-1} + b_j), feature by feature.";
        case BranchGateKind::ReZero:
            return "x_j = x_{j-1} + α_j f_j(x_{j-1}); the halves of a layer share its α, which starts at 0.";
        case BranchGateKind::PostNorm:
            return "x_j = norm_j(x_{j-1} + f_j(x_{j-1})).";
        case BranchGateKind::ValueResidual:
            return "x_j = x_{j-1} + f_j(x_{j-1}), where the attention of layer j > 1 uses λ_j1 V_1 + λ_j2 V_j as its "
                   "values: those of the first layer and its own.";
        case BranchGateKind::LaurelRw:
        case BranchGateKind::LaurelLr:
        case BranchGateKind::LaurelPa:
        case BranchGateKind::LaurelRwLr:
        case BranchGateKind::LaurelRwLrPa:
            break;
        }
        return laurelEquation();
    }

    /// Writes a module for each layer.
    void moduleList(const std::string& name, const std::string& made)
    {
        out().line("self." + name + " = nn.ModuleList(" + made + " for _ in range(" + written(m_modules) + "))");
    }

    void writeParameters()
    {
        const std::string d = written(m_setting.width());
        const std::string r = written(m_gate.rank);
        if (m_gate.gate == BranchGateKind::Highway) {
            moduleList("gates", "nn.Linear(" + d + ", " + d + ")");
        } else if (m_gate.gate == BranchGateKind::PostNorm) {
            const bool hasBias = m_gate.norm == NormKind::Layer;
            moduleList("norms",
                       (hasBias ? "nn.LayerNorm(" : "nn.RMSNorm(") + d + ", eps=" + pythonReal(m_gate.epsilon) + ")");
        }
        if (hasLowRankMaps(m_gate.gate)) {
            moduleList("down", "nn.Linear(" + d + ", " + r + ", bias=False)");
            moduleList("up", "nn.Linear(" + r + ", " + d + ", bias=False)");
        }
        if (mixesPrevious(m_gate.gate)) {
            out().lines("self.counts = [min(%1, j) for j in range(1, %2)]",
                        {written(m_gate.window), written(m_modules + 1)});
        }
        m_code.parameters(m_setting, {{"coefficient", "torch.tensor([1 / n for n in self.counts for _ in range(n)])"}});
    }

    void writeFactors()
    {
        out().define("factors(self)", {"α and β of each layer: [layers, 2]."});
        out().line(m_gate.bound == LaurelBound::None      ? "return self.factor"
                   : m_gate.bound == LaurelBound::Sigmoid ? "return torch.sigmoid(self.factor)"
                                                          : "return torch.softmax(self.factor, dim=1)");
        out().outdent();
    }

    void writeLoop()
    {
        if (m_gate.gate == BranchGateKind::Highway) {
            out().lines(R"(
for layer, gate in zip(layers, self.gates):
    t = torch.sigmoid(gate(x))
    x = x + t * (layer(x) - x))");
        } else if (m_gate.gate == BranchGateKind::ReZero) {
            out().lines(R"(
for j, layer in enumerate(layers):
    x = x + self.alpha[%1] * layer(x))",
                        {m_modules == m_setting.layers ? "j" : "j // 2"});
        } else if (m_gate.gate == BranchGateKind::PostNorm) {
            out().lines(R"(
for layer, norm in zip(layers, self.norms):
    x = norm(x + layer(x)))");
        } else if (m_gate.gate == BranchGateKind::ValueResidual) {
            out().lines(R"(
first = None
for j, layer in enumerate(layers):
    branch, values = layer(x, first, None if j == 0 else self.values[j - 1])
    first = values if j == 0 else first
    x = x + branch)");
        } else if (mixesPrevious(m_gate.gate)) {
            out().lines(R"(
latest = [x]
shares = self.coefficient.split(self.counts)
%1
for j, layer in enumerate(layers):
    mixed = sum(g * e for g, e in zip(shares[j], latest[-self.counts[j] :]))
    added = self.up[j](self.down[j](mixed))
    x = %2
    latest.append(x))",
                        {hasResidualWeights(m_gate.gate) ? "factors = self.factors()" : "",
                         laurelSum("factors[j, 0] * ", "layer(x)", "factors[j, 1] * ", "x", "added")});
        } else {
            const bool weighs = hasResidualWeights(m_gate.gate);
            const bool maps = hasLowRankMaps(m_gate.gate);
            out().lines(R"(
for layer%1%2 in zip(layers%3%4):
    x = %5)",
                        {maps ? ", down, up" : "", weighs ? ", (a, b)" : "", maps ? ", self.down, self.up" : "",
                         weighs ? ", self.factors()" : "", laurelSum("a * ", "layer(x)", "b * ", "x", "up(down(x))")});
        }
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
    const std::string d = written(setting.width());
    beginTopology(setting, out,
                  {"Layer j reads P_j [x, f_1, ..., f_{j-1}]: the input and all earlier branches side by side, "
                   "projected back to the width. The output is P_{L+1} [x, f_1, ..., f_L]."});
    code.beginInit();
    out.lines(R"(
self.project = nn.ModuleList(
    nn.Linear(j * %1, %1, bias=False) for j in range(1, %2)
))",
              {d, written(setting.layers + 2)});
    out.outdent();
    code.parameters(setting);
    beginForward(setting, out);
    const std::int64_t absent = setting.layers - setting.present;
    out.lines(R"(
entries = [x]
for layer, project in zip(layers, self.project):
    entries.append(layer(project(torch.cat(entries, dim=-1))))
%1
return self.project[-1](torch.cat(entries, dim=-1)))",
              {absent > 0 ? "entries += [torch.zeros_like(x)] * " + written(absent) : ""});
    return code;
}

} // namespace residua::projects
