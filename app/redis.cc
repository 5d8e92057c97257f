#include "app/redis.h"

#include <drogon/utils/Utilities.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace turnstile {

Script::Script(std::string_view source)
    : source_(source), sha_(drogon::utils::getSha1(source_)) {
  // EVALSHA takes either case; lower is what SCRIPT LOAD prints.
  std::transform(sha_.begin(), sha_.end(), sha_.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
}

Exchange::Exchange(Redis& redis, const Script& script, const Args& keys, const Args& args)
    : redis_(redis), script_(&script) {
  const auto end = std::to_chars(keys_.data(), keys_.data() + keys_.size(), keys.size()).ptr;
  words_.add("EVALSHA");
  words_.add(script.sha());
  words_.add({keys_.data(), end});
  words_.addAll(keys);
  words_.addAll(args);
}

bool Exchange::await_ready() const {
  redis_.ensureUp();
  return false;
}

void Exchange::await_suspend(std::coroutine_handle<> waiter) {
  waiter_ = waiter;
  redis_.send(*this);
}

void Exchange::answered(Reply reply) {
  reply_ = std::move(reply);
  waiter_.resume();
}

void Exchange::failed(std::exception_ptr failure) {
  failure_ = std::move(failure);
  waiter_.resume();
}

void Exchange::refused(const std::string& error) {
  if (!script_ || !error.starts_with("NOSCRIPT"))
    return failed(std::make_exception_ptr(RedisError(error)));
  words_.set(0, "EVAL");  // also teaches the server, until it restarts
  words_.set(1, std::exchange(script_, nullptr)->source());
  redis_.send(*this);
}

}  // namespace turnstile
