// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBoxLayout>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QProgressBar>

class QLabel;
class QPushButton;

namespace residua::app {

/// A dialog that asks for something and stays open while it is carried out. From top to bottom: an explanation, the
/// rows of a form, a text or the reason why a request failed, a progress bar, and the buttons. Not modal; deleted when
/// it is closed. GUI thread.
class AskDialog : public QDialog {
    Q_OBJECT
public:
    /// Shows the reason why the request failed, until a field is changed. The user can make another request.
    virtual void refuse(const QString& reason);
    /// Shows the share of the work that is done, in 0..1.
    void setShare(double share);

protected:
    struct Words {
        QString title;
        QString explanation; ///< empty: none
        QString go;          ///< of the button that begins
    };
    /// `name` begins the object names: "<name>Dialog", "<name>Reason", "<name>Progress" and "<name>Go".
    AskDialog(const QString& name, const Words& words, int width, QWidget* parent);

    [[nodiscard]] QFormLayout& form() { return *m_form; }
    /// Adds a widget above the reason. With a stretch it takes the room that is left.
    void add(QWidget* widget, int stretch = 0);
    [[nodiscard]] QPushButton& goButton() { return *m_go; }
    [[nodiscard]] QDialogButtonBox& buttons() { return *m_buttons; }
    /// Shows a text, or an error, in the place of the reason. Empty: none.
    void tell(const QString& text) { showReason(text, "muted"); }
    void tellError(const QString& text) { showReason(text, "error"); }
    /// Hides the reason, disables the button that begins, and shows progress, without a share until setShare().
    void setBusy();
    /// Shows the answer to the request in the place of the progress. The user can make another request.
    void setDone(const QString& answer);

private:
    void showReason(const QString& text, const char* role);
    void dropReason();
    /// Makes the request, when the button that begins is pressed.
    virtual void begin() = 0;

    QFormLayout* m_form = new QFormLayout;
    QVBoxLayout* m_added = new QVBoxLayout;
    QLabel* m_reason;
    QProgressBar* m_progress = new QProgressBar(this);
    QDialogButtonBox* m_buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    QPushButton* m_go;
    bool m_refused = false; ///< the shown reason is refuse()'s
};

} // namespace residua::app
