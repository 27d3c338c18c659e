// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/bundle/take_along_dialog.h"

#include "app/engine/background.h"
#include "app/look/format.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLineEdit>

#include <utility>

namespace residua::app {

namespace {

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

} // namespace

TakeAlongDialog::TakeAlongDialog(std::filesystem::path source, const QString& name,
                                 const std::filesystem::path& proposal, QWidget* parent)
    : BundleDialog(QStringLiteral("takeAlong"),
                   {tr("Take along"),
                    tr("%1 as one file, to train it on another machine and bring it back: the project with its layout, "
                       "blocks and tokeniser, its runs, and what is chosen here.")
                        .arg(name),
                    tr("Take along")},
                   parent),
      m_source(std::move(source)),
      m_checkpoints(new QComboBox(this)),
      m_data(new QComboBox(this))
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
    for (QComboBox* box : {m_checkpoints, m_data}) {
        connect(box, &QComboBox::currentIndexChanged, this, &TakeAlongDialog::weigh);
        connect(&work(), &BundleWork::failed, box, [box] { box->setEnabled(true); });
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
            if (number != m_weighed || work().isUnderWay()) {
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
    work().pack(request(), place());
}

} // namespace residua::app
