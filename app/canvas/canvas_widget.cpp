// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/canvas/canvas_widget.h"

#include "app/canvas/canvas_input.h"
#include "editor/scenes/words.h"

#include <QClipboard>
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QLabel>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <QOpenGLWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

constexpr float kFirstFrameSeconds = 1.0F / 60.0F;
constexpr int kPictureMilliseconds = 30;    ///< between two checks whether a picture is complete
constexpr qint64 kCatchUpMilliseconds = 25; ///< for input that came while the last frame was drawn

/// Returns the reason why no OpenGL context can be made; empty if one can.
QString whyNoOpenGl()
{
    QOpenGLContext context;
    QOffscreenSurface surface;
    surface.create();
    if (!context.create() || !context.makeCurrent(&surface)) {
        return QObject::tr("The canvas needs OpenGL, and none is to be had on the “%1” platform.\n"
                           "The outline on the left shows and edits the same network.")
            .arg(QGuiApplication::platformName());
    }
    context.doneCurrent();
    return {};
}

Qt::CursorShape cursorOf(ImGuiMouseCursor cursor)
{
    switch (cursor) {
    case ImGuiMouseCursor_TextInput:
        return Qt::IBeamCursor;
    case ImGuiMouseCursor_ResizeAll:
        return Qt::SizeAllCursor;
    case ImGuiMouseCursor_ResizeNS:
        return Qt::SizeVerCursor;
    case ImGuiMouseCursor_ResizeEW:
        return Qt::SizeHorCursor;
    case ImGuiMouseCursor_Hand:
        return Qt::PointingHandCursor;
    case ImGuiMouseCursor_NotAllowed:
        return Qt::ForbiddenCursor;
    default:
        return Qt::ArrowCursor;
    }
}

void setClipboard(void*, const char* text)
{
    QGuiApplication::clipboard()->setText(QString::fromUtf8(text));
}

/// Dear ImGui needs a pointer that is valid until the next call.
const char* clipboard(void* store)
{
    auto& text = *static_cast<QByteArray*>(store);
    text = QGuiApplication::clipboard()->text().toUtf8();
    return text.constData();
}

} // namespace

/// The OpenGL surface with its own Dear ImGui context, which is current only during use.
class CanvasWidget::Surface : public QOpenGLWidget {
public:
    explicit Surface(CanvasWidget& host) : QOpenGLWidget(&host), m_host(host), m_imgui(ImGui::CreateContext())
    {
        setObjectName(QStringLiteral("canvasSurface"));
        setFocusPolicy(Qt::StrongFocus);
        setMouseTracking(true);
        ImGui::SetCurrentContext(m_imgui);
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.LogFilename = nullptr;
        io.BackendPlatformName = "residua_qt";
        io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
        io.SetClipboardTextFn = setClipboard;
        io.GetClipboardTextFn = clipboard;
        io.ClipboardUserData = &m_clipboard;
        mapKeys(io);
        editor::useTranslator([](const char* context, const char* text) {
            return QCoreApplication::translate(context, text).toStdString();
        });
    }

    ~Surface() override
    {
        releaseOpenGl();
        if (context()) {
            context()->disconnect(this); // it is destroyed after this part of the object
        }
        ImGui::DestroyContext(m_imgui);
    }

protected:
    void initializeGL() override
    {
        // A change of parent, as when a dock becomes a window, gives a new OpenGL context without the old objects.
        connect(context(), &QOpenGLContext::aboutToBeDestroyed, this, &Surface::releaseOpenGl);
        ImGui::SetCurrentContext(m_imgui);
        ImGui_ImplOpenGL3_Init(context()->isOpenGLES() ? "#version 300 es" : "#version 130");
        m_initialised = true;
        m_fontRatio = 0;
    }

    void paintGL() override
    {
        ImGui::SetCurrentContext(m_imgui);
        ImGuiIO& io = ImGui::GetIO();
        const auto ratio = static_cast<float>(devicePixelRatioF());
        if (ratio != m_fontRatio) {
            loadCanvasFonts(*io.Fonts, ratio);
            ImGui_ImplOpenGL3_DestroyFontsTexture();
            ImGui_ImplOpenGL3_CreateFontsTexture();
            m_fontRatio = ratio;
        }
        io.DisplaySize = {static_cast<float>(width()), static_cast<float>(height())};
        io.DisplayFramebufferScale = {ratio, ratio};
        io.FontGlobalScale = 1.0F / ratio;
        ImGui_ImplOpenGL3_NewFrame();
        takePicture();
        QElapsedTimer catchingUp;
        catchingUp.start();
        bool moreInput = handle(io);
        // Input that came while a frame was drawn is handled at once, and only the last state is drawn.
        while (moreInput && m_host.collect() == Collected::StatesAlone) {
            ImGui::EndFrame();
            moreInput = handle(io);
            if (catchingUp.hasExpired(kCatchUpMilliseconds)) {
                break;
            }
        }
        setCursor(cursorOf(ImGui::GetMouseCursor()));
        ImGui::Render();
        QOpenGLFunctions& gl = *context()->functions();
        gl.glViewport(0, 0, static_cast<int>(io.DisplaySize.x * ratio), static_cast<int>(io.DisplaySize.y * ratio));
        gl.glClearColor(0, 0, 0, 1);
        gl.glClear(GL_COLOR_BUFFER_BIT);
        ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());

        afterFrame(moreInput);
    }

    bool event(QEvent* event) override
    {
        if (event->type() == QEvent::Show || event->type() == QEvent::FocusIn) {
            // A screen reader queries the widget with the keyboard focus.
            setAccessibleName(m_host.accessibleName());
            setAccessibleDescription(m_host.accessibleDescription());
        }
        if (event->type() == QEvent::Hide) {
            m_host.m_canvas->giveUp(); // a drag that ends elsewhere has no effect
        }
        // Tab is not handled, because it moves through the panels of the window, including the canvas.
        if (m_input.take(*event)) {
            if (event->type() == QEvent::MouseButtonPress) {
                setFocus(Qt::MouseFocusReason);
            }
            update();
        }
        return QOpenGLWidget::event(event);
    }

private:
    /// Runs one frame of the canvas. Returns true if input is left for another frame.
    bool handle(ImGuiIO& io)
    {
        io.DeltaTime = m_clock.isValid() ? std::max(static_cast<float>(m_clock.nsecsElapsed()) * 1e-9F, 1e-5F)
                                         : kFirstFrameSeconds;
        m_clock.start();
        const bool more = m_input.apply(io);
        ImGui::NewFrame();
        m_host.m_canvas->draw(io.DisplaySize.x, io.DisplaySize.y, m_host.m_theme);
        return more;
    }

    /// Emits the requests from the event loop, because an edit during a frame would change the data that is drawn.
    void afterFrame(bool another)
    {
        QMetaObject::invokeMethod(&m_host, &CanvasWidget::passOn, Qt::QueuedConnection);
        if (another) {
            QTimer::singleShot(0, this, [this] { update(); });
        } else if (m_host.m_canvas->unfinished()) {
            QTimer::singleShot(kPictureMilliseconds, this, [this] { update(); });
        }
    }

    /// Uploads the picture that the canvas has drawn outside its frames as a texture.
    void takePicture()
    {
        const auto image = m_host.m_canvas->takeImage();
        if (!image) {
            return;
        }
        QOpenGLFunctions& gl = *context()->functions();
        if (m_picture == 0) {
            gl.glGenTextures(1, &m_picture);
        }
        gl.glBindTexture(GL_TEXTURE_2D, m_picture);
        gl.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
        gl.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
        gl.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
        gl.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
        gl.glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, image->width, image->height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                        image->pixels.data());
        gl.glBindTexture(GL_TEXTURE_2D, 0);
        m_host.m_canvas->setTexture(reinterpret_cast<void*>(static_cast<std::uintptr_t>(m_picture)));
    }

    void releaseOpenGl()
    {
        if (!m_initialised) {
            return;
        }
        makeCurrent();
        if (m_picture != 0) {
            context()->functions()->glDeleteTextures(1, &m_picture);
            m_picture = 0;
            m_host.m_canvas->setTexture(nullptr);
        }
        ImGui::SetCurrentContext(m_imgui);
        ImGui_ImplOpenGL3_Shutdown();
        doneCurrent();
        m_initialised = false;
    }

    CanvasWidget& m_host;
    ImGuiContext* m_imgui;
    CanvasInput m_input;
    QElapsedTimer m_clock;
    QByteArray m_clipboard;
    float m_fontRatio = 0;
    GLuint m_picture = 0; ///< texture; 0: none
    bool m_initialised = false;
};

CanvasWidget::CanvasWidget(std::unique_ptr<editor::Canvas> canvas, QWidget* parent)
    : QWidget(parent), m_canvas(std::move(canvas)), m_typing(new TypingField(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    connect(m_typing, &TypingField::entered, this, &CanvasWidget::typed);
    const QString reason = whyNoOpenGl();
    if (reason.isEmpty()) {
        m_surface = new Surface(*this);
        layout->addWidget(m_surface);
        setFocusProxy(m_surface);
    } else {
        auto* message = new QLabel(reason, this);
        message->setAlignment(Qt::AlignCenter);
        message->setProperty("role", QStringLiteral("muted"));
        layout->addWidget(message);
    }
}

/// A later selection or hovered shortcut replaces earlier ones.
CanvasWidget::Collected CanvasWidget::collect()
{
    const auto isState = [](const editor::Request& request) {
        return std::holds_alternative<editor::SelectionChanged>(request) ||
               std::holds_alternative<editor::HoverShortcut>(request);
    };
    for (editor::Request& request : m_canvas->takeRequests()) {
        if (isState(request)) {
            const auto states = std::find_if_not(m_requests.rbegin(), m_requests.rend(), isState).base();
            m_requests.erase(std::remove_if(states, m_requests.end(),
                                            [&](const auto& earlier) { return earlier.index() == request.index(); }),
                             m_requests.end());
        }
        m_requests.push_back(std::move(request));
    }
    return std::ranges::all_of(m_requests, isState) ? Collected::StatesAlone : Collected::More;
}

/// Collects and emits the requests of the last frame, or of a command between two frames.
void CanvasWidget::passOn()
{
    collect();
    const std::vector<editor::Request> requests = std::exchange(m_requests, {});
    for (const editor::Request& request : requests) {
        emit requested(request);
    }
    if (!requests.empty()) {
        refresh();
    }
}

CanvasWidget::~CanvasWidget()
{
    delete m_surface; // before the canvas that it draws
}

void CanvasWidget::refresh()
{
    if (m_surface) {
        m_surface->update();
    }
}

void CanvasWidget::setTheme(editor::Theme theme)
{
    m_theme = theme;
    refresh();
}

void CanvasWidget::fit()
{
    m_canvas->show(editor::Extent::Everything);
    refresh();
}

void CanvasWidget::askForText(const editor::AskTyping& asked, TypingMeaning meaning)
{
    m_typing->open(QPointF(asked.at.x, asked.at.y).toPoint(), QString::fromStdString(asked.text), std::move(meaning));
}

QWidget* CanvasWidget::surface()
{
    return m_surface ? static_cast<QWidget*>(m_surface) : this;
}

} // namespace residua::app
