// The calls: sent in the session of the moment, awaited on the caller's loop, given up at their
// deadline.
#include <drogon/HttpAppFramework.h>

#include "app/errors.h"
#include "app/zookeeper_call.h"

namespace turnstile {
namespace {

constexpr Millis kRemoveAgain{250};

}  // namespace

Task<std::shared_ptr<ZooKeeperSession::Call>> ZooKeeperSession::exchange(int replies, Send send) {
  auto call = std::make_shared<Call>();
  call->loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  call->deadline = clock_.now() + options_.callTimeout;
  call->missing = replies;
  auto& inFlight = loops_.getThreadData()->inFlight;
  while (!inFlight.empty() && inFlight.front()->state != Call::State::pending) inFlight.pop_front();
  {
    const auto handle = connected();  // not kept while we wait: its last owner joins threads
    call->session = handle->session;
    inFlight.push_back(call);
    send(handle->raw, call);
  }
  co_await Reply(*call);
  if (call->state == Call::State::expired)
    throw BackendTimeout(kZooKeeper,
                         "no reply within " + std::to_string(options_.callTimeout.count()) + " ms");
  switch (call->code) {
    case ZOK:
    case ZNONODE:
    case ZNODEEXISTS:
      co_return call;
    case ZINVALIDSTATE:
    case ZBADARGUMENTS:
    case ZMARSHALLINGERROR:
    case ZNOAUTH:
    case ZTHROTTLEDOP:
      throw BackendDown(kZooKeeper, zerror(call->code));
    default:
      throw BackendTimeout(kZooKeeper, zerror(call->code));
  }
}

void ZooKeeperSession::sweep(PerLoop& loop) {
  const TimePoint now = clock_.now();
  while (!loop.inFlight.empty()) {
    const auto call = loop.inFlight.front();
    if (call->state == Call::State::pending && call->deadline > now) return;
    loop.inFlight.pop_front();
    if (call->state != Call::State::pending) continue;
    call->state = Call::State::expired;
    call->waiter.resume();
  }
}

// The library sends in order and the server answers one session in order: the list is read after
// the creation although it was asked for before the creation's reply. One round trip instead of
// two.
Task<std::shared_ptr<ZooKeeperSession::Call>> ZooKeeperSession::createAndList(std::string directory,
                                                                              std::string path) {
  Send send = [&](zhandle_t* raw, const std::shared_ptr<Call>& call) {
    const void* first = Callbacks::pass(call);
    Callbacks::sent(zoo_acreate2(raw, path.c_str(), nullptr, -1, &ZOO_OPEN_ACL_UNSAFE,
                                 ZOO_EPHEMERAL_SEQUENTIAL, &Callbacks::onCreated, first),
                    first);
    const void* second = Callbacks::pass(call);
    Callbacks::sent(zoo_aget_children(raw, directory.c_str(), 0, &Callbacks::onChildren, second),
                    second);
  };
  co_return co_await exchange(2, std::move(send));
}

Task<ZooKeeper::Entered> ZooKeeperSession::enter(std::string directory, std::string prefix) {
  const std::string path = directory + '/' + prefix;
  auto call = co_await createAndList(directory, path);
  if (call->code == ZNONODE) {  // the first ever, or the server swept the empty directory away
    co_await makeDirectory(directory);
    call = co_await createAndList(directory, path);
  }
  if (call->code != ZOK)
    throw BackendTimeout(kZooKeeper, "the lock's directory vanished meanwhile");
  Entered entered;
  entered.name = call->path.substr(directory.size() + 1);
  entered.zxid = call->zxid;
  entered.session = call->session;
  entered.children = std::move(call->names);
  co_return entered;
}

Task<> ZooKeeperSession::makeDirectory(std::string directory) {
  for (auto slash = directory.find('/', 1);; slash = directory.find('/', slash + 1)) {
    const std::string path = directory.substr(0, slash);
    Send send = [&](zhandle_t* raw, const std::shared_ptr<Call>& call) {
      const void* data = Callbacks::pass(call);
      Callbacks::sent(zoo_acreate2(raw, path.c_str(), nullptr, -1, &ZOO_OPEN_ACL_UNSAFE,
                                   ZOO_CONTAINER, &Callbacks::onCreated, data),
                      data);
    };
    co_await exchange(1, std::move(send));
    if (slash == std::string::npos) co_return;
  }
}

Task<std::vector<std::string>> ZooKeeperSession::children(std::string directory) {
  Send send = [&](zhandle_t* raw, const std::shared_ptr<Call>& call) {
    const void* data = Callbacks::pass(call);
    Callbacks::sent(zoo_aget_children(raw, directory.c_str(), 0, &Callbacks::onChildren, data),
                    data);
  };
  const auto call = co_await exchange(1, std::move(send));
  co_return std::move(call->names);
}

// A get, not an exists: an exists would leave its watch behind on a node that is already gone.
Task<std::shared_ptr<Watch>> ZooKeeperSession::watchDeletion(std::string node) {
  auto watch = std::make_shared<Watch>();
  const std::uint64_t token = addWatch(watch);
  Send send = [&](zhandle_t* raw, const std::shared_ptr<Call>& call) {
    const void* data = Callbacks::pass(call);
    Callbacks::sent(zoo_awget(raw, node.c_str(), &Callbacks::onWatch,
                              reinterpret_cast<void*>(token),  // NOLINT(performance-no-int-to-ptr)
                              &Callbacks::onData, data),
                    data);
  };
  const auto call = co_await exchange(1, std::move(send));
  if (call->code == ZOK) co_return watch;
  fireWatch(token, true);
  co_return nullptr;
}

Task<bool> ZooKeeperSession::remove(std::string node) {
  constexpr int kAnyVersion = -1;
  Send send = [&](zhandle_t* raw, const std::shared_ptr<Call>& call) {
    const void* data = Callbacks::pass(call);
    Callbacks::sent(zoo_adelete(raw, node.c_str(), kAnyVersion, &Callbacks::onDone, data), data);
  };
  const auto call = co_await exchange(1, std::move(send));
  co_return call->code == ZOK;
}

void ZooKeeperSession::removeEventually(std::string directory, std::string prefix,
                                        std::int64_t session) {
  drogon::async_run([this, directory = std::move(directory), prefix = std::move(prefix),
                     session]() -> Task<> { co_await keepRemoving(directory, prefix, session); });
}

Task<> ZooKeeperSession::keepRemoving(std::string directory, std::string prefix,
                                      std::int64_t session) {
  while (this->session().id == session) {  // the nodes of an older one are gone with it
    try {
      const auto names = co_await children(directory);
      for (const std::string& name : names)
        if (name.starts_with(prefix)) co_await remove(directory + '/' + name);
      co_return;
    } catch (const std::exception& error) {
      LOG_DEBUG << "removal of " << directory << '/' << prefix << ": " << error.what();
    }
    co_await clock_.sleep(kRemoveAgain);
  }
}

}  // namespace turnstile
