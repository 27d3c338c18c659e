// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/places.h"
#include "projects/model/project.h"
#include "projects/pytorch/visited_layers.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

/// Private to pytorch: the products that visits of a loop add to the linear maps of its layers (Loop::adapterRank).

/// True if a loop of the stack adds such products.
[[nodiscard]] bool addsProducts(const Stack& stack);
/// Names the products of a stored layer of this block, and its linear maps, which VisitLinear has inside. `names` are
/// those of the parameters by their names here.
void nameProducts(const Project& project, const GraphRef& block, std::int64_t layer,
                  std::map<std::string, std::string>& names);
/// Returns the lines that replace the linear maps of exported layers in the constructor of the network.
[[nodiscard]] std::vector<std::string> productLines(const Stack& stack, std::int64_t stored,
                                                    const std::map<std::string, std::string>& names);
/// Returns the visit of each exported executed layer.
[[nodiscard]] std::vector<std::int64_t> visitsIn(const Stack& stack, const VisitedLayers& layers);

/// The code of the helpers.
inline constexpr const char* kVisitLinearCode = R"(class VisitLinear(nn.Module):
    """A linear map with a product of low rank for each visit of a loop: linear(x) + u·(v·x)."""

    def __init__(self, linear, visits, rank):
        super().__init__()
        self.linear, self.at = linear, 1
        inputs = (linear.v if hasattr(linear, "v") else linear.weight).shape[1]
        outputs = (linear.u if hasattr(linear, "u") else linear.weight).shape[0]
        self.visit = nn.ModuleDict()
        for at in range(1, visits + 1):
            v, u = torch.randn(rank, inputs) / math.sqrt(inputs), torch.zeros(outputs, rank)
            self.visit[str(at)] = nn.ParameterDict({"v": nn.Parameter(v), "u": nn.Parameter(u)})

    def forward(self, x):
        own = self.visit[str(self.at)]
        return self.linear(x) + F.linear(F.linear(x, own["v"]), own["u"])

    @staticmethod
    def replace(layer, names, visits, rank):
        """Puts one in the place of each of these linear maps."""
        for name in names:
            owner, _, last = name.rpartition(".")
            owner = layer.get_submodule(owner)
            setattr(owner, last, VisitLinear(getattr(owner, last), visits, rank))
)";
inline constexpr const char* kAtVisitCode = R"(class AtVisit:
    """A layer at one of its visits, whose products its linear maps add."""

    def __init__(self, layer, at):
        self.layer, self.at = layer, at

    def set(self):
        for module in self.layer.modules():
            if isinstance(module, VisitLinear):
                module.at = self.at
        return self.layer

    def __call__(self, *arguments, **conditions):
        return self.set()(*arguments, **conditions)

    def attend(self, *arguments, **conditions):
        return self.set().attend(*arguments, **conditions)

    def feed_forward(self, *arguments, **conditions):
        return self.set().feed_forward(*arguments, **conditions)
)";

} // namespace residua::projects
