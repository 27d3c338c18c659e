// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "app/properties/field_form.h"
#include "engine/base/api/session.h"
#include "projects/model/project.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

class QTreeWidget;

namespace residua::app {

class EngineBridge;

/// The project whose run gets its first weights.
struct OntoProject {
    projects::Project project; ///< the whole document
    std::filesystem::path directory;
    std::string tower = {}; ///< the name of the shown tower; empty: the first
};

/// Makes a run of the open project whose first weights are those of a file, or that learns from a trained run too
/// (engine::Teaching). Shows first which parameters have a tensor, and makes the run when it is asked again. Not modal.
/// GUI thread.
class WeightsDialog : public AskDialog {
    Q_OBJECT
public:
    enum class Kind { Load, Teach };
    /// `open` returns the project when it is needed, or nullopt if none is saved. `engine` must outlive the dialog.
    WeightsDialog(EngineBridge& engine, Kind kind, std::function<std::optional<OntoProject>()> open,
                  QWidget* parent = nullptr);

    /// Sets the path of the file or of the teacher's run.
    void setSource(const QString& path);
    /// Forgets what fits, because the fields or the project have changed. Does nothing while a run is made.
    void forget();

signals:
    void made(const residua::engine::LoadWeightsReady& made);

private:
    [[nodiscard]] static Words wordsOf(Kind kind);
    [[nodiscard]] const char* sourceKey() const { return m_kind == Kind::Load ? "file" : "teacher"; }
    void addRows();
    void chooseSource();
    void update();
    void begin() override;
    void beginTeaching(const engine::LoadWeightsRequest& request);
    void ask(const engine::LoadWeightsRequest& request);
    void take(const engine::LoadWeightsReady& ready);
    void refuse(const QString& reason) override;

    /// The steps of the dialog.
    enum class Phase { Asks, Looks, Shows, Makes };

    EngineBridge& m_engine;
    const Kind m_kind;
    std::function<std::optional<OntoProject>()> m_open;
    FieldForm m_fields;
    QTreeWidget* m_table;
    Phase m_phase = Phase::Asks;
    unsigned m_look = 0; ///< counts the looks, so that the result of a forgotten one is ignored
    engine::QueryTag m_question{};
};

} // namespace residua::app
