// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/measures/recorded_means.h"

#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/run_writer.h"

#include <limits>

namespace residua::engine {

Status recordMeans(const std::filesystem::path& runDirectory, Split split, const EvaluationReady& measured,
                   const std::string& prefix, const std::string& what)
{
    RunWriter writer = RESIDUA_TRY(RunWriter::append(runDirectory));
    const std::string part(nameOf(split).word);
    for (const auto& [quantity, value] : measured.means) {
        writer.metric(prefix + quantity + "/" + part, measured.step, value);
    }
    writer.event({measured.step, RunEventKind::Measured, part + " part: " + what});
    RESIDUA_TRY(writer.flush());
    const RunReader reader = RESIDUA_TRY(RunReader::open(runDirectory));
    RunInfo info = writer.info();
    for (const auto& [quantity, value] : measured.means) {
        const std::string name = prefix + quantity + "/" + part;
        const auto last = reader.lastPoint(name, std::numeric_limits<std::int64_t>::max());
        if (last && isRating(name)) {
            info.values[name] = last->value;
        }
    }
    return writer.update(info);
}

} // namespace residua::engine
