// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of a depth mix, and the mix of a reader.
#include "projects/pytorch/mix_writer.h"

#include <algorithm>

namespace residua::projects {

void MixWriter::writeWeights()
{
    const bool fixed = m_mix.weight == WeightKind::Fixed;
    out().line();
    out().line("def weights(self):");
    out().indent();
    out().docstring(
        {std::string(m_gated ? "The weights of every reader before the gates: " : "The weights of every reader: ") +
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
    const std::string overTau = m_mix.temperature == 1 ? "" : " / " + pythonReal(m_mix.temperature);
    const bool bySources = m_mix.normalise == NormaliseOver::Sources;
    if (isSingle()) {
        out().line("rows = c.split([len(sources) for sources in SOURCES.values()])");
        out().line(bySources ? "return {j: torch.softmax(row" + overTau + ", dim=0) for j, row in zip(SOURCES, rows)}"
                             : "return dict(zip(SOURCES, rows))");
    } else {
        out().line("sizes = [(" + mixesOf("j") + ", len(SOURCES[j])) for j in SOURCES]");
        out().line("rows = c.split([mixes * sources for mixes, sources in sizes])");
        const std::string row = "row.unflatten(0, size)";
        const std::string value = bySources ? "torch.softmax(" + row + overTau + ", dim=1)" : row;
        out().line("return {j: " + value + " for j, row, size in zip(SOURCES, rows, sizes)}");
    }
    out().outdent();
}

void MixWriter::writeSoftmaxOverReaders()
{
    const std::string rows = written(highestTarget());
    const std::string place = isSingle() ? "j, i" : "o, j, i";
    out().line(place + " = (torch.tensor(each) for each in zip(*[" +
               (isSingle() ? "(j - 1, i) for j, i in TERMS" : "(o, j - 1, i) for j, o, i in TERMS") + "]))");
    out().line("grid = c.new_full((" + (isSingle() ? std::string() : written(m_mixes) + ", ") + rows + ", " + rows +
               ", *c.shape[1:]), -math.inf)");
    out().line("c = grid.index_put((" + place + "), c" +
               (m_mix.temperature == 1 ? "" : " / " + pythonReal(m_mix.temperature)) +
               ").softmax(dim=" + (isSingle() ? "0" : "1") + ")[" + place + "]");
}

std::int64_t MixWriter::highestTarget() const
{
    std::int64_t highest = 0;
    for (const DepthReader& reader : m_plan.readers) {
        highest = std::max(highest, reader.target);
    }
    return highest;
}

void MixWriter::writeGates()
{
    out().line();
    if (gatesEntries()) {
        out().line("def gates(self):");
        out().indent();
        out().docstring({std::string("The vectors v of every reader: ") +
                         (isSingle() ? "[sources, features]." : "[mixes, sources, features].")});
        if (isSingle()) {
            out().line("return dict(zip(SOURCES, self.gate.split([len(sources) for sources in SOURCES.values()])))");
        } else {
            out().line("sizes = [(" + mixesOf("j") + ", len(SOURCES[j])) for j in SOURCES]");
            out().line("rows = self.gate.split([mixes * sources for mixes, sources in sizes])");
            out().line("return {j: row.unflatten(0, size) for j, row, size in zip(SOURCES, rows, sizes)}");
        }
        out().outdent();
        out().line();
    }
    out().line("def gated(self, c, v, entry):");
    out().indent();
    out().docstring({"The weight of an entry for each token: [..., 1] or with its features."});
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
    out().line();
    out().line("def regulariser(self):");
    out().indent();
    out().docstring({"The Tsallis entropy of the weights, (1 - Σ p^q) / (q - 1) of each reader, times its factor."});
    out().line("p = torch.cat([row.flatten() for row in self.weights().values()])");
    if (q == 1) {
        out().line("p = p.clamp_min(torch.finfo(torch.float32).tiny)");
        out().line("return " + pythonReal(-weight) + " * (p * p.log()).sum()");
    } else {
        const auto readers = std::ranges::count_if(m_plan.readers, [](const auto& r) { return !r.sources.empty(); });
        out().line("return " + pythonReal(weight / (q - 1)) + " * (" + written(readers) + " - (p ** " + pythonReal(q) +
                   ").sum())");
    }
    out().outdent();
}

std::string MixWriter::sumOf(const std::string& terms) const
{
    return m_setting.lacksLayers() ? "sum((" + terms + "), torch.zeros_like(stack[0]))" : "sum(" + terms + ")";
}

std::string MixWriter::mixArguments() const
{
    return m_ofTokens ? "" : gatesEntries() ? ", weights, gates" : ", weights";
}

void MixWriter::writeMix()
{
    out().line("def mix(self, j, stack" + mixArguments() + "):");
    out().indent();
    out().docstring({isSingle() ? "What reader j reads." : "What reader j reads, one mix for each port."});
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
    const std::string overTau = m_mix.temperature == 1 ? "" : " / " + pythonReal(m_mix.temperature);
    const std::string made = "w = self.readers[str(j)](stack[max(stack)])";
    out().line(isSingle() ? made : made + ".unflatten(-1, (" + mixesOf("j") + ", len(SOURCES[j])))");
    if (m_mix.normalise == NormaliseOver::Sources) {
        out().line("w = torch.softmax(w" + overTau + ", dim=-1)");
    }
    const std::string over = "stack[i] for s, i in enumerate(SOURCES[j])" + present();
    if (isSingle()) {
        out().line("return " + sumOf("w[..., s, None] * " + over));
        return;
    }
    out().line("return [");
    out().indent();
    out().line(sumOf("w[..., o, s, None] * " + over));
    out().line("for o in range(w.shape[-2])");
    out().outdent();
    out().line("]");
}

void MixWriter::writeAttention()
{
    const std::string overTau = m_mix.temperature == 1 ? "" : " / " + pythonReal(m_mix.temperature);
    out().line("entries = [stack[i] for i in SOURCES[j]" + present() + "]");
    out().line("keys = torch.stack([F.rms_norm(e, e.shape[-1:], eps=1e-6) for e in entries])");
    if (isSingle()) {
        out().line("v = self.query[j - 1] * self.norm[j - 1]");
        out().line("p = torch.softmax(keys @ v" + overTau + ", dim=0).unsqueeze(-1)");
        out().line("return sum(w * e for w, e in zip(p, entries))");
        return;
    }
    out().line("first = " + written(m_mixes) + " * (j - 1)");
    out().line("mixes = []");
    out().line("for v in (self.query * self.norm)[first : first + " + mixesOf("j") + "]:");
    out().indent();
    out().line("p = torch.softmax(keys @ v" + overTau + ", dim=0).unsqueeze(-1)");
    out().line("mixes.append(sum(w * e for w, e in zip(p, entries)))");
    out().outdent();
    out().line("return mixes");
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
    out().line("mixes = []");
    out().line(gatesEntries() ? "for row, vectors in zip(weights[j], gates[j]):"
                              : "for row, v in zip(weights[j], self.gate[" + written(m_mixes) + " * (j - 1) :]):");
    out().indent();
    out().line("mixes.append(" + mixed + ")");
    out().outdent();
    out().line("return mixes");
}

} // namespace residua::projects
