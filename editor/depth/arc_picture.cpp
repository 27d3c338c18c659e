// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth/arc_picture.h"

#include <utility>

namespace residua::editor {
namespace {

bool same(const ArcView& a, const ArcView& b)
{
    const Rect x = a.viewport.visible(a.width, a.height);
    const Rect y = b.viewport.visible(b.width, b.height);
    return a.ratio == b.ratio && a.width == b.width && a.height == b.height && x.left == y.left && x.top == y.top &&
           x.right == y.right && x.bottom == y.bottom;
}

} // namespace

ArcPicture::ArcPicture() : m_thread([this] { work(); }) {}

ArcPicture::~ArcPicture()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_quit = true;
        m_newest = 0;
    }
    m_wake.notify_one();
    m_thread.join();
}

void ArcPicture::want(const Inks& inks, std::uint64_t revision, const ArcView& view)
{
    if (m_asked > 0 && revision == m_revision && same(view, m_view)) {
        return;
    }
    m_revision = revision;
    m_view = view;
    ++m_asked;
    {
        const std::scoped_lock lock(m_mutex);
        m_wish = Wish{m_asked, inks, view};
        m_newest = m_asked;
    }
    m_wake.notify_one();
}

std::shared_ptr<const ArcPicture::Drawn> ArcPicture::take()
{
    const std::scoped_lock lock(m_mutex);
    if (m_done) {
        m_taken = m_doneNumber;
    }
    return std::exchange(m_done, nullptr);
}

void ArcPicture::work()
{
    for (;;) {
        Wish wish;
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait(lock, [this] { return m_quit || m_wish; });
            if (m_quit) {
                return;
            }
            wish = std::move(*m_wish);
            m_wish.reset();
        }
        auto image = rasterise(*wish.inks, wish.view, [this, &wish] { return m_newest == wish.number; });
        if (image) {
            auto drawn = std::make_shared<const Drawn>(Drawn{std::move(*image), wish.view});
            const std::scoped_lock lock(m_mutex);
            m_done = std::move(drawn);
            m_doneNumber = wish.number;
        }
    }
}

} // namespace residua::editor
