// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/depth/depth_names.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::projects {

/// The value that takes the place of a stream of a MultiStream.
enum class StreamFill : std::uint8_t {
    Zero,
    Mean,   ///< the stream's mean over all tokens of the batch
    Stream, ///< another stream of the pass at the same border
};

/// Streams that have another value at some borders between modules. Border m follows module m, border 0 precedes the
/// first module, and border K is read by the exit. A border has its new values for all that reads it.
struct FilledStreams {
    std::vector<std::int64_t> streams;             ///< from 1
    std::int64_t first = 0;                        ///< border
    std::int64_t last = 0;                         ///< border
    std::optional<StreamFill> with = std::nullopt; ///< nullopt: the value of the unaltered pass
    std::int64_t other = 0;                        ///< the stream that is copied, with StreamFill::Stream
    bool operator==(const FilledStreams&) const = default;
};

/// The matrix that takes the place of a transition of a MultiStream.
enum class TransitionForm : std::uint8_t {
    Identity,
    Mean, ///< its mean over all tokens of the batch
    /// The k largest magnitudes of the n weights with which a new stream takes the old ones; the others are 0.
    Top,
    TopScaled, ///< these, scaled to the sum of magnitudes that all n had
};

/// Transitions of some modules that are replaced: of the weights of a module only those from old to new streams.
struct ReplacedTransitions {
    std::int64_t first = 1; ///< module
    std::int64_t last = 1;  ///< module
    TransitionForm form = TransitionForm::Identity;
    std::int64_t top = 1; ///< k
    bool operator==(const ReplacedTransitions&) const = default;
};

/// Changes of a stack in some passes: factors of its wiring's weights, layers or halves of layers that do not run, and
/// streams and transitions that have other values.
/// Parameters stay as they are.
struct Alteration {
    /// Factors of weights, by their number in the wiring's program (DepthStep::firstTerm); 1 for all others.
    std::map<std::size_t, double> factors;
    /// True if the weights that a softmax normalises together are divided by their new sum, as if the factors acted
    /// before it (z + ln factor). If false, the factors act after it.
    bool renormalises = false;
    std::vector<std::pair<std::int64_t, LayerPart>> off; ///< layers from 1; their branch, or half of it, is absent

    std::vector<std::pair<std::size_t, std::int64_t>> visits = {}; ///< loops, from 0, that make so many visits
    std::vector<FilledStreams> fills = {};                         ///< of a MultiStream, one after the other
    std::vector<ReplacedTransitions> transitions = {};             ///< of a MultiStream, one after the other
    /// True if reads, transitions, writes and exit have the weights of the unaltered pass, and not those computed from
    /// the altered streams. Replaced transitions are computed from these weights.
    bool frozenRouting = false;

    [[nodiscard]] bool empty() const
    {
        return factors.empty() && off.empty() && visits.empty() && fills.empty() && transitions.empty();
    }
    bool operator==(const Alteration&) const = default;
};

/// The parts that a knock-out switches off, one at a time.
enum class KnockoutBy : std::uint8_t {
    Term,   ///< each shortcut i:j of a DepthMix, in all mixes of its reader
    Layer,  ///< each layer that may be left out
    Half,   ///< the attention and the FFN of each layer
    Stream, ///< each stream of a MultiStream, in all reads and transitions and in the exit
    Visits, ///< not a part: each loop with each other number of visits
};

/// One part of a network that a knock-out switches off.
struct KnockoutSubject {
    std::string name;        ///< "2:7", "layer 3", "attention 3@2", "FFN 3", "stream 2", "4 visits"
    std::int64_t first = 0;  ///< the source i; the layer; the stream, from 1; the number of visits
    std::int64_t reader = 0; ///< j; 0 for layers and streams
    Alteration alteration;
};
/// Selects the interventions on a network of parallel streams.
enum class InterventionKind : std::uint8_t {
    Streams,     ///< sets of streams are filled
    Pairs,       ///< streams are filled one by one and two at a time
    Rescue,      ///< sets of streams are filled, and a stream is restored at a later border
    Transitions, ///< transitions are replaced
};

/// Returns the wiring with a weight for each of its shortcuts, so that they can be altered: a plain running sum becomes
/// a mix of ones, which computes the same up to rounding and has the same parameters.
[[nodiscard]] Result<Wiring> withTerms(const Wiring& wiring, std::int64_t layers);
/// Returns the project with twice as many visits, and at least `least`, of each loop whose parameters do not depend on
/// their number. An evaluation makes as many as before.
[[nodiscard]] Project withMoreVisits(Project project, std::int64_t least = 0);
/// Returns the subjects in the order of the document, whose wiring is one of withTerms(). Returns an error that names
/// the way on if it has none of the kind, or if `renormalises` and no softmax normalises its weights.
[[nodiscard]] Result<std::vector<KnockoutSubject>> knockoutSubjects(const Project& project, KnockoutBy by,
                                                                    bool renormalises);

/// Returns those of the subjects that are named, in the order of the document and each once; all if `names` is empty.
/// Returns an error that suggests a name if one is unknown.
[[nodiscard]] Result<std::vector<KnockoutSubject>> chosenSubjects(std::vector<KnockoutSubject> subjects,
                                                                  const std::vector<std::string>& names);

} // namespace residua::projects
