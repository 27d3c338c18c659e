# SPDX-License-Identifier: GPL-3.0-or-later
"""The networks of bench_training.cpp as one writes them in PyTorch: the peer that we measure ourselves against.

Written to be fast in eager mode: q, k, v and gate, up are one product each where they read the same, the angles of the
rotary positions are cast once, attention is F.scaled_dot_product_attention, AdamW is fused. Under bf16 the weights are
cast at their use, as ours are, instead of by autocast: autocast computes every norm in fp32 and casts its output again,
which is slower. --residual fp32 is what autocast makes of nanoGPT's residual; with bf16 all activations are bf16.

Prints one line for each network and mode, in the form of bench_training (see its --help).
"""
import argparse
import dataclasses
import resource
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
import peer_dit
from peer_dit import Dit
from peer_pictures import Pictures


@dataclasses.dataclass
class Shape:
    gpt: bool
    layers: int
    width: int
    heads: int
    hidden: int
    vocabulary: int  # or classes
    length: int
    family: str = "decoder"


SHAPES = {
    "small": Shape(False, 8, 256, 4, 688, 256, 256),
    "llama130m": Shape(False, 12, 768, 12, 2048, 32000, 256),
    "llama1b-2048": Shape(False, 24, 2048, 32, 5461, 32000, 2048),
    "llama1b-8192": Shape(False, 24, 2048, 32, 5461, 32000, 8192),
    "gpt2-124m": Shape(True, 12, 768, 12, 3072, 50304, 1024),
    "small-vit": Shape(True, 6, 64, 4, 256, 10, 1, "vit"),  # the examples of these names
    "small-dit": Shape(True, 6, 64, 4, 256, 10, 1, "dit"),
    "small-bert": Shape(True, 8, 128, 4, 512, 64, 64, "bert"),
    "small-ul2": Shape(False, 8, 128, 4, 352, 84, 64, "ul2"),
    "small-resnet": Shape(True, 6, 32, 1, 32, 10, 1, "resnet"),
    "small-efficientnet": Shape(True, 6, 24, 1, 144, 10, 1, "efficientnet"),
}
PICTURES = ("vit", "resnet", "efficientnet")
SIDE, PATCH = 32, 4  # of their pictures, in pixels
HIDDEN = 0.15  # share of the tokens that BERT predicts
PREFIX = (0.25, 0.75)  # share of UL2's tokens that all tokens see, drawn by row; the others are predicted
TEMPERATURE = 0.01  # ANCRe's, of its language models
LAST = 2  # k of k-DCA


class Norm(nn.Module):
    """An RMS norm or a layer norm with its statistics in the type of the residual and its output in `dtype`."""

    def __init__(self, shape, dtype):
        super().__init__()
        self.dtype = dtype
        self.weight = nn.Parameter(torch.ones(shape.width))
        self.bias = nn.Parameter(torch.zeros(shape.width)) if shape.gpt else None

    def forward(self, x):
        size, weight = self.weight.shape, self.weight.to(x.dtype)
        if self.bias is None:
            return F.rms_norm(x, size, weight, 1e-6).to(self.dtype)
        return F.layer_norm(x, size, weight, self.bias.to(x.dtype), 1e-5).to(self.dtype)


class Linear(nn.Module):
    """A product in the type of its input."""

    def __init__(self, inputs, outputs, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype), None if self.bias is None else self.bias.to(x.dtype))

    def parts(self, inputs):
        """The products of several inputs, each with its part of the outputs."""
        weights = self.weight.to(inputs[0].dtype).chunk(len(inputs))
        biases = [None] * len(inputs) if self.bias is None else self.bias.to(inputs[0].dtype).chunk(len(inputs))
        return [F.linear(*each) for each in zip(inputs, weights, biases)]


def rotate(x, cosine, sine):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), dim=-1)


class Block(nn.Module):
    """The halves of a pre-norm transformer block. The sums around them are the network's."""

    def __init__(self, shape, dtype):
        super().__init__()
        self.heads, self.gpt, self.causal = shape.heads, shape.gpt, shape.family == "decoder"
        self.mask = None
        self.norm_attention = Norm(shape, dtype)
        self.norm_ffn = Norm(shape, dtype)
        self.qkv = Linear(shape.width, 3 * shape.width, shape.gpt)
        self.out = Linear(shape.width, shape.width, shape.gpt)
        self.up = Linear(shape.width, shape.hidden * (1 if shape.gpt else 2), shape.gpt)  # or gate and up
        self.down = Linear(shape.hidden, shape.width, shape.gpt)

    def attend(self, q, k, v):
        """q, k and v are [batch, time, heads, features]."""
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def attention(self, x, angles):
        qkv = self.qkv(self.norm_attention(x)).unflatten(2, (3, self.heads, -1))
        qk, v = qkv[:, :, :2], qkv[:, :, 2]
        if angles is not None:
            qk = rotate(qk, *angles)
        return self.attend(qk[:, :, 0], qk[:, :, 1], v)

    def attention_apart(self, inputs, angles):
        """q, k and v read mixes of their own (DeepCrossAttention, figure 4)."""
        parts = self.qkv.parts([self.norm_attention(x) for x in inputs])
        q, k, v = (x.unflatten(2, (self.heads, -1)) for x in parts)
        if angles is not None:
            q, k = (rotate(x, *(angle[:, 0] for angle in angles)) for x in (q, k))
        return self.attend(q, k, v)

    def ffn(self, x):
        x = self.up(self.norm_ffn(x))
        if self.gpt:
            return self.down(F.gelu(x))
        gate, up = x.chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)


class GatedMix(nn.Module):
    """`outputs` GRN-v3 mixes of one stack (DeepCrossAttention, section 3.1): sum over s of x_s * (b_s + relu(w'x_s))."""

    def __init__(self, sources, outputs, width):
        super().__init__()
        self.b = nn.Parameter(torch.ones(outputs, sources, 1, 1, width))
        self.w = nn.Parameter(torch.zeros(outputs, width))

    def forward(self, entries):
        stack = torch.stack(entries)
        gates = torch.relu(stack @ self.w.to(stack.dtype).t())
        b = self.b.to(stack.dtype)
        return [(stack * (b[o] + gates[..., o : o + 1])).sum(0) for o in range(len(b))]


class Stack:
    """The entries that the next layer mixes: all, or of k-DCA the input, the sum of the middle ones and the last k."""

    def __init__(self, first, last):
        self.entries, self.last = [first], last

    def push(self, entry):
        self.entries.append(entry)
        if self.last and len(self.entries) > self.last + 2:
            self.entries[1:3] = [self.entries[1] + self.entries[2]]


class Network(nn.Module):
    def __init__(self, shape, topology, dtype, residual):
        super().__init__()
        self.shape, self.topology, self.residual = shape, topology, residual
        vit, bert = shape.family == "vit", shape.family == "bert"
        self.embedding = nn.Parameter(torch.empty(shape.vocabulary, shape.width)) if not vit else None
        self.patches = nn.Conv2d(3, shape.width, PATCH, PATCH) if vit else None
        positions = (SIDE // PATCH) ** 2 if vit else shape.length
        self.positions = nn.Parameter(torch.empty(positions, shape.width)) if shape.gpt else None
        self.norm_embedding = Norm(shape, dtype) if bert else None
        self.dense = Linear(shape.width, shape.width, True) if bert else None
        self.norm_head = Norm(shape, dtype) if bert else None
        self.bias = nn.Parameter(torch.zeros(shape.vocabulary)) if vit or bert else None
        self.blocks = nn.ModuleList(Block(shape, dtype) for _ in range(shape.layers))
        self.norm = Norm(shape, dtype)
        tied = (shape.gpt and not vit) or shape.family == "ul2"
        self.head = None if tied else nn.Parameter(torch.empty(shape.vocabulary, shape.width))
        if topology == "ancre":
            self.c = nn.ParameterList(nn.Parameter(torch.zeros(j)) for j in range(1, shape.layers + 1))
        self.last = LAST if topology == "k-dca" else 0
        if topology in ("dca", "k-dca"):
            most = self.last + 2 if self.last else shape.layers + 1
            sources = [min(t, most) for t in range(1, shape.layers + 2)]
            self.mixes = nn.ModuleList(GatedMix(t, 3, shape.width) for t in sources[:-1])
            self.final = GatedMix(sources[-1], 1, shape.width)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2 and not name.endswith(".w"):
                nn.init.normal_(parameter, std=0.02)
        if not shape.gpt:
            half = shape.width // shape.heads // 2
            frequencies = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
            angles = torch.outer(torch.arange(shape.length, dtype=torch.float64), frequencies)[:, None, None]
            self.register_buffer("cosine", angles.cos().to(dtype), persistent=False)
            self.register_buffer("sine", angles.sin().to(dtype), persistent=False)

    def body(self, x, angles):
        if self.topology == "plain":
            for block in self.blocks:
                x = x + block.attention(x, angles)
                x = x + block.ffn(x)
            return x
        if self.topology == "ancre":
            entries = [x]
            for block, c in zip(self.blocks, self.c):
                a = block.attention(x, angles)
                p = torch.softmax(c / TEMPERATURE, 0).to(x.dtype)
                x = a + block.ffn(x + a) + sum(p[i] * entry for i, entry in enumerate(entries))
                entries.append(x)
            return x
        stack = Stack(x, self.last)
        for block, mix in zip(self.blocks, self.mixes):
            mixed = mix(stack.entries)
            a = block.attention_apart(mixed, angles)
            stack.push((a + block.ffn(mixed[0] + a)).to(self.residual))
        return self.final(stack.entries)[0]

    def embed(self, inputs):
        if self.patches is not None:
            return self.patches(inputs).flatten(2).transpose(1, 2) + self.positions
        x = F.embedding(inputs, self.embedding)
        if self.positions is not None:
            x = x + self.positions[: inputs.shape[1]]
        return x if self.norm_embedding is None else self.norm_embedding(x)

    def forward(self, inputs, targets):
        if self.shape.family == "ul2":
            inputs, mask = inputs
            for block in self.blocks:
                block.mask = mask
        angles = None if self.shape.gpt else (self.cosine, self.sine)
        x = self.norm(self.body(self.embed(inputs).to(self.residual), angles))
        if self.patches is not None:
            x = x.mean(1)
        if self.dense is not None:
            x = self.norm_head(F.gelu(self.dense(x)))
        head = self.embedding if self.head is None else self.head
        logits = F.linear(x, head.to(x.dtype), None if self.bias is None else self.bias.to(x.dtype))
        return F.cross_entropy(logits.flatten(0, -2).float(), targets.flatten())


class Member:
    """A network that is measured, in one mode."""

    def __init__(self, shape_name, topology, mode, tokens, options):
        self.shape_name, self.topology, self.mode, self.options = shape_name, topology, mode, options
        self.shape, self.cuda = SHAPES[shape_name], options.device != "cpu"
        self.precision = options.precision or ("fp32" if shape_name.startswith("small") else "bf16")
        dtype = torch.bfloat16 if self.precision == "bf16" else torch.float32
        residual = dtype if options.residual == "bf16" else torch.float32
        self.batch = max(tokens // self.shape.length, 1) if tokens else options.batch
        before = self.allocated()
        torch.manual_seed(1)
        family = self.shape.family
        if family == "dit":
            network = Dit(self.shape)
        elif family in ("resnet", "efficientnet"):
            network = Pictures(family, self.shape.vocabulary)
        else:
            network = Network(self.shape, topology, dtype, residual)
        self.network = network.to(options.device)
        self.parameters = list(self.network.parameters())
        self.optimiser = torch.optim.AdamW(self.parameters, lr=1e-3, betas=(0.9, 0.98), weight_decay=0.1, fused=True)
        self.forward = torch.compile(self.network, dynamic=False) if mode == "compiled" else self.network
        self.seconds, self.rounds, self.processor, self.peak = [], [], 0.0, 0
        for _ in range(options.warmup):
            self.step()
        self.own = self.allocated() - before

    def allocated(self):
        return torch.cuda.memory_allocated() if self.cuda else 0

    def draw(self):
        shape, device = self.shape, self.options.device
        if shape.family in PICTURES:
            pictures = torch.randn(self.batch, 3, SIDE, SIDE, device=device)
            return pictures, torch.randint(shape.vocabulary, (self.batch,), device=device)
        if shape.family == "dit":
            pictures, noise = torch.randn(2, self.batch, 3 * peer_dit.SIDE**2, device=device)
            steps = torch.randint(peer_dit.STEPS, (self.batch,), device=device)
            return (pictures, steps, torch.randint(shape.vocabulary + 1, (self.batch,), device=device)), noise
        batch = torch.randint(shape.vocabulary, (self.batch, shape.length + 1), device=device)
        if shape.family == "bert":
            hidden = torch.rand(batch.shape, device=device) < HIDDEN
            return batch[:, :-1], batch.where(hidden, -100)[:, :-1]
        if shape.family == "ul2":
            bounds = [round(share * shape.length) for share in PREFIX]
            prefix = torch.randint(*bounds, (self.batch, 1), device=device)
            places = torch.arange(shape.length, device=device)
            seen = places < prefix
            mask = (places <= places[:, None]) | seen[:, None]
            return (batch[:, :-1], mask[:, None]), batch[:, 1:].where(~seen, -100)
        return batch[:, :-1], batch[:, 1:]

    def step(self):
        self.loss = self.forward(*self.draw())
        self.loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0, foreach=True)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)

    def mark(self):
        if not self.cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def turn(self, steps):
        """On a GPU one more step comes before the measured ones, in which the host gets ahead of the device."""
        held, processor = self.allocated(), time.process_time()
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
            self.step()
        marks = [self.mark()]
        for _ in range(steps):
            self.step()
            marks.append(self.mark())
        if self.cuda:
            torch.cuda.synchronize()
            times = [1e-3 * a.elapsed_time(b) for a, b in zip(marks, marks[1:])]
            self.peak = max(self.peak, torch.cuda.max_memory_allocated() - held + self.own)
        else:
            times = [b - a for a, b in zip(marks, marks[1:])]
            self.peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.processor += time.process_time() - processor
        self.seconds += times
        self.rounds.append(statistics.median_high(times))

    def report(self, members):
        tokens = self.batch * self.shape.length
        median = statistics.median_high(self.seconds)
        count = sum(parameter.numel() for parameter in self.parameters)
        apart = self.network.head is not None and self.network.embedding is not None
        embedding = self.network.embedding.numel() if apart else 0
        flop = 6 * (count - embedding + self.shape.layers * self.shape.width * self.shape.length)
        text = (f"pytorch-{self.mode} {self.topology}: {tokens / median:.0f} tokens/s, {1e3 * median:.2f} ms a step "
                f"(median of {len(self.seconds)}; best {1e3 * min(self.seconds):.2f}), ")
        if self.options.peak_tflops:
            text += f"MFU {100 * flop * tokens / median / (1e12 * self.options.peak_tflops):.1f} %, "
        if not self.cuda:
            text += f"{tokens * len(self.seconds) / self.processor:.0f} per processor second, "
        text += f"peak {self.peak / 2**30:.2f} GiB, "
        reference = next(each for each in members if each.mode == self.mode)
        if reference is not self:
            ratio = statistics.median_high(a / b for a, b in zip(self.rounds, reference.rounds))
            text += f"time {ratio:.3f} x {reference.topology}, "
        text += f"loss {self.loss.item():.4f}, {count} parameters; {self.shape_name}, {tokens} tokens, {self.precision}"
        print(text + (f", residual {self.options.residual}" if self.precision == "bf16" else ""), flush=True)


def attempt(name, work):
    """Calls `work`; prints what it throws, so that the other networks are measured all the same."""
    try:
        return work()
    except Exception as error:  # out of memory, or a compiler that fails
        print(f"pytorch-{name}: failed: {str(error).strip().splitlines()[0] if str(error).strip() else repr(error)}",
              flush=True)
        return None


def measure(shape, tokens, options, begin):
    members = []
    over = lambda: options.seconds and time.monotonic() - begin > options.seconds
    for mode in options.modes:
        for topology in options.topologies:
            name = f"{mode} {topology}"
            if over():
                print(f"pytorch-{name}: left out: --seconds {options.seconds:g}", flush=True)
                continue
            member = attempt(name, lambda: Member(shape, topology, mode, tokens, options))
            if member and not options.warm:
                members.append(member)
            elif member:
                print(f"pytorch-{name}: compiled; {shape}", flush=True)
    turn = 1 if options.device == "cpu" else max((options.steps + 3) // 4, 1)
    for done in range(0, options.steps, turn):
        if done and over():
            print(f"ended after {done} of {options.steps} steps: --seconds {options.seconds:g}", flush=True)
            break
        steps = min(turn, options.steps - done)
        members = [each for each in members
                   if attempt(f"{each.mode} {each.topology}", lambda: each.turn(steps) or each)]
    for member in members:
        member.report(members)


def main():
    words = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", type=words, default=["small"], help=f"of {', '.join(SHAPES)}; one after another")
    parser.add_argument("--topologies", "--topology", type=words, default=["plain"],
                        help="of plain, ancre (or ancre-ingoing), k-dca, dca")
    parser.add_argument("--modes", type=words, default=["eager"], help="of eager, compiled")
    parser.add_argument("--tokens", type=lambda text: [int(each) for each in words(text)], default=[0],
                        help="tokens in a step, one number or one for each shape; default 8 sequences")
    parser.add_argument("--batch", type=int, default=8, help="sequences in a step")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--precision", choices=("fp32", "bf16"), help="default bf16, for small ones fp32")
    parser.add_argument("--residual", default="fp32", choices=("fp32", "bf16"))
    parser.add_argument("--seconds", type=float, default=0, help="no further round begins after so many")
    parser.add_argument("--peak-tflops", type=float, default=0, help="for the MFU; default 989 on a GPU")
    parser.add_argument("--warm", action="store_true",
                        help="takes one step of each network in compiled mode, which fills inductor's cache, and ends")
    options = parser.parse_args()
    options.topologies = ["ancre" if each == "ancre-ingoing" else each for each in options.topologies]
    for given, known in ((options.shape, SHAPES), (options.topologies, ("plain", "ancre", "k-dca", "dca")),
                         (options.modes, ("eager", "compiled"))):
        if unknown := set(given) - set(known):
            parser.error(f"unknown: {', '.join(unknown)}")
    if len(options.tokens) not in (1, len(options.shape)):
        parser.error("--tokens has one number, or one for each shape")
    if options.warm:
        options.modes, options.warmup, options.steps = ["compiled"], 1, 0
    torch.set_num_threads(options.threads)
    if options.device != "cpu":
        torch.cuda.set_device(torch.device(options.device).index or 0)
        options.peak_tflops = options.peak_tflops or 989
        print(f"{options.device}: {torch.cuda.get_device_name()}, PyTorch {torch.__version__}", flush=True)
    begin = time.monotonic()
    for i, shape in enumerate(options.shape):
        measure(shape, options.tokens[i % len(options.tokens)], options, begin)


if __name__ == "__main__":
    main()
