// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/launch_options.h"

#include "projects/base/ranges.h"

#include <QCommandLineParser>
#include <QRegularExpression>

#include <utility>

namespace residua::app {

namespace {

constexpr int kSmallest = 320;
constexpr int kLargest = 16384;
constexpr const char* kReportVerb = "report";

Error wrong(const QString& option, const QString& got, const QString& expected)
{
    return {"--" + option.toStdString(), "got “" + got.toStdString() + "”, expected " + expected.toStdString()};
}

Result<QSize> sizeFrom(const QString& text)
{
    static const QRegularExpression kSize(QStringLiteral("^(\\d+)x(\\d+)$"));
    const QRegularExpressionMatch match = kSize.match(text);
    const QSize size(match.captured(1).toInt(), match.captured(2).toInt());
    if (!match.hasMatch() || size.width() < kSmallest || size.height() < kSmallest || size.width() > kLargest ||
        size.height() > kLargest) {
        return wrong(QStringLiteral("size"), text, QStringLiteral("WIDTHxHEIGHT from 320 to 16384, such as 1440x900"));
    }
    return size;
}

struct NamedView {
    const char* name;
    WorkspaceView view;
    PictureFront front = PictureFront::Workspace;
    const char* what = ""; ///< for the help, if the name does not explain it
};
constexpr NamedView kViews[] = {
    {"depth", WorkspaceView::Depth},
    {"matrix", WorkspaceView::Matrix},
    {"block", WorkspaceView::Block},
    {"schedule", WorkspaceView::Schedule},
    {"start", WorkspaceView::Depth, PictureFront::Start},
    {"comparison", WorkspaceView::Depth, PictureFront::Comparison, "of the project's two newest runs"},
    {"keys", WorkspaceView::Depth, PictureFront::Keys},
    {"commands", WorkspaceView::Depth, PictureFront::Commands},
    {"help", WorkspaceView::Depth, PictureFront::Help},
};

/// Returns a view's name as the help shows it.
QString helpOn(const NamedView& view)
{
    const QString name = QLatin1String(view.name);
    return *view.what == 0 ? name : QStringLiteral("%1 (%2)").arg(name, QLatin1String(view.what));
}

Status takeView(const QString& text, LaunchOptions& options)
{
    QStringList names;
    for (const NamedView& each : kViews) {
        if (text == QLatin1String(each.name)) {
            options.arrangement.view = each.view;
            options.front = each.front;
            return Done{};
        }
        names << QLatin1String(each.name);
    }
    for (const Layout& layout : layouts()) {
        if (text == QLatin1String(layout.name)) {
            options.arrangement.layout = &layout;
            return Done{};
        }
        names << QLatin1String(layout.name);
    }
    for (const Panel& panel : panels()) {
        if (text == QLatin1String(panel.view)) {
            options.arrangement.front = &panel;
            return Done{};
        }
        names << QLatin1String(panel.view);
    }
    return wrong(QStringLiteral("view"), text,
                 QStringLiteral("one of the views that exist: ") + names.join(QStringLiteral(", ")));
}

void addOptions(QCommandLineParser& parser)
{
    parser.addOptions({
        {QStringLiteral("example"), QString(), QStringLiteral("name")},
        {QStringLiteral("steps"), QString(), QStringLiteral("count")},
        {QStringLiteral("screenshot"), QString(), QStringLiteral("file")},
        {QStringLiteral("size"), QString(), QStringLiteral("size")},
        {QStringLiteral("theme"), QString(), QStringLiteral("theme")},
        {QStringLiteral("scale"), QString(), QStringLiteral("factor")},
        {QStringLiteral("view"), QString(), QStringLiteral("view")},
        {{QStringLiteral("o"), QStringLiteral("output")}, QString(), QStringLiteral("file")},
        {{QStringLiteral("h"), QStringLiteral("help")}, QString()},
        {{QStringLiteral("v"), QStringLiteral("version")}, QString()},
    });
}

Status takeNumbers(const QCommandLineParser& parser, LaunchOptions& options)
{
    if (parser.isSet(QStringLiteral("steps"))) {
        bool ok = false;
        options.steps = parser.value(QStringLiteral("steps")).toLongLong(&ok);
        if (!ok || options.steps < 0) {
            return wrong(QStringLiteral("steps"), parser.value(QStringLiteral("steps")),
                         QStringLiteral("a whole number such as 200"));
        }
    }
    if (parser.isSet(QStringLiteral("scale"))) {
        bool ok = false;
        options.scale = parser.value(QStringLiteral("scale")).toDouble(&ok);
        if (!ok || options.scale < 0.5 || options.scale > 4) {
            return wrong(QStringLiteral("scale"), parser.value(QStringLiteral("scale")),
                         QStringLiteral("a number from 0.5 to 4"));
        }
    }
    return Done{};
}

Status takeLook(const QCommandLineParser& parser, LaunchOptions& options)
{
    if (parser.isSet(QStringLiteral("size"))) {
        options.size = RESIDUA_TRY(sizeFrom(parser.value(QStringLiteral("size"))));
    }
    if (parser.isSet(QStringLiteral("theme"))) {
        const QString theme = parser.value(QStringLiteral("theme"));
        if (theme != QLatin1String("light") && theme != QLatin1String("dark")) {
            return wrong(QStringLiteral("theme"), theme, QStringLiteral("light or dark"));
        }
        options.theme = theme == QLatin1String("dark") ? ThemeKind::Dark : ThemeKind::Light;
    }
    if (parser.isSet(QStringLiteral("view"))) {
        RESIDUA_TRY(takeView(parser.value(QStringLiteral("view")), options));
    }
    return Done{};
}

Result<LaunchOptions> reportFrom(const QCommandLineParser& parser, LaunchOptions options)
{
    const QStringList words = parser.positionalArguments();
    if (words.size() != 2 || !parser.isSet(QStringLiteral("output"))) {
        return Error{"report", "expected residua report RUN -o FILE.html"};
    }
    options.verb = LaunchVerb::Report;
    options.run = words.at(1);
    options.output = parser.value(QStringLiteral("output"));
    return options;
}

} // namespace

Result<LaunchOptions> parseLaunch(const QStringList& arguments)
{
    QCommandLineParser parser;
    addOptions(parser);
    if (!parser.parse(arguments)) {
        return Error{"", parser.errorText().toStdString()};
    }
    LaunchOptions options;
    if (parser.isSet(QStringLiteral("help")) || parser.isSet(QStringLiteral("version"))) {
        options.verb = parser.isSet(QStringLiteral("help")) ? LaunchVerb::Help : LaunchVerb::Version;
        return options;
    }
    const QStringList words = parser.positionalArguments();
    if (!words.isEmpty() && words.front() == QLatin1String(kReportVerb)) {
        return reportFrom(parser, std::move(options));
    }
    if (words.size() > 1) {
        return Error{words.at(1).toStdString(), "is one argument too many: expected a single project"};
    }
    options.project = words.value(0);
    options.example = parser.value(QStringLiteral("example"));
    if (!options.project.isEmpty() && !options.example.isEmpty()) {
        return Error{"--example", "expected a project or an example, got both"};
    }
    for (const auto take : {takeNumbers, takeLook}) {
        RESIDUA_TRY(take(parser, options));
    }
    if (parser.isSet(QStringLiteral("screenshot"))) {
        options.verb = LaunchVerb::Screenshot;
        options.output = parser.value(QStringLiteral("screenshot"));
    }
    return options;
}

std::string launchHelp()
{
    auto views = mapped<QStringList>(kViews, [&](const NamedView& view) { return helpOn(view); });
    QStringList arranged =
        mapped<QStringList>(layouts(), [](const Layout& layout) { return QLatin1String(layout.name); });
    auto names = mapped<QStringList>(panels(), [](const Panel& panel) { return QLatin1String(panel.view); });
    constexpr qsizetype kViewsInLine = 6;
    return R"(residua: a workbench for the depth topology of neural networks

  residua [PROJECT]                 open the workbench; on a project's folder, a run's, or a bundle (.residua)
  residua --example NAME            open it on an example
  residua report RUN -o FILE.html   write a run's plots and heatmaps as one page (no display needed)

  --steps N           train N steps at once, then pause
  --theme light|dark
  --scale F           scale everything, 0.5 to 4
  --screenshot FILE   draw the window, on a project, a run or an example, to a PNG and end
    --size WxH        its size, such as 1440x900
    --view VIEW       )" +
           views.mid(0, kViewsInLine).join(QStringLiteral(", ")).toStdString() + R"(,
                      )" +
           views.mid(kViewsInLine).join(QStringLiteral(", ")).toStdString() + R"(,
                      a layout of the panels: )" +
           arranged.join(QStringLiteral(", ")).toStdString() + R"(,
                      or a panel with the room:
                      )" +
           names.join(QStringLiteral(", ")).toStdString() + R"(
  --help, --version

Example: residua --example ancre-language --steps 100 --screenshot learned.png --theme dark
)";
}

} // namespace residua::app
