// SPDX-License-Identifier: GPL-3.0-or-later
// The code of the running sum, with its learned shortcuts.
#include "projects/base/text.h"
#include "projects/depth/shared_mix.h"
#include "projects/pytorch/topology_code.h"

#include <string>
#include <vector>

namespace residua::projects {
namespace {

/// Lists the shortcuts in this state: "(0, 2), (1, 2)".
std::string pairsIn(const DepthMix& mix, ShortcutState::Kind kind)
{
    std::vector<std::string> pairs;
    for (const auto& [shortcut, state] : mix.states) {
        if (state == kind) {
            pairs.push_back(pairText(shortcut));
        }
    }
    return joinedText(pairs);
}

/// Returns the code of a sum without learned shortcuts.
TopologyCode codeOfPlainSum(const TopologySetting& setting)
{
    TopologyCode code;
    PythonText& out = code.text;
    beginTopology(setting, out, {"x_j = x_{j-1} + f_j(x_{j-1})."});
    if (setting.changesState()) {
        code.beginInit();
        code.loops(setting);
    }
    beginForward(setting, out);
    out.line(setting.changesState() ? "for j, layer in enumerate(layers, start=1):" : "for layer in layers:");
    out.indent();
    beginVisit(setting, out);
    out.line("x = x + layer(x)");
    endVisit(setting, out);
    out.outdent();
    out.line("return x");
    return code;
}

/// Writes the learned shortcuts, those of them in `frozen`, and the rows of weights that visits share.
void writeTables(const TopologySetting& setting, const DepthMix& mix, const std::string& frozen, PythonText& out)
{
    out.comment("Learned shortcuts i:j. Reader " + written(setting.layers + 1) + " is the final output.");
    out.lines("LEARNED = [%1]\n\n\n",
              {joinedText(mix.states, ", ", [](const auto& state) { return pairText(state.first); })});
    if (!frozen.empty()) {
        out.comment("Those of them whose weights keep their values.");
        out.lines("FROZEN = {%1}\n\n\n", {frozen});
    }
    if (setting.sharesMix()) {
        out.comment("The row of each of their weights, which visits share.");
        out.lines("ROWS = %1\n\n\n", {repeatingText(sharedRows(setting.project.stack()))});
    }
}

} // namespace

std::string startOfStack(std::int64_t present, std::int64_t entries)
{
    return "stack = {0: x" + (present < entries ? ", **dict.fromkeys(range(" + written(present + 1) + ", " +
                                                      written(entries + 1) + "), torch.zeros_like(x))}"
                                                : "}");
}

std::string pairText(const Shortcut& shortcut)
{
    return "(" + written(shortcut.source) + ", " + written(shortcut.target) + ")";
}

TopologyCode codeOfSum(const TopologySetting& setting, const DepthMix& mix)
{
    if (mix.states.empty()) {
        return codeOfPlainSum(setting);
    }
    TopologyCode code;
    PythonText& out = code.text;
    const std::string frozen = pairsIn(mix, ShortcutState::Frozen);
    const bool shares = setting.sharesMix();
    writeTables(setting, mix, frozen, out);
    beginTopology(setting, out,
                  {"x_j = x_{j-1} + f_j(u_j), where layer j, or the final output, reads u_j = x_{j-1} + (w_ij - 1) e_i "
                   "for each learned shortcut i:j. Entry e_0 is the input, e_i the branch of layer i."});
    code.beginInit();
    const std::string starts = joinedText(mix.states, ", ", [](const auto& state) {
        return pythonReal(state.second.hold == ShortcutState::Hold::Number ? state.second.number : 1.0);
    });
    const std::string count =
        shares ? written(std::ssize(sharedTerms(setting.project.stack()))) : std::string("len(LEARNED)");
    code.parameters(setting,
                    {{"coefficient", frozen.empty() ? "torch.ones(" + count + ")" : "torch.tensor([" + starts + "])"}});
    out.define("read(self, target, x, stack)");
    out.line(std::string("for w, (i, j) in zip(self.coefficient") + (shares ? "[ROWS]" : "") + ", LEARNED):");
    if (!frozen.empty()) {
        out.line("    w = w.detach() if (i, j) in FROZEN else w");
    }
    out.lines(R"(
    if j == target:
        x = x + (w - 1) * stack[i]
return x)");
    beginForward(setting, out);
    out.lines(R"(
%1
for j, layer in enumerate(layers, start=1):)",
              {startOfStack(setting.present, setting.layers)});
    out.indent();
    beginVisit(setting, out);
    out.lines(R"(
stack[j] = layer(self.read(j, x, stack))
x = x + stack[j])");
    endVisit(setting, out);
    out.outdent();
    out.line("return self.read(" + written(setting.layers + 1) + ", x, stack)");
    return code;
}

} // namespace residua::projects
