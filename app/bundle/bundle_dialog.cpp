// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/bundle/bundle_dialog.h"

#include "app/engine/background.h"
#include "app/look/field_row.h"
#include "app/look/format.h"
#include "app/look/path_kind.h"
#include "projects/file/store.h"

#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>

#include <algorithm>
#include <utility>

namespace residua::app {
namespace {

constexpr int kBundleWidth = 480;
constexpr int kLookMilliseconds = 50;

QString sizeText(const engine::PackedBundle& weighed)
{
    const engine::BundleContents& contents = weighed.contents;
    std::int64_t data = 0;
    for (const engine::BundledPart& part : contents.data) {
        data += part.inside ? part.bytes : 0;
    }
    QString text =
        TakeAlongDialog::tr("Runs: %1, checkpoints: %2; %3 before it is compressed, of which the data are %4.")
            .arg(contents.runs.size())
            .arg(contents.checkpoints)
            .arg(formatBytes(static_cast<double>(contents.bytes())), formatBytes(static_cast<double>(data)));
    for (const std::string& note : weighed.notes) {
        text += QLatin1Char('\n') + QString::fromStdString(note);
    }
    return text;
}

QString contentsText(const engine::BundleContents& contents)
{
    QString text = BringBackDialog::tr("%1. Runs: %2, checkpoints: %3; %4 unpacked.")
                       .arg(QString::fromStdString(contents.project), QString::number(contents.runs.size()),
                            QString::number(contents.checkpoints), formatBytes(static_cast<double>(contents.bytes())));
    const bool lacksData =
        std::ranges::any_of(contents.data, [](const engine::BundledPart& part) { return !part.inside; });
    if (lacksData) {
        text += BringBackDialog::tr(" Its data are not in it.");
    }
    return text;
}

} // namespace

BundleDialog::BundleDialog(const QString& name, const Words& words, QWidget* parent)
    : AskDialog(name, words, kBundleWidth, parent), m_place(new QLineEdit(this))
{
    m_place->setObjectName(name + QStringLiteral("Place"));
    m_look.setInterval(kLookMilliseconds);
    connect(&m_look, &QTimer::timeout, this, [this] { setShare(m_state->share); });
}

BundleDialog::~BundleDialog()
{
    if (m_state) {
        m_state->wanted = false;
    }
}

template <class Work, class Done>
void BundleDialog::carryOut(Work work, Done done)
{
    m_state = std::make_shared<State>();
    m_look.start();
    const auto watch = [state = m_state](double share) {
        state->share = share;
        return state->wanted.load();
    };
    inBackground(
        this, [work, watch] { return work(watch); },
        [this, done](const auto& result) {
            m_look.stop();
            m_state.reset();
            if (result) {
                done(*result);
                close();
            } else {
                refuse(QString::fromStdString(result.error().text()));
            }
        });
}

void BundleDialog::addPlace(const QString& caption, const std::filesystem::path& proposal)
{
    m_place->setText(QDir::toNativeSeparators(QString::fromStdString(proposal.string())));
    m_place->setAccessibleName(caption);
    m_other = new QPushButton(tr("Choose…"), this);
    form().addRow(caption, fieldRow(m_place, {m_other}));
    connect(m_other, &QPushButton::clicked, this, [this] { takeChosen(*m_place, askForPlace()); });
}

std::filesystem::path BundleDialog::place() const
{
    return QDir::fromNativeSeparators(m_place->text().trimmed()).toStdString();
}

void BundleDialog::refuse(const QString& reason)
{
    setPlaceEnabled(true);
    AskDialog::refuse(reason);
}

void BundleDialog::setPlaceEnabled(bool enabled)
{
    m_place->setEnabled(enabled);
    m_other->setEnabled(enabled);
}

void BundleDialog::begin()
{
    if (place().empty()) {
        refuse(tr("Name a place for it."));
        return;
    }
    setPlaceEnabled(false); // the final message refers to this place
    setBusy();
    start();
}

/// Cancels running work first; closes the dialog only if there is none.
void BundleDialog::reject()
{
    if (m_state) {
        m_state->wanted = false;
    } else {
        QDialog::reject();
    }
}

TakeAlongDialog::TakeAlongDialog(std::filesystem::path source, const QString& name,
                                 const std::filesystem::path& proposal, QWidget* parent)
    : BundleDialog(QStringLiteral("takeAlong"),
                   {tr("Take along"),
                    tr("%1 as one file, to train it on another machine and bring it back: the project with its layout, "
                       "blocks and tokeniser, its runs, and what is chosen here.")
                        .arg(name),
                    tr("Take along")},
                   parent),
      m_source(std::move(source))
{
    m_checkpoints->setObjectName(QStringLiteral("bundleCheckpoints"));
    m_data->setObjectName(QStringLiteral("bundleData"));
    const std::pair<QString, engine::BundledCheckpoints> checkpoints[] = {
        {tr("The last of each run"), engine::BundledCheckpoints::Last},
        {tr("All"), engine::BundledCheckpoints::All},
        {tr("The best of each run, by validation loss"), engine::BundledCheckpoints::Best},
        {tr("None: curves and coefficients alone"), engine::BundledCheckpoints::None}};
    for (const auto& [text, which] : checkpoints) {
        m_checkpoints->addItem(text, static_cast<int>(which));
    }
    m_data->addItem(tr("Their files"), static_cast<int>(engine::BundledData::Files));
    m_data->addItem(tr("What they are known by again, and no files"),
                    static_cast<int>(engine::BundledData::Fingerprint));
    form().addRow(tr("Checkpoints"), m_checkpoints);
    form().addRow(tr("Data"), m_data);
    addPlace(tr("File"), proposal);
    acceptNewPath(placeField(), onlyPaths({PathKind::Folder, PathKind::Project, PathKind::Bundle},
                                          tr("a folder for the bundle, or a bundle")));
    for (QComboBox* box : {m_checkpoints, m_data}) {
        connect(box, &QComboBox::currentIndexChanged, this, &TakeAlongDialog::weigh);
    }
    weigh();
}

engine::PackRequest TakeAlongDialog::request() const
{
    return {m_source, static_cast<engine::BundledCheckpoints>(m_checkpoints->currentData().toInt()),
            static_cast<engine::BundledData>(m_data->currentData().toInt())};
}

void TakeAlongDialog::weigh()
{
    tell(tr("Weighing …"));
    goButton().setEnabled(false);
    inBackground(
        this, [asked = request()] { return engine::weighBundle(asked); },
        [this, number = ++m_weighed](const Result<engine::PackedBundle>& weighed) {
            if (number != m_weighed || isUnderWay()) {
                return;
            }
            if (weighed) {
                tell(sizeText(*weighed));
                goButton().setEnabled(true);
            } else {
                refuse(QString::fromStdString(weighed.error().text()));
                goButton().setEnabled(false);
            }
        });
}

QString TakeAlongDialog::askForPlace()
{
    return QFileDialog::getSaveFileName(this, tr("Take along"), placeField().text(), tr("Bundle (*.residua)"));
}

void TakeAlongDialog::start()
{
    for (QComboBox* box : {m_checkpoints, m_data}) {
        box->setEnabled(false); // the choices at the start of packing apply
    }
    carryOut(
        [asked = request(), file = place()](const engine::BundleWatch& watch) {
            return engine::pack(asked, file, watch);
        },
        [this](const engine::PackedBundle& bundle) { emit packed(bundle, QString::fromStdString(place().string())); });
}

void TakeAlongDialog::refuse(const QString& reason)
{
    for (QComboBox* box : {m_checkpoints, m_data}) {
        box->setEnabled(true);
    }
    BundleDialog::refuse(reason);
}

BringBackDialog::BringBackDialog(std::filesystem::path file, const engine::BundleContents& contents,
                                 const std::filesystem::path& proposal, Into into, QWidget* parent)
    : BundleDialog(
          QStringLiteral("bringBack"),
          {tr("Bring back"),
           into == Into::SameProject
               ? tr("These runs come from the project that is open, and join those that it has. A run that was "
                    "trained further takes the place of the one that it goes on from, which goes to the trash; "
                    "nothing else is replaced.")
               : tr("A bundle of a project that is not here: it becomes a project in a new folder. Where its "
                    "project is on this machine, name that project's folder, and its runs join those there."),
           tr("Bring back")},
          parent),
      m_file(std::move(file))
{
    addPlace(tr("Folder"), proposal);
    acceptPaths(
        placeField(),
        PathTarget{.problem = onlyPaths({PathKind::Folder, PathKind::Project},
                                        tr("the folder of the runs' project, or one for a new project")),
                   .take = [this](const QStringList& paths) { takeChosen(placeField(), placeIn(paths.front())); }});
    tell(contentsText(contents));
}

QString BringBackDialog::askForPlace()
{
    const QFileInfo present(placeField().text());
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Bring back to"), present.path());
    return folder.isEmpty() ? folder : placeIn(folder);
}

/// Returns the folder itself if it is a project, to which the runs are added; else that of a new project in it.
QString BringBackDialog::placeIn(const QString& folder)
{
    const QFileInfo given(folder);
    if (pathKindOf(folder.toStdString()) == PathKind::Project) {
        return given.isDir() ? folder : given.path();
    }
    return folder + QLatin1Char('/') + QFileInfo(placeField().text()).fileName();
}

void BringBackDialog::start()
{
    carryOut([file = m_file,
              folder = place()](const engine::BundleWatch& watch) { return engine::unpack(file, folder, watch); },
             [this](const engine::UnpackedBundle& bundle) { emit unpacked(bundle); });
}

} // namespace residua::app
