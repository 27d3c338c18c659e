// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/tokeniser_dialog.h"

#include "app/engine/engine_bridge.h"
#include "app/look/field_row.h"
#include "app/look/format.h"
#include "app/look/path_kind.h"
#include "app/start/asked_data.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

constexpr int kTokeniserWidth = 520;
constexpr int kTokeniserRowSpacing = 8; ///< pixels

QString fileName(const std::filesystem::path& path)
{
    const std::filesystem::path named = path.has_filename() ? path : path.parent_path();
    return QString::fromStdString(named.filename().string());
}

QString perToken(std::int64_t amount, std::int64_t tokens)
{
    return QString::number(static_cast<double>(amount) / static_cast<double>(std::max<std::int64_t>(tokens, 1)), 'f',
                           2);
}

} // namespace

std::optional<TokeniserDialog::Subject> TokeniserDialog::subjectOf(const projects::Source& source,
                                                                   const std::filesystem::path& directory)
{
    const AnsweredData data = answersIn(source);
    if (!askedOf(source).tokeniser || data.path.empty()) {
        return std::nullopt;
    }
    const std::filesystem::path whole = absolutePath(QString::fromStdString((directory / data.path).string()));
    return Subject{.text = whole, .field = data.key, .folder = directory.empty() ? whole.parent_path() : directory};
}

TokeniserDialog::TokeniserDialog(EngineBridge& engine, Subject subject, QWidget* parent)
    : AskDialog(QStringLiteral("tokeniser"),
                {tr("Train a tokeniser"),
                 tr("Learns the pieces that %1 is cut into, as a SentencePiece model. Each byte is a piece too, so "
                    "that nothing of the text is lost.")
                     .arg(fileName(subject.text)),
                 tr("Train")},
                kTokeniserWidth, parent),
      m_engine(engine),
      m_subject(std::move(subject)),
      m_fields(form(), QStringLiteral("tokeniser")),
      m_use(buttons().addButton(tr("Use it"), QDialogButtonBox::AcceptRole)),
      m_cancel(buttons().button(QDialogButtonBox::Cancel))
{
    m_use->setObjectName(QStringLiteral("tokeniserUse"));
    buttons().addButton(&goButton(), QDialogButtonBox::ActionRole); // m_use alone accepts
    form().setVerticalSpacing(kTokeniserRowSpacing);
    m_fields.add(engine::TokeniserTraining{});
    makeLabels();
    connect(m_use, &QPushButton::clicked, this, [this] {
        emit chosen(m_ready->model, m_ready->tokeniser.pieces);
        accept();
    });
    m_fields.chooser("output").setAccessibleName(tr("Choose the model's file"));
    connect(&m_fields.chooser("output"), &QPushButton::clicked, this, &TokeniserDialog::browse);
    acceptNewPath(m_fields.editor<QLineEdit>("output"),
                  onlyPaths({PathKind::Folder, PathKind::Project, PathKind::File}, tr("a folder, or a *.model file")));
    m_fields.onEdited([this] { update(); });
    update();
}

void TokeniserDialog::makeLabels()
{
    const std::pair<QLabel*, const char*> roles[] = {
        {m_note, "muted"}, {m_stage, "muted"}, {m_figures, ""}, {m_pieces, ""}};
    for (const auto& [label, role] : roles) {
        label->setProperty("role", QLatin1String(role));
        label->setWordWrap(true);
        label->hide();
        add(label);
    }
    m_note->setObjectName(QStringLiteral("tokeniserNote"));
    m_stage->setObjectName(QStringLiteral("tokeniserStage"));
    m_figures->setObjectName(QStringLiteral("tokeniserFigures"));
    m_pieces->setObjectName(QStringLiteral("tokeniserPieces"));
    m_pieces->setTextFormat(Qt::PlainText);
    m_pieces->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_pieces->setToolTip(tr("A line of the text in pieces; ▁ is a space."));
}

engine::TokeniserTraining TokeniserDialog::training() const
{
    engine::TokeniserTraining training;
    m_fields.read(training);
    training.text = m_subject.text;
    training.field = m_subject.field;
    training.output = absolutePath(QString::fromStdString(training.output.string()));
    return training;
}

void TokeniserDialog::browse()
{
    auto& path = m_fields.editor<QLineEdit>("output");
    const QString chosen =
        QFileDialog::getSaveFileName(this, tr("The model's file"), path.text(), tr("SentencePiece model (*.model)"));
    if (!chosen.isEmpty()) {
        path.setText(QDir::toNativeSeparators(chosen));
        path.setModified(true);
    }
}

/// Hides the result of an earlier training, because the fields have changed.
void TokeniserDialog::update()
{
    auto& path = m_fields.editor<QLineEdit>("output");
    if (!path.isModified()) {
        const engine::TokeniserTraining asked = training();
        const QString name =
            QStringLiteral("%1-%2-%3.model")
                .arg(fileName(m_subject.text).section(QLatin1Char('.'), 0, 0),
                     QString::fromStdString(engine::nameOf(asked.model)), QString::number(asked.pieces));
        path.setText(
            QDir::toNativeSeparators(QString::fromStdString((m_subject.folder / name.toStdString()).string())));
    }
    const QString place = path.text().trimmed();
    m_ready.reset();
    m_figures->hide();
    m_pieces->hide();
    tell({});
    m_note->setText(tr("A file of that name is there and is replaced: runs that were trained with it lose their "
                       "tokeniser. Another name keeps both."));
    m_note->setVisible(!m_question && QFileInfo::exists(place));
    for (int row = 0; row < form().rowCount(); ++row) {
        form().itemAt(row, QFormLayout::FieldRole)->widget()->setEnabled(!m_question);
    }
    goButton().setEnabled(!m_question && !place.isEmpty());
    goButton().setDefault(true);
    m_use->setEnabled(false);
    m_cancel->setEnabled(true);
}

void TokeniserDialog::begin()
{
    engine::TokeniserRequest request;
    request.training = training();
    m_givesUp = false;
    m_question = m_engine.ask(
        std::move(request), this, [this](const engine::TokeniserReady& ready) { showTrained(ready); },
        [this](const engine::QueryFailed& failed) {
            end(m_givesUp ? tr("The training was given up; nothing of it is left.")
                          : QString::fromStdString(failed.error.text()));
        },
        [this](const engine::QueryProgress& progress) {
            if (!m_givesUp) {
                setShare(progress.share);
                showStage(progress.share);
            }
        });
    setBusy();
    update();
    showStage(0);
    m_stage->show();
}

void TokeniserDialog::showStage(double share)
{
    const bool reads = share < engine::TokeniserProgress::kRead;
    m_stage->setText(reads ? tr("Reading the text …") : tr("Learning pieces …"));
}

void TokeniserDialog::showTrained(const engine::TokeniserReady& ready)
{
    end({});
    const engine::TrainedTokeniser& made = ready.tokeniser;
    m_figures->setText((made.triedAll ? tr("%1 pieces. Over the text a token is %2 characters, %3 bytes.")
                                      : tr("%1 pieces. Over the text's first MiB a token is %2 characters, %3 bytes."))
                           .arg(formatWhole(made.pieces), perToken(made.triedCharacters, made.triedTokens),
                                perToken(made.triedBytes, made.triedTokens)));
    m_figures->show();
    m_pieces->setText(QString::fromStdString(made.example));
    m_pieces->setVisible(!made.example.empty());
    m_note->hide(); // the existing file is this one
    m_ready = ready;
    m_use->setEnabled(true);
    m_use->setDefault(true);
    m_use->setFocus();
}

void TokeniserDialog::end(const QString& problem)
{
    m_question.reset();
    m_stage->hide();
    setDone({});
    update();
    tellError(problem);
}

/// Cancels running work first; the engine reports when it is removed.
void TokeniserDialog::reject()
{
    if (!m_question) {
        QDialog::reject();
        return;
    }
    m_givesUp = true;
    m_cancel->setEnabled(false);
    m_stage->setText(tr("Giving it up …"));
    m_engine.giveUp(*m_question);
}

} // namespace residua::app
