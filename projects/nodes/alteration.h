// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/depth/depth_names.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace residua::projects {

/// Changes of a stack in some passes: factors of its wiring's weights, and layers or halves of layers that do not run.
/// Parameters stay as they are.
struct Alteration {
    /// Factors of weights, by their number in the wiring's program (DepthStep::firstTerm); 1 for all others.
    std::map<std::size_t, double> factors;
    /// True if the weights that a softmax normalises together are divided by their new sum, as if the factors acted
    /// before it (z + ln factor). If false, the factors act after it.
    bool renormalises = false;
    std::vector<std::pair<std::int64_t, LayerPart>> off; ///< layers from 1; their branch, or half of it, is absent

    [[nodiscard]] bool empty() const { return factors.empty() && off.empty(); }
    bool operator==(const Alteration&) const = default;
};

/// The parts that a knock-out switches off, one at a time.
enum class KnockoutBy : std::uint8_t {
    Term,   ///< each shortcut i:j of a DepthMix, in all mixes of its reader
    Layer,  ///< each layer that may be left out
    Half,   ///< the attention and the FFN of each layer
    Stream, ///< each stream of a MultiStream, in all reads and transitions and in the exit
};

/// One part of a network that a knock-out switches off.
struct KnockoutSubject {
    std::string name;        ///< "2:7", "layer 3", "attention 3", "FFN 3", "stream 2"
    std::int64_t first = 0;  ///< the source i; the layer; the stream, from 1
    std::int64_t reader = 0; ///< j; 0 for layers and streams
    Alteration alteration;
};
/// Returns the wiring with a weight for each of its shortcuts, so that they can be altered: a plain running sum becomes
/// a mix of ones, which computes the same up to rounding and has the same parameters.
[[nodiscard]] Result<Wiring> withTerms(const Wiring& wiring, std::int64_t layers);
/// Returns the subjects in the order of the document, whose wiring is one of withTerms(). Returns an error that names
/// the way on if it has none of the kind, or if `renormalises` and no softmax normalises its weights.
[[nodiscard]] Result<std::vector<KnockoutSubject>> knockoutSubjects(const Project& project, KnockoutBy by,
                                                                    bool renormalises);

/// Returns those of the subjects that are named, in the order of the document and each once; all if `names` is empty.
/// Returns an error that suggests a name if one is unknown.
[[nodiscard]] Result<std::vector<KnockoutSubject>> chosenSubjects(std::vector<KnockoutSubject> subjects,
                                                                  const std::vector<std::string>& names);

} // namespace residua::projects
