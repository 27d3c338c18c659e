# SPDX-License-Identifier: GPL-3.0-or-later
"""Random small models of the architectures that are imported, made and read by the package transformers.

    model_cases.py record FILE   what the models of the formula in values() compute: tests/engine/compute/queries/model_cases.json
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
from transformers.models.llama import modeling_llama as llama

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
# A padding token would have no gradient in transformers.
BERT = {key: value for key, value in SMALL.items() if key not in ("bos_token_id", "eos_token_id")}
ALBERT = {**BERT, "embedding_size": 8, "num_hidden_layers": 3}
VIT = {key: value for key, value in BERT.items() if key not in ("vocab_size", "max_position_embeddings", "pad_token_id")}
VIT |= {"image_size": 8, "patch_size": 4}
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
    "ouro": ("Ouro", {**SMALL, "num_key_value_heads": 2, "total_ut_steps": 3}),
    "ouro, window above, tied": (
        "Ouro",
        {
            **GROUPED,
            "use_sliding_window": True,
            "sliding_window": 3,
            "max_window_layers": 1,
            "tie_word_embeddings": True,
            "rope_parameters": {"rope_type": "default", "rope_theta": 500.0},
            "total_ut_steps": 2,
        },
    ),
    "bert": ("Bert", BERT),
    "bert, tanh": ("Bert", {**BERT, "hidden_act": "gelu_new", "type_vocab_size": 3, "layer_norm_eps": 1e-5}),
    "bert, classes": ("BertClassifier", {**BERT, "num_labels": 3}),
    "bert, pairs": ("BertClassifier", {**BERT, "num_labels": 4}),
    "albert": ("Albert", ALBERT),
    "albert, one visit": ("Albert", {**ALBERT, "num_hidden_layers": 1, "hidden_act": "gelu", "embedding_size": 16}),
    "albert, classes": ("AlbertClassifier", {**ALBERT, "num_labels": 3}),
    "vit": ("ViT", {**VIT, "num_labels": 3}),
    "vit, grey": ("ViT", {**VIT, "image_size": [8, 12], "num_channels": 1, "hidden_act": "relu"}),
}
HEADS = {
    "GPT2": "GPT2LMHeadModel",
    "Bert": "BertForMaskedLM",
    "BertClassifier": "BertForSequenceClassification",
    "Albert": "AlbertForMaskedLM",
    "AlbertClassifier": "AlbertForSequenceClassification",
    "ViT": "ViTForImageClassification",
}
# transformers' names in memory since version 5, and those of its files.
VIT_NAMES = {
    ".layers.": ".encoder.layer.",
    ".attention.q_proj.": ".attention.attention.query.",
    ".attention.k_proj.": ".attention.attention.key.",
    ".attention.v_proj.": ".attention.attention.value.",
    ".attention.o_proj.": ".attention.output.dense.",
    ".mlp.fc1.": ".intermediate.dense.",
    ".mlp.fc2.": ".output.dense.",
}


class OuroConfig(transformers.Qwen2Config):
    """Sizes and windows are those of Qwen2, without biases."""

    model_type = "ouro"
    attention_bias = False
    mlp_bias = False
    total_ut_steps: int = 4


class OuroLayer(torch.nn.Module):
    """Attention and FFN of Llama, with a norm before and after each."""

    def __init__(self, config, number):
        super().__init__()
        self.self_attn = llama.LlamaAttention(config, number)
        self.mlp = llama.LlamaMLP(config)
        for half in ("input", "post_attention"):
            for norm in (half + "_layernorm", half + "_layernorm_2"):
                setattr(self, norm, llama.LlamaRMSNorm(config.hidden_size, config.rms_norm_eps))

    def forward(self, x, mask, positions):
        attention = self.self_attn(self.input_layernorm(x), position_embeddings=positions, attention_mask=mask)[0]
        x = x + self.input_layernorm_2(attention)
        return x + self.post_attention_layernorm_2(self.mlp(self.post_attention_layernorm(x)))


class OuroBody(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed_tokens = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = torch.nn.ModuleList(OuroLayer(config, i) for i in range(config.num_hidden_layers))
        self.norm = llama.LlamaRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.rotary_emb = llama.LlamaRotaryEmbedding(config)
        self.early_exit_gate = torch.nn.Linear(config.hidden_size, 1)  # no logits depend on it

    def forward(self, tokens):
        x, place = self.embed_tokens(tokens), torch.arange(tokens.shape[1])
        positions = self.rotary_emb(x, place[None])
        away = place[:, None] - place
        for _ in range(self.config.total_ut_steps):
            for layer, kind in zip(self.layers, self.config.layer_types):
                window = self.config.sliding_window if kind == "sliding_attention" else tokens.shape[1]
                seen = (away >= 0) & (away < window)
                x = layer(x, torch.zeros(seen.shape).masked_fill(~seen, -torch.inf)[None, None], positions)
            x = self.norm(x)
        return x


class OuroForCausalLM(transformers.PreTrainedModel):
    """Ouro out of transformers' modules for Llama, because transformers has no Ouro."""

    config_class = OuroConfig
    _tied_weights_keys = {"lm_head.weight": "model.embed_tokens.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.model = OuroBody(config)
        self.lm_head = torch.nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_input_embeddings(self):
        return self.model.embed_tokens

    def get_output_embeddings(self):
        return self.lm_head

    def forward(self, input_ids, **_):
        return transformers.modeling_outputs.CausalLMOutput(logits=self.lm_head(self.model(input_ids)))


def classed(name):
    """The class of transformers of this name, or the one here."""
    return globals()[name] if name.startswith("Ouro") else getattr(transformers, name)


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
    for memory, file in VIT_NAMES.items() if family == "ViT" else ():
        parameter = parameter.replace(memory, file)
    return "embed_out.weight" if family == "GPTNeoX" and parameter == "lm_head.weight" else parameter


def model_of(case, weights):
    family, options = CASES[case]
    options = {key: dict(value) if isinstance(value, dict) else value for key, value in options.items()}
    if family == "GPTNeoX":
        options.setdefault("rope_parameters", {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5})
    config = classed(family.removesuffix("Classifier") + "Config")(**options)
    model = classed(HEADS.get(family, family + "ForCausalLM"))(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(weights(file_name(family, name), tuple(parameter.shape))))
    return model


def tokens():
    return [(7 * i * i + 3) % VOCABULARY for i in range(TIME)]


def inputs_of(case, model):
    """What the model reads, by the names of the recorded case and by those of transformers."""
    family = CASES[case][0]
    if family == "ViT":
        sides = numpy.broadcast_to(model.config.image_size, 2)
        shape = [model.config.num_channels, *map(int, sides)]
        return {"pixels": shape}, {"pixel_values": torch.from_numpy(values("pixels", shape))[None]}
    found, given = {"tokens": tokens()}, {"input_ids": torch.tensor([tokens()])}
    if family.endswith("Classifier"):
        found["mask"] = [int(i < TIME - 3) for i in range(TIME)]
        given["attention_mask"] = torch.tensor([found["mask"]])
    if case == "bert, pairs":
        found["segments"] = [int(i > 4) for i in range(TIME)]
        given["token_type_ids"] = torch.tensor([found["segments"]])
    return found, given


def gradients_of(case, model, logits):
    """The norms of the gradients of a sum of the logits with fixed weights, by the names in files."""
    model.zero_grad()
    (logits * torch.from_numpy(values("loss", tuple(logits.shape)))).sum().backward()
    family = CASES[case][0]
    gradients = {file_name(family, n): p.grad.norm().item() for n, p in model.named_parameters() if p.grad is not None}
    return {name: float(f"{norm:.7g}") for name, norm in gradients.items()}


def filled_by(model):
    """The likeliest tokens at one masked position. Without a tokeniser the last token is the mask."""
    position, found = 4, tokens()
    found[position] = VOCABULARY - 1
    with torch.no_grad():
        best = model(torch.tensor([found])).logits[0, position].double().softmax(0).topk(3)
    return {"position": position, "tokens": best.indices.tolist(), "probabilities": best.values.tolist()}


def outputs_of(case, model):
    outputs, given = inputs_of(case, model)
    logits = model(**given).logits
    outputs["logits"] = logits[0].detach().reshape(-1, logits.shape[-1]).double().tolist()
    outputs["gradients"] = gradients_of(case, model, logits[0])
    if CASES[case][0] in ("Bert", "Albert"):
        outputs["filled"] = filled_by(model)
    if CASES[case][0] in ("Bert", "BertClassifier", "Albert", "AlbertClassifier", "ViT"):
        return outputs
    found = list(tokens())
    with torch.no_grad():
        for _ in range(GREEDY):
            found.append(model(torch.tensor([found]), use_cache=False).logits[0, -1].argmax().item())
    return {**outputs, "greedy": found[TIME:]}


def loaded(folder):
    architecture = json.loads((Path(folder) / "config.json").read_text())["architectures"][0]
    kind = transformers.AutoModelForCausalLM if "Residua" in architecture else classed(architecture)
    return kind.from_pretrained(folder, trust_remote_code=True, dtype=torch.float32).eval()


def write_tokeniser(folder):
    """A tokeniser for labelled texts: one token for each of as many words as the models have."""
    vocabulary = {f"w{i}": i for i in range(VOCABULARY)}
    tokeniser = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "w0"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokeniser))


def record(file):
    cases = {}
    for case in CASES:
        model = model_of(case, values)
        model.config.architectures = [type(model).__name__]
        outputs = outputs_of(case, model)
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
        if CASES[case][0].endswith("Classifier"):
            write_tokeniser(place / "model")
        (place / "expected.json").write_text(json.dumps(outputs_of(case, loaded(place / "model"))))


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
            found = outputs_of(place.name if place.name in CASES else "llama", model)
            away = (torch.tensor(found["logits"]) - torch.tensor(expected["logits"])).abs().max().item()
            if not away <= 1e-5:
                fault = f"logits differ by {away}"
            else:
                fault = "" if found.get("greedy") == expected.get("greedy") else "the continuation is another"
            if not fault and (place / "exported" / "modeling_residua.py").exists():
                fault = fault_of_calls(model, expected)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(place.name, fault, sep="\t", flush=True)


if __name__ == "__main__":
    {"record": record, "make": make, "compare": compare}[sys.argv[1]](sys.argv[2])
