// Requests of one process for the same event, served together. Whoever arrives joins a line and
// waits; one service a line takes them in batches and answers each. It starts at the end of the
// event loop's current round, so that what arrived in the same round is one batch, and an idle
// instance waits for nothing.
//
//   Gathering line_{[this](Line& line) { return serve(line); }};
//   Task<Sale> sell(SaleRequest request) { Member me(request); co_await line_.join(me); co_return
//   me.result(); }
//
// Safe from any event loop; each member resumes on its own.
#pragma once

#include <trantor/net/EventLoop.h>

#include <coroutine>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/wakeup.h"
#include "locks/strategy.h"

namespace turnstile {

/// One waiting request, in the frame of the coroutine that waits. Its service writes `sale` or
/// `failure`.
struct Member {
  explicit Member(const SaleRequest& r) : request(r) {}
  Sale result() const {
    if (failure) std::rethrow_exception(failure);
    return sale;
  }

  const SaleRequest& request;
  Sale sale;
  std::exception_ptr failure;

 private:
  friend class Line;
  friend class Gathering;
  std::coroutine_handle<> waiter_;
  trantor::EventLoop* loop_ = nullptr;
};

using Batch = std::vector<Member*>;

/// Members of one event in order of arrival, as their service sees them.
class Line {
 public:
  explicit Line(std::string event) : event_(std::move(event)) {}
  const std::string& event() const { return event_; }

  /// The next members. None: the line is closed, later arrivals get a service of their own, return.
  Batch take(std::size_t most);
  /// Those for whom `late` is true, wherever they stand.
  Batch takeIf(const std::function<bool(const Member&)>& late);
  /// The first in line; nullptr: nobody, and the line is closed as by take().
  const Member* front();

  std::size_t size();
  /// Until `enough` members stand in line, or `atMost`.
  Task<> awaitCompany(std::size_t enough, Micros atMost);

  /// Until everything that arrived in the event loop's current round has been heard: a service that
  /// waits for it between batches has larger ones, and delays nobody.
  auto endOfRound() const {
    struct Awaiter {
      bool await_ready() const { return false; }
      void await_suspend(std::coroutine_handle<> handle) const {
        trantor::EventLoop::getEventLoopOfCurrentThread()->queueInLoop(
            [handle] { handle.resume(); });
      }
      void await_resume() const {}
    };
    return Awaiter{};
  }

  /// Every member's coroutine goes on with what it was given; the members are gone afterwards.
  static void answer(const Batch& batch);

 private:
  friend class Gathering;
  std::string event_;
  std::mutex mutex_;  // never held across an await
  std::deque<Member*> members_;
  bool closed_ = false;
  std::size_t enough_ = 0;  // members that the service waits for; 0: it does not
  std::shared_ptr<Wakeup> company_ = std::make_shared<Wakeup>();
};

class Gathering {
 public:
  /// Serves a line until it is empty. It answers every batch it took; what it throws is a bug of
  /// ours.
  using Service = std::function<Task<>(Line&)>;
  explicit Gathering(Service service) : service_(std::move(service)) {}

  struct Joining;
  /// Await it; then the member has its result.
  Joining join(Member& member);

 private:
  void enter(Member& member);
  Task<> serve(std::shared_ptr<Line> line);

  Service service_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Line>> lines_;
};

struct Gathering::Joining {
  Joining(Gathering& gathering, Member& member) : gathering_(gathering), member_(member) {}
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    member_.waiter_ = handle;
    gathering_.enter(member_);
  }
  void await_resume() const {}

 private:
  Gathering& gathering_;
  Member& member_;
};

inline Gathering::Joining Gathering::join(Member& member) { return {*this, member}; }

/// Leads every member whose lab is open past `point`. Those for whom it throws are answered with
/// that and leave the batch.
Task<> passAll(Batch& batch, Point point);

}  // namespace turnstile
