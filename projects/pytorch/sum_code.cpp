// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/text.h"
#include "projects/pytorch/topology_code.h"

namespace residua::projects {

TopologyCode codeOfSum(const TopologySetting& setting, const DepthMix& mix)
{
    TopologyCode code;
    PythonText& out = code.text;
    std::vector<std::string> shortcuts;
    if (!mix.states.empty()) {
        const DepthPlan plan = planOf(mix, setting.layers);
        for (const std::size_t term : learnedTerms(mix, plan)) {
            shortcuts.push_back("(" + written(plan.terms[term].source) + ", " +
                                written(plan.readers[plan.terms[term].reader].target) + ")");
        }
    }
    if (shortcuts.empty()) {
        beginTopology(setting, out, {"x_j = x_{j-1} + f_j(x_{j-1})."});
        beginForward(setting, out);
        out.lines(R"(
for layer in layers:
    x = x + layer(x)
return x)");
        return code;
    }
    out.comment("Learned shortcuts i:j. Reader " + written(setting.layers + 1) + " is the final output.");
    out.lines("LEARNED = [%1]\n\n\n", {joinedText(shortcuts)});
    beginTopology(setting, out,
                  {"x_j = x_{j-1} + f_j(u_j), where layer j, or the final output, reads u_j = x_{j-1} + (w_ij - 1) e_i "
                   "for each learned shortcut i:j. Entry e_0 is the input, e_i the branch of layer i."});
    code.beginInit();
    code.parameters(setting, {{"coefficient", "torch.ones(len(LEARNED))"}});
    out.outdent();
    out.define("read(self, target, x, stack)");
    out.lines(R"(
for w, (i, j) in zip(self.coefficient, LEARNED):
    if j == target%1:
        x = x + (w - 1) * stack[i]
return x)",
              {setting.lacksLayers() ? " and i in stack" : ""});
    out.outdent();
    beginForward(setting, out);
    out.lines(R"(
stack = {0: x}
for j, layer in enumerate(layers, start=1):
    stack[j] = layer(self.read(j, x, stack))
    x = x + stack[j]
return self.read(%1, x, stack))",
              {written(setting.layers + 1)});
    return code;
}

} // namespace residua::projects
