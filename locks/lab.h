// The laboratory: named points inside a sale where a caller with the admin token may make something go
// wrong, for this request only. A sale without lab parameters carries a closed Lab and passes every point.
//
// `hold` is the business time inside the critical section; a fault is `point:action`.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/clock.h"

namespace turnstile {

/// The points, named once. A strategy declares which of them it passes.
enum class Point : std::uint8_t {
  afterAcquire,
  betweenSetnxExpire,
  betweenGetGetset,
  beforeWrite,
  afterWrite,
  betweenCompareDelete,
  unlockReply,
  beforeWait,
  beforeFill,
};

struct PointInfo {
  Point point;
  std::string_view name;
  std::string_view meaning;
};
inline constexpr std::array kPoints{
    PointInfo{Point::afterAcquire, "after-acquire", "the lock is held, nothing was read yet"},
    PointInfo{Point::betweenSetnxExpire, "between-setnx-expire",
              "the lock key exists and has no time to live yet"},
    PointInfo{Point::betweenGetGetset, "between-get-getset",
              "a lock past its time was seen and is not taken over yet"},
    PointInfo{Point::beforeWrite, "before-write",
              "the count was read, the lease was checked, nothing was written yet"},
    PointInfo{Point::afterWrite, "after-write", "the sale is written, the lock is still held"},
    PointInfo{Point::betweenCompareDelete, "between-compare-delete",
              "the owner was compared, the lock is not deleted yet"},
    PointInfo{Point::unlockReply, "unlock-reply", "the lock is released, the reply not yet seen"},
    PointInfo{Point::beforeWait, "before-wait",
              "the lock was refused for the first time, nobody listens for its release yet"},
    PointInfo{Point::beforeFill, "before-fill",
              "GET /products: the database was read, the cache is not filled yet"},
};
std::string_view toString(Point point);

/// "throw", "crash", "pause-<ms>", "drop": an exception, the process dying at once, this request
/// standing still, a reply lost on its way.
struct Action {
  enum class Kind : std::uint8_t { raise, crash, pause, drop };
  Kind kind;
  Millis pause{0};
};
inline constexpr std::array<std::string_view, 4> kActionNames{"throw", "crash", "pause-<ms>",
                                                              "drop"};

struct Fault {
  Point point;
  Action action;
};

/// Reads "after-acquire:throw,before-write:pause-200". Throws BadRequest saying what is allowed.
std::vector<Fault> parseFaults(std::string_view text);

class Lab {
 public:
  struct Plan {
    Millis hold{0};
    bool nested = false;   // take the lock a second time inside
    bool fencing = true;   // false: the stock does not check the fence
    std::vector<Fault> faults;
  };

  Lab() = default;  // closed
  Lab(Plan plan, Clock& clock) : plan_(std::make_shared<const Plan>(std::move(plan))), clock_(&clock) {}

  /// No plan: every point is passed, so whoever serves many may skip the question.
  bool closed() const { return !plan_; }
  bool nested() const { return plan_ && plan_->nested; }
  bool fencing() const { return !plan_ || plan_->fencing; }

  /// The business time.
  Task<> hold() const;
  /// Does what the plan says for this point; almost always nothing.
  Task<> pass(Point point) const;

 private:
  std::shared_ptr<const Plan> plan_;
  Clock* clock_ = nullptr;
};

}  // namespace turnstile
