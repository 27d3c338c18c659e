// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/matrix_name.h"
#include "engine/base/api/values.h"
#include "projects/depth/mix_port.h"
#include "projects/depth/weight_scale.h"
#include "projects/model/topology.h"
#include "visualizers/heatmap/heatmap_frames.h"
#include "visualizers/runs/shown_runs.h"

#include <QObject>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::visualizers {

/// The choice among the matrices of the run in front: kind, port, step and value, and the run that they are compared
/// with. The views of matrices follow it by its signals. GUI thread.
class ShownMatrices : public QObject {
    Q_OBJECT
public:
    /// The matrices to choose from: weights of shortcuts, or counts of a classifier's outputs.
    enum class Of { Shortcuts, Outputs };
    explicit ShownMatrices(Of of = Of::Shortcuts, QObject* parent = nullptr) : QObject(parent), m_of(of) {}
    [[nodiscard]] Of of() const { return m_of; }
    /// Returns the tower that the matrices are of; empty: the first.
    [[nodiscard]] const std::string& tower() const { return m_tower; }

    /// Shows the matrices of the run in front of `runs` and of the compared run. `runs` must outlive this object.
    void follow(const ShownRuns& runs);
    /// Removes every frame, but keeps the run to compare with.
    void clear();
    /// Sets the wiring of the run, which determines the colours of its weights, and the names of its classes; clear()
    /// resets them.
    /// Only matrices of `tower` (ShownRuns::Facts) are shown, by their names in it.
    void setRun(const projects::Wiring& wiring, std::vector<std::string> classes = {},
                ShownRuns::LayerNames layerNames = {}, std::string tower = {});
    /// Appends the frames. If the newest frame was shown, shows the new newest one.
    void append(const std::vector<engine::Matrix>& matrices);
    /// Sets the run to compare with; an empty name: none.
    void compareWith(const QString& name);
    /// Appends matrices of that run.
    void appendCompared(const std::vector<engine::Matrix>& matrices);

    /// Requests the weights of a single feature, which setFeature() delivers; nullopt: of all features.
    void wantFeature(std::optional<int> feature);
    /// Sets the applied weights (matrix::kMix) of one feature by step. If empty, those of all features are shown again.
    void setFeature(int feature, const std::vector<engine::Matrix>& matrices);
    /// Appends later steps of the shown feature.
    void appendFeature(const std::vector<engine::Matrix>& matrices);
    /// Returns the feature that was requested last. Its weights may still be loading.
    [[nodiscard]] std::optional<int> wantedFeature() const { return m_wanted; }
    /// Returns the feature that the frames are of.
    [[nodiscard]] std::optional<int> feature() const { return m_feature; }

    /// The kinds and ports to choose from, in the order of their arrival. No ports if layers have a single mix.
    [[nodiscard]] const std::vector<std::string>& kinds() const { return m_kinds; }
    [[nodiscard]] const std::vector<projects::MixPort>& ports() const { return m_ports; }
    [[nodiscard]] const std::string& kind() const { return m_kind; }
    [[nodiscard]] projects::MixPort port() const { return m_port; }
    /// Returns the value in the cells: the chosen one, or else valueOf() the selected kind.
    [[nodiscard]] CellValue value() const { return valueOf(m_kind); }
    /// Returns the chosen value. Without a choice it is the change since the start if the weights of the kind do not
    /// all start at the centre of their colours, else the recorded number.
    [[nodiscard]] CellValue valueOf(const std::string& kind) const;
    /// True if value() is the choice of the user.
    [[nodiscard]] bool isValueChosen() const { return m_value.has_value(); }
    void setKind(const std::string& kind);
    void setPort(projects::MixPort port);
    void setValue(CellValue value);

    /// Returns the index of the shown frame, counted from 0, and of the newest.
    [[nodiscard]] std::size_t frame() const { return m_frame; }
    [[nodiscard]] std::size_t newest() const;
    void showFrame(std::size_t frame);
    /// Shows the last frame at or before `step`, or the first if all are later.
    void showStep(std::int64_t step);
    /// Sets the colour scale of the shown kind, which several runs share; nullopt: that of the run.
    void shareScale(const std::optional<projects::WeightScale>& scale);
    /// Returns the scale of the shown kind, of this run alone.
    [[nodiscard]] projects::WeightScale ownScale() const { return m_frames.scale(series(), value()); }
    /// Returns the shown frame of the series. Precondition: any().
    [[nodiscard]] HeatmapFrames::Shown frameShown() const;
    /// Starts or stops playing, from the first frame if the newest is shown. New frames do not move the step meanwhile.
    void play(bool on);
    [[nodiscard]] bool isPlaying() const { return m_playing; }
    /// Shows the next frame. Playing ends at the newest.
    void playOn();
    /// Makes this step the one that changes are shown against.
    void pin();

    [[nodiscard]] const HeatmapFrames& frames() const { return m_frames; }
    /// Returns the name of the matrix of the selected kind and port.
    [[nodiscard]] engine::MatrixName series() const { return engine::MatrixName(m_kind, m_port); }
    [[nodiscard]] bool any() const { return m_frames.count(series()) > 0; }
    /// Returns the step of the shown frame; nullopt if there is none.
    [[nodiscard]] std::optional<std::int64_t> step() const;
    /// Returns every matrix as shown at that step, each with the value of its kind; empty if nothing is shown.
    [[nodiscard]] std::vector<HeatmapFrames::Shown> framesShown() const;
    /// Returns the name of the cells' values, such as "change since step 0"; empty for the recorded numbers.
    [[nodiscard]] QString valueTitle() const { return titleOf(value(), series()); }
    [[nodiscard]] QString titleOf(CellValue value, const engine::MatrixName& name) const;
    [[nodiscard]] const std::vector<std::string>& classes() const { return m_classes; }
    [[nodiscard]] const ShownRuns::LayerNames& layerNames() const { return m_layerNames; }
    [[nodiscard]] const QString& run() const { return m_run; }
    /// Returns a line that says whose matrices are shown: the run's name, its wiring, the shown step, the newest one if
    /// another is shown, and whether the run is being trained. Without a run, it says how to show one.
    [[nodiscard]] QString whose() const;
    /// Sets a remark on the run in front, such as why a canvas does not draw its weights; empty: none.
    void setRemark(const QString& remark);
    [[nodiscard]] const QString& remark() const { return m_remark; }
    [[nodiscard]] const QString& comparedRun() const { return m_comparedRun; }

signals:
    void changed(); ///< the contents or the frames have changed
    void remarkChanged();
    void featureWanted(int feature); ///< a single feature's weights are requested

private:
    [[nodiscard]] std::optional<engine::Matrix> shown(const engine::Matrix& matrix) const;
    void takeNames();
    void dropFeature();
    void keepFrame();
    void keepStep(std::optional<std::int64_t> step);

    Of m_of;
    HeatmapFrames m_frames;
    std::vector<std::string> m_classes; ///< of the run
    ShownRuns::LayerNames m_layerNames;
    std::string m_tower;  ///< of the frames; empty: the run's first one
    QString m_run;        ///< of the frames
    QString m_wiringName; ///< of the run
    QString m_remark;
    bool m_hasFront = false; ///< true if a run is in front, which may not have been read yet
    bool m_grows = false;    ///< true if the run is being trained
    QString m_comparedRun;   ///< that the frames are compared with
    std::vector<std::string> m_kinds;
    std::vector<projects::MixPort> m_ports;
    std::string m_kind;
    projects::MixPort m_port = projects::MixPort::Input;
    std::optional<CellValue> m_value;             ///< chosen by the user
    std::optional<projects::WeightScale> m_scale; ///< shared with other runs
    std::optional<int> m_wanted;
    std::optional<int> m_feature;
    std::size_t m_frame = 0;
    bool m_followsNewest = true;
    bool m_playing = false;
};

} // namespace residua::visualizers
