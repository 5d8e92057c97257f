// The session: opened, proven alive, replaced when it expired; and the watches that live in it.
#include "app/zookeeper_session.h"

#include <drogon/HttpAppFramework.h>

#include "app/errors.h"
#include "app/zookeeper_call.h"

namespace turnstile {
namespace {

constexpr double kSweepEverySeconds = 0.02;
constexpr double kOpenAgainSeconds = 1.0;

double seconds(Millis duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

ZooKeeperSession::ZooKeeperSession(Options options, Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  zoo_set_debug_level(
      static_cast<ZooLogLevel>(0));  // it would write a line for every failed connect
}

ZooKeeperSession::~ZooKeeperSession() {
  std::shared_ptr<Handle> last;
  {
    const std::lock_guard guard(mutex_);
    last =
        std::exchange(handle_, nullptr);  // what its threads still report is ignored from here on
  }
}

void ZooKeeperSession::start() {
  auto perLoop = std::make_shared<PerLoop>();
  loops_.setThreadData(perLoop);
  if (!configured()) return;
  trantor::EventLoop::getEventLoopOfCurrentThread()->runEvery(kSweepEverySeconds,
                                                              [this, perLoop] { sweep(*perLoop); });
  std::call_once(opened_, [this] {
    auto* home = drogon::app().getLoop();
    home->queueInLoop([this] { open(); });
    home->runEvery(seconds(options_.sessionTimeout) / 6, [this] { beat(); });
  });
}

void ZooKeeperSession::open() {
  auto fresh = std::make_shared<Handle>(*this);
  std::shared_ptr<Handle> old;
  {
    const std::lock_guard guard(mutex_);
    old = std::exchange(handle_, fresh);
  }
  old.reset();
  auto* raw = zookeeper_init(options_.server.c_str(), &Callbacks::onSession,
                             static_cast<int>(options_.sessionTimeout.count()), nullptr,
                             fresh.get(), ZOO_NO_LOG_CLIENTENV);
  const std::lock_guard guard(mutex_);
  fresh->raw = raw;
  if (!raw)
    drogon::app().getLoop()->runAfter(kOpenAgainSeconds, [this] { open(); });  // unknown host
}

void ZooKeeperSession::stateChanged(Handle& handle, zhandle_t* raw, int state) {
  {
    const std::lock_guard guard(mutex_);
    if (handle_.get() != &handle) return;
    handle.connected = state == ZOO_CONNECTED_STATE;
    if (handle.connected) {
      handle.raw = raw;  // this may come before zookeeper_init() returned
      handle.timeout = Millis{zoo_recv_timeout(raw)};
      handle.session = zoo_client_id(raw)->client_id;
      if (session_.id != handle.session) session_ = {handle.session, {}};
    }
  }
  auto* home = drogon::app().getLoop();
  if (state == ZOO_CONNECTED_STATE) {
    home->queueInLoop([this] { beat(); });
    return;
  }
  if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
    {
      const std::lock_guard guard(mutex_);
      session_ = {};
    }
    home->queueInLoop([this] { open(); });
  }
  fireAllWatches();  // who waits for a deletion should learn that nobody will tell
}

void ZooKeeperSession::beat() {
  std::shared_ptr<Handle> handle;
  {
    const std::lock_guard guard(mutex_);
    if (!handle_ || !handle_->connected) return;
    handle = handle_;
  }
  auto* data = new Callbacks::Beat{*handle, clock_.now()};
  if (zoo_aexists(handle->raw, "/", 0, &Callbacks::onBeat, data) != ZOK) delete data;
}

void ZooKeeperSession::proven(const Handle& handle, TimePoint sentAt) {
  const std::lock_guard guard(mutex_);
  if (session_.id == handle.session)
    session_.validUntil = std::max(session_.validUntil, sentAt + handle.timeout);
}

ZooKeeper::Session ZooKeeperSession::session() const {
  const std::lock_guard guard(mutex_);
  return session_;
}

bool ZooKeeperSession::up() const {
  const std::lock_guard guard(mutex_);
  return handle_ && handle_->connected && session_.validUntil > clock_.now();
}

std::shared_ptr<ZooKeeperSession::Handle> ZooKeeperSession::connected() const {
  if (!configured()) throw BackendDown(kZooKeeper, "not configured");
  const std::lock_guard guard(mutex_);
  if (!handle_ || !handle_->connected) throw BackendDown(kZooKeeper, "not connected");
  if (session_.validUntil <= clock_.now()) throw BackendDown(kZooKeeper, "the server is silent");
  return handle_;
}

std::uint64_t ZooKeeperSession::addWatch(const std::shared_ptr<Watch>& watch) {
  const std::lock_guard guard(mutex_);
  watches_[++lastToken_] = watch;
  return lastToken_;
}

void ZooKeeperSession::fireWatch(std::uint64_t token, bool gone) {
  std::shared_ptr<Watch> watch;
  {
    const std::lock_guard guard(mutex_);
    const auto found = watches_.find(token);
    if (found == watches_.end()) return;
    watch = found->second.lock();  // null: whoever waited gave up
    watches_.erase(found);
  }
  if (watch) watch->fire(gone);
}

void ZooKeeperSession::fireAllWatches() {
  decltype(watches_) all;
  {
    const std::lock_guard guard(mutex_);
    all.swap(watches_);
  }
  for (const auto& [token, waiting] : all)
    if (const auto watch = waiting.lock()) watch->fire(false);
}

}  // namespace turnstile
