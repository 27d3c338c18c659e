# SPDX-License-Identifier: GPL-3.0-or-later
"""Random small models of the architectures that are imported, made and read by the package transformers.

    model_cases.py record FILE   what the models of the formula in values() compute: tests/engine/queries/model_cases.json
    model_cases.py make FOLDER   for each case a folder that transformers has saved, with what it computes
    model_cases.py compare FOLDER
                                 what the exported folders beside them compute against what was recorded of the models,
                                 and what their tokenisers make of a text where tokenised.json says what they should
"""

import json
import sys
import zlib
from pathlib import Path

import numpy
import torch
import transformers

transformers.logging.set_verbosity_error()

VOCABULARY, TIME, GREEDY = 23, 10, 6
SMALL = {
    "hidden_size": 16,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 32,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": None,
}
GROUPED = {**SMALL, "num_attention_heads": 4, "num_key_value_heads": 2}
GPT2 = {
    "n_layer": 2,
    "n_embd": 16,
    "n_head": 2,
    "n_positions": 32,
    "vocab_size": VOCABULARY,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
CASES = {
    "gpt2": ("GPT2", GPT2),
    "gpt2, free head": ("GPT2", {**GPT2, "n_inner": 24, "activation_function": "relu", "tie_word_embeddings": False}),
    "llama": ("Llama", SMALL),
    "llama, grouped queries, tied": ("Llama", {**GROUPED, "tie_word_embeddings": True, "rms_norm_eps": 1e-5}),
    "llama, biases, free head size": ("Llama", {**SMALL, "attention_bias": True, "mlp_bias": True, "head_dim": 6}),
    "llama 3": ("Llama", {**GROUPED, "rope_parameters": LLAMA3}),
    "llama, linear positions": ("Llama", {**SMALL, "rope_parameters": {**LLAMA3, "rope_type": "linear"}}),
    "mistral": ("Mistral", {**GROUPED, "sliding_window": 4}),
    "qwen2": ("Qwen2", GROUPED),
    "qwen2, window above": (
        "Qwen2",
        {**GROUPED, "use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1},
    ),
    "qwen3": ("Qwen3", {**GROUPED, "head_dim": 6}),
    "pythia": ("GPTNeoX", SMALL),
    "neox, serial": ("GPTNeoX", {**SMALL, "use_parallel_residual": False, "hidden_act": "gelu_new"}),
    "olmo2": ("Olmo2", GROUPED),
}


def values(name, shape):
    """Numbers in -0.5 to 0.5 that every language computes alike, from the tensor's name."""
    count = int(numpy.prod(shape))
    bits = (numpy.arange(count, dtype=numpy.uint64) + numpy.uint64(zlib.crc32(name.encode()))) * numpy.uint64(2654435761)
    bits = (bits ^ (bits >> numpy.uint64(13))) * numpy.uint64(0x9E3779B97F4A7C15)
    numbers = (bits >> numpy.uint64(40)).astype(numpy.float64) / 2**24 - 0.5
    gain = len(shape) == 1 and name.endswith("weight")
    return (1 + numbers if gain else numbers).astype(numpy.float32).reshape(shape)


def file_name(family, parameter):
    """A parameter's name in files, which is not always that in memory."""
    return "embed_out.weight" if family == "GPTNeoX" and parameter == "lm_head.weight" else parameter


def model_of(case, weights):
    family, options = CASES[case]
    options = {key: dict(value) if isinstance(value, dict) else value for key, value in options.items()}
    if family == "GPTNeoX":
        options.setdefault("rope_parameters", {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5})
    config = getattr(transformers, family + "Config")(**options)
    head = "GPT2LMHeadModel" if family == "GPT2" else family + "ForCausalLM"
    model = getattr(transformers, head)(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(weights(file_name(family, name), tuple(parameter.shape))))
    return model


def tokens():
    return [(7 * i * i + 3) % VOCABULARY for i in range(TIME)]


def outputs_of(model):
    with torch.no_grad():
        found = list(tokens())
        logits = model(torch.tensor([found]), use_cache=False).logits[0]
        for _ in range(GREEDY):
            found.append(model(torch.tensor([found]), use_cache=False).logits[0, -1].argmax().item())
    return {"tokens": tokens(), "logits": logits.double().tolist(), "greedy": found[TIME:]}


def loaded(folder):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True, dtype=torch.float32)
    return model.eval()


def record(file):
    cases = {}
    for case in CASES:
        model = model_of(case, values)
        model.config.architectures = [type(model).__name__]
        outputs = outputs_of(model)
        outputs["logits"] = [[float(f"{x:.7g}") for x in row] for row in outputs["logits"]]
        tied = set(getattr(model, "all_tied_weights_keys", None) or {})
        tensors = {
            file_name(CASES[case][0], n): list(p.shape) for n, p in model.named_parameters() if n not in tied
        }
        cases[case] = {"config": model.config.to_dict(), "tensors": tensors, **outputs}
    lines = [f"{json.dumps(case)}: {json.dumps(value)}" for case, value in cases.items()]
    Path(file).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def make(folder):
    types = [torch.float32, torch.bfloat16, torch.float16]
    for number, case in enumerate(CASES):
        torch.manual_seed(number)
        place = Path(folder) / case
        model = model_of(case, lambda name, shape: values(name + "'", shape) * numpy.float32(0.9))
        kept = types[number % 3]
        model.to(kept).save_pretrained(place / "model", max_shard_size="3KB" if number % 2 else "1GB")
        (place / "expected.json").write_text(json.dumps(outputs_of(loaded(place / "model"))))


def fault_of_calls(model, expected):
    """What else is asked of a model with code of its own: the loss of labels, and generate()."""
    tokens = torch.tensor([expected["tokens"]])
    with torch.no_grad():
        loss = model(tokens, labels=tokens).loss
        grown = model.generate(tokens, max_new_tokens=GREEDY, do_sample=False)
    next_tokens = torch.nn.functional.cross_entropy(torch.tensor(expected["logits"])[:-1], tokens[0, 1:])
    if not abs(loss.item() - next_tokens.item()) <= 1e-5:
        return f"the loss of labels is {loss.item()}, expected {next_tokens.item()}"
    return "" if grown[0].tolist() == expected["tokens"] + expected["greedy"] else f"generates {grown[0].tolist()}"


def fault_of_tokeniser(place):
    expected = json.loads((place / "tokenised.json").read_text())
    tokeniser = transformers.AutoTokenizer.from_pretrained(place / "exported", trust_remote_code=True)
    found = {
        "text": expected["text"],
        "ids": tokeniser(expected["text"]).input_ids,
        "eos": tokeniser.eos_token_id,
        "tokens": len(tokeniser),
    }
    loaded(place / "exported")(torch.tensor([found["ids"]]))
    return "" if found == expected else f"the tokeniser gives {found}, expected {expected}"


def compare(folder):
    for place in sorted(Path(folder).iterdir()):
        try:
            if (place / "tokenised.json").exists():
                print(place.name, fault_of_tokeniser(place), sep="\t", flush=True)
                continue
            expected = json.loads((place / "expected.json").read_text())
            model = loaded(place / "exported")
            found = outputs_of(model)
            away = (torch.tensor(found["logits"]) - torch.tensor(expected["logits"])).abs().max().item()
            if not away <= 1e-5:
                fault = f"logits differ by {away}"
            else:
                fault = "" if found["greedy"] == expected["greedy"] else "the continuation is another"
            if not fault and (place / "exported" / "modeling_residua.py").exists():
                fault = fault_of_calls(model, expected)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(place.name, fault, sep="\t", flush=True)


if __name__ == "__main__":
    {"record": record, "make": make, "compare": compare}[sys.argv[1]](sys.argv[2])
