# SPDX-License-Identifier: GPL-3.0-or-later
"""The example small-dit as one writes it in PyTorch, for peer_pytorch.py."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

SIDE, PATCH, STEPS = 16, 2, 1000


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.modulation = nn.Linear(width, 6 * width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))
        nn.init.zeros_(self.modulation.weight)
        nn.init.zeros_(self.modulation.bias)

    def attention(self, x):
        batch, positions, width = x.shape
        q, k, v = self.qkv(x).view(batch, positions, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape))

    def forward(self, x, condition):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(F.silu(condition)).chunk(6, 1)
        normed = F.layer_norm(x, x.shape[-1:], eps=1e-6)
        x = x + gate1.unsqueeze(1) * self.attention(modulate(normed, shift1, scale1))
        normed = F.layer_norm(x, x.shape[-1:], eps=1e-6)
        return x + gate2.unsqueeze(1) * self.mlp(modulate(normed, shift2, scale2))


class Dit(nn.Module):
    """Reads ((noised pictures [batch, 768], steps, classes), noise), and returns the loss."""

    embedding = head = None

    def __init__(self, shape):
        super().__init__()
        width, grid = shape.width, SIDE // PATCH
        self.patches = nn.Conv2d(3, width, PATCH, PATCH)
        self.register_buffer("positions", torch.randn(grid * grid, width), persistent=False)
        frequencies = 10000.0 ** (-torch.arange(128, dtype=torch.float64) / 128)
        self.register_buffer("frequencies", frequencies.float(), persistent=False)
        self.time = nn.Sequential(nn.Linear(256, width), nn.SiLU(), nn.Linear(width, width))
        self.classes = nn.Embedding(shape.vocabulary + 1, width)
        self.layers = nn.ModuleList(Layer(width, shape.heads) for _ in range(shape.layers))
        self.modulation = nn.Linear(width, 2 * width)
        self.values = nn.Linear(width, PATCH * PATCH * 6)
        beta = torch.linspace(1e-4, 0.02, STEPS, dtype=torch.float64)
        bars = torch.cumprod(1 - beta, 0)
        before = torch.cat((torch.ones(1, dtype=torch.float64), bars[:-1]))
        posterior = beta * (1 - before) / (1 - bars)
        posterior[0] = posterior[1]
        factor = beta / ((1 - beta) * (1 - bars)).sqrt()
        table = torch.stack((posterior.log(), beta.log(), factor, bars.sqrt(), (1 - bars).sqrt()))
        self.register_buffer("table", table.float(), persistent=False)

    def forward(self, inputs, targets):
        pictures, steps, classes = inputs
        angles = steps.float().unsqueeze(1) * self.frequencies
        condition = self.time(torch.cat((angles.cos(), angles.sin()), 1)) + self.classes(classes)
        x = self.patches(pictures.view(-1, 3, SIDE, SIDE)).flatten(2).transpose(1, 2) + self.positions
        for layer in self.layers:
            x = layer(x, condition)
        shift, scale = self.modulation(F.silu(condition)).chunk(2, 1)
        x = self.values(modulate(F.layer_norm(x, x.shape[-1:], eps=1e-6), shift, scale))
        grid = SIDE // PATCH
        x = x.view(-1, grid, grid, PATCH, PATCH, 6).permute(0, 5, 1, 3, 2, 4).flatten(1)
        noise, share = x.chunk(2, 1)
        low, high, factor, signal, deviation = (row[steps].unsqueeze(1) for row in self.table)
        variance = (share + 1) / 2 * high + (1 - share) / 2 * low
        error = (noise.detach() - targets) * factor
        bound = (variance - low - 1 + (low - variance).exp() + error**2 * (-variance).exp()) / 2
        clean = (pictures - targets * deviation) / signal

        def below(z):
            return torch.erfc(-z * (-variance / 2).exp() / math.sqrt(2)) / 2

        mass = torch.where(clean > 0.999, below(1 / 255 - error), below(error + 1 / 255) - below(error - 1 / 255))
        mass = torch.where(clean < -0.999, below(error + 1 / 255), mass)
        nats = torch.where((steps == 0).unsqueeze(1), -mass.clamp_min(1e-12).log(), bound)
        return (noise - targets).square().mean() + nats.mean() / math.log(2)
