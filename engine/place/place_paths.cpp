// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/place/place_paths.h"

#include "engine/bundle/data_paths.h"
#include "engine/bundle/manifest.h"

#include <variant>

namespace residua::engine {

namespace fs = std::filesystem;

Status checkWithin(const fs::path& folder, const std::string& path)
{
    if (const Status plain = checkBundledPath("message", path); !plain) {
        return plain;
    }
    std::error_code code;
    const fs::path root = fs::canonical(folder, code);
    const fs::path place = code ? fs::path() : fs::weakly_canonical(root / path, code);
    if (code || !placeWithin(root, place)) {
        return Error{"message", "holds the path " + shown(path) + ", which leads out of " + folder.string()};
    }
    return Done{};
}

Status checkAtPlace(const fs::path& folder, const Command& command)
{
    const auto check = [&]<class Asked>(const Asked& asked) -> Status {
        if constexpr (!kAtPlace<Asked>) {
            return Error{"message", "is a command that is not taken at a place with a folder of its own"};
        } else {
            std::vector<fs::path> paths;
            if constexpr (requires { asked.runDirectory; }) {
                paths.push_back(asked.runDirectory);
                paths.push_back(asked.projectDirectory);
            }
            if constexpr (requires { asked.runFolder; }) {
                paths.push_back(asked.runFolder);
            }
            for (const fs::path& path : paths) {
                if (const Status within = path.empty() ? Status(Done{}) : checkWithin(folder, path.string()); !within) {
                    return within;
                }
            }
            return Done{};
        }
    };
    return std::visit(check, command);
}

} // namespace residua::engine
