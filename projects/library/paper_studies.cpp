// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/library/paper_studies.h"

#include <algorithm>

namespace residua::projects {
namespace {

using Labelled = std::vector<std::pair<std::string, std::string>>;

SweepAxis labelledAxis(const std::string& field, const std::string& label, const Labelled& values)
{
    SweepAxis axis{field, label, {}};
    for (const auto& [name, json] : values) {
        axis.values.push_back({name, {json}});
    }
    return axis;
}

SweepAxis depthAxis()
{
    return labelledAxis("/network/stack/0/repeat", "layers",
                        {{"4 layers", "4"}, {"8 layers", "8"}, {"12 layers", "12"}});
}

/// Without and with GaLore, whose rank is a quarter of the width of 128 and whose rate is twice that of AdamW, as for
/// the smallest model of ANCRe's table 2.
SweepAxis galoreAxis()
{
    return severalAxis("optimiser",
                       {{"AdamW", R"({"/training/optimiser": {"kind": "adamw", "beta2": 0.999, "weight_decay": 0}})"},
                        {"GaLore", R"({"/training/optimiser": {"kind": "galore", "rank": 32, "gap": 50}, )"
                                   R"("/training/learning_rate/peak": 0.004})"}});
}

/// The precisions of activations and of the residual: float32 for both, bf16 for activations, bf16 for both.
SweepAxis precisionAxis()
{
    return severalAxis("precision",
                       {{"fp32", R"({"/training/precision": "fp32"})"},
                        {"bf16, residual fp32", R"({"/training/precision": "bf16"})"},
                        {"bf16", R"({"/training/precision": "bf16", "/training/residual_precision": "bf16"})"}});
}

/// A member under k-DCA over the last k entries.
std::pair<std::string, std::string> lastOutputs(std::int64_t k)
{
    const std::string text = std::to_string(k);
    return {text + "-DCA", R"({"/topology": "k-dca", "/topology/wiring/sources/k": )" + text + "}"};
}

std::pair<std::string, std::string> hyperConnections(std::int64_t streams)
{
    const std::string text = std::to_string(streams);
    return {"hyper-connections " + text, R"({"/topology": "hyper-dynamic", "/topology/wiring/sites": "mhsa", )"
                                         R"("/topology/wiring/streams": )" +
                                             text + "}"};
}

const std::pair<std::string, std::string> kPlainMember{"plain", R"({"/topology": "plain"})"};

/// RaPTr 6-8-10-12 with these layers in every stage's always-kept set.
std::string keeping(const std::string& layers)
{
    std::string fields = R"({"/schedule": "raptr 6-8-10-12")";
    for (int stage = 0; stage < 4; ++stage) {
        fields += ", \"/schedule/stages/" + std::to_string(stage) + "/always\": [" + layers + "]";
    }
    return fields + "}";
}

} // namespace

SweepAxis topologyAxis(const std::vector<std::string>& topologies)
{
    SweepAxis axis{"/topology", "topology", {}};
    for (const std::string& name : topologies) {
        axis.values.push_back({name, {"\"" + name + "\""}});
    }
    return axis;
}

SweepAxis scheduleAxis(const Labelled& schedules)
{
    SweepAxis axis{"/schedule", "method", {}};
    for (const auto& [label, text] : schedules) {
        axis.values.push_back({label, {"\"" + text + "\""}});
    }
    return axis;
}

SweepAxis severalAxis(const std::string& label, const Labelled& members)
{
    return labelledAxis(kSeveralFields, label, members);
}

SweepAxis seedAxis()
{
    return labelledAxis("/seeds/init", "seed", {{"1", "1"}, {"2", "2"}, {"3", "3"}});
}

std::vector<Sweep> ancreStudies()
{
    return {
        {"ANCRe, table 1",
         {labelledAxis("/topology/wiring/sites", "sites",
                       {{"MHSA", R"("mhsa")"}, {"FFN", R"("ffn")"}, {"both", R"("both")"}}),
          seedAxis()}},
        {"ANCRe, table 2", {galoreAxis(), topologyAxis({"plain", "ancre-ingoing"}), seedAxis()}},
        {"ANCRe, table 4", {topologyAxis({"ancre-ingoing", "ancre-outgoing", "ancre-none"}), seedAxis()}},
        {"ANCRe, table 5", {topologyAxis({"plain", "ancre-fixed", "ancre-cascaded", "ancre-ingoing"}), seedAxis()}},
    };
}

std::vector<Sweep> dcaStudies(std::int64_t depth)
{
    const SweepAxis sizes =
        severalAxis("size", {{"4 layers of 96", R"({"/network/stack/0/repeat": 4, "/network/width": 96})"},
                             {"8 layers of 96", R"({"/network/stack/0/repeat": 8, "/network/width": 96})"},
                             {"8 layers of 128", R"({"/network/stack/0/repeat": 8, "/network/width": 128})"}});
    return {
        {"DCA, table 1",
         {severalAxis("model", {kPlainMember, lastOutputs(1), lastOutputs(2), lastOutputs(4), lastOutputs(depth)}),
          seedAxis()}},
        {"DCA, table 2",
         {labelledAxis("/network/width", "width", {{"64", "64"}, {"96", "96"}, {"128", "128"}}),
          topologyAxis({"plain", "dca"}), seedAxis()}},
        {"DCA, table 3", {sizes, topologyAxis({"plain", "k-dca"}), seedAxis()}},
        {"DCA, tables 5 and 6",
         {severalAxis("model", {kPlainMember,
                                {"LAuReL-PA", R"({"/topology": "laurel-pa"})"},
                                {"DenseFormer", R"({"/topology": "denseformer"})"},
                                hyperConnections(4),
                                hyperConnections(10),
                                {"DCA", R"({"/topology": "dca"})"},
                                lastOutputs(2)}),
          seedAxis()}},
        {"DCA, table 9",
         {severalAxis("model", {kPlainMember,
                                {"the last 4", R"({"/topology": "grn-v3-last-4"})"},
                                {"the input and the last 3", R"({"/topology": "grn-v3-input-last-3"})"}}),
          seedAxis()}},
        {"DCA, figures 6 to 8", {depthAxis(), topologyAxis({"plain", "dca", "k-dca"}), seedAxis()}},
        {"precision", {precisionAxis(), topologyAxis({"plain", "ancre-ingoing", "dca", "mhc"}), seedAxis()}},
    };
}

std::vector<Sweep> raptrStudies()
{
    return {
        {"RaPTr, table 4",
         {scheduleAxis({{"RaPTr, heads", "raptr-heads 6-9-12"},
                        {"MSG, heads", "msg-heads 6-9-12"},
                        {"RaPTr, MLP", "raptr-mlp 3-6-12"},
                        {"MSG, MLP", "msg-mlp 3-6-12"}}),
          seedAxis()}},
        {"RaPTr, table 9",
         {scheduleAxis({{"baseline", "none"},
                        {"3-6-9-12", "raptr 3-6-9-12 average 9"},
                        {"4-8-12", "raptr 4-8-12 average 9"},
                        {"6-9-12", "raptr 6-9-12"},
                        {"6-8-10-12", "raptr 6-8-10-12"}}),
          seedAxis()}},
        {"RaPTr, table 10",
         {severalAxis("always kept", {{"none", keeping("")},
                                      {"1", keeping("1")},
                                      {"1 and 12", keeping("1, 12")},
                                      {"1, 2, 12", keeping("1, 2, 12")},
                                      {"1, 11, 12", keeping("1, 11, 12")},
                                      {"1, 2, 11, 12", keeping("1, 2, 11, 12")}}),
          seedAxis()}},
        {"RaPTr, figure 7",
         {severalAxis("scaling", {{"square root", R"({"/schedule": "raptr 6-8-10-12"})"},
                                  {"linear", R"({"/schedule": "raptr 6-8-10-12", "/schedule/scaling": "linear"})"},
                                  {"none", R"({"/schedule": "raptr 6-8-10-12", "/schedule/scaling": "none"})"}}),
          seedAxis()}},
    };
}

} // namespace residua::projects
