// SPDX-License-Identifier: GPL-3.0-or-later
// Gates on the residual or the branch of each layer, and concatenation.
#include "projects/depth/depth_parameters.h"
#include "projects/pytorch/topology_code.h"

namespace residua::projects {
namespace {

/// The loop over the layers that a gate computes: for layer, `each` in zip(layers, `lists`): `before`, x = `sum`,
/// `after`.
struct GateLoop {
    std::string equation;
    std::string each;
    std::string lists;
    std::string sum;
    std::string before = {};
    std::string after = {};
    std::string start = {}; ///< the line before the loop
};

class GateWriter {
public:
    GateWriter(const TopologySetting& setting, const BranchGate& gate)
        : m_setting(setting),
          m_gate(gate),
          m_modules(modulesIn(setting.project.stack().topology.wiring, setting.rowLayers()))
    {
    }

    TopologyCode write()
    {
        const GateLoop loop = loopOf();
        beginTopology(m_setting, m_code.text, {loop.equation});
        m_code.beginInit();
        writeParameters();
        if (hasTwoFactors()) {
            writeFactors();
        }
        beginForward(m_setting, out());
        const bool counts = m_setting.changesState();
        const bool shares = m_setting.sharesRows();
        const std::string rows = "rows = list(" + (hasMaps() ? "zip(" + loop.lists + ")" : loop.lists) + ")";
        const std::string zipped = shares ? "zip(layers, (rows[r] for r in ROWS))" : "zip(layers, " + loop.lists + ")";
        const std::string each = shares && hasMaps() ? "(" + loop.each + ")" : loop.each;
        out().lines(R"(
%1
%2
for %3 in %4:)",
                    {loop.start, shares ? rows : "", counts ? "j, (layer, " + each + ")" : "layer, " + each,
                     counts ? "enumerate(" + zipped + ", start=1)" : zipped});
        out().indent();
        beginVisit(m_setting, out(), mixesPrevious() ? "latest[-1] = x" : "");
        out().lines(m_setting.leavesOut ? "if layer is not absent:\n    %1\n    x = %2" : "%1\nx = %2",
                    {loop.before, loop.sum});
        endVisit(m_setting, out());
        out().lines("%1", {loop.after});
        out().outdent();
        out().line("return x");
        return std::move(m_code);
    }

private:
    [[nodiscard]] PythonText& out() { return m_code.text; }
    [[nodiscard]] bool hasTwoFactors() const { return traitsOf(m_gate.gate).factors == 2; }
    [[nodiscard]] bool hasMaps() const { return traitsOf(m_gate.gate).maps != LaurelMaps::None; }
    [[nodiscard]] bool mixesPrevious() const { return traitsOf(m_gate.gate).maps == LaurelMaps::Previous; }

    [[nodiscard]] GateLoop loopOf() const
    {
        switch (m_gate.gate) {
        case BranchGateKind::Highway:
            return {"x_j = t f_j(x_{j-1}) + (1 - t) x_{j-1} with t = sigmoid(W_j x_{j-1} + b_j), feature by feature.",
                    "gate", "self.gates", "x + t * (layer(x) - x)", "t = torch.sigmoid(gate(x))"};
        case BranchGateKind::ReZero:
            return {"x_j = x_{j-1} + α_j f_j(x_{j-1}); the halves of a layer share its α, which starts at 0.", "alpha",
                    m_modules == m_setting.rowLayers() ? "self.alpha" : "self.alpha.repeat_interleave(2)",
                    "x + alpha * layer(x)"};
        case BranchGateKind::PostNorm:
            return postNormLoop();
        case BranchGateKind::ValueResidual:
            return {"x_j = x_{j-1} + f_j(x_{j-1}), where the attention of layer j > 1 uses λ_j1 V_1 + λ_j2 V_j as its "
                    "values: those of the first layer and its own.",
                    "share",
                    "[None, *self.values]",
                    "x + branch",
                    "branch, values = layer(x, first, share)",
                    "first = values if first is None else first",
                    "first = None"};
        case BranchGateKind::LaurelRw:
        case BranchGateKind::LaurelLr:
        case BranchGateKind::LaurelPa:
        case BranchGateKind::LaurelRwLr:
        case BranchGateKind::LaurelRwLrPa:
            break;
        }
        return laurelLoop();
    }

    [[nodiscard]] GateLoop postNormLoop() const
    {
        const double factor = postNormFactors(m_setting.project.stack()).residual;
        const std::string alpha = factor == 1 ? "" : pythonReal(factor) + " * ";
        return {"x_j = norm_j(" + (factor == 1 ? std::string() : "α ") + "x_{j-1} + f_j(x_{j-1})).", "norm",
                "self.norms", "norm(" + alpha + "x + layer(x))"};
    }

    /// Returns LAuReL's sum of branch and residual, to which a map of low rank may be added. With RW, it begins with
    /// the factors `a` and `b`.
    [[nodiscard]] std::string laurelSum(const std::string& a, const std::string& branch, const std::string& b,
                                        const std::string& residual, const std::string& map) const
    {
        const std::string carried = hasMaps() ? residual + " + " + map : residual;
        if (!hasTwoFactors()) {
            return branch + " + " + carried;
        }
        return a + branch + " + " + b + (hasMaps() ? "(" + carried + ")" : carried);
    }

    [[nodiscard]] GateLoop laurelLoop() const
    {
        const bool maps = hasMaps();
        const bool weighs = hasTwoFactors();
        const bool mixes = mixesPrevious();
        const std::string map = mixes ? "A_j B_j Σ_k γ_jk x_k" : "A_j B_j x_{j-1}";
        GateLoop loop{"x_j = " + laurelSum("α_j ", "f_j(x_{j-1})", "β_j ", "x_{j-1}", map) +
                          (mixes  ? " over the latest activations x_k."
                           : maps ? ", where A B is of low rank."
                                  : "."),
                      maps ? "down, up" : "(a, b)", maps ? "self.down, self.up" : "self.factors()",
                      laurelSum("a * ", "layer(x)", "b * ", "x", mixes ? "up(down(mixed))" : "up(down(x))")};
        if (weighs) {
            loop.equation += m_gate.bound == LaurelBound::None      ? " α and β are free numbers."
                             : m_gate.bound == LaurelBound::Sigmoid ? " α and β are sigmoids of learned logits."
                                                                    : " α + β = 1, by a softmax of learned logits.";
            loop.each += maps ? ", (a, b)" : "";
            loop.lists += maps ? ", self.factors()" : "";
        }
        if (mixes) {
            loop.each += ", share";
            loop.lists += ", shares";
            loop.before = "mixed = sum(g * e for g, e in zip(share, latest[-len(share) :]))";
            loop.after = "latest.append(x)";
            loop.start = "latest, shares = [x], self.coefficient.split(self.counts)";
        }
        return loop;
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
        if (hasMaps()) {
            moduleList("down", "nn.Linear(" + d + ", " + r + ", bias=False)");
            moduleList("up", "nn.Linear(" + r + ", " + d + ", bias=False)");
        }
        if (mixesPrevious()) {
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
