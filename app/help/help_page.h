// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/palette/palette_items.h"
#include "app/properties/place.h"

#include <QTextBrowser>

#include <string>

namespace residua::app {

class Look;

/// Shows a page of resources/help in the colours of the theme. Its links lead to other pages, Alt+Left goes back. GUI
/// thread.
class HelpPage : public QTextBrowser {
    Q_OBJECT
public:
    explicit HelpPage(const Look& look, QWidget* parent = nullptr);

    /// Shows the page of this topic, from the heading about `word` on if there is one.
    void showTopic(const std::string& name, const std::string& word = {});
    /// Returns the name of the shown topic; empty before the first.
    [[nodiscard]] const std::string& topic() const { return m_topic; }

    QVariant loadResource(int type, const QUrl& url) override;

signals:
    void topicShown();

protected:
    QMimeData* createMimeDataFromSelection() const override;

private:
    void restyle();
    void scrollTo(const std::string& word);

    const Look& m_look;
    std::string m_topic;
};

/// Returns the topic of resources::findTopic() that explains `place`; empty if no topic does.
[[nodiscard]] std::string helpWordOf(const projects::Project& project, const Place& place);
/// Returns the word for the explanation of a palette item.
[[nodiscard]] std::string helpWordOf(const PaletteItem& item);

} // namespace residua::app
