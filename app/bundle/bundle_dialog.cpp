// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/bundle/bundle_dialog.h"

#include "app/look/field_row.h"

#include <QDir>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>

namespace residua::app {

namespace {

constexpr int kBundleWidth = 480;

} // namespace

BundleDialog::BundleDialog(const QString& name, const Words& words, QWidget* parent)
    : AskDialog(name, words, kBundleWidth, parent), m_place(new QLineEdit(this)), m_work(new BundleWork(this))
{
    m_place->setObjectName(name + QStringLiteral("Place"));
    connect(m_work, &BundleWork::progressed, this, &BundleDialog::setShare);
    connect(m_work, &BundleWork::failed, this, &BundleDialog::refuse);
    connect(m_work, &BundleWork::packed, this, [this](const engine::PackedBundle& bundle) {
        emit packed(bundle, QString::fromStdString(place().string()));
        close();
    });
    connect(m_work, &BundleWork::unpacked, this, [this](const engine::UnpackedBundle& bundle) {
        emit unpacked(bundle);
        close();
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
    if (m_work->isUnderWay()) {
        m_work->giveUp();
    } else {
        QDialog::reject();
    }
}

} // namespace residua::app
