# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples small-resnet and small-efficientnet as one writes them in PyTorch, for peer_pytorch.py."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def convolution(inputs, outputs, kernel, stride=1, groups=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)
    )


class Basic(nn.Module):
    """Two convolutions of 3 × 3. A shortcut to a new width takes every second pixel and adds zeros."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.shrinks = inputs != outputs
        self.first = convolution(inputs, outputs, 3, 2 if self.shrinks else 1)
        self.second = convolution(outputs, outputs, 3)

    def forward(self, x):
        y = self.second(F.relu(self.first(x)))
        if self.shrinks:
            x = x[:, :, ::2, ::2]
            x = torch.cat((x, torch.zeros_like(x)), 1)
        return F.relu(x + y)


class MbConv(nn.Module):
    """An inverted bottleneck with squeeze-and-excitation, and stochastic depth where it has a shortcut."""

    def __init__(self, inputs, outputs, expansion=6, kernel=3, stride=1, rate=0.0):
        super().__init__()
        wide = expansion * inputs
        self.rate, self.adds = rate, inputs == outputs and stride == 1 and rate > 0
        self.expand = nn.Sequential(convolution(inputs, wide, 1), nn.SiLU()) if expansion > 1 else nn.Identity()
        self.depth = nn.Sequential(convolution(wide, wide, kernel, stride, wide), nn.SiLU())
        self.squeeze = nn.Linear(wide, max(1, inputs // 4))
        self.excite = nn.Linear(max(1, inputs // 4), wide)
        self.project = convolution(wide, outputs, 1)

    def forward(self, x):
        y = self.depth(self.expand(x))
        gate = torch.sigmoid(self.excite(F.silu(self.squeeze(y.mean((2, 3))))))
        y = self.project(y * gate[:, :, None, None])
        if not self.adds:
            return y
        kept = torch.rand(x.shape[0], 1, 1, 1, device=x.device) >= self.rate
        return x + y * (kept / (1 - self.rate))


class Pictures(nn.Module):
    """Reads pictures [batch, 3, 32, 32] and their classes, and returns the loss."""

    embedding = head = None

    def __init__(self, family, classes):
        super().__init__()
        if family == "resnet":
            widths = [8, 8, 8, 16, 16, 16, 32, 32, 32]
            layers = [Basic(a, b) for a, b in zip(widths, widths[1:])]
            self.body = nn.Sequential(convolution(3, 8, 3, 2), nn.ReLU(), *layers)
            last = 32
        else:
            body = [convolution(3, 8, 3, 2), nn.SiLU(), MbConv(8, 8, expansion=1)]
            body += [MbConv(8, 8, rate=0.02), MbConv(8, 8, rate=0.04)]
            body += [MbConv(8, 16, stride=2), MbConv(16, 16, rate=0.08), MbConv(16, 16, rate=0.1)]
            body += [MbConv(16, 24, kernel=5, stride=2), MbConv(24, 24, rate=0.14), MbConv(24, 24, rate=0.16)]
            self.body = nn.Sequential(*body, convolution(24, 96, 1), nn.SiLU())
            last = 96
        self.drop = nn.Dropout(0.1 if family == "efficientnet" else 0.0)
        self.classes = nn.Linear(last, classes)

    def forward(self, inputs, targets):
        return F.cross_entropy(self.classes(self.drop(self.body(inputs).mean((2, 3)))), targets)
