#include "locks/gathering.h"

#include <trantor/utils/Logger.h>

#include <algorithm>
#include <limits>

namespace turnstile {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

}  // namespace

Batch Line::take(std::size_t most) {
  const std::lock_guard guard(mutex_);
  const auto end = members_.begin() + static_cast<std::ptrdiff_t>(std::min(most, members_.size()));
  Batch batch(members_.begin(), end);
  members_.erase(members_.begin(), end);
  closed_ = batch.empty();
  return batch;
}

Batch Line::takeIf(const std::function<bool(const Member&)>& late) {
  const std::lock_guard guard(mutex_);
  Batch batch;
  std::erase_if(members_, [&](Member* member) {
    const bool taken = late(*member);
    if (taken) batch.push_back(member);
    return taken;
  });
  return batch;
}

std::size_t Line::size() {
  const std::lock_guard guard(mutex_);
  return members_.size();
}

Task<> Line::awaitCompany(std::size_t enough, Micros atMost) {
  {
    const std::lock_guard guard(mutex_);
    if (members_.size() >= enough) co_return;
    enough_ = enough;
  }
  co_await company_->wait(atMost);
  const std::lock_guard guard(mutex_);
  enough_ = 0;
}

const Member* Line::front() {
  const std::lock_guard guard(mutex_);
  closed_ = members_.empty();
  return closed_ ? nullptr : members_.front();
}

void Line::answer(const Batch& batch) {
  trantor::EventLoop* here = trantor::EventLoop::getEventLoopOfCurrentThread();
  for (Member* member : batch) {
    const auto waiter = member->waiter_;  // the member dies with its coroutine
    if (member->loop_ == here)
      waiter.resume();
    else
      member->loop_->queueInLoop([waiter] { waiter.resume(); });
  }
}

void Gathering::enter(Member& member) {
  trantor::EventLoop* loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  member.loop_ = loop;
  const std::lock_guard guard(mutex_);
  std::shared_ptr<Line>& line = lines_[member.request.event];
  if (line) {
    const std::lock_guard lineGuard(line->mutex_);
    if (!line->closed_) {
      line->members_.push_back(&member);
      if (line->enough_ > 0 && line->members_.size() >= line->enough_) {
        line->enough_ = 0;
        line->company_->wake();
      }
      return;
    }
  }
  line = std::make_shared<Line>(member.request.event);
  line->members_.push_back(&member);
  loop->queueInLoop(
      [this, line] { drogon::async_run([this, line]() -> Task<> { co_await serve(line); }); });
}

Task<> Gathering::serve(std::shared_ptr<Line> line) {
  try {
    co_await service_(*line);
  } catch (const std::exception& error) {
    LOG_ERROR << "service of event " << line->event() << ": " << error.what();
    for (Batch rest = line->take(kAll); !rest.empty(); rest = line->take(kAll)) {
      for (Member* member : rest) member->failure = std::current_exception();
      Line::answer(rest);
    }
  }
  const std::lock_guard guard(mutex_);
  const auto found = lines_.find(line->event());
  if (found != lines_.end() && found->second == line) lines_.erase(found);
}

Task<> passAll(Batch& batch, Point point) {
  Batch failed;
  for (Member*& member : batch) {
    if (member->failure || member->request.lab.closed()) continue;
    try {
      co_await member->request.lab.pass(point);
    } catch (...) {
      member->failure = std::current_exception();
      failed.push_back(member);
      member = nullptr;
    }
  }
  std::erase(batch, nullptr);
  Line::answer(failed);
}

}  // namespace turnstile
