// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/engine/compute/session/run_harness.h"

#include "engine/base/api/session.h"
#include "engine/base/files/safetensors.h"

#include <QJsonObject>
#include <QString>

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::tests {

/// The answer of a session of its own to a request.
template <class Ready, class Request>
Result<Ready> answerTo(Request request)
{
    request.tag = engine::QueryTag{1};
    SessionProbe session;
    session.post(request);
    session.waitUntil([](const engine::Event& event) {
        return std::holds_alternative<Ready>(event) || std::holds_alternative<engine::QueryFailed>(event);
    });
    const std::vector<Ready> ready = session.all<Ready>();
    const std::vector<engine::QueryFailed> failed = session.all<engine::QueryFailed>();
    return !ready.empty()    ? Result<Ready>(ready.front())
           : !failed.empty() ? Result<Ready>(failed.front().error)
                             : Error{"session", "no answer within a minute"};
}

[[nodiscard]] Result<engine::ImportReady> imported(const std::filesystem::path& folder,
                                                   const std::filesystem::path& project,
                                                   const std::optional<projects::Source>& data = std::nullopt);
/// The data that a model is imported with: pairs of texts, written into `folder`, if the case has segments.
[[nodiscard]] std::optional<projects::Source> dataOf(const QJsonObject& modelCase, const std::filesystem::path& folder);
/// Exports the run as a model of transformers.
[[nodiscard]] Result<engine::ExportReady> exported(const std::filesystem::path& run,
                                                   const std::filesystem::path& folder);
/// Retrofits the run with a topology that computes the same, and that no architecture of transformers has.
[[nodiscard]] Result<engine::RetrofitReady>
rewired(const std::filesystem::path& run, const std::filesystem::path& newRun, const std::string& topology = "grn-v3");

/// Compares the run's logits, the norms of its gradients, its greedy continuation and its candidates for a masked token
/// with `expected`, a case of model_cases.json or of model_cases.py. Returns what differs; empty if all are near
/// enough.
[[nodiscard]] QString faultOf(const std::filesystem::path& run, const QJsonObject& expected);

/// All tensors of a folder, in however many files.
[[nodiscard]] std::map<std::string, std::pair<engine::StoredType, std::vector<std::byte>>>
tensorsIn(const std::filesystem::path& folder);

} // namespace residua::tests
