// SPDX-License-Identifier: GPL-3.0-or-later
// Hyper-Connections and mHC: n residual streams.
#include "projects/depth/stream_start.h"
#include "projects/pytorch/topology_code.h"

namespace residua::projects {
namespace {

std::string shown(std::int64_t number)
{
    return std::to_string(number);
}

class StreamWriter {
public:
    StreamWriter(const TopologySetting& setting, const MultiStream& streams)
        : m_setting(setting),
          m_streams(streams),
          m_modules(modulesIn(setting.project.topology.wiring, setting.layers)),
          m_dynamic(streams.weights == StreamWeights::Dynamic),
          m_constrained(streams.constraint == StreamConstraint::DoublyStochastic)
    {
    }

    TopologyCode write()
    {
        beginTopology(m_setting, m_code.text, words());
        writeInit();
        writeWeights();
        writeForward();
        return std::move(m_code);
    }

private:
    [[nodiscard]] PythonText& out() { return m_code.text; }

    [[nodiscard]] std::vector<std::string> words() const
    {
        std::vector<std::string> result{
            "Layer j reads u = Σ_s read_js h_s of the " + shown(m_streams.streams) +
            " streams h_s, and writes h'_t = Σ_s carry_jst h_s + write_jt f_j(u). All streams start as the input, and "
            "their sum leaves."};
        if (m_constrained) {
            result.push_back("read = sigmoid(r), write = 2 sigmoid(w), and carry = sinkhorn(c) is nearly doubly "
                             "stochastic, by " +
                             shown(m_streams.sinkhornIterations) + " divisions of rows and columns.");
        }
        if (m_dynamic && m_constrained) {
            result.emplace_back("Their logits have a part for each token, scale · φ RMSNorm([h_1, ..., h_n]).");
        } else if (m_dynamic) {
            result.push_back(std::string("Beside what all tokens share, each has a part for each token, scale · "
                                         "tanh(W norm(h_s)), where norm is a ") +
                             (m_streams.norm == StreamNorm::Layer ? "layer norm without bias." : "RMS norm."));
        }
        return result;
    }

    void parameter(const std::string& name, const std::string& made)
    {
        out().line("self." + name + " = nn.Parameter(" + made + ")");
        m_code.keepName(name);
    }

    void writeInit()
    {
        const std::int64_t n = m_streams.streams;
        const std::string layers = shown(m_modules);
        const std::string rows = layers + ", " + shown(n);
        out().line();
        out().line("def __init__(self):");
        out().indent();
        out().line("super().__init__()");
        const std::int64_t each = m_constrained ? modulesPerHome(m_streams) : 1;
        const std::string home = each == 1 ? "" : ".repeat_interleave(" + shown(each) + ", 0)";
        const std::string turns = "torch.eye(" + shown(n) + ")" + home + ".repeat(" +
                                  shown((m_modules + n * each - 1) / (n * each)) + ", 1)[:" + layers + "]";
        const std::string identity = "torch.eye(" + shown(n) + ").repeat(" + layers + ", 1, 1)";
        if (m_constrained) {
            const StreamStart start = streamStart(m_streams);
            parameter("read",
                      pythonReal(start.readOn - start.readOff) + " * " + turns + " + " + pythonReal(start.readOff));
            const std::string beside = start.carryOff == 0 ? "" : " - " + pythonReal(-start.carryOff);
            parameter("carry", pythonReal(start.carry - start.carryOff) + " * " + identity + beside);
        } else {
            parameter("read", turns + ".clone()");
            parameter("carry", identity);
        }
        parameter("write", (m_constrained ? "torch.zeros(" : "torch.ones(") + rows + ")");
        const std::string d = shown(m_setting.width());
        const std::string scale = pythonReal(m_streams.dynamicScale);
        if (m_dynamic && m_constrained) {
            parameter("dynamic", "torch.zeros(" + rows + ", " + shown(n * n + 2 * n) + ", " + d + ")");
            parameter("scale", "torch.full((" + layers + ", 3), " + scale + ")");
        } else if (m_dynamic) {
            parameter("norm", "torch.ones(" + layers + ", " + d + ")");
            parameter("dynamic", "torch.zeros(" + layers + ", " + shown(n + 2) + ", " + d + ")");
            parameter("scale", "torch.full((" + layers + ", 2), " + scale + ")");
        }
        out().outdent();
    }

    void writeWeights()
    {
        out().line();
        out().line("def weights(self, j, streams):");
        out().indent();
        out().docstring({m_dynamic ? "read [n, ..., 1], carry [from, to, ..., 1] and write [n, ..., 1] of layer j "
                                     "(from 0), for each token of the streams [n, ..., d]."
                                   : "read [n], carry [from, to] and write [n] of layer j (from 0), each with a "
                                     "dimension of 1 for all that follow in a stream."});
        const std::string ones = "(1,) * (streams.dim() - 1)";
        if (!m_dynamic) {
            out().line("read, carry, write = self.read[j], self.carry[j], self.write[j]");
            if (m_constrained) {
                writeConstraint();
            }
            out().line("ones = " + ones);
            out().line("return tuple(w.reshape(w.shape + ones) for w in (read, carry, write))");
        } else if (m_constrained) {
            writeConstrainedTokens(ones);
        } else {
            writeTokens(ones);
        }
        out().outdent();
    }

    void writeConstraint()
    {
        m_setting.helpers.use(Helper::Sinkhorn);
        out().line("read, write = torch.sigmoid(read), 2 * torch.sigmoid(write)");
        out().line("carry = sinkhorn(carry, " + shown(m_streams.sinkhornIterations) + ")");
    }

    void writeTokens(const std::string& ones)
    {
        out().line("width = streams.shape[-1:]");
        out().line(m_streams.norm == StreamNorm::Layer ? "normal = F.layer_norm(streams, width, self.norm[j], eps=1e-5)"
                                                       : "normal = F.rms_norm(streams, width, self.norm[j], eps=1e-6)");
        out().line("active = torch.tanh(normal @ self.dynamic[j].t()).movedim(-1, 1).unsqueeze(-1)");
        out().line("ones = " + ones);
        out().line("read, carry, write = (w[j].reshape(w[j].shape + ones) for w in (self.read, self.carry, "
                   "self.write))");
        out().line("read = read + self.scale[j, 0] * active[:, 0]");
        out().line("carry = carry + self.scale[j, 0] * active[:, 1:" + shown(m_streams.streams + 1) + "]");
        out().line("write = write + self.scale[j, 1] * active[:, " + shown(m_streams.streams + 1) + "]");
        out().line("return read, carry, write");
    }

    void writeConstrainedTokens(const std::string& ones)
    {
        const std::int64_t n = m_streams.streams;
        out().line("size = " + shown(n * m_setting.width()));
        out().line("scale = torch.rsqrt(streams.square().sum((0, -1)) / size + 1e-6)");
        out().line("y = sum(x @ rows.t() for x, rows in zip(streams, self.dynamic[j])) * scale.unsqueeze(-1)");
        out().line("y = y.movedim(-1, 0).unsqueeze(-1)");
        out().line("ones = " + ones);
        out().line("read, carry, write = (w[j].reshape(w[j].shape + ones) for w in (self.read, self.carry, "
                   "self.write))");
        out().line("read = self.scale[j, 0] * y[:" + shown(n) + "] + read");
        out().line("carry = self.scale[j, 1] * y[" + shown(n) + ":" + shown(n + n * n) + "].unflatten(0, (" + shown(n) +
                   ", " + shown(n) + ")) + carry");
        out().line("write = self.scale[j, 2] * y[" + shown(n + n * n) + ":] + write");
        writeConstraint();
        out().line("return read, carry, write");
    }

    void writeForward()
    {
        beginForward(m_setting, out());
        out().line("streams = torch.stack([x] * " + shown(m_streams.streams) + ")");
        out().line("for j, layer in enumerate(layers):");
        out().indent();
        out().line("read, carry, write = self.weights(j, streams)");
        out().line("branch = layer((read * streams).sum(0))");
        out().line("streams = (carry * streams.unsqueeze(1)).sum(0) + write * branch");
        out().outdent();
        out().line("return streams.sum(0)");
    }

    const TopologySetting& m_setting;
    const MultiStream& m_streams;
    const std::int64_t m_modules;
    const bool m_dynamic;
    const bool m_constrained;
    TopologyCode m_code;
};

} // namespace

TopologyCode codeOf(const TopologySetting& setting, const MultiStream& streams)
{
    return StreamWriter(setting, streams).write();
}

} // namespace residua::projects
