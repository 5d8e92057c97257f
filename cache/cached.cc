#include "cache/cached.h"

#include <charconv>

namespace turnstile {
namespace {

// KEYS[1]: the entry. Both in one step: between two commands the entry could be replaced.
const Script kRead(R"lua(
local entry = redis.call('GET', KEYS[1])
if not entry then return false end
return {entry, redis.call('PTTL', KEYS[1])})lua");

// KEYS: the entry, a sorted set of members by their end (ms, Redis's clock). ARGV: entry, life in
// ms, member.
const Script kWriteIfMember(R"lua(
local clock = redis.call('TIME')
local till = redis.call('ZSCORE', KEYS[2], ARGV[3])
if not till or tonumber(till) <= clock[1] * 1000 + math.floor(clock[2] / 1000) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1)lua");

// "<staleFor ms>|<cost ms>|<product, or nothing when absent>"
std::string encode(const Cached& entry, Millis staleFor) {
  return std::to_string(staleFor.count()) + '|' + std::to_string(entry.cost.count()) + '|' +
         entry.product;
}

std::int64_t takeNumber(std::string_view& text) {
  std::int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  text.remove_prefix(std::min<std::size_t>(text.size(), end - text.data() + 1));
  return number;
}

}  // namespace

Task<std::optional<Cached>> CacheStore::read(std::string key) {
  const std::string name = prefix_ + key;
  const Reply reply = co_await redis_.run(kRead, {name}, {});
  if (reply.list.size() != 2) co_return std::nullopt;
  std::string_view text = reply.list[0].text;
  Cached entry;
  entry.left = Millis{reply.list[1].integer - takeNumber(text)};
  entry.cost = Millis{takeNumber(text)};
  entry.product = std::string(text);
  entry.absent = entry.product.empty();
  co_return entry;
}

Task<> CacheStore::write(std::string key, Cached entry, Millis staleFor) {
  const std::string name = prefix_ + key;
  const std::string text = encode(entry, staleFor);
  const std::string life = std::to_string((entry.left + staleFor).count());
  co_await redis_.command({"SET", name, text, "PX", life});
}

Task<bool> CacheStore::writeIfMember(std::string key, Cached entry, std::string set,
                                     std::string member) {
  const std::string name = prefix_ + key;
  const std::string text = encode(entry, Millis{0});
  const std::string life = std::to_string(entry.left.count());
  const Reply reply = co_await redis_.run(kWriteIfMember, {name, set}, {text, life, member});
  co_return reply.integer == 1;
}

Task<> CacheStore::drop(std::string key) {
  const std::string name = prefix_ + key;
  co_await redis_.command({"DEL", name});
}

Task<bool> CacheStore::shorten(std::string key, Millis left) {
  const std::string name = prefix_ + key;
  const std::string life = std::to_string(left.count());
  const Reply reply = co_await redis_.command({"PEXPIRE", name, life});
  co_return reply.integer == 1;
}

}  // namespace turnstile
