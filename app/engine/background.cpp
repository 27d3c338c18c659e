// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/engine/background.h"

#include <QCoreApplication>
#include <QEvent>
#include <QRunnable>

#include <atomic>

namespace residua::app {

namespace {

/// Orders the work of a thread before it made a task before the task's work. Qt's locks do so too, but the thread
/// sanitizer does not see them because Qt is not built for it, and would report all data passed to tasks. There is one
/// object per task: a common one would also order unrelated tasks and hide their races.
class HandOver {
public:
    void give() { m_given.store(true, std::memory_order_release); }
    void take() const { (void)m_given.load(std::memory_order_acquire); }

private:
    std::atomic<bool> m_given = false;
};

/// A class, because QThreadPool reads a functor before it runs, and so before m_handOver.take(). So is Posted.
class Task : public QRunnable {
public:
    explicit Task(std::function<void()> work) : m_work(std::move(work)) { m_handOver.give(); }

    void run() override
    {
        m_handOver.take();
        m_work();
    }

private:
    std::function<void()> m_work;
    HandOver m_handOver;
};

class Posted : public QEvent {
public:
    explicit Posted(std::function<void()> work) : QEvent(QEvent::User), m_work(std::move(work)) { m_handOver.give(); }
    void run() const
    {
        m_handOver.take();
        m_work();
    }

private:
    std::function<void()> m_work;
    HandOver m_handOver;
};

/// Runs the functions that are posted to it on the GUI thread.
class Receiver : public QObject {
public:
    Receiver() { moveToThread(QCoreApplication::instance()->thread()); }

    bool event(QEvent* event) override
    {
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
        qAddPostRoutine([] { pool.waitForDone(); }); // results are posted to the application, which must still exist
        return true;
    }();
    return pool;
}

void startOn(QThreadPool& pool, std::function<void()> work)
{
    pool.start(new Task(std::move(work))); // the pool deletes it
}

void onGuiThread(std::function<void()> work)
{
    static Receiver receiver;
    QCoreApplication::postEvent(&receiver, new Posted(std::move(work))); // the event loop deletes it
}

} // namespace residua::app
