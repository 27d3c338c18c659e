// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/samples_panel.h"

#include "app/look/field_row.h"
#include "app/look/format.h"
#include "app/look/path_kind.h"
#include "app/look/theme.h"
#include "projects/base/text.h"
#include "projects/model/data_source.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/towers.h"
#include "visualizers/plot/plot_controls.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <utility>

namespace residua::app {

namespace {

constexpr int kLowTexts = 30;     ///< pixels; else the rows above it would be squeezed in a low panel
constexpr int kTokens = 120;      ///< fewer than a request's default, because texts are sampled at each checkpoint
constexpr int kMostTokens = 5000; ///< longer texts are sampled in the terminal
constexpr int kNarrowPrompt = 60;
constexpr int kMostImages = 400; ///< more are made in the terminal

QString candidatesOf(const engine::MaskedPosition& place)
{
    QStringList candidates;
    for (const engine::TokenCandidate& each : place.candidates) {
        candidates << QString::fromStdString(visible(each.token) + " " + numberText(100 * each.probability, 3) + " %");
    }
    return candidates.join(QStringLiteral(", "));
}

/// Returns what was given to a classifier, the text, and a line with the candidates of each masked token.
QString textOf(const engine::SampleReady& sample, const QString& given)
{
    QString text = given.isEmpty() ? QString() : given + QStringLiteral(" → ");
    text += QString::fromStdString(sample.text);
    for (const engine::MaskedPosition& place : sample.masked) {
        text += QStringLiteral("\n  ") + formatWhole(place.position) + QStringLiteral(": ") + candidatesOf(place);
    }
    return verbatim(text);
}

/// Returns what the network takes each example for, and whether that is its class.
QStringList answersOf(const engine::SampleReady& sample, const engine::FedBatch& classified)
{
    QStringList answers;
    for (std::size_t i = 0; i < sample.masked.size() && i < classified.examples.size(); ++i) {
        const std::string& known = classified.examples[i].target;
        const std::vector<engine::TokenCandidate>& candidates = sample.masked[i].candidates;
        const bool isRight = !candidates.empty() && candidates.front().token == known;
        const QString label = QStringLiteral("<b>%1</b><br>").arg(QString::fromStdString(known).toHtmlEscaped());
        answers << (known.empty() ? QString() // a picture of the user has no label
                    : isRight     ? QStringLiteral("✓ ") + label
                                  : QStringLiteral("✗ ") + label) +
                       candidatesOf(sample.masked[i]).toHtmlEscaped();
    }
    return answers;
}

} // namespace

SamplesPanel::SamplesPanel(QWidget* parent)
    : QWidget(parent),
      m_prompt(new QLineEdit(this)),
      m_choose(new QPushButton(tr("Picture…"), this)),
      m_tokens(new QSpinBox(this)),
      m_temperature(new QDoubleSpinBox(this)),
      m_exitAt(new QDoubleSpinBox(this)),
      m_images(new QSpinBox(this)),
      m_class(new QSpinBox(this)),
      m_guidance(new QDoubleSpinBox(this)),
      m_steps(new QSpinBox(this)),
      m_sampler(new QComboBox(this)),
      m_live(new QCheckBox(tr("at each checkpoint"), this)),
      m_sample(new QPushButton(tr("Sample"), this)),
      m_entry(new QHBoxLayout),
      m_controls(new visualizers::ControlRows),
      m_texts(new QTextBrowser(this)),
      m_state(new QLabel(this))
{
    setObjectName(QStringLiteral("samplesPanel"));
    setAttribute(Qt::WA_StyledBackground);
    layOutImages();
    layOut();
    connect(m_sample, &QPushButton::clicked, this, &SamplesPanel::sample);
    connect(m_prompt, &QLineEdit::returnPressed, this, &SamplesPanel::sample);
    const auto forget = [this] { tell({}); }; // what was told is about another input
    connect(m_prompt, &QLineEdit::textChanged, this, forget);
    connect(m_tokens, &QSpinBox::valueChanged, this, forget);
    connect(m_temperature, &QDoubleSpinBox::valueChanged, this, forget);
    connect(m_exitAt, &QDoubleSpinBox::valueChanged, this, forget);
    connect(m_guidance, &QDoubleSpinBox::valueChanged, this, forget);
    connect(m_sampler, &QComboBox::currentIndexChanged, this, forget);
    for (const QSpinBox* const box : {m_images, m_class, m_steps}) {
        connect(box, &QSpinBox::valueChanged, this, forget);
    }
    setRun({}, {});
    connect(m_choose, &QPushButton::clicked, this,
            [this] { m_use == projects::SampleUse::Generate ? compare() : choosePicture(); });
    acceptPaths(*this, {.problem = onlyPaths({PathKind::Picture, PathKind::File}, tr("a picture")),
                        .take = [this](const QStringList& paths) { takePicture(paths.front()); },
                        .takesSeveral = false,
                        .wants = [this] { return m_given == Given::Picture; }});
    askFor(projects::SampleUse::Continue, Given::Text);
}

void SamplesPanel::layOutImages()
{
    constexpr int kSteps = 50; // fewer than training's, because images are made at each checkpoint
    m_images->setRange(1, kMostImages);
    m_images->setValue(static_cast<int>(engine::kSampledImages));
    const auto nameImages = [this](int count) { m_images->setSuffix(tr(" images", nullptr, count)); };
    connect(m_images, &QSpinBox::valueChanged, this, nameImages);
    nameImages(m_images->value());
    m_images->setAccessibleName(tr("Images to make"));
    m_images->setObjectName(QStringLiteral("sampleImages"));
    m_class->setRange(-1, std::numeric_limits<int>::max());
    m_class->setPrefix(tr("class "));
    m_class->setValue(-1);
    m_class->setSpecialValueText(tr("each class in turn"));
    m_class->setAccessibleName(tr("Class of the images"));
    m_class->setObjectName(QStringLiteral("sampleClass"));
    m_guidance->setRange(0, 1000);
    m_guidance->setSingleStep(0.5);
    m_guidance->setValue(engine::Generation{}.guidance);
    m_guidance->setPrefix(tr("guidance "));
    m_guidance->setAccessibleName(tr("Guidance"));
    m_guidance->setToolTip(tr("How far each step goes from no class to the class; 1 goes to the class, 4 beyond it"));
    m_guidance->setObjectName(QStringLiteral("sampleGuidance"));
    m_steps->setRange(1, static_cast<int>(projects::kMostDiffusionSteps));
    m_steps->setValue(kSteps);
    m_steps->setSuffix(tr(" steps"));
    m_steps->setAccessibleName(tr("Steps from noise to an image"));
    m_steps->setObjectName(QStringLiteral("sampleSteps"));
    for (const projects::Choice& choice : projects::Choices<engine::DiffusionSampler>::all) {
        m_sampler->addItem(QString::fromUtf8(choice.title.data(), std::ssize(choice.title)));
    }
    m_sampler->setCurrentIndex(static_cast<int>(engine::DiffusionSampler::Ddim));
    m_sampler->setAccessibleName(tr("Sampler"));
    m_sampler->setObjectName(QStringLiteral("sampleSampler"));
}

void SamplesPanel::layOut()
{
    m_prompt->setObjectName(QStringLiteral("samplePrompt"));
    m_prompt->setMinimumWidth(kNarrowPrompt);
    m_tokens->setRange(1, kMostTokens);
    m_tokens->setValue(kTokens);
    const auto nameTokens = [this](int count) { m_tokens->setSuffix(tr(" tokens", nullptr, count)); };
    connect(m_tokens, &QSpinBox::valueChanged, this, nameTokens);
    nameTokens(kTokens);
    m_tokens->setAccessibleName(tr("Tokens to add"));
    m_temperature->setRange(0, 10);
    m_temperature->setSingleStep(0.1);
    m_temperature->setValue(engine::SampleRequest{}.temperature);
    m_temperature->setPrefix(tr("T "));
    m_temperature->setAccessibleName(tr("Temperature"));
    m_temperature->setToolTip(tr("Temperature; 0 takes the likeliest token always"));
    m_exitAt->setRange(0, 1);
    m_exitAt->setSingleStep(0.1);
    m_exitAt->setPrefix(tr("leaves at "));
    m_exitAt->setSpecialValueText(tr("all visits"));
    m_exitAt->setAccessibleName(tr("Sum of the exit probabilities at which a token leaves"));
    m_exitAt->setToolTip(tr("Each token takes the output of the first visit at which its exit probabilities add up to "
                            "this; at 0 that of the last visit"));
    m_exitAt->setObjectName(QStringLiteral("sampleExitAt"));
    m_exitAt->hide();
    m_live->setChecked(true);
    m_live->setToolTip(
        tr("A sample at each checkpoint of the run that trains; of the last one when this panel comes to "
           "the front"));
    m_choose->setObjectName(QStringLiteral("samplePicture"));
    m_sample->setObjectName(QStringLiteral("sampleNow"));
    m_texts->setObjectName(QStringLiteral("sampleTexts"));
    m_texts->setAccessibleName(tr("Samples of the model"));
    m_texts->setMinimumHeight(kLowTexts);
    m_texts->setFont(numberFont());
    m_state->setProperty("role", QStringLiteral("muted"));
    m_state->setWordWrap(true);
    m_state->setObjectName(QStringLiteral("sampleState"));
    m_texts->setPlaceholderText(tr("Samples appear here, the newest first."));
    m_entry->setContentsMargins(8, 4, 8, 0);
    m_entry->addWidget(m_prompt, 1);
    m_entry->addWidget(m_choose);
    m_entry->addWidget(m_sample);
    m_entry->addStretch(); // takes the room of a hidden prompt
    for (QWidget* control : std::initializer_list<QWidget*>{m_tokens, m_temperature, m_exitAt, m_images, m_class,
                                                            m_guidance, m_steps, m_sampler, m_live}) {
        m_controls->addWidget(control);
    }
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addLayout(m_entry);
    column->addLayout(m_controls);
    column->addWidget(m_texts, 1);
    m_state->setContentsMargins(8, 0, 8, 4);
    column->addWidget(m_state);
}

void SamplesPanel::setRun(const std::string& directory, const QString& name)
{
    m_isKnown = m_isKnown && directory == m_run;
    m_run = directory;
    m_part = {};
    m_name = name;
    m_sample->setEnabled(!directory.empty());
    m_choose->setEnabled(!directory.empty());
    tell({});
    showSamples();
    sampleIfDue();
}

void SamplesPanel::clearInput()
{
    m_prompt->clear();
    tell({});
}

void SamplesPanel::tell(const QString& text)
{
    m_state->setText(!text.isEmpty() ? text
                     : m_run.empty()
                         ? tr("Train a model of language, a classifier or a diffusion model, and it can be asked for "
                              "samples here.")
                         : tr("of %1").arg(m_name));
}

void SamplesPanel::setModel(const projects::Project& project)
{
    const projects::SampleUse use = projects::sampleUseOf(project.network.objective);
    m_class->setMaximum(static_cast<int>(projects::examplesOf(project.data).target().vocabulary) - 1);
    m_steps->setMaximum(static_cast<int>(project.data.diffusion.steps));
    m_guidance->setEnabled(project.data.diffusion.labelDropout > 0);
    askFor(use, use == projects::SampleUse::Generate               ? Given::Nothing
                : projects::examplesOf(project).input().isTokens() ? Given::Text
                : projects::promptsArePictures(project.data)       ? Given::Picture
                                                                   : Given::Nothing);
    m_exitAt->setVisible(projects::gatedLoop(project.network.stack()).has_value());
    m_isKnown = true;
    sampleIfDue();
}

void SamplesPanel::choosePicture()
{
    takePicture(QFileDialog::getOpenFileName(this, tr("A picture to classify"), m_prompt->text(),
                                             tr("Pictures (*.png *.jpg *.jpeg *.webp *.gif *.bmp);;Any file (*)")));
}

void SamplesPanel::compare()
{
    const QString folder =
        QFileDialog::getExistingDirectory(this, tr("A run that classifies such images"),
                                          QString::fromStdString(std::filesystem::path(m_run).parent_path().string()));
    if (folder.isEmpty() || m_run.empty()) {
        return;
    }
    engine::EvaluateRequest asked;
    asked.of.runDirectory = m_run;
    asked.features = folder.toStdString();
    asked.generation = request().generation;
    asked.generation.samples = 0; // those of the part
    asked.record = true;
    tell(tr("comparing …"));
    emit comparisonRequested(asked);
}

void SamplesPanel::tellComparison(const engine::EvaluateRequest& request, const QString& text)
{
    if (request.of.runDirectory == m_run) {
        tell(text);
    }
}

void SamplesPanel::takeComparison(const engine::EvaluateRequest& request, const QString& text)
{
    const std::string directory = request.of.runDirectory.string();
    m_samples[directory].compared = text;
    if (directory == m_run) {
        tell({});
        showSamples();
    }
}

void SamplesPanel::takePicture(const QString& path)
{
    if (!path.isEmpty()) {
        takeChosen(*m_prompt, path);
        sample();
    }
}

void SamplesPanel::askFor(projects::SampleUse use, Given given)
{
    m_use = use;
    if (std::exchange(m_given, given) != given) {
        m_prompt->clear(); // it is a text, or a picture's file
    }
    using projects::SampleUse;
    struct Words {
        QString button;
        QString placeholder;
        QString name;
    };
    const Words words =
        use == SampleUse::Fill
            ? Words{tr("Fill"), tr("A text with [MASK] where a token is hidden"), tr("Text with masked tokens")}
        : use == SampleUse::Classify && given == Given::Picture
            ? Words{tr("Classify"), tr("A picture's file (else held-out ones)"), tr("Picture to classify")}
        : use == SampleUse::Classify && given == Given::Nothing
            ? Words{tr("Classify"), tr("Held-out examples"), tr("Examples to classify")}
        : use == SampleUse::Classify ? Words{tr("Classify"), tr("A text (else held-out ones)"), tr("Text to classify")}
        : use == SampleUse::Generate
            ? Words{tr("Make"), {}, tr("Images are made without a prompt")}
            : Words{tr("Sample"), tr("Begin with … (else the data's beginning)"), tr("What the text begins with")};
    m_sample->setText(words.button);
    m_prompt->setPlaceholderText(words.placeholder);
    m_prompt->setAccessibleName(words.name);
    m_prompt->setEnabled(given != Given::Nothing);
    const bool makes = use == SampleUse::Generate;
    m_prompt->setVisible(!makes);
    if (makes) { // which has no prompt to stand beside
        for (QWidget* const control : std::initializer_list<QWidget*>{m_sample, m_choose, m_live}) {
            m_controls->addWidget(control);
        }
    } else {
        m_entry->insertWidget(1, m_choose);
        m_entry->insertWidget(2, m_sample);
    }
    m_choose->setVisible(makes || (use == SampleUse::Classify && given == Given::Picture));
    m_choose->setText(makes ? tr("Compare…") : tr("Picture…"));
    m_choose->setAccessibleName(makes ? tr("Compare images with those of the data")
                                      : tr("Choose a picture to classify"));
    m_choose->setToolTip(makes ? tr("Measure the Fréchet distance, precision and recall of images, by the features of "
                                    "a run that classifies such images, and record them with this run")
                               : QString());
    m_tokens->setVisible(use == SampleUse::Continue);
    m_temperature->setVisible(use == SampleUse::Continue);
    for (QWidget* const control : std::initializer_list<QWidget*>{m_images, m_class, m_guidance, m_steps, m_sampler}) {
        control->setVisible(use == SampleUse::Generate);
    }
}

void SamplesPanel::noticeCheckpoint(const std::string& directory)
{
    if (m_live->isChecked()) {
        m_due = directory;
        sampleIfDue();
    }
}

void SamplesPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    QMetaObject::invokeMethod(this, &SamplesPanel::sampleIfDue, Qt::QueuedConnection); // it is not laid out yet
}

void SamplesPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    sampleIfDue();
}

void SamplesPanel::sampleIfDue()
{
    const bool lacksText = m_use == projects::SampleUse::Fill && m_prompt->text().trimmed().isEmpty();
    const bool isDue = m_isKnown && m_due == m_run && !lacksText;
    if (isDue && isVisible() && !visibleRegion().isEmpty()) {
        sample();
    }
}

engine::SampleRequest SamplesPanel::request() const
{
    engine::SampleRequest request;
    request.of.runDirectory = m_run;
    const QString prompt = m_prompt->isEnabled() ? m_prompt->text() : QString();
    const bool isFile = m_given == Given::Picture && !prompt.trimmed().isEmpty();
    request.prompt = isFile ? absolutePath(prompt) : prompt.toStdString();
    request.tokens = m_tokens->value();
    request.temperature = m_temperature->value();
    request.exitAt = m_exitAt->isVisibleTo(this) ? m_exitAt->value() : 0;
    if (m_use == projects::SampleUse::Generate) {
        request.generation = {.samples = m_images->value(),
                              .ofClass = m_class->value(),
                              .guidance = m_guidance->isEnabled() ? m_guidance->value() : 1,
                              .steps = m_steps->value(),
                              .sampler = static_cast<engine::DiffusionSampler>(m_sampler->currentIndex())};
    }
    return request;
}

bool SamplesPanel::isCurrent(const engine::SampleRequest& request) const
{
    const engine::SampleRequest now = this->request();
    return request.of.runDirectory == now.of.runDirectory && request.prompt == now.prompt &&
           request.tokens == now.tokens && request.temperature == now.temperature && request.exitAt == now.exitAt &&
           request.generation == now.generation;
}

void SamplesPanel::sample()
{
    if (m_run.empty()) {
        return;
    }
    m_due.clear();
    const engine::SampleRequest asked = request();
    tell(tr("sampling …"));
    const bool classifiesText = m_use == projects::SampleUse::Classify && m_given == Given::Text;
    emit sampleRequested(asked, classifiesText ? QString::fromStdString(asked.prompt) : QString());
}

void SamplesPanel::take(const engine::SampleRequest& request, const engine::SampleReady& sample, const QString& given)
{
    const std::string directory = request.of.runDirectory.string();
    m_part = {};
    RunSamples& all = m_samples[directory];
    Taken& taken = all.taken.emplace_back(sample, given, request.prompt.empty() && !sample.classified.examples.empty());
    if (taken.isOfData) {
        all.ofData = std::exchange(taken.sample.classified, {});
    }
    if (directory == m_run) {
        showSamples();
    }
    if (isCurrent(request)) {
        QStringList notes;
        for (const std::string& note : sample.notes) {
            notes << QString::fromStdString(note);
        }
        tell(notes.join(QLatin1Char('\n')));
    }
}

void SamplesPanel::takePart(const engine::SampleRequest& request, const engine::QueryProgress& progress)
{
    if (!isCurrent(request)) {
        return;
    }
    tell(tr("sampling … %1 %").arg(qRound(100 * progress.share)));
    if (!progress.made.examples.empty()) {
        m_part = progress.made;
        showSamples();
    }
}

void SamplesPanel::refuse(const engine::SampleRequest& request, const QString& reason)
{
    if (isCurrent(request)) {
        tell(reason);
    }
}

/// The newest sample is first.
void SamplesPanel::showSamples()
{
    QString shown;
    m_texts->clear();
    if (!m_part.examples.empty()) {
        shown += exampleTable(m_part, *m_texts->document());
    }
    const auto found = m_samples.find(m_run);
    if (found != m_samples.end()) {
        const auto& [all, ofData, compared] = found->second;
        shown += compared.isEmpty() ? QString() : verbatim(compared);
        for (auto taken = all.rbegin(); taken != all.rend(); ++taken) {
            const engine::FedBatch& examples = taken->isOfData ? ofData : taken->sample.classified;
            shown += QStringLiteral("<p>%1</p>").arg(tr("step %1").arg(formatWhole(taken->sample.step))) +
                     (!taken->sample.made.examples.empty() ? exampleTable(taken->sample.made, *m_texts->document())
                      : examples.examples.empty()
                          ? textOf(taken->sample, taken->given)
                          : exampleTable(examples, *m_texts->document(), {}, answersOf(taken->sample, examples)));
        }
    }
    m_texts->setHtml(shown);
}

} // namespace residua::app
