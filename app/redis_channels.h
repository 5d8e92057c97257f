// The port to the messages of one Redis server. Publishing is an ordinary command (usually inside a
// script); this is the other end: a message wakes a waiter of this process.
//
// Messages are hints, never state: one that is sent while nobody is subscribed is gone, and so is every
// one in the seconds in which a lost connection is made again. So a waiter listens, asks the server once
// more, and only then waits, never without a limit:
//
//   channels.listen(channel, message, wakeup);
//   … try; refused …
//   if (co_await channels.ready(channel, message, wakeup)) co_await wakeup->wait(atMost);
//   … try again …
//   channels.leave(channel, message, wakeup);
#pragma once

#include <memory>
#include <string>

#include "app/wakeup.h"

namespace turnstile {

class RedisChannels {
 public:
  virtual ~RedisChannels() = default;

  /// From now on `message` on `channel` wakes `listener`, as far as the server knows of us.
  virtual void listen(const std::string& channel, const std::string& message,
                      const std::shared_ptr<Wakeup>& listener) = 0;

  /// true: the server has had us subscribed since listen(), nothing was missed. false: it has now, and
  /// what was sent before was missed: look again before waiting.
  virtual Task<bool> ready(std::string channel, std::string message,
                           std::shared_ptr<Wakeup> listener) = 0;

  /// Forgetting to is harmless: a listener that is gone is dropped some time later.
  virtual void leave(const std::string& channel, const std::string& message,
                     const std::shared_ptr<Wakeup>& listener) = 0;
};

}  // namespace turnstile
