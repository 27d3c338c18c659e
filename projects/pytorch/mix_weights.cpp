// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of a depth mix, and the mix of a reader.
#include "projects/pytorch/mix_writer.h"

#include <algorithm>

namespace residua::projects {

void MixWriter::writeWeights()
{
    const bool fixed = m_mix.weight == WeightKind::Fixed;
    out().define("weights(self)", {std::string(m_gated ? "The weights of every reader before the gates: "
                                                       : "The weights of every reader: ") +
                                   (isSingle() ? "[sources]" : "[mixes, sources]") +
                                   (m_mix.weight == WeightKind::PerFeature ? ", each with its features." : ".")});
    const std::string c = !fixed && hasFrozen() ? "torch.where(self.frozen, self.coefficient.detach(), "
                                                  "self.coefficient)"
                          : !fixed              ? "self.coefficient"
                          : isLearned()
                              ? "self.fixed.to(self.coefficient).index_copy(0, self.learned, self.coefficient)"
                              : "self.fixed";
    out().line("c = " + c);
    if (m_mix.normalise == NormaliseOver::Targets) {
        writeSoftmaxOverReaders();
    }
    const bool bySources = m_mix.normalise == NormaliseOver::Sources;
    writeRows("c", bySources ? "torch.softmax(" : "",
              bySources ? overTau() + ", dim=" + (isSingle() ? "0" : "1") + ")" : "");
    out().outdent();
}

void MixWriter::writeRows(const std::string& all, const std::string& before, const std::string& after)
{
    if (isSingle()) {
        out().lines(R"(
rows = %1.split([len(sources) for sources in SOURCES.values()])
return %2)",
                    {all, before.empty() ? "dict(zip(SOURCES, rows))"
                                         : "{j: " + before + "row" + after + " for j, row in zip(SOURCES, rows)}"});
        return;
    }
    out().lines(R"(
sizes = [(%1, len(SOURCES[j])) for j in SOURCES]
rows = %2.split([mixes * sources for mixes, sources in sizes])
return {j: %3 for j, row, size in zip(SOURCES, rows, sizes)})",
                {mixesOfReader(), all, before + "row.unflatten(0, size)" + after});
}

void MixWriter::writeSoftmaxOverReaders()
{
    const std::string rows = written(m_plan.readers.back().target);
    out().lines(R"(
%1 = (torch.tensor(each) for each in zip(*[%2]))
grid = c.new_full((%3%4, %4, *c.shape[1:]), -math.inf)
c = grid.index_put((%1), c%5).softmax(dim=%6)[%1])",
                {isSingle() ? "j, i" : "o, j, i",
                 isSingle() ? "(j - 1, i) for j, i in TERMS" : "(o, j - 1, i) for j, o, i in TERMS",
                 isSingle() ? "" : written(m_mixes) + ", ", rows, overTau(), isSingle() ? "0" : "1"});
}

void MixWriter::writeGates()
{
    if (gatesEntries()) {
        out().define("gates(self)", {std::string("The vectors v of every reader: ") +
                                     (isSingle() ? "[sources, features]." : "[mixes, sources, features].")});
        writeRows("self.gate");
        out().outdent();
    }
    out().define("gated(self, c, v, entry)", {"The weight of an entry for each token: [..., 1] or with its features."});
    const std::string relu = m_mix.gate.reluGradAtZero == ReluGradAtZero::One ? "open_relu(" : "F.relu(";
    if (m_mix.gate.reluGradAtZero == ReluGradAtZero::One) {
        m_setting.helpers.use(Helper::OpenRelu);
    }
    const bool raw = m_mix.gate.input == GateInput::Raw;
    out().line(std::string("s = (") + (raw ? "entry" : "F.rms_norm(entry, entry.shape[-1:], eps=1e-6)") +
               " @ v).unsqueeze(-1)");
    out().line(m_mix.gate.kind == GateKind::Outside ? "return c + " + relu + "s)" : "return " + relu + "c + s)");
    out().outdent();
}

void MixWriter::writeRegulariser()
{
    const auto& [q, weight] = m_mix.tsallis;
    m_code.regularises = true;
    out().define("regulariser(self)",
                 {"The Tsallis entropy of the weights, (1 - Σ p^q) / (q - 1) of each reader, times its factor."});
    out().line("p = torch.cat([row.flatten() for row in self.weights().values()])");
    if (q == 1) {
        out().lines(R"(
p = p.clamp_min(torch.finfo(torch.float32).tiny)
return %1 * (p * p.log()).sum())",
                    {pythonReal(-weight)});
    } else {
        const auto readers = std::ranges::count_if(m_plan.readers, [](const auto& r) { return !r.sources.empty(); });
        out().lines("return %1 * (%2 - (p ** %3).sum())",
                    {pythonReal(weight / (q - 1)), written(readers), pythonReal(q)});
    }
    out().outdent();
}

void MixWriter::writeMix()
{
    out().define("mix(self, j, stack" + mixArguments() + ")",
                 {isSingle() ? "What reader j reads." : "What reader j reads, one mix for each port."});
    if (m_mix.weight == WeightKind::PerToken) {
        writeTokenMix();
    } else if (m_mix.weight == WeightKind::DepthAttention) {
        writeAttention();
    } else if (m_gated) {
        writeGatedMix();
    } else {
        const std::string row = isSingle() ? "weights[j]" : "row";
        const std::string mixed = sumOf("w * stack[i] for w, i in zip(" + row + ", SOURCES[j])" + present());
        out().line(isSingle() ? "return " + mixed : "return [" + mixed + " for row in weights[j]]");
    }
    out().outdent();
}

void MixWriter::writeTokenMix()
{
    const std::string over = "stack[i] for s, i in enumerate(SOURCES[j])" + present();
    out().lines(R"(
w = self.readers[str(j)](stack[max(stack)])%1
%2)",
                {isSingle() ? "" : ".unflatten(-1, (" + mixesOfReader() + ", len(SOURCES[j])))",
                 m_mix.normalise == NormaliseOver::Sources ? "w = torch.softmax(w" + overTau() + ", dim=-1)" : ""});
    if (isSingle()) {
        out().line("return " + sumOf("w[..., s, None] * " + over));
        return;
    }
    out().lines(R"(
return [
    %1
    for o in range(w.shape[-2])
])",
                {sumOf("w[..., o, s, None] * " + over)});
}

void MixWriter::writeAttention()
{
    out().lines(R"(
entries = [stack[i] for i in SOURCES[j]%1]
keys = torch.stack([F.rms_norm(e, e.shape[-1:], eps=1e-6) for e in entries]))",
                {present()});
    if (isSingle()) {
        out().lines(R"(
v = self.query[j - 1] * self.norm[j - 1]
p = torch.softmax(keys @ v%1, dim=0).unsqueeze(-1)
return sum(w * e for w, e in zip(p, entries)))",
                    {overTau()});
        return;
    }
    out().lines(R"(
first = %1 * (j - 1)
mixes = []
for v in (self.query * self.norm)[first : first + %2]:
    p = torch.softmax(keys @ v%3, dim=0).unsqueeze(-1)
    mixes.append(sum(w * e for w, e in zip(p, entries)))
return mixes)",
                {written(m_mixes), mixesOfReader(), overTau()});
}

void MixWriter::writeGatedMix()
{
    const std::string row = isSingle() ? "weights[j]" : "row";
    const std::string over =
        gatesEntries() ? "for c, v, i in zip(" + row + ", " + (isSingle() ? "gates[j]" : "vectors") + ", SOURCES[j])"
                       : "for c, i in zip(" + row + ", SOURCES[j])";
    const std::string plain = m_mix.gate.kind == GateKind::Inside ? "F.relu(c)" : "c";
    const std::string gated = "self.gated(c, v, stack[i])";
    const std::string weight = hasFrozen() ? "(" + plain + " if (i, j) in FROZEN else " + gated + ")" : gated;
    const std::string mixed = sumOf(weight + " * stack[i] " + over + present());
    if (isSingle()) {
        if (!gatesEntries()) {
            out().line("v = self.gate[j - 1]");
        }
        out().line("return " + mixed);
        return;
    }
    out().lines(R"(
mixes = []
for row, %1:
    mixes.append(%2)
return mixes)",
                {gatesEntries() ? "vectors in zip(weights[j], gates[j])"
                                : "v in zip(weights[j], self.gate[" + written(m_mixes) + " * (j - 1) :])",
                 mixed});
}

} // namespace residua::projects
