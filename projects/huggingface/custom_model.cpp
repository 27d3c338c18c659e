// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/huggingface/custom_model.h"

#include "projects/base/json_tree.h"
#include "projects/huggingface/model_kinds.h"
#include "projects/nodes/example_schema.h"
#include "projects/pytorch/python_text.h"

#include <utility>

namespace residua::projects {
namespace {

constexpr const char* kConfiguration = R"("""What a network of Residua is, for transformers."""

from transformers import PretrainedConfig


class ResiduaConfig(PretrainedConfig):
    """The fields of config.json; model.py has the network itself and reads none of them."""

    model_type = "residua"
    code = "%1"  # of model.py; configurations of equal text would share one model class
)";

constexpr const char* kModeling =
    R"("""A network of Residua as a model of transformers: model.py with the usual inputs and outputs."""

import torch
from transformers import GenerationMixin, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

from .configuration_residua import ResiduaConfig
from .model import Network


class ResiduaForCausalLM(PreTrainedModel, GenerationMixin):
    """Keys and values are not kept from token to token: each new one takes a pass over all."""

    config_class = ResiduaConfig
    base_model_prefix = "network"
    _supports_sdpa = True

    def __init__(self, config):
        super().__init__(config)
        with torch.device("cpu"):  # tables that are no weights must not be made empty, as transformers makes weights
            self.network = Network()
        self.post_init()

    def _init_weights(self, module):
        """Weights come from the folder."""

    def get_input_embeddings(self):
        embeddings = [m for m in self.network.stem.modules() if type(m).__name__ == "Embedding"]
        return embeddings[0] if embeddings else None

    def forward(self, input_ids=None, attention_mask=None, labels=None, **_):
        """Tokens [batch, time] to logits [batch, time, vocabulary]; labels are not shifted yet."""
        if attention_mask is not None and not bool(attention_mask.all()):
            raise ValueError("padding is not supported: expected an attention mask of ones")
        logits = self.network(input_ids)
        loss = None
        if labels is not None:
            loss = self.loss_function(logits=logits, labels=labels, vocab_size=logits.shape[-1])
        return CausalLMOutput(loss=loss, logits=logits)

    def prepare_inputs_for_generation(self, input_ids, attention_mask=None, **_):
        return {"input_ids": input_ids, "attention_mask": attention_mask}
)";

JsonValue jsonText(const std::string& value)
{
    return {value, JsonLayout::Lines};
}

/// Returns Python code that loads the model and its tokeniser. `options` follow the folder in the call.
std::string loadingCode(const std::string& autoClass, ExportedTokeniser tokeniser, const std::string& options)
{
    const bool byClass = tokeniser == ExportedTokeniser::Auto;
    const bool byPackage = tokeniser == ExportedTokeniser::SentencePiece;
    std::string code = "```python\n";
    code += byPackage ? "from sentencepiece import SentencePieceProcessor\n" : "";
    code += "from transformers import " + autoClass;
    code += byClass ? ", AutoTokenizer" : "";
    code += "\n\nmodel = " + autoClass + ".from_pretrained(\".\"" + options + ")\n";
    code += byClass ? "tokenizer = AutoTokenizer.from_pretrained(\".\"" + options + ")\n" : "";
    code += byPackage ? "tokenizer = SentencePieceProcessor(model_file=\"tokenizer.model\")\n" : "";
    return code + "```\n";
}

/// Returns a note on the tokeniser as the next sentence of a paragraph, or an empty text.
const char* onTokeniser(ExportedTokeniser tokeniser)
{
    switch (tokeniser) {
    case ExportedTokeniser::None:
        return " The project has no tokeniser that transformers reads, so there is none.";
    case ExportedTokeniser::SentencePiece:
        return " The tokeniser is a model of SentencePiece, whose own package gives the tokens of the training.";
    case ExportedTokeniser::Auto:
        break;
    }
    return "";
}

} // namespace

std::string configurationCode(const PyTorchCode& code)
{
    std::string text = kConfiguration;
    const std::string place = "%1";
    return text.replace(text.find(place), place.size(), code.digest);
}

std::string modelingCode()
{
    return kModeling;
}

std::string customConfig(const SoundProject& project, const PyTorchCode& code, const ExportedRun& run,
                         const std::string& dtype)
{
    JsonValue config = parseJson(pyTorchConfig(project, code, run)).value();
    auto& members = std::get<JsonObject>(config.data);
    const JsonValue modules{JsonObject{{"AutoConfig", jsonText("configuration_residua.ResiduaConfig")},
                                       {"AutoModelForCausalLM", jsonText("modeling_residua.ResiduaForCausalLM")}},
                            JsonLayout::Lines};
    members.push_back({"model_type", jsonText(kOwnArchitecture)});
    members.push_back({"architectures", {JsonArray{jsonText("ResiduaForCausalLM")}, JsonLayout::Inline}});
    members.push_back({"auto_map", modules});
    members.push_back({"vocab_size", {examplesOf(*project).input().vocabulary, JsonLayout::Lines}});
    members.push_back({"hidden_size", {project->stack().width, JsonLayout::Lines}});
    members.push_back({"num_hidden_layers", {code.layers, JsonLayout::Lines}});
    members.push_back({"max_position_embeddings", {project->training.sequenceLength, JsonLayout::Lines}});
    members.push_back({"tie_word_embeddings", {false, JsonLayout::Lines}}); // model.py ties its own weights
    members.push_back({"use_cache", {false, JsonLayout::Lines}});
    members.push_back({"torch_dtype", jsonText(dtype)});
    return printJson(config);
}

std::string customReadme(const SoundProject& project, const std::string& reason, ExportedTokeniser tokeniser)
{
    return "# " + plainText(project->name) + " for transformers\n\n" +
           loadingCode(autoClassOf(kOwnArchitecture), tokeniser, loadingOptionsOf(kOwnArchitecture)) +
           "\nThe folder brings the network's own code (model.py, wrapped by " + kModelingFile +
           "), because it is none of the architectures of transformers: " + reason + "." + onTokeniser(tokeniser) +
           "\nIt also works without transformers, as follows.\n\n";
}

std::string modelReadme(const SoundProject& project, const KnownModel& model, const ExportedRun& run,
                        const std::string& dtype, ExportedTokeniser tokeniser)
{
    std::string text = "# " + plainText(project->name) + "\n\nThe network of the run " + plainText(run.name) +
                       " after step " + std::to_string(run.step) + " of " + std::to_string(run.steps) + ": " +
                       model.kind + ", " + std::to_string(model.layers) + " layers, " +
                       (model.visits > 1 ? std::to_string(model.visits) + " visits to each, " : "") +
                       std::to_string(run.parameters) + " parameters in " + dtype + ".\n\n";
    text += loadingCode(autoClassOf(model.kind), tokeniser, loadingOptionsOf(model.kind));
    if (const std::string home(findModelKind(model.kind)->codeHome); !home.empty()) {
        text += "\nThe class is none of transformers' own: it fetches the authors' code from the repository " + home +
                ", in a version of transformers that this code supports.\n";
    }
    text += "\n## What is lost\n\nThe optimiser's state, the learning rate's schedule and the data are not "
            "here, and neither is dropout.";
    text += findModelKind(model.kind)->readsPictures() ? "" : onTokeniser(tokeniser);
    text += "\n\n## Going on with training\n\nIn Residua, where nothing is lost: `residua-cli resume RUN`, with the "
            "folder of the run. `residua-cli import` makes a run of this folder, whose optimiser begins anew.\n";
    return text;
}

} // namespace residua::projects
