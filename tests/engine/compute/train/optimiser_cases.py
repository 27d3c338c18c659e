# SPDX-License-Identifier: GPL-3.0-or-later
"""Fifty steps of the optimisers that people publish, on weights and gradients that a formula gives.

    optimiser_cases.py FILE   what the packages make of the weights: tests/engine/compute/train/optimiser_cases.json

It needs torch, transformers, lion-pytorch and galore-torch (packaging/python.sh). Muon's products are in single
precision here, not in bf16, so that another processor gives the same numbers.
"""

import importlib.util
import json
import sys
import types

import numpy
import torch
from lion_pytorch import Lion
from transformers.optimization import Adafactor

STEPS = 50
SHAPES = {
    "stem.embedding.weight": (20, 16),
    "layers.1.up.weight": (24, 16),
    "layers.1.down.weight": (16, 24),
    "layers.1.norm.weight": (16,),
}
VECTOR = "layers.1.norm.weight"
HIDDEN = ("layers.1.up.weight", "layers.1.down.weight")
EVERY = 7  # of the elements is recorded

ADAFACTOR = {"kind": "adafactor", "factored_from": 2}
GALORE = {"kind": "galore", "rank": 4, "gap": 20}
MUON = {"kind": "muon", "weight_decay": 0.1}
REST = {"beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8, "weight_decay": 0.1}
CASES = {
    "adamw": ({"kind": "adamw"}, 1e-2),
    "sgd": ({"kind": "sgd", "momentum": 0.9, "weight_decay": 0.1}, 1e-2),
    "adafactor": (ADAFACTOR, 1e-2),
    "adafactor, whole": ({**ADAFACTOR, "factored_from": 128, "decay_exponent": 0.7}, 1e-2),
    "galore": (GALORE, 1e-2),
    "galore, longer side, decay": ({**GALORE, "side": "longer", "weight_decay": 0.1}, 1e-2),
    "galore, right side": ({**GALORE, "side": "right", "scale": 1.0}, 1e-2),
    # What it projects is diagonal but for noise, which a larger ε damps.
    "galore, both sides": ({**GALORE, "side": "both", "epsilon": 1e-4}, 1e-2),
    "muon": (MUON, 2e-3),
    "muon, moonlight": ({**MUON, "scaling": "moonlight", "rest": REST, "rest_rate": 1.0}, 2e-3),
    "muon, without Nesterov": ({**MUON, "nesterov": False}, 2e-3),
    "lion": ({"kind": "lion", "weight_decay": 0.5}, 1e-3),
}
SIDES = {"shorter": "std", "longer": "reverse_std", "left": "left", "right": "right", "both": "full"}


def values(seed, shape):
    """Multiples of 2⁻²³ from −1 to 1, by a hash: tst_optimisers.cpp has the same."""
    mask = 0xFFFFFFFF
    numbers = []
    for i in range(int(numpy.prod(shape))):
        x = (seed * 0x9E3779B9 + i * 0x85EBCA6B + 1) & mask
        x ^= x >> 16
        x = (x * 0x7FEB352D) & mask
        x ^= x >> 15
        x = (x * 0x846CA68B) & mask
        x ^= x >> 16
        numbers.append((x >> 8) / 2**23 - 1)
    return torch.tensor(numbers, dtype=torch.float32).reshape(shape)


def galore_adamw():
    """The class of the package, whose other modules want bitsandbytes."""
    if "galore_torch" not in sys.modules:
        package = types.ModuleType("galore_torch")
        package.__path__ = list(importlib.util.find_spec("galore_torch").submodule_search_locations)
        sys.modules["galore_torch"] = package
    return importlib.import_module("galore_torch.adamw").AdamW


def adam_of(given, default):
    return {
        "betas": (given.get("beta1", default[0]), given.get("beta2", default[1])),
        "eps": given.get("epsilon", default[2]),
        "weight_decay": given.get("weight_decay", default[3]),
    }


def made(given, rate, weights):
    """The optimisers, each with its share of the rate."""
    decayed = [weights[name] for name in SHAPES if name != VECTOR]
    kept = [weights[VECTOR]]
    groups = [{"params": decayed}, {"params": kept, "weight_decay": 0.0}]
    decay = given.get("weight_decay", 0.0)
    match given["kind"]:
        case "adamw":
            return [(torch.optim.AdamW(groups, lr=rate, **adam_of(given, (0.9, 0.98, 1e-8, 0.1))), 1.0)]
        case "sgd":
            return [(torch.optim.SGD(groups, lr=rate, momentum=given["momentum"], weight_decay=decay), 1.0)]
        case "adafactor" if given["factored_from"] == 2:
            return [(Adafactor(decayed + kept, lr=rate, relative_step=False, scale_parameter=True), 1.0)]
        case "adafactor":
            flat = [weight.data.flatten().requires_grad_() for weight in decayed + kept]
            for weight, part in zip(decayed + kept, flat):
                weight.flat = part
            exponent = -given["decay_exponent"]
            return [(Adafactor(flat, lr=rate, relative_step=False, scale_parameter=True, decay_rate=exponent), 1.0)]
        case "galore":
            hidden = [weights[name] for name in HIDDEN]
            side = SIDES[given.get("side", "shorter")]
            groups = [
                {"params": [weights["stem.embedding.weight"]]},
                {"params": kept, "weight_decay": 0.0},
                {
                    "params": hidden,
                    "rank": given["rank"],
                    "update_proj_gap": given["gap"],
                    "scale": given.get("scale", 0.25),
                    "proj_type": side,
                },
            ]
            adam = adam_of(given, (0.9, 0.999, 1e-6, 0.0))
            return [(galore_adamw()(groups, lr=rate, no_deprecation_warning=True, **adam), 1.0)]
        case "muon":
            hidden = [weights[name] for name in HIDDEN]
            rest = [{"params": [weights["stem.embedding.weight"]]}, {"params": kept, "weight_decay": 0.0}]
            adjust = "match_rms_adamw" if given.get("scaling") == "moonlight" else "original"
            nesterov = given.get("nesterov", True)
            muon = torch.optim.Muon(hidden, lr=rate, weight_decay=decay, nesterov=nesterov, adjust_lr_fn=adjust)
            adam = adam_of(given.get("rest", {}), (0.9, 0.95, 1e-10, 0.0))
            return [(muon, 1.0), (torch.optim.AdamW(rest, lr=rate, **adam), given.get("rest_rate", 0.015))]
        case "lion":
            return [(Lion(groups, lr=rate, weight_decay=decay), 1.0)]


def trained(given, rate):
    weights = {name: (values(p, shape) * 0.125).requires_grad_() for p, (name, shape) in enumerate(SHAPES.items())}
    optimisers = made(given, rate, weights)
    for step in range(STEPS):
        for p, (name, weight) in enumerate(weights.items()):
            gradient = values(100 + 10 * step + p, SHAPES[name])
            weight.grad = gradient
            if hasattr(weight, "flat"):
                weight.flat.grad = gradient.flatten()
        for optimiser, share in optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate * (1 - step / 100) * share
            optimiser.step()
    result = {name: getattr(weight, "flat", weight).detach().flatten() for name, weight in weights.items()}
    return {name: [float(number) for number in weight[::EVERY]] for name, weight in result.items()}


def main():
    torch.Tensor.bfloat16 = torch.Tensor.clone
    torch.set_num_threads(1)
    cases = {}
    for name, (given, rate) in CASES.items():
        cases[name] = {"optimiser": given, "rate": rate, "weights": trained(given, rate)}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        lines = [json.dumps(name) + ": " + json.dumps(case) for name, case in cases.items()]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
