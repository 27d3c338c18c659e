// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of a depth mix, and the mix of a reader.
#include "projects/pytorch/mix_writer.h"

#include <algorithm>

namespace residua::projects {

void MixWriter::writeWeights()
{
    const bool fixed = m_mix.weight == WeightKind::Fixed;
    out().define("weights(self)", {std::string(m_gated ? "The weights of every mix before the gates: [sources]"
                                                       : "The weights of every mix: [sources]") +
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
    writeRows("c", m_mix.normalise == NormaliseOver::Sources);
    out().outdent();
}

void MixWriter::writeRows(const std::string& all, bool softmax)
{
    const std::string keys = isSingle() ? "SOURCES" : "MIXES";
    out().lines(R"(
rows = %1.split([len(%2])
return %3)",
                {all, isSingle() ? "sources) for sources in SOURCES.values()" : "SOURCES[j]) for j, _ in MIXES",
                 softmax ? "{key: torch.softmax(row" + overTau() + ", dim=0) for key, row in zip(" + keys + ", rows)}"
                         : "dict(zip(" + keys + ", rows))"});
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
        out().define("gates(self)", {"The vectors v of every mix: [sources, features]."});
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
    out().define("mix(self, j" + std::string(takesPort() ? ", o" : "") + ", stack" + mixArguments() + ")",
                 {takesPort()  ? "Mix o of reader j."
                  : isSingle() ? "What reader j reads."
                               : "What reader j reads, one mix for each port."});
    const std::string key = isSingle() ? "j" : "j, o";
    const std::string place = isSingle() ? "j - 1" : written(m_mixes) + " * (j - 1) + o";
    if (m_mix.weight == WeightKind::PerToken) {
        writeTokenMix();
    } else if (m_mix.weight == WeightKind::DepthAttention) {
        out().lines(R"(
entries = [stack[i] for i in SOURCES[j]]
keys = torch.stack([F.rms_norm(e, e.shape[-1:], eps=1e-6) for e in entries])
v = self.query[%1] * self.norm[%1]
p = torch.softmax(keys @ v%2, dim=0).unsqueeze(-1)
return sum(w * e for w, e in zip(p, entries)))",
                    {place, overTau()});
    } else if (m_gated) {
        const std::string plain = m_mix.gate.kind == GateKind::Inside ? "F.relu(c)" : "c";
        const std::string gated = "self.gated(c, v, stack[i])";
        out().lines(R"(
%1
return sum(%2 * stack[i] for c, %3i in zip(weights[%4], %5SOURCES[j])))",
                    {gatesEntries() ? "" : "v = self.gate[" + place + "]",
                     hasFrozen() ? "(" + plain + " if (i, j) in FROZEN else " + gated + ")" : gated,
                     gatesEntries() ? "v, " : "", key, gatesEntries() ? "gates[" + key + "], " : ""});
    } else {
        out().line("return sum(w * stack[i] for w, i in zip(weights[" + key + "], SOURCES[j]))");
    }
    out().outdent();
}

void MixWriter::writeTokenMix()
{
    const std::string sum = "[..., s, None] * stack[i] for s, i in enumerate(SOURCES[j]))";
    out().lines(R"(
w = self.readers[str(j)](stack[%1])%2
%3
return %4)",
                {newest(), isSingle() ? "" : ".unflatten(-1, (-1, len(SOURCES[j])))",
                 m_mix.normalise == NormaliseOver::Sources ? "w = torch.softmax(w" + overTau() + ", dim=-1)" : "",
                 isSingle() ? "sum(w" + sum : "[sum(row" + sum + " for row in w.unbind(-2)]"});
}

} // namespace residua::projects
