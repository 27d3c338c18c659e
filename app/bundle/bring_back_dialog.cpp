// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/bundle/bring_back_dialog.h"

#include "app/look/format.h"
#include "projects/file/store.h"

#include <QDir>
#include <QFileDialog>
#include <QLineEdit>

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

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
    tell(contentsText(contents));
}

QString BringBackDialog::askForPlace()
{
    const QFileInfo present(placeField().text());
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Bring back to"), present.path());
    if (folder.isEmpty() || QFileInfo::exists(QDir(folder).filePath(QString::fromLatin1(projects::kProjectFile)))) {
        return folder; // a project that the runs are added to
    }
    return folder + QLatin1Char('/') + present.fileName();
}

void BringBackDialog::start()
{
    work().unpack(m_file, place());
}

} // namespace residua::app
