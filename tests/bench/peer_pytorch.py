# SPDX-License-Identifier: GPL-3.0-or-later
"""The network of bench_training.cpp as one writes it in PyTorch: the peer that we measure ourselves against.

peer_pytorch.py [--topology plain|ancre|dca] [--compile] [--steps N] [--warmup N] [--batch N] [--threads N]
                [--device cpu|cuda] [--precision fp32|bf16]
"""
import argparse
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, HEADS, DEPTH, TIME, VOCABULARY = 256, 4, 8, 256, 256
HIDDEN = 16 * math.ceil(WIDTH / 6)


def rotary_angles(device):
    half = WIDTH // HEADS // 2
    frequencies = 10000.0 ** (-torch.arange(half, device=device) / half)
    angles = torch.outer(torch.arange(TIME, device=device), frequencies)
    return angles.cos(), angles.sin()


def rotate(x, cosine, sine):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), dim=-1)


class Block(nn.Module):
    """r(h) = a + FFN(norm(h + a)), a = Attn(norm(h)); q, k and v may be fed apart."""

    def __init__(self):
        super().__init__()
        self.norm_attention = nn.RMSNorm(WIDTH, eps=1e-6)
        self.norm_ffn = nn.RMSNorm(WIDTH, eps=1e-6)
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(WIDTH, HIDDEN, bias=False) for _ in range(2))
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, q, k, v, angles):
        nq = self.norm_attention(q)
        nk = nq if k is q else self.norm_attention(k)
        nv = nq if v is q else self.norm_attention(v)
        split = lambda x: x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)
        heads_q = rotate(split(self.q(nq)), *angles)
        heads_k = rotate(split(self.k(nk)), *angles)
        mixed = F.scaled_dot_product_attention(heads_q, heads_k, split(self.v(nv)), is_causal=True)
        a = self.out(mixed.transpose(1, 2).flatten(2))
        x = self.norm_ffn(q + a)
        return a + self.down(F.silu(self.gate(x)) * self.up(x))


class GatedMix(nn.Module):
    """GRN-v3 over a stack: (G * (b + relu(w'G))) summed over depth."""

    def __init__(self, entries):
        super().__init__()
        self.b = nn.Parameter(torch.ones(entries, 1, 1, WIDTH))
        self.w = nn.Parameter(torch.zeros(WIDTH))

    def forward(self, stack):
        return (stack * (self.b + torch.relu(stack @ self.w).unsqueeze(-1))).sum(0)


class Network(nn.Module):
    def __init__(self, topology):
        super().__init__()
        self.topology = topology
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.norm = nn.RMSNorm(WIDTH, eps=1e-6)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        if topology == "ancre":
            self.c = nn.ParameterList(nn.Parameter(torch.zeros(j)) for j in range(1, DEPTH + 1))
        if topology == "dca":
            self.mixes = nn.ModuleList(nn.ModuleList(GatedMix(t + 1) for _ in range(3)) for t in range(DEPTH))
            self.final = GatedMix(DEPTH + 1)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, angles):
        x = self.embedding(tokens)
        if self.topology == "plain":
            for block in self.blocks:
                x = x + block(x, x, x, angles)
        elif self.topology == "ancre":
            entries = [x]
            for block, c in zip(self.blocks, self.c):
                p = torch.softmax(c / 0.1, 0)
                x = block(x, x, x, angles) + sum(p[i] * entry for i, entry in enumerate(entries))
                entries.append(x)
        else:
            entries = [x]
            for block, mixes in zip(self.blocks, self.mixes):
                stack = torch.stack(entries)
                entries.append(block(*(mix(stack) for mix in mixes), angles))
            x = self.final(torch.stack(entries))
        return self.head(self.norm(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--topology", default="plain", choices=("plain", "ancre", "dca"))
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="fp32", choices=("fp32", "bf16"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    network = Network(options.topology).to(options.device)
    angles = rotary_angles(options.device)
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-3, betas=(0.9, 0.98), weight_decay=0.1, fused=True)
    forward = torch.compile(network) if options.compile else network
    seconds = []
    for step in range(options.warmup + options.steps):
        batch = torch.randint(VOCABULARY, (options.batch, TIME + 1)).to(options.device)
        if step == options.warmup:
            processor = time.process_time()
        start = time.perf_counter()
        with torch.autocast(options.device, torch.bfloat16, enabled=options.precision == "bf16"):
            logits = forward(batch[:, :-1], angles)
            loss = F.cross_entropy(logits.flatten(0, 1).float(), batch[:, 1:].flatten())
        loss.backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        if options.device != "cpu":
            torch.cuda.synchronize()
        if step >= options.warmup:
            seconds.append(time.perf_counter() - start)
    processor = (time.process_time() - processor) / options.steps
    seconds.sort()
    tokens = options.batch * TIME
    count = sum(parameter.numel() for parameter in network.parameters())
    kind = "compiled" if options.compile else "eager"
    print(f"pytorch-{kind} {options.topology}: {tokens / seconds[len(seconds) // 2]:.0f} tokens/s "
          f"(median; best {tokens / seconds[0]:.0f}; {tokens / processor:.0f} per processor second), loss {loss.item():.4f}, {count} parameters")


if __name__ == "__main__":
    main()
