#include "app/drogon_redis.h"

#include <drogon/HttpAppFramework.h>

#include <array>
#include <utility>

#include "app/errors.h"
#include "app/redis_format.h"

namespace turnstile {

using drogon::nosql::RedisErrorCode;
using drogon::nosql::RedisException;
using drogon::nosql::RedisResult;
using drogon::nosql::RedisResultType;

// Counted by hand, and only ever on its own loop: as a shared_ptr it would cost every callback an
// allocation and a dozen atomic steps a command.
struct DrogonRedis::Call {
  enum class State : std::uint8_t { pending, answered, refused, broken, expired };
  explicit Call(PerLoop& perLoop) : loop(perLoop) {}
  Call* hold() { return ++holders, this; }
  void drop() {
    if (--holders == 0) delete this;
  }

  PerLoop& loop;
  std::coroutine_handle<> waiter;
  TimePoint deadline;
  State state = State::pending;
  Reply reply;
  std::string error;
  int holders = 0;  // whoever awaits it, the queue of deadlines, Drogon
};

struct DrogonRedis::PerLoop {
  drogon::nosql::RedisClientPtr client;
  std::deque<Call*> inFlight;  // one timeout for all, so also in order of deadline
  bool up = false;
  bool probing = false;
  TimePoint nextHeartbeat;
  TimePoint lastSweep;
};

// A constructor, not an aggregate: GCC 12 destroys the members of an aggregate awaiter twice.
struct DrogonRedis::Exchange {
  Exchange(DrogonRedis& redis, PerLoop& loop, const Args& words)
      : self(redis), args(words), call((new Call(loop))->hold()) {}
  ~Exchange() { call->drop(); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  DrogonRedis& self;
  const Args& args;
  Call* const call;

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    call->waiter = handle;
    self.send(args, *call);
  }
  Reply await_resume() const {
    const std::string& name = self.options_.name;
    switch (call->state) {
      case Call::State::answered: return std::move(call->reply);
      case Call::State::refused: throw RedisError(call->error);
      case Call::State::broken: throw BackendTimeout(name, "connection broke before the reply");
      default:
        throw BackendTimeout(name, "no reply within " +
                                       std::to_string(self.options_.timeout.count()) + " ms");
    }
  }
};

namespace {

constexpr double kSweepEverySeconds = 0.05;
constexpr Millis kProbeEvery{100};
constexpr Millis kHeartbeatEvery{250};
constexpr Millis kLateSweep{500};

Reply toReply(const RedisResult& result) {
  Reply reply;
  switch (result.type()) {
    case RedisResultType::kNil: break;
    case RedisResultType::kInteger:
      reply.kind = Reply::Kind::integer;
      reply.integer = result.asInteger();
      break;
    case RedisResultType::kArray:
      reply.kind = Reply::Kind::list;
      for (const RedisResult& item : result.asArray()) reply.list.push_back(toReply(item));
      break;
    default:
      reply.kind = Reply::Kind::text;
      reply.text = result.asString();
  }
  return reply;
}

// Drogon only takes printf-like formats and their arguments one by one, so each number of words has a function.
using Execute = void (*)(drogon::nosql::RedisClient&, const Args&,
                         drogon::nosql::RedisResultCallback&&,
                         drogon::nosql::RedisExceptionCallback&&);

// Of "%b %b …" each word is two arguments: even places are where it starts, odd ones how long it is.
template <std::size_t Place>
auto argument(std::vector<std::string_view>::const_iterator words) {
  if constexpr (Place % 2 == 0) return words[Place / 2].data();
  else return words[Place / 2].size();
}

template <std::size_t... Place>
void executeWords(drogon::nosql::RedisClient& client, const Args& args,
                  drogon::nosql::RedisResultCallback&& onReply,
                  drogon::nosql::RedisExceptionCallback&& onError, std::index_sequence<Place...>) {
  static const char* const format = formatOf(sizeof...(Place) / 2);
  client.execCommandAsync(std::move(onReply), std::move(onError), format,
                          argument<Place>(args.begin())...);
}

template <std::size_t N>
void execute(drogon::nosql::RedisClient& client, const Args& args,
             drogon::nosql::RedisResultCallback&& onReply,
             drogon::nosql::RedisExceptionCallback&& onError) {
  executeWords(client, args, std::move(onReply), std::move(onError),
               std::make_index_sequence<2 * N>{});
}

constexpr auto kExecuteByWords = []<std::size_t... N>(std::index_sequence<N...>) {
  return std::array<Execute, kMostWords>{&execute<N + 1>...};
}(std::make_index_sequence<kMostWords>{});

}  // namespace

DrogonRedis::DrogonRedis(Options options, Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  constexpr double kOwnDeadlines = -1.0;  // sweep() below
  drogon::app().createRedisClient(options_.host, options_.port, options_.name, "",
                                  options_.connectionsPerLoop, /*isFast=*/true, kOwnDeadlines);
}

DrogonRedis::~DrogonRedis() = default;

void DrogonRedis::start() {
  auto loop = std::make_shared<PerLoop>();
  loop->client = drogon::app().getFastRedisClient(options_.name);
  loops_.setThreadData(loop);
  trantor::EventLoop::getEventLoopOfCurrentThread()->runEvery(kSweepEverySeconds,
                                                              [this, loop] { sweep(*loop); });
  connectionBroke(*loop);  // down until a PING was answered
}

bool DrogonRedis::up() const {
  const auto& loop = loops_.getThreadData();
  return loop && loop->up;
}

DrogonRedis::PerLoop& DrogonRedis::readyFor(const Args& args) {
  if (args.size() == 0 || args.size() > kMostWords)
    throw std::logic_error("a Redis command has 1 to " + std::to_string(kMostWords) + " words");
  PerLoop& loop = *loops_.getThreadData();
  if (!loop.up) throw BackendDown(options_.name, "not connected");
  return loop;
}

Task<Reply> DrogonRedis::command(Args args) {
  co_return co_await Exchange(*this, readyFor(args), args);
}

Task<Reply> DrogonRedis::run(const Script& script, Args keys, Args args) {
  const std::string count = std::to_string(keys.size());
  Args words{"EVALSHA", script.sha(), count};
  words.addAll(keys);
  words.addAll(args);
  try {
    co_return co_await Exchange(*this, readyFor(words), words);
  } catch (const RedisError& error) {
    if (!std::string_view(error.what()).starts_with("NOSCRIPT")) throw;
  }
  Args whole{"EVAL", script.source(), count};  // also teaches the server, until it restarts
  whole.addAll(keys);
  whole.addAll(args);
  co_return co_await Exchange(*this, readyFor(whole), whole);
}

void DrogonRedis::send(const Args& args, Call& call) {
  PerLoop& loop = call.loop;
  call.deadline = clock_.now() + options_.timeout;
  while (!loop.inFlight.empty() && loop.inFlight.front()->state != Call::State::pending) {
    loop.inFlight.front()->drop();
    loop.inFlight.pop_front();
  }
  loop.inFlight.push_back(call.hold());
  call.hold();  // for Drogon, which calls exactly one of the two, once
  // What a callback captures fits into std::function itself.
  kExecuteByWords[args.size() - 1](
      *loop.client, args, [c = &call](const RedisResult& result) { answered(*c, result); },
      [this, c = &call](const RedisException& error) { failed(*c, error); });
}

void DrogonRedis::answered(Call& call, const RedisResult& result) {
  if (call.state == Call::State::pending) {  // else too late
    call.state = Call::State::answered;
    call.reply = toReply(result);
    call.waiter.resume();
  }
  call.drop();
}

void DrogonRedis::failed(Call& call, const RedisException& error) {
  const bool broken = error.code() != RedisErrorCode::kRedisError;
  if (broken) connectionBroke(call.loop);
  if (call.state == Call::State::pending) {
    call.state = broken ? Call::State::broken : Call::State::refused;
    call.error = error.what();
    call.waiter.resume();
  }
  call.drop();
}

void DrogonRedis::sweep(PerLoop& loop) {
  const TimePoint now = clock_.now();
  // It is us who stood still, not the server: the replies are in the socket and are read first.
  if (now - std::exchange(loop.lastSweep, now) > kLateSweep) return;
  while (!loop.inFlight.empty()) {
    Call* const call = loop.inFlight.front();
    if (call->state == Call::State::pending && call->deadline > now) return;
    loop.inFlight.pop_front();
    if (call->state == Call::State::pending) {
      call->state = Call::State::expired;
      connectionBroke(loop);  // as far as we can tell: until a PING is answered, nobody else waits for it
      call->waiter.resume();
    }
    call->drop();
  }
  if (loop.up && now >= loop.nextHeartbeat) {
    // Drogon does not say that an idle connection was lost, and would queue the next command for ever.
    loop.nextHeartbeat = now + kHeartbeatEvery;
    drogon::async_run([this, &loop]() -> Task<> { co_await heartbeat(loop); });
  }
}

Task<> DrogonRedis::heartbeat(PerLoop& loop) {
  const Args ping{"PING"};
  try {
    co_await Exchange(*this, loop, ping);
  } catch (const std::exception&) {
    // noted where it was found
  }
}

void DrogonRedis::connectionBroke(PerLoop& loop) {
  loop.up = false;
  if (std::exchange(loop.probing, true)) return;
  drogon::async_run([this, &loop]() -> Task<> { co_await probe(loop); });
}

// Drogon reconnects by itself every two seconds and says nothing; a PING that is answered tells.
Task<> DrogonRedis::probe(PerLoop& loop) {
  const Args ping{"PING"};
  while (!loop.up) {
    try {
      co_await Exchange(*this, loop, ping);
      loop.up = true;
    } catch (const std::exception&) {
      // still away
    }
    if (!loop.up) co_await clock_.sleep(kProbeEvery);
  }
  loop.probing = false;
}

}  // namespace turnstile
