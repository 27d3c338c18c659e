// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "projects/model/project.h"

#include <QWidget>

#include <map>
#include <string>
#include <vector>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QHBoxLayout;
class QLabel;
class QLayout;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QTextBrowser;

namespace residua::app {

/// Texts that a run's language model continues, or whose masked tokens it fills, examples that its classifier
/// classifies, and images that its diffusion model makes, listed by checkpoint. They are sampled on request, and after
/// each checkpoint of the training run: at once if the panel is visible, else when it is next shown. GUI thread.
class SamplesPanel : public QWidget {
    Q_OBJECT
public:
    explicit SamplesPanel(QWidget* parent = nullptr);

    /// Sets the run whose texts are sampled and shown; an empty directory: none.
    void setRun(const std::string& directory, const QString& name);
    /// Must be called when another project was opened. Drops what was entered for the former one.
    void clearInput();
    /// Sets the project of the run's model. Its objective and data decide what the panel asks for.
    void setModel(const projects::Project& project);
    /// Must be called when a checkpoint of this run was written.
    void noticeCheckpoint(const std::string& directory);
    /// Takes the answer to a request that sampleRequested() told with `given`.
    void take(const engine::SampleRequest& request, const engine::SampleReady& sample, const QString& given);
    /// Shows the images that are finished so far of such a request.
    void takePart(const engine::SampleRequest& request, const engine::QueryProgress& progress);
    /// Takes the reason why such a request failed.
    void refuse(const engine::SampleRequest& request, const QString& reason);
    /// Shows the progress of a comparisonRequested(), or the reason why it failed.
    void tellComparison(const engine::EvaluateRequest& request, const QString& text);
    /// Shows the result of a comparison above the images, which keep their room.
    void takeComparison(const engine::EvaluateRequest& request, const QString& text);
    /// Samples a text now.
    void sample();

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

signals:
    /// Requests a text of the run's last checkpoint. take() or refuse() receives the answer. `given` is the text that a
    /// classifier is asked about, because its answer does not have it; else empty.
    void sampleRequested(const residua::engine::SampleRequest& request, const QString& given);
    /// Requests a comparison of images of the run with those of its data. takeComparison() receives the answer.
    void comparisonRequested(const residua::engine::EvaluateRequest& request);

private:
    void layOut();
    void layOutImages();
    /// The kinds of input that a user may give to the model.
    enum class Given { Text, Picture, Nothing };
    void askFor(projects::SampleUse use, Given given);
    void choosePicture();
    /// Asks for a run that classifies images, and compares the model's images by its features.
    void compare();
    void takePicture(const QString& path);
    void showSamples();
    void sampleIfDue();
    /// Shows a text about the last request, or names the run if it is empty.
    void tell(const QString& text);
    /// True if the fields still ask for what `request` asked.
    [[nodiscard]] bool isCurrent(const engine::SampleRequest& request) const;
    [[nodiscard]] engine::SampleRequest request() const;

    std::string m_run;
    QString m_name;         ///< of the run
    bool m_isKnown = false; ///< setModel() was called for the run
    std::string m_due;      ///< the run whose last checkpoint was not sampled, because the panel was out of sight
    struct Taken {
        engine::SampleReady sample;
        QString given;         ///< as sampleRequested()'s
        bool isOfData = false; ///< it classifies held-out examples: RunSamples::ofData, for `sample` has none
    };
    struct RunSamples {
        std::vector<Taken> taken; ///< in order of arrival
        engine::FedBatch ofData;  ///< the same for each
        QString compared = {};    ///< the result of the last comparison; may be empty
    };
    std::map<std::string, RunSamples> m_samples; ///< by run
    QLineEdit* m_prompt;
    QPushButton* m_choose; ///< a picture's file, or a run to compare images by
    projects::SampleUse m_use = projects::SampleUse::Continue;
    Given m_given = Given::Text;
    QSpinBox* m_tokens;
    QDoubleSpinBox* m_temperature;
    QDoubleSpinBox* m_exitAt; ///< shown for a model with an exit gate
    QSpinBox* m_images;       ///< this and those below are shown for a model that makes images
    QSpinBox* m_class;
    QDoubleSpinBox* m_guidance;
    QSpinBox* m_steps;
    QComboBox* m_sampler;
    engine::FedBatch m_part; ///< the finished images of the last request, until it is answered
    QCheckBox* m_live;
    QPushButton* m_sample;
    QHBoxLayout* m_entry; ///< the prompt and its buttons
    QLayout* m_controls;  ///< what is set, and the buttons if there is no prompt
    QTextBrowser* m_texts;
    QLabel* m_state; ///< the current activity or an error
};

} // namespace residua::app
