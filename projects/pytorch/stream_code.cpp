// SPDX-License-Identifier: GPL-3.0-or-later
// Multi-stream residuals: Hyper-Connections and what follows from them.
#include "projects/depth/stream_start.h"
#include "projects/pytorch/topology_code.h"

#include <algorithm>

namespace residua::projects {
namespace {

class StreamWriter {
public:
    StreamWriter(const TopologySetting& setting, const MultiStream& streams)
        : m_setting(setting),
          m_streams(streams),
          m_modules(modulesIn(setting.project.stack().topology.wiring, setting.rowLayers())),
          m_sizes(streamSizes(streams, setting.width())),
          m_dynamic(streams.weights == StreamWeights::Dynamic),
          m_constrained(streams.constraint != StreamConstraint::None),
          m_cut(streams.state == StreamState::Fractions),
          m_head(streams.exit == StreamExit::Head && !m_cut)
    {
    }

    TopologyCode write()
    {
        beginTopology(m_setting, m_code.text, words());
        writeInit();
        writeWeights();
        if (m_head) {
            writeExit();
        }
        writeForward();
        return std::move(m_code);
    }

private:
    [[nodiscard]] PythonText& out() { return m_code.text; }

    [[nodiscard]] bool mixes() const { return m_streams.constraint != StreamConstraint::Identity; }
    [[nodiscard]] bool permutes() const { return m_streams.constraint == StreamConstraint::Permutations; }
    /// The names of what connects a layer.
    [[nodiscard]] std::string connections(const std::string& before = "") const
    {
        return before + "read, " + (mixes() ? before + "carry, " : "") + before + "write";
    }

    [[nodiscard]] std::string wordsOfState() const
    {
        const std::string n = written(m_streams.streams);
        if (m_cut) {
            return "Layer j reads, fraction by fraction, u_t = Σ_s read_jst h_s of the " + n +
                   " fractions h_s of the features, and writes h'_t = Σ_s carry_jst h_s + write_jt f_j(u)_t.";
        }
        const std::string exit = m_head                               ? "a sum weighed for each token leaves."
                                 : m_streams.exit == StreamExit::Mean ? "their mean leaves."
                                                                      : "their sum leaves.";
        return "Layer j reads u = Σ_s read_js h_s of the " + n +
               " streams h_s, and writes h'_t = " + (mixes() ? "Σ_s carry_jst h_s" : "h_t") +
               " + write_jt f_j(u). All streams start as the input, and " + exit;
    }

    [[nodiscard]] std::string wordsOfConstraint() const
    {
        switch (m_streams.constraint) {
        case StreamConstraint::DoublyStochastic:
            return "read = sigmoid(r), write = 2 sigmoid(w), and carry = sinkhorn(c) is nearly doubly stochastic, by " +
                   written(m_streams.sinkhornIterations) + " divisions of rows and columns.";
        case StreamConstraint::Permutations:
            return "read = sigmoid(r), write = 2 sigmoid(w), and carry is the mean of all permutation matrices by the "
                   "weights softmax(c), so it is doubly stochastic.";
        case StreamConstraint::Identity:
            return "read = sigmoid(r) + ε and write = 2 sigmoid(w) + ε. Streams do not mix.";
        case StreamConstraint::None:
            break;
        }
        return "";
    }

    [[nodiscard]] std::vector<std::string> words() const
    {
        std::vector<std::string> result{wordsOfState()};
        if (m_constrained) {
            result.push_back(wordsOfConstraint());
        }
        if (m_dynamic && m_constrained) {
            result.emplace_back("Their logits have a part for each token, scale · φ RMSNorm([h_1, ..., h_n]).");
        } else if (m_dynamic) {
            result.push_back(std::string("Beside what all tokens share, each has a part for each token, scale · "
                                         "tanh(W norm(h_s)), where norm is a ") +
                             (m_streams.norm != NormKind::Layer ? "RMS norm."
                              : m_cut                           ? "layer norm."
                                                                : "layer norm without bias."));
        }
        return result;
    }

    void writeInit()
    {
        const std::string n = written(m_streams.streams);
        const std::string layers = written(m_modules);
        m_code.beginInit();
        if (permutes()) {
            out().lines(R"(
permutations = torch.tensor(list(itertools.permutations(range(%1))))
self.register_buffer("permutations", torch.eye(%1)[permutations], persistent=False))",
                        {n});
        }
        const std::int64_t each = modulesPerHome(m_streams);
        const std::string home = "torch.eye(" + n + ")[torch.arange(" + layers + ")" +
                                 (each == 1 ? "" : " // " + written(each)) + " % " + n + "]";
        const std::string identity = "torch.eye(" + n + ").repeat(" + layers + ", 1, 1)";
        const std::string first = "torch.eye(" + written(m_sizes.carry) + ")[[0] * " + layers + "]";
        const StreamStart start = streamStart(m_streams);
        m_code.parameters(m_setting,
                          {{"read", started(m_cut ? identity : home, start.readOn, start.readOff)},
                           {"carry", started(permutes() ? first : identity, start.carry, start.carryOff)},
                           {"write", started(home, start.writeOn, start.writeOff)},
                           {"exit_bias", "torch.full((" + n + ",), -math.log(" +
                                             written(std::max<std::int64_t>(m_streams.streams - 1, 1)) + "))"}});
    }

    /// Returns `on` where the indicator is 1 and `off` elsewhere. Empty if they are equal.
    static std::string started(const std::string& indicator, double on, double off)
    {
        const std::string beside = off == 0 ? "" : off < 0 ? " - " + pythonReal(-off) : " + " + pythonReal(off);
        return on == off ? "" : on == 1 && off == 0 ? indicator : pythonReal(on - off) + " * " + indicator + beside;
    }

    [[nodiscard]] std::string wordsOfShapes() const
    {
        const std::string tail = m_dynamic ? ", ..., 1]" : "]";
        const std::string read = m_cut ? "read [from, to" : "read [n";
        return read + tail + (mixes() ? ", carry [from, to" + tail : "") + " and write [n" + tail +
               " of layer j (from 0), " +
               (m_dynamic ? "for each token of the streams [n, ..., d]."
                          : "each with a dimension of 1 for all that follow in a stream.");
    }

    void writeWeights()
    {
        out().define("weights(self, j, streams)", {wordsOfShapes()});
        if (m_dynamic) {
            m_constrained
                ? writeAllFeatures(permutes() ? "self.dynamic[j] * self.norm[j].unsqueeze(1)" : "self.dynamic[j]")
                : writeActive();
        }
        out().lines(R"(
ones = (1,) * (streams.dim() - 1)
%1 = (w[j].reshape(w[j].shape + ones) for w in (%2)))",
                    {connections(), connections("self.")});
        if (m_dynamic) {
            m_constrained ? addLogits() : addActive();
        }
        if (m_constrained) {
            writeConstraint();
        }
        out().line("return " + connections());
    }

    void writeConstraint()
    {
        if (!mixes()) {
            const std::string epsilon = pythonReal(kStreamEpsilon);
            out().line("read, write = torch.sigmoid(read) + " + epsilon + ", 2 * torch.sigmoid(write) + " + epsilon);
            return;
        }
        out().line("read, write = torch.sigmoid(read), 2 * torch.sigmoid(write)");
        if (permutes()) {
            out().line("carry = torch.einsum(\"rst,r...->st...\", self.permutations, torch.softmax(carry, 0))");
        } else {
            m_setting.helpers.use(Helper::Sinkhorn);
            out().line("carry = sinkhorn(carry, " + written(m_streams.sinkhornIterations) + ")");
        }
    }

    void writeActive()
    {
        const std::string gain = m_cut ? "self.norm[j], self.norm_bias[j]" : "self.norm[j]";
        out().line("width = streams.shape[-1:]");
        out().line(m_streams.norm == NormKind::Layer ? "normal = F.layer_norm(streams, width, " + gain + ", eps=1e-5)"
                                                     : "normal = F.rms_norm(streams, width, self.norm[j], eps=1e-6)" +
                                                           std::string(m_cut ? " + self.norm_bias[j]" : ""));
        out().line("active = torch.tanh(normal @ self.dynamic[j].t()).movedim(-1, 1).unsqueeze(-1)");
    }

    void addActive()
    {
        const std::string reads = written(m_sizes.reads);
        out().lines(R"(
read = read + self.scale[j, 0] * active[:, %1]
carry = carry + self.scale[j, 0] * active[:, %2:%3]
write = write + self.scale[j, 1] * active[:, %3])",
                    {m_cut ? ":" + reads : "0", reads, written(m_sizes.reads + m_streams.streams)});
    }

    /// y = φ RMSNorm([h_1, ..., h_n]) with `rows` for φ: [numbers, ..., 1].
    void writeAllFeatures(const std::string& rows)
    {
        out().lines(R"(
scale = torch.rsqrt(streams.square().sum((0, -1)) / %1 + %2)
y = sum(x @ rows.t() for x, rows in zip(streams, %3)) * scale.unsqueeze(-1)
y = y.movedim(-1, 0).unsqueeze(-1))",
                    {written(m_streams.streams * m_sizes.width), pythonReal(streamNormEpsilon(m_streams)), rows});
    }

    void addLogits()
    {
        const std::int64_t n = m_streams.streams;
        const std::string last = written(n + m_sizes.carry);
        out().line("read = self.scale[j, 0] * y[:" + written(n) + "] + read");
        if (mixes()) {
            const std::string matrix = permutes() ? "" : ".unflatten(0, (" + written(n) + ", " + written(n) + "))";
            out().line("carry = self.scale[j, 1] * y[" + written(n) + ":" + last + "]" + matrix + " + carry");
        }
        out().line("write = self.scale[j, " + std::string(mixes() ? "2" : "1") + "] * y[" + last + ":] + write");
    }

    void writeExit()
    {
        out().define("leave(self, streams)", {"The sum of the streams, with weights made for each token."});
        writeAllFeatures("self.exit");
        out().lines(R"(
bias = self.exit_bias.reshape((-1,) + (1,) * (streams.dim() - 1))
weights = torch.sigmoid(self.exit_scale * y + bias) + %1
return (weights * streams).sum(0))",
                    {pythonReal(kStreamEpsilon)});
    }

    void writeForward()
    {
        const std::string n = written(m_streams.streams);
        beginForward(m_setting, out());
        out().lines(R"(
streams = torch.stack(%1)
for j, layer in %5:
    %2
        %3
    %4 = self.weights(j, streams))",
                    {m_cut ? "x.chunk(" + n + ", -1)" : "[x] * " + n, m_setting.leavesOut ? "if layer is absent:" : "",
                     m_setting.leavesOut ? "continue" : "", connections(),
                     m_setting.sharesRows() ? "zip(ROWS, layers)" : "enumerate(layers)"});
        out().lines(m_cut ? R"(
    branch = layer(torch.cat(tuple((read * streams.unsqueeze(1)).sum(0)), -1))
    branch = torch.stack(branch.chunk(%1, -1)))"
                          : "    branch = layer((read * streams).sum(0))",
                    {n});
        out().lines(R"(
    streams = %1 + write * branch
return %2)",
                    {mixes() ? "(carry * streams.unsqueeze(1)).sum(0)" : "streams",
                     m_cut                                ? "torch.cat(tuple(streams), -1)"
                     : m_head                             ? "self.leave(streams)"
                     : m_streams.exit == StreamExit::Mean ? "streams.mean(0)"
                                                          : "streams.sum(0)"});
    }

    const TopologySetting& m_setting;
    const MultiStream& m_streams;
    const std::int64_t m_modules;
    const StreamSizes m_sizes;
    const bool m_dynamic;
    const bool m_constrained;
    const bool m_cut;
    const bool m_head;
    TopologyCode m_code;
};

} // namespace

TopologyCode codeOf(const TopologySetting& setting, const MultiStream& streams)
{
    return StreamWriter(setting, streams).write();
}

} // namespace residua::projects
