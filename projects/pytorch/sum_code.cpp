// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/pytorch/topology_code.h"

#include "projects/base/text.h"

namespace residua::projects {

TopologyCode codeOfSum(const TopologySetting& setting, const DepthMix& mix)
{
    TopologyCode code;
    PythonText& out = code.text;
    std::vector<std::string> shortcuts;
    if (!mix.states.empty()) {
        const DepthPlan plan = planOf(mix, setting.layers);
        for (const std::size_t term : learnedTerms(mix, plan)) {
            shortcuts.push_back("(" + std::to_string(plan.terms[term].source) + ", " +
                                std::to_string(plan.readers[plan.terms[term].reader].target) + ")");
        }
    }
    if (shortcuts.empty()) {
        beginTopology(setting, out, {"x_j = x_{j-1} + f_j(x_{j-1})."});
        beginForward(setting, out);
        out.line("for layer in layers:");
        out.indent();
        out.line("x = x + layer(x)");
        out.outdent();
        out.line("return x");
        return code;
    }
    out.comment("Learned shortcuts i:j. Reader " + std::to_string(setting.layers + 1) + " is the final output.");
    out.line("LEARNED = [" + joinedText(shortcuts) + "]");
    out.line();
    out.line();
    beginTopology(setting, out,
                  {"x_j = x_{j-1} + f_j(u_j), where layer j, or the final output, reads u_j = x_{j-1} + (w_ij - 1) e_i "
                   "for each learned shortcut i:j. Entry e_0 is the input, e_i the branch of layer i."});
    out.line();
    out.line("def __init__(self):");
    out.indent();
    out.line("super().__init__()");
    out.line("self.coefficient = nn.Parameter(torch.ones(len(LEARNED)))");
    out.outdent();
    code.names[kTopologyCoefficient] = kTopologyCoefficient;
    out.line();
    out.line("def read(self, target, x, stack):");
    out.indent();
    out.line("for w, (i, j) in zip(self.coefficient, LEARNED):");
    out.indent();
    out.line(std::string("if j == target") + (setting.lacksLayers() ? " and i in stack:" : ":"));
    out.indent();
    out.line("x = x + (w - 1) * stack[i]");
    out.outdent();
    out.outdent();
    out.line("return x");
    out.outdent();
    beginForward(setting, out);
    out.line("stack = {0: x}");
    out.line("for j, layer in enumerate(layers, start=1):");
    out.indent();
    out.line("stack[j] = layer(self.read(j, x, stack))");
    out.line("x = x + stack[j]");
    out.outdent();
    out.line("return self.read(" + std::to_string(setting.layers + 1) + ", x, stack)");
    return code;
}

} // namespace residua::projects
