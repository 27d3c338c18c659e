# SPDX-License-Identifier: GPL-3.0-or-later
"""Random networks of torchvision and timm, with their weights by the names that they have here.

    vision_cases.py FOLDER   for each network a folder: weights.safetensors, inputs.safetensors with pictures, labels
                             and what the network computes of them, and gradients.json: the norm of each gradient and
                             its product with cos(0), cos(1), ...
"""

import json
import re
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

CLASSES, PICTURES, SIDE = 10, 4, 32


def resnet_50():
    # torchvision's compiled part declares this operator, and wants CUDA's libraries.
    declared = torch.library.Library("torchvision", "FRAGMENT")
    if not hasattr(torch.ops.torchvision, "nms"):
        declared.define("nms(Tensor boxes, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision

    return torchvision.models.resnet50(num_classes=CLASSES)


def resnet_name(name):
    """layer2.0.downsample.1.weight is stage2.stem.norm_shortcut.weight."""
    name = re.sub(r"^conv1\.", "layer1.0.conv_picture.", name)
    name = re.sub(r"^bn1\.", "layer1.0.norm_picture.", name)
    name = re.sub(r"^fc\.", "head.classes.", name)
    name = name.replace("downsample.0", "conv_shortcut").replace("downsample.1", "norm_shortcut")
    name = re.sub(r"\.bn(\d)\.", r".norm\1.", name)
    name = re.sub(r"^layer(\d)\.0\.", r"stage\1.stem.", name)
    name = re.sub(r"^layer(\d)\.(\d)\.", r"stage\1.layers.\2.", name)
    return name.removeprefix("stage4.")


def efficientnet_b0():
    resnet_50()  # declares torchvision's operators, which timm imports
    import timm

    return timm.create_model("efficientnet_b0", num_classes=CLASSES)


def efficientnet_name(name):
    """blocks.2.1.bn2.weight is stage3.layers.1.norm_depth.weight; the stages of one block are in stem and head."""
    ends = {"conv_stem": "conv_picture", "bn1": "norm_picture", "conv_head": "conv_top", "bn2": "norm_top"}
    first, _, rest = name.partition(".")
    if first in ends:
        return ("stage2.stem." if ends[first].endswith("picture") else "head.") + ends[first] + "." + rest
    if first == "classifier":
        return "head.classes." + rest
    stage, block, part, rest = re.fullmatch(r"blocks\.(\d)\.(\d)\.((?:se\.)?\w+)\.(\w+)", name).groups()
    names = {"conv_pw": "conv_expand", "bn1": "norm_expand", "conv_dw": "conv_depth", "bn2": "norm_depth"}
    names |= {"conv_pwl": "conv_project", "bn3": "norm_project"}
    if stage == "0":  # without the first convolution
        names |= {"bn1": "norm_depth", "conv_pw": "conv_project", "bn2": "norm_project"}
    names |= {"se.conv_reduce": "squeeze", "se.conv_expand": "excite"}
    number = int(stage) + 1
    suffix = f"_{number}" if number in (1, 7) else ""
    tower = "" if number >= 6 else f"stage{max(number, 2)}."
    graph = "head" if number == 7 else "stem" if block == "0" else f"layers.{block}"
    return f"{tower}{graph}.{names[part]}{suffix}.{rest}"


def ours(name, tensor, name_of):
    """The name and the form that a tensor has here: excitation has linear layers."""
    name = name_of(name)
    return name, tensor.flatten(1) if re.search(r"\.(squeeze|excite)(_\d)?\.weight$", name) else tensor


def make(folder, network, name_of):
    folder.mkdir(parents=True)
    network = network.double().train()
    pictures = torch.randn(PICTURES, 3, SIDE, SIDE, dtype=torch.float64)
    labels = torch.randint(CLASSES, (PICTURES,))
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
        for _ in range(3):
            network(pictures)  # moves the moments from where they start
    state = [ours(name, t, name_of) for name, t in network.state_dict().items() if t.is_floating_point()]
    save_file({name: tensor.contiguous().clone() for name, tensor in state}, folder / "weights.safetensors")
    with torch.no_grad():
        logits = network.eval()(pictures)
    loss = torch.nn.functional.cross_entropy(network.train()(pictures), labels)
    loss.backward()
    found = {"pictures": pictures.flatten(1), "labels": labels, "logits": logits, "loss": loss.detach().reshape(1)}
    save_file({name: tensor.contiguous() for name, tensor in found.items()}, folder / "inputs.safetensors")
    gradients = {}
    for name, parameter in network.named_parameters():
        flat = parameter.grad.flatten()
        probe = torch.arange(flat.numel(), dtype=torch.float64).cos()
        gradients[ours(name, parameter, name_of)[0]] = [flat.norm().item(), (flat @ probe).item()]
    (folder / "gradients.json").write_text(json.dumps(gradients))


if __name__ == "__main__":
    torch.manual_seed(7)
    make(Path(sys.argv[1]) / "resnet-50", resnet_50(), resnet_name)
    make(Path(sys.argv[1]) / "efficientnet-b0", efficientnet_b0(), efficientnet_name)
