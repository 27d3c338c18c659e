// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/matrix_name.h"
#include "engine/api/values.h"
#include "projects/depth/mix_port.h"
#include "projects/depth/weight_scale.h"
#include "projects/model/topology.h"
#include "visualizers/heatmap/heatmap_frames.h"

#include <QObject>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::visualizers {

class ShownRuns;

/// What is shown of the matrices of the run in front: of which kind and port, at which step, and what of them; and the
/// run that they are compared with. The views of matrices follow it by its signals. GUI thread.
class ShownMatrices : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// Takes the matrices of the run in front of `runs` and of the one that is compared. It does not outlive them.
    void follow(const ShownRuns& runs);
    /// Forgets every frame, but not the run that they are compared with.
    void clear();
    /// The wiring of the run whose matrices follow, which says how their weights are coloured; clear() forgets it.
    void setWiring(const projects::Wiring& wiring);
    /// Appends the frames, and shows the newest where the newest was shown.
    void append(const std::vector<engine::Matrix>& matrices);
    /// The run to show the difference from; an empty name: none.
    void compareWith(const QString& name);
    /// Appends to what that run has recorded.
    void appendCompared(const std::vector<engine::Matrix>& matrices);

    /// Asks for the weights of a single feature, which setFeature() brings; none: shows those of all again.
    void wantFeature(std::optional<int> feature);
    /// The applied weights (matrix::kMix) of one feature by step; without any, those of all are shown again.
    void setFeature(int feature, const std::vector<engine::Matrix>& matrices);
    /// Later steps of the feature that is shown.
    void appendFeature(const std::vector<engine::Matrix>& matrices);
    /// The feature that was asked for last, whose weights may still be read.
    [[nodiscard]] std::optional<int> wantedFeature() const { return m_wanted; }
    /// The feature that the frames are of.
    [[nodiscard]] std::optional<int> feature() const { return m_feature; }

    /// The kinds and ports to choose from, in the order in which they came; no port where layers have one mix.
    [[nodiscard]] const std::vector<std::string>& kinds() const { return m_kinds; }
    [[nodiscard]] const std::vector<projects::MixPort>& ports() const { return m_ports; }
    [[nodiscard]] const std::string& kind() const { return m_kind; }
    [[nodiscard]] projects::MixPort port() const { return m_port; }
    [[nodiscard]] CellValue value() const { return m_value; }
    void setKind(const std::string& kind);
    void setPort(projects::MixPort port);
    void setValue(CellValue value);

    /// The frame that is shown, counted from 0, and the newest that there is.
    [[nodiscard]] std::size_t frame() const { return m_frame; }
    [[nodiscard]] std::size_t newest() const;
    void showFrame(std::size_t frame);
    /// While the frames are played, from the first where the newest was shown, further ones do not move the step.
    void play(bool on);
    [[nodiscard]] bool isPlaying() const { return m_playing; }
    /// Shows the next frame; playing ends at the newest.
    void playOn();
    /// Shows the change since this step from now on.
    void pin();

    [[nodiscard]] const HeatmapFrames& frames() const { return m_frames; }
    /// The matrix of that kind and port, as the frames know it.
    [[nodiscard]] engine::MatrixName series() const { return engine::MatrixName(m_kind, m_port); }
    [[nodiscard]] bool any() const { return m_frames.count(series()) > 0; }
    /// The step of the frame that is shown; nullopt where none is.
    [[nodiscard]] std::optional<std::int64_t> step() const;
    /// What is shown of every matrix at that step; empty where nothing is.
    [[nodiscard]] std::vector<HeatmapFrames::Shown> framesShown() const;
    /// What the cells show, if it is not the recorded number itself: "change since step 0"; empty if it is.
    [[nodiscard]] QString valueTitle() const;
    [[nodiscard]] const QString& run() const { return m_run; }
    [[nodiscard]] const QString& comparedRun() const { return m_comparedRun; }

signals:
    void changed();                  ///< something else is shown, or there are other frames
    void featureWanted(int feature); ///< a single feature's weights are asked for

private:
    void takeNames();
    void dropFeature();
    void keepFrame();

    HeatmapFrames m_frames;
    QString m_run;         ///< of the frames
    QString m_comparedRun; ///< that the frames are compared with
    std::vector<std::string> m_kinds;
    std::vector<projects::MixPort> m_ports;
    std::string m_kind;
    projects::MixPort m_port = projects::MixPort::Input;
    CellValue m_value = CellValue::Weight;
    std::optional<int> m_wanted;
    std::optional<int> m_feature;
    std::size_t m_frame = 0;
    bool m_followsNewest = true;
    bool m_playing = false;
};

} // namespace residua::visualizers
