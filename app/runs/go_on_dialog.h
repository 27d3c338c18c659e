// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "app/properties/field_form.h"
#include "app/training/go_on_request.h"
#include "engine/base/api/values.h"
#include "engine/runs/results/remotes.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

class QComboBox;
class QLabel;

namespace residua::app {

class SettingsList;

/// What there is of a run that can be gone on with.
struct GoOnSource {
    engine::RunInfo info;
    projects::Project project;             ///< the trained project, as the view of the tower
    std::vector<std::int64_t> checkpoints; ///< steps, ascending
    engine::DistantCheckpoints distant;    ///< those that are on another machine only
    std::string tower = {};                ///< the tower that requests are about; empty: the first
    std::size_t index = 0;                 ///< of this tower in the document
};
/// Returns what there is of a run, about the tower of this name (empty: the first). Blocks; any thread.
[[nodiscard]] Result<GoOnSource> readGoOnSource(const std::string& runDirectory, const std::string& tower = {});
/// Adds the checkpoints to a list, the last one first, with their steps as data. Names the place of those to fetch.
void listCheckpoints(QComboBox& list, const GoOnSource& source);

/// The initial contents of a retrofit's dialog.
struct GoOnStart {
    bool measured = false;   ///< goes on though the outputs change
    std::string prune;       ///< RetrofitRequest::prune, in place of a topology
    bool asDocument = false; ///< wired as the open project, without the layers that it lacks; before the dialog opens
    bool ties = false;       ///< asks for RetrofitRequest::ties in place of a topology
};

/// Asks from which checkpoint a run goes on, to how many steps and, for a retrofit, under which topology or with which
/// layers tied, or for factors of which rank and how they are found, with what that changes in cost; for a fork, which
/// settings of the open project it takes over. It stays open until the request is carried out, to say what stands in
/// its way. Not modal.
class GoOnDialog : public AskDialog {
    Q_OBJECT
public:
    /// `open`: the open project, as the view of the same tower. Its topology is the first that a retrofit is offered,
    /// its settings a fork may have.
    GoOnDialog(GoOnKind kind, GoOnSource source, const projects::Project& open, GoOnStart start = {},
               QWidget* parent = nullptr);

    [[nodiscard]] const std::string& run() const { return m_source.info.directory; }
    /// Offers to go on measured with the same button, if that is what the reason ends with.
    void refuse(const QString& reason) override;

signals:
    void chosen(const residua::app::GoOnRequest& request);

private:
    [[nodiscard]] static Words wordsFor(GoOnKind kind, const GoOnStart& start, const QString& run);
    void fillRetrofit(const projects::Topology& wired);
    void fillCheckpoints();
    void fillTopologies(const projects::Topology& wired);
    void fillTies();
    void hideRow(const char* key);
    void fillSettings(const projects::Project& open);
    void update();
    void begin() override;
    /// Returns the request of the rows, without a retrofit's topology and a fork's settings.
    [[nodiscard]] GoOnRequest request() const;
    [[nodiscard]] std::int64_t step() const;
    [[nodiscard]] Result<projects::Topology> topology() const;
    [[nodiscard]] std::string ties() const;
    /// The project that a fork with the chosen settings trains; nullopt if none is chosen.
    [[nodiscard]] std::optional<projects::Project> forked() const;
    /// The run's project as it would be trained; the run's own where nothing of it changes.
    [[nodiscard]] Result<projects::Project> changed() const;
    [[nodiscard]] QString costText(const projects::Project& wanted) const;

    GoOnKind m_kind;
    GoOnSource m_source;
    GoOnStart m_start;
    std::vector<projects::Topology> m_topologies; ///< of the list
    FieldForm m_fields;
    SettingsList* m_settings; ///< a fork's
    QLabel* m_cost;
};

} // namespace residua::app
