// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/pytorch/helper_code.h"

#include "projects/pytorch/visit_products.h"

#include <algorithm>

namespace residua::projects {
namespace {

struct HelperText {
    Helper helper;
    const char* name;
    const char* text;
};

constexpr HelperText kHelpers[] = {
    {Helper::LowRankLinear, "LowRankLinear", R"(class LowRankLinear(nn.Module):
    """y = u·(v·x) (+ b): a linear map of low rank, whose matrix u·v is never formed."""

    def __init__(self, inputs, outputs, rank, bias=False):
        super().__init__()
        self.v = nn.Parameter(torch.randn(rank, inputs) / math.sqrt(inputs))
        self.u = nn.Parameter(torch.randn(outputs, rank) / math.sqrt(rank))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, x):
        return F.linear(F.linear(x, self.v), self.u, self.bias)
)"},
    {Helper::LowRankConv2d, "LowRankConv2d", R"(class LowRankConv2d(nn.Module):
    """A convolution to `rank` channels, then u at each pixel: the weight u·v is never formed."""

    def __init__(self, inputs, outputs, kernel, rank, stride=1, padding=0, bias=False):
        super().__init__()
        self.stride, self.padding = stride, padding
        self.v = nn.Parameter(torch.randn(rank, inputs, kernel, kernel) / (kernel * math.sqrt(inputs)))
        self.u = nn.Parameter(torch.randn(outputs, rank) / math.sqrt(rank))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, x):
        inner = F.conv2d(x, self.v, stride=self.stride, padding=self.padding)
        return F.conv2d(inner, self.u[:, :, None, None], self.bias)
)"},
    {Helper::LowRankConv2dBySide, "LowRankConv2dBySide", R"(class LowRankConv2dBySide(nn.Module):
    """A convolution along the width to `rank` channels, then one along the height: the weight u·v is never formed."""

    def __init__(self, inputs, outputs, kernel, rank, stride=1, padding=0, bias=False):
        super().__init__()
        self.kernel, self.stride, self.padding = kernel, stride, padding
        self.v = nn.Parameter(torch.randn(rank, inputs, 1, kernel) / math.sqrt(kernel * inputs))
        self.u = nn.Parameter(torch.randn(outputs * kernel, rank) / math.sqrt(kernel * rank))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, x):
        columns = F.conv2d(x, self.v, stride=(1, self.stride), padding=(0, self.padding))
        rows = self.u.reshape(-1, self.kernel, self.u.shape[1]).transpose(1, 2).unsqueeze(3)
        return F.conv2d(columns, rows, self.bias, stride=(self.stride, 1), padding=(self.padding, 0))
)"},
    {Helper::Scale, "Scale", R"(class Scale(nn.Module):
    """Multiplies by learned factors, one for all features or one for each."""

    def __init__(self, factors, start):
        super().__init__()
        self.factor = nn.Parameter(torch.full((factors,), start))

    def forward(self, x):
        return self.factor * x
)"},
    {Helper::BatchNorm, "BatchNorm", R"(class BatchNorm(nn.Module):
    """Normalises each feature over all rows: by their moments in training, else by the running ones."""

    def __init__(self, features, eps, momentum):
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        moments = (self.running_mean, self.running_var)
        y = F.batch_norm(rows, *moments, self.weight, self.bias, self.training, self.momentum, self.eps)
        return y.reshape(x.shape)
)"},
    {Helper::DropExamples, "drop_examples", R"(def drop_examples(x, rate, training):
    """In training, makes each example of a batch zero with the probability `rate`, and scales the rest up."""
    if not training or rate == 0:
        return x
    kept = torch.rand(x.shape[:1] + (1,) * (x.dim() - 1), device=x.device) >= rate
    return x * (kept / (1 - rate)).to(x)
)"},
    {Helper::StepEmbedding, "step_embedding", R"(def step_embedding(steps, features, base, dtype):
    """For numbers [batch]: their cosines at frequencies base^(-i/(features/2)), then their sines, [batch, features]."""
    wide = torch.promote_types(dtype, torch.float32)
    half = features // 2
    frequencies = base ** (-torch.arange(half, dtype=torch.float64, device=steps.device) / half)
    angles = steps.to(wide).unsqueeze(-1) * frequencies.to(wide)
    return torch.cat((angles.cos(), angles.sin()), dim=-1).to(dtype)
)"},
    {Helper::NoiseLoss, "noise_loss", R"(def noise_loss(output, target, x, steps, count, first, last):
    """The squared error of the noise, and the bits of the variational bound that train the variances alone. `output` has
    the noise and the shares of the variances, `x` is the noised example, and `steps` counts from 0.
    """
    beta = torch.linspace(first, last, count, dtype=torch.float64, device=output.device)
    bars = torch.cumprod(1 - beta, 0)
    before = torch.cat((bars.new_ones(1), bars[:-1]))
    posterior = beta * (1 - before) / (1 - bars)
    posterior = torch.cat((posterior[1:2], posterior[1:]))

    def of(table):
        return table[steps].to(output).unsqueeze(1)

    noise, share = output.chunk(2, dim=1)
    low, high = of(posterior.log()), of(beta.log())
    log_variance = (share + 1) / 2 * high + (1 - share) / 2 * low
    error = (noise.detach() - target) * of(beta / ((1 - beta) * (1 - bars)).sqrt())
    bound = (log_variance - low - 1 + (low - log_variance).exp() + error**2 * (-log_variance).exp()) / 2
    clean = (x - target * of((1 - bars).sqrt())) / of(bars.sqrt())

    def below(z):
        return torch.erfc(-z * (-log_variance / 2).exp() / math.sqrt(2)) / 2

    mass = torch.where(clean > 0.999, below(1 / 255 - error), below(error + 1 / 255) - below(error - 1 / 255))
    mass = torch.where(clean < -0.999, below(error + 1 / 255), mass)
    nats = torch.where((steps == 0).unsqueeze(1), -mass.clamp_min(1e-12).log(), bound)
    return (noise - target).square().mean() + nats.mean() / math.log(2)
)"},
    {Helper::Sinusoids, "sinusoids", R"(def sinusoids(x, base):
    """For [batch, time, d], at position p: sin(p / base^(2i/d)) and its cosine as features 2i and 2i + 1."""
    time, width = x.shape[-2:]
    powers = torch.arange(0, width, 2, dtype=torch.float64) / width
    angles = torch.outer(torch.arange(time, dtype=torch.float64), base**-powers)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, :width].to(x)
)"},
    {Helper::GridSinusoids, "grid_sinusoids", R"(def grid_sinusoids(x, base, columns, before=False):
    """For [batch, positions, d] of a grid, row by row: a quarter each of the sine and cosine of the column and the sine
    and cosine of the row, at frequencies base^(-i/(d/4 - 1)), or before the base at base^(-i/(d/4)).
    """
    count, width = x.shape[-2:]
    frequencies = base ** (-torch.arange(width // 4, dtype=torch.float64) / (width // 4 - (not before)))
    positions = torch.arange(count)
    column = torch.outer((positions % columns).double(), frequencies)
    row = torch.outer((positions // columns).double(), frequencies)
    return torch.cat((column.sin(), column.cos(), row.sin(), row.cos()), dim=-1).to(x)
)"},
    {Helper::SinusoidHalves, "sinusoid_halves", R"(def sinusoid_halves(x, base):
    """For [batch, time, d]: the sines of all frequencies base^(-i/(d/2 - 1)), then their cosines."""
    time, width = x.shape[-2:]
    frequencies = base ** -torch.linspace(0, 1, width // 2, dtype=torch.float64)
    angles = torch.outer(torch.arange(time, dtype=torch.float64), frequencies)
    return torch.cat((angles.sin(), angles.cos()), dim=-1).to(x)
)"},
    {Helper::Rotate, "rotary_frequencies", R"(def rotary_frequencies(features, base):
    """Of rotary positions: base^(-2i/r) for each pair i of r features, in radians a position."""
    return base ** -(torch.arange(0, features, 2, dtype=torch.float64) / features)
)"},
    {Helper::SlowFrequencies, "slowed", R"(def slowed(frequencies, factor, low, high, original_length):
    """Divides by the factor what turns less than `low` times within the original length, leaves what turns more than
    `high` times, and goes smoothly from one to the other (Llama 3.1).
    """
    turns = frequencies * original_length / (2 * math.pi)
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return frequencies * (kept + (1 - kept) / factor)
)"},
    {Helper::Rotate, "rotate", R"(def rotate(x, frequencies):
    """Rotary positions: features i and i + r/2 of [batch, heads, time, e] turned by p · frequencies[i] at position p,
    where there are r/2 frequencies; features from r on stay.
    """
    angles = torch.outer(torch.arange(x.shape[-2], dtype=torch.float64), frequencies)
    cosine, sine = angles.cos().to(x), angles.sin().to(x)
    half = len(frequencies)
    first, second, rest = x.split((half, half, x.shape[-1] - 2 * half), dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine, rest), dim=-1)
)"},
    {Helper::WindowMask, "window_mask", R"(def window_mask(time, window, device):
    """Which tokens each sees: itself and at most window - 1 earlier ones."""
    position = torch.arange(time, device=device)
    behind = position[:, None] - position
    return (behind >= 0) & (behind < window)
)"},
    {Helper::FeatureAttention, "feature_attention", R"(def feature_attention(q, k, v, features, causal):
    """Attention by positive features w in the place of a softmax: token s reads the mean of v_t by phi(q_s)·phi(k_t),
    where phi(x) = exp(w·x' - |x'|²/2) and x' = x / e^¼. What is subtracted before an exponential cancels. Causal, it
    goes through time in chunks: pairs of tokens are formed within one, and of those before it there are sums.
    """
    kv_heads, scale = k.shape[1], q.shape[-1] ** -0.25
    q, k = q.unflatten(1, (kv_heads, -1)) * scale, k.unsqueeze(2) * scale
    values = torch.cat((v, torch.ones_like(v[..., :1])), dim=-1).unsqueeze(2)
    kernel = features.transpose(-2, -1).unsqueeze(1)
    by_query, by_key = q @ kernel, k @ kernel - (k * k).sum(-1, keepdim=True) / 2
    length = 64 if causal else k.shape[-2]
    sums, before, made = 0, None, []
    for start in range(0, k.shape[-2], length):
        query, key, value = (x[..., start : start + length, :] for x in (by_query, by_key, values))
        shift = key.detach().amax(-2, keepdim=True)
        if before is not None:
            shift = torch.maximum(shift, before)
            sums = sums * (before - shift).exp().transpose(-2, -1)
        query = query + shift
        query = (query - query.detach().amax(-1, keepdim=True)).exp()
        key = (key - shift).exp()
        own = key.transpose(-2, -1) @ value
        if not causal:
            mixed = query @ own
        else:
            mixed = (query @ key.transpose(-2, -1)).tril() @ value
            mixed = mixed if before is None else mixed + query @ sums
        sums, before = sums + own, shift
        made.append(mixed[..., :-1] / mixed[..., -1:].clamp_min(1e-30))
    return torch.cat(made, dim=-2).flatten(1, 2)
)"},
    {Helper::OpenRelu, "open_relu", R"(def open_relu(x):
    """ReLU with a derivative of 1 at 0, so that a gate that starts there can learn."""
    return torch.where(x >= 0, x, torch.zeros_like(x))
)"},
    {Helper::RoundHalfAway, "round_half_away", R"(def round_half_away(x):
    """The nearest whole number, halves away from zero; torch.round takes them to even."""
    whole = torch.trunc(x)
    return torch.where(torch.isfinite(x), whole + torch.trunc((x - whole) * 2), x)
)"},
    {Helper::Sinkhorn, "sinkhorn", R"(def sinkhorn(logits, iterations):
    """exp(logits) [n, n, ...] with rows and columns divided by their sums in turn: nearly doubly stochastic."""
    m = torch.exp(logits - logits.amax((0, 1), keepdim=True).detach())
    for _ in range(iterations):
        m = m / m.sum(1, keepdim=True)
        m = m / m.sum(0, keepdim=True)
    return m
)"},
    {Helper::TokenWeights, "TokenWeights", R"(class TokenWeights(nn.Module):
    """GELU(RMSNorm(x) W1) W2 + b: the weights of one reader for each token, made from the newest entry x."""

    def __init__(self, width, hidden, weights):
        super().__init__()
        self.hidden = nn.Parameter(torch.randn(hidden, width) / math.sqrt(width))
        self.mix = nn.Parameter(torch.zeros(weights, hidden))
        self.bias = nn.Parameter(torch.zeros(weights))

    def forward(self, x):
        normal = F.rms_norm(x, x.shape[-1:], eps=1e-6)
        return F.linear(F.gelu(F.linear(normal, self.hidden)), self.mix, self.bias)
)"},
    {Helper::BetweenFeedForwards, "between_feed_forwards", R"(def between_feed_forwards(layers):
    """Steps from one feed-forward input u to the next: f(u) + a(u + f(u)), where a is the next layer's attention. The
    last step is the feed-forward half alone.
    """

    def step(layer, following):
        def branch(u):
            f = layer.feed_forward(u)
            return f + following.attend(u + f)

        return branch

    rest = layers[1:]
    return [step(layer, following) for layer, following in zip(layers, rest)] + [layers[-1].feed_forward]
)"},
    {Helper::Absent, "absent", R"(def absent(x, *ports):
    """The branch of a layer that the network leaves out."""
    return torch.zeros_like(x)
)"},
    {Helper::Streams, "Streams", R"(class Streams(nn.Module):
    """n states [..., n, d] that the visits of a loop read and write, with shares by their content (Hyperloop)."""

    def __init__(self, width, visits, n):
        super().__init__()
        self.n = n
        self.weight = nn.Parameter(torch.zeros(visits, 3 * n, n * width))
        self.bias = nn.Parameter(torch.zeros(visits, 3 * n))
        self.scale = nn.Parameter(torch.full((visits, 3), 0.01))

    def shares(self, visit, states):
        flat = states.flatten(-2)
        z = F.rms_norm(flat, (flat.shape[-1],), eps=1e-6)
        logits = F.linear(z, self.weight[visit - 1]).unflatten(-1, (3, self.n)) * self.scale[visit - 1, :, None]
        return torch.sigmoid(logits + self.bias[visit - 1].view(3, self.n)).unsqueeze(-1).unbind(-3)

    def taken(self, visit, states):
        return (self.shares(visit, states)[0] * states).sum(-2)

    def put(self, visit, states, made):
        _, write, keep = self.shares(visit, states)
        return keep * states + 2 * write * made.unsqueeze(-2)

    def left(self, states):
        return states.mean(-2)
)"},
    {Helper::Lanes, "Lanes", R"(class Lanes(nn.Module):
    """n states [..., n, d] that the visits of a loop read and write, with learned weights for each visit."""

    def __init__(self, width, visits, n):
        super().__init__()
        self.n = n
        self.read = nn.Parameter(torch.eye(n)[[visit % n for visit in range(visits)]])
        self.mix = nn.Parameter(torch.eye(n).repeat(visits, 1, 1))
        self.write = nn.Parameter(torch.ones(visits, n))

    def taken(self, visit, states):
        return (self.read[visit - 1, :, None] * states).sum(-2)

    def put(self, visit, states, made):
        return self.mix[visit - 1] @ states + self.write[visit - 1, :, None] * made.unsqueeze(-2)

    def left(self, states):
        return states.sum(-2)
)"},
    {Helper::Loop, "Loop", R"(class Loop(nn.Module):
    """What happens to the state h between the visits of a loop, whose input is e. A pass makes `made` of its visits."""

    def __init__(self, width, visits, made, injection="none", embedding=False, gate=False, norm="none", streams=None,
                 lanes=None, exit=False):
        super().__init__()
        self.visits, self.made, self.added, self.normed = visits, made, injection == "add", norm
        self.injection = nn.Linear(2 * width, width, bias=False) if injection == "linear" else None
        self.embedding = nn.Parameter(torch.zeros(visits, width)) if embedding else None
        self.gate = nn.Parameter(torch.zeros(visits, width)) if gate else None
        self.norm = nn.RMSNorm(width, eps=1e-6) if norm in ("visits", "exit") else None
        self.exit = nn.Linear(width, 1) if exit else None
        self.of_head = []  # the head's norm for "head", in a list because it is stored there
        self.streams, self.lanes = streams, lanes

    def states(self, h, e):
        """The states that a visit reads: copies of the loop's input at first. Without streams, nothing."""
        kept = self.lanes if self.streams is None else self.streams
        return h if kept is None or h.dim() > e.dim() else torch.stack([h] * kept.n, dim=-2)

    def begin(self, visit, h, e):
        kept = self.lanes if self.streams is None else self.streams
        h = h if kept is None else kept.taken(visit, h)
        if self.injection is not None:
            h = self.injection(torch.cat((h, e), dim=-1))
        elif self.added and visit > 1:
            h = h + e
        return h if self.embedding is None or self.streams is not None else h + self.embedding[visit - 1]

    def end(self, visit, h, begun, states):
        ran = visit <= self.made
        if self.gate is not None and ran:
            h = begun + torch.sigmoid(self.gate[visit - 1]) * (h - begun)
        h = self.norm(h) if self.normed == "visits" and ran else h
        kept = self.lanes if self.streams is None else self.streams
        if kept is not None and ran:
            h = h + self.embedding[visit - 1] if self.streams is not None and self.embedding is not None else h
            h = kept.put(visit, states, h)
        return h if visit < self.visits else self.left(h)

    def left(self, h):
        """The state that leaves the loop, from that at the end of a visit."""
        kept = self.lanes if self.streams is None else self.streams
        h = h if kept is None else kept.left(h)
        if self.normed in ("none", "visits"):
            return h
        return self.of_head[0](h) if self.norm is None else self.norm(h)
)"},
    {Helper::VisitLinear, "VisitLinear", kVisitLinearCode},
    {Helper::AtVisit, "AtVisit", kAtVisitCode},
};

constexpr const char* kProjections[] = {"q", "k", "v", "out"};

/// Writes the class of one kind of attention.
class AttentionWriter {
public:
    AttentionWriter(const AttentionTraits& traits, const std::string& name) : m_traits(traits), m_name(name) {}

    std::string write()
    {
        m_text.beginClass(m_name, words());
        writeInit();
        m_text.define("split(self, x, heads)", {"[batch, time, heads · e] to [batch, heads, time, e]."});
        m_text.line("return x.unflatten(-1, (heads, self.head_dim)).transpose(1, 2)");
        writeForward();
        return m_text.text();
    }

private:
    [[nodiscard]] std::vector<std::string> words() const
    {
        std::string text = m_traits.features ? "Multi-head attention by positive features in each head of e features"
                                             : "Multi-head attention, softmax(q kᵀ / √e) v in each head of e features";
        text += m_traits.window   ? ": a token sees `window` tokens, itself and those before it."
                : m_traits.causal ? ": a token sees itself and earlier ones."
                                  : ".";
        std::vector<std::string> result{text};
        if (m_traits.masked) {
            result.emplace_back("The mask is [batch, time], 1 for a token and 0 for padding, which no token reads.");
        }
        if (m_traits.mixesValues) {
            result.emplace_back("Value residual: the values are λ1 · those of the first layer + λ2 · its own. Returns "
                                "what it makes, and its own values.");
        }
        return result;
    }

    [[nodiscard]] std::string projection(std::size_t which, const std::string& in, const std::string& out) const
    {
        const std::string sizes = in + ", " + out;
        const bool bias = hasBias(m_traits.bias, kProjections[which]);
        return std::string("self.") + kProjections[which] +
               (m_traits.factored[which]
                    ? " = LowRankLinear(" + sizes + ", " + kProjections[which] + "_rank" + (bias ? ", bias=True)" : ")")
                    : " = nn.Linear(" + sizes + ", bias=" + (bias ? "True)" : "False)"));
    }

    void writeInit()
    {
        std::string arguments = "self, width, heads, ";
        arguments += m_traits.sharesHeads ? "kv_heads, head_dim" : "head_dim";
        for (std::size_t i = 0; i < 4; ++i) {
            arguments += m_traits.factored[i] ? std::string(", ") + kProjections[i] + "_rank" : "";
        }
        arguments += m_traits.window ? ", window" : "";
        arguments += m_traits.features ? ", features" : "";
        arguments += m_traits.rope ? ", rope_base" : "";
        arguments += m_traits.rotatesPart ? ", rotating" : "";
        arguments += m_traits.scaling != RopeScaling::None ? ", rope_factor" : "";
        arguments += m_traits.scaling == RopeScaling::Llama3 ? ", low_frequency, high_frequency, original_length" : "";
        arguments += m_traits.qkNorm != QkNorm::None ? ", norm_eps" : "";
        arguments += m_traits.dropout ? ", dropout" : "";
        m_text.define("__init__(" + arguments + ")");
        m_text.lines(R"(
super().__init__()
self.heads, self.head_dim = heads, head_dim
%1
%2
%3
%4)",
                     {m_traits.sharesHeads ? "self.kv_heads = kv_heads" : "",
                      m_traits.window ? "self.window = window" : "",
                      m_traits.rope ? "self.frequencies = " + frequencies() : "",
                      m_traits.dropout ? "self.dropout = dropout" : ""});
        const std::string inner = "heads * head_dim";
        const std::string kvHeads = m_traits.sharesHeads ? "kv_heads" : "heads";
        const std::string shared = kvHeads + " * head_dim";
        m_text.line(projection(0, "width", inner));
        m_text.line(projection(1, "width", shared));
        m_text.line(projection(2, "width", shared));
        m_text.line(projection(3, inner, "width"));
        if (m_traits.features) {
            m_text.line("self.features = nn.Parameter(torch.randn(" + kvHeads + ", features, head_dim))");
        }
        if (m_traits.qkNorm != QkNorm::None) {
            const bool isAll = m_traits.qkNorm == QkNorm::AllHeads;
            m_text.line("self.q_norm = nn.RMSNorm(" + (isAll ? inner : "head_dim") + ", eps=norm_eps)");
            m_text.line("self.k_norm = nn.RMSNorm(" + (isAll ? shared : "head_dim") + ", eps=norm_eps)");
        }
    }

    [[nodiscard]] std::string frequencies() const
    {
        const std::string plain =
            std::string("rotary_frequencies(") + (m_traits.rotatesPart ? "rotating" : "head_dim") + ", rope_base)";
        switch (m_traits.scaling) {
        case RopeScaling::Linear:
            return plain + " / rope_factor";
        case RopeScaling::Llama3:
            return "slowed(" + plain + ", rope_factor, low_frequency, high_frequency, original_length)";
        case RopeScaling::None:
            break;
        }
        return plain;
    }

    void writeForward()
    {
        const std::string shared = m_traits.sharesHeads ? "self.kv_heads" : "self.heads";
        m_text.define(std::string("forward(self, q, k, v") + (m_traits.mixesValues ? ", first, share" : "") +
                      (m_traits.masked ? ", mask)" : ")"));
        const bool normsAll = m_traits.qkNorm == QkNorm::AllHeads;
        m_text.lines(R"(
q = self.split(%1, self.heads)
k = self.split(%2, %3)
%4 = self.split(self.v(v), %3)
%5
%6
%7)",
                     {normsAll ? "self.q_norm(self.q(q))" : "self.q(q)",
                      normsAll ? "self.k_norm(self.k(k))" : "self.k(k)", shared, m_traits.mixesValues ? "own" : "v",
                      m_traits.mixesValues ? "v = own if first is None else share[0] * first + share[1] * own" : "",
                      m_traits.qkNorm == QkNorm::Head ? "q, k = self.q_norm(q), self.k_norm(k)" : "",
                      m_traits.rope ? "q, k = rotate(q, self.frequencies), rotate(k, self.frequencies)" : ""});
        m_text.line("mixed = " + mixture());
        const std::string made = "self.out(mixed.transpose(1, 2).flatten(2))";
        m_text.line("return " + made + (m_traits.mixesValues ? ", own" : ""));
    }

    /// Returns the expression of the attention's output. Writes the lines that it needs first.
    std::string mixture()
    {
        if (m_traits.features) {
            return std::string("feature_attention(q, k, v, self.features, causal=") +
                   (m_traits.causal ? "True)" : "False)");
        }
        std::string arguments = "q, k, v";
        if (m_traits.masked) {
            m_text.line("seen = mask[:, None, None] != 0");
            if (m_traits.window) {
                m_text.line("seen = seen & window_mask(q.shape[2], self.window, q.device)");
            } else if (m_traits.causal) {
                m_text.line(
                    "seen = seen & torch.ones(q.shape[2], q.shape[2], dtype=torch.bool, device=q.device).tril()");
            }
            m_text.line("hidden = torch.zeros(seen.shape, dtype=q.dtype, device=q.device)");
            m_text.line("hidden = hidden.masked_fill(~seen, torch.finfo(q.dtype).min / 2)");
            arguments += ", attn_mask=hidden";
        } else if (m_traits.window) {
            m_text.line("mask = window_mask(q.shape[2], self.window, q.device)");
            arguments += ", attn_mask=mask";
        }
        if (m_traits.dropout) {
            m_text.line("dropout = self.dropout if self.training else 0.0");
            arguments += ", dropout_p=dropout";
        }
        arguments += m_traits.causal && !m_traits.window && !m_traits.masked ? ", is_causal=True" : "";
        arguments += m_traits.sharesHeads ? ", enable_gqa=True" : "";
        return "F.scaled_dot_product_attention(" + arguments + ")";
    }

    const AttentionTraits& m_traits;
    const std::string& m_name;
    PythonText m_text;
};

} // namespace

std::string HelperCode::attention(const AttentionTraits& traits)
{
    const auto found = std::ranges::find(m_attentions, traits, &std::pair<AttentionTraits, std::string>::first);
    if (found != m_attentions.end()) {
        return found->second;
    }
    if (traits.rope) {
        use(Helper::Rotate);
    }
    if (traits.scaling == RopeScaling::Llama3) {
        use(Helper::SlowFrequencies);
    }
    if (traits.window) {
        use(Helper::WindowMask);
    }
    if (traits.features) {
        use(Helper::FeatureAttention);
    }
    if (std::ranges::count(traits.factored, true) > 0) {
        use(Helper::LowRankLinear);
    }
    m_attentions.emplace_back(traits, m_names.classOf("Attention"));
    return m_attentions.back().second;
}

std::string HelperCode::text() const
{
    std::string text;
    for (const HelperText& helper : kHelpers) {
        if (m_used.contains(helper.helper)) {
            text += std::string("\n\n") + helper.text;
        }
    }
    for (const auto& [traits, name] : m_attentions) {
        text += "\n\n" + AttentionWriter(traits, name).write();
    }
    return text;
}

std::set<std::string> helperNames()
{
    std::set<std::string> names;
    for (const HelperText& helper : kHelpers) {
        names.insert(helper.name);
    }
    return names;
}

} // namespace residua::projects
