// Inside ZooKeeperSession: one connection of libzookeeper-mt, one call on it, and the C functions
// that the library calls back on its own thread. Nothing else includes this.
#pragma once

#include <zookeeper/zookeeper.h>

#include <atomic>
#include <utility>

#include "app/zookeeper_session.h"

namespace turnstile {

inline constexpr const char* kZooKeeper = "zookeeper";  // as errors name it

// A connection of the library with its threads. A call holds a reference only while it is inside
// the library, so the one that ends it, which joins the threads, is the main loop's.
struct ZooKeeperSession::Handle {
  explicit Handle(ZooKeeperSession& session) : owner(session) {}
  ~Handle() {
    if (raw) zookeeper_close(raw);
  }
  ZooKeeperSession& owner;
  zhandle_t* raw = nullptr;
  std::int64_t session = 0;
  Millis timeout{0};  // as the server granted it
  bool connected = false;
};

struct ZooKeeperSession::Call {
  enum class State : std::uint8_t { pending, answered, expired };
  std::coroutine_handle<> waiter;
  trantor::EventLoop* loop = nullptr;
  TimePoint deadline;
  State state = State::pending;  // touched on `loop` only

  std::int64_t session = 0;     // it was sent in
  std::atomic<int> missing{1};  // replies
  std::atomic<int> code{ZOK};   // the first that is not ZOK
  std::string path;
  std::uint64_t zxid = 0;
  std::vector<std::string> names;
};

struct ZooKeeperSession::PerLoop {
  std::deque<std::shared_ptr<Call>> inFlight;  // one timeout for all, so also in order of deadline
};

// Waits for a Call that was sent. Its reply is queued on our own loop, so it cannot overtake the
// suspension.
struct ZooKeeperSession::Reply {
  explicit Reply(Call& sent) : call(sent) {}
  Call& call;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) { call.waiter = handle; }
  void await_resume() const {}
};

// A reference to the call travels through the library as `const void*`.
struct ZooKeeperSession::Callbacks {
  static const void* pass(const std::shared_ptr<Call>& call) {
    return new std::shared_ptr<Call>(call);
  }
  static std::shared_ptr<Call> take(const void* data) {
    const std::unique_ptr<const std::shared_ptr<Call>> holder(
        static_cast<const std::shared_ptr<Call>*>(data));
    return *holder;
  }
  static void finish(std::shared_ptr<Call> call, int code) {
    int fine = ZOK;
    call->code.compare_exchange_strong(fine, code);
    if (--call->missing > 0) return;
    auto* loop = call->loop;
    loop->queueInLoop([call = std::move(call)] {
      if (call->state != Call::State::pending) return;  // too late
      call->state = Call::State::answered;
      call->waiter.resume();
    });
  }
  static void sent(int code, const void* data) {
    if (code != ZOK) finish(take(data), code);  // refused on the spot: no callback will come
  }

  static void onDone(int code, const void* data) { finish(take(data), code); }
  static void onCreated(int code, const char* path, const Stat* stat, const void* data) {
    auto call = take(data);
    if (code == ZOK) {
      call->path = path;
      call->zxid = static_cast<std::uint64_t>(stat->czxid);
    }
    finish(std::move(call), code);
  }
  static void onChildren(int code, const String_vector* names, const void* data) {
    auto call = take(data);
    if (code == ZOK) call->names.assign(names->data, names->data + names->count);
    finish(std::move(call), code);
  }
  static void onData(int code, const char*, int, const Stat*, const void* data) {
    finish(take(data), code);
  }
  static void onSession(zhandle_t* raw, int type, int state, const char*, void* context) {
    auto& handle = *static_cast<Handle*>(context);
    if (type == ZOO_SESSION_EVENT) handle.owner.stateChanged(handle, raw, state);
  }
  static void onWatch(zhandle_t* raw, int type, int, const char*, void* token) {
    if (type == ZOO_SESSION_EVENT) return;  // told to every watch; onSession has seen it
    auto& handle = *static_cast<const Handle*>(zoo_get_context(raw));
    handle.owner.fireWatch(reinterpret_cast<std::uintptr_t>(token), type == ZOO_DELETED_EVENT);
  }
  struct Beat {
    Handle& handle;
    TimePoint sentAt;
  };
  static void onBeat(int code, const Stat*, const void* data) {
    const std::unique_ptr<const Beat> beat(static_cast<const Beat*>(data));
    if (code == ZOK) beat->handle.owner.proven(beat->handle, beat->sentAt);
  }
};

}  // namespace turnstile
