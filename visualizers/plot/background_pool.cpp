// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/background_pool.h"

#include <QCoreApplication>
#include <QEvent>
#include <QRunnable>
#include <QThreadPool>

#include <atomic>
#include <utility>

namespace residua::visualizers {

namespace {

/// Orders what a thread did before it handed work over before that work. Qt's locks do so too, but the thread sanitizer
/// does not see them, since Qt is not built for it: without this it would report all that is handed over.
class HandOver {
public:
    void give() { m_given.fetch_add(1, std::memory_order_release); }
    void take() const { (void)m_given.load(std::memory_order_acquire); }

private:
    std::atomic<unsigned> m_given = 0;
};

HandOver toPools;
HandOver toGui;

/// A class of its own, since QThreadPool reads a functor before the functor can take what was handed over. So is
/// Posted.
class Task : public QRunnable {
public:
    explicit Task(std::function<void()> work) : m_work(std::move(work)) {}

    void run() override
    {
        toPools.take();
        m_work();
    }

private:
    std::function<void()> m_work;
};

class Posted : public QEvent {
public:
    explicit Posted(std::function<void()> work) : QEvent(QEvent::User), m_work(std::move(work)) {}
    void run() const { m_work(); }

private:
    std::function<void()> m_work;
};

/// Lives on the GUI thread and runs what is posted to it.
class Receiver : public QObject {
public:
    Receiver() { moveToThread(QCoreApplication::instance()->thread()); }

    bool event(QEvent* event) override
    {
        toGui.take();
        if (const auto* posted = dynamic_cast<const Posted*>(event)) {
            posted->run();
            return true;
        }
        return QObject::event(event);
    }
};

} // namespace

QThreadPool& backgroundPool()
{
    static QThreadPool pool;
    [[maybe_unused]] static const bool waited = [] {
        qAddPostRoutine([] { pool.waitForDone(); }); // what it hands over goes to the application, while that is there
        return true;
    }();
    return pool;
}

void startOn(QThreadPool& pool, std::function<void()> work)
{
    auto* const task = new Task(std::move(work)); // the pool deletes it
    toPools.give();
    pool.start(task);
}

void onGuiThread(std::function<void()> work)
{
    static Receiver receiver;
    auto* const posted = new Posted(std::move(work)); // the event loop deletes it
    toGui.give();
    QCoreApplication::postEvent(&receiver, posted);
}

} // namespace residua::visualizers
