#include "app/drogon_redis.h"

#include <drogon/HttpAppFramework.h>

#include <array>
#include <utility>

#include "app/errors.h"
#include "app/hiredis.h"

namespace turnstile {

using drogon::nosql::RedisErrorCode;
using drogon::nosql::RedisException;
using drogon::nosql::RedisResult;
using drogon::nosql::RedisResultType;

// What Drogon and the queue of deadlines know of an exchange, which is gone as soon as its waiter goes on. Counted by
// hand, and only ever on its own loop: as a shared_ptr it would cost every callback an allocation and a dozen
// atomic steps a command.
struct DrogonRedis::Call {
  Call(PerLoop& perLoop, Exchange& awaited, TimePoint until)
      : loop(perLoop), exchange(&awaited), deadline(until) {}
  bool pending() const { return exchange != nullptr; }
  Exchange* finish() { return std::exchange(exchange, nullptr); }
  void drop() {
    if (--holders == 0) delete this;
  }

  PerLoop& loop;
  Exchange* exchange;
  TimePoint deadline;
  int holders = 2;
};

struct DrogonRedis::PerLoop {
  drogon::nosql::RedisClientPtr client;
  std::vector<Exchange*> unsent;
  std::deque<Call*> inFlight;  // one timeout for all, so also in order of deadline
  bool up = false;
  bool probing = false;
  TimePoint nextHeartbeat;
  TimePoint lastSweep;
};

// Goes out whether the server is up or not: it is how we know.
struct DrogonRedis::Ping : Exchange {
  explicit Ping(DrogonRedis& redis) : Exchange(redis, {"PING"}) {}
  static bool await_ready() { return false; }
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
auto argument(const Args& words) {
  if constexpr (Place % 2 == 0) return words[Place / 2].data();
  else return words[Place / 2].size();
}

template <std::size_t... Place>
void executeWords(drogon::nosql::RedisClient& client, const Args& args,
                  drogon::nosql::RedisResultCallback&& onReply,
                  drogon::nosql::RedisExceptionCallback&& onError, std::index_sequence<Place...>) {
  static const char* const format = formatOf(sizeof...(Place) / 2);
  client.execCommandAsync(std::move(onReply), std::move(onError), format,
                          argument<Place>(args)...);
}

template <std::size_t N>
void execute(drogon::nosql::RedisClient& client, const Args& args,
             drogon::nosql::RedisResultCallback&& onReply,
             drogon::nosql::RedisExceptionCallback&& onError) {
  executeWords(client, args, std::move(onReply), std::move(onError),
               std::make_index_sequence<2 * N>{});
}

constexpr auto kExecuteByWords = []<std::size_t... N>(std::index_sequence<N...>) {
  return std::array<Execute, Args::kMost>{&execute<N + 1>...};
}(std::make_index_sequence<Args::kMost>{});

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

void DrogonRedis::ensureUp() const {
  if (!loops_.getThreadData()->up) throw BackendDown(options_.name, "not connected");
}

// Not at once but at the end of the event loop's round, all of them together: reading requests and writing commands
// in turn, the processor would fetch the code of both anew for each, and nothing leaves before that anyway.
void DrogonRedis::send(Exchange& exchange) {
  PerLoop& loop = *loops_.getThreadData();
  loop.unsent.push_back(&exchange);
  if (loop.unsent.size() > 1) return;
  trantor::EventLoop::getEventLoopOfCurrentThread()->queueInLoop([this, &loop] { sendAll(loop); });
}

void DrogonRedis::sendAll(PerLoop& loop) {
  while (!loop.inFlight.empty() && !loop.inFlight.front()->pending()) {
    loop.inFlight.front()->drop();
    loop.inFlight.pop_front();
  }
  const TimePoint deadline = clock_.now() + options_.timeout;
  const WriteTogether together;
  for (const auto batch = std::exchange(loop.unsent, {}); Exchange * exchange : batch) {
    auto* const call = new Call(loop, *exchange, deadline);
    loop.inFlight.push_back(call);
    // Drogon calls exactly one of the two, once. What they capture fits into std::function itself.
    const Args& words = exchange->words();
    kExecuteByWords[words.size() - 1](
        *loop.client, words, [call](const RedisResult& result) { answered(*call, result); },
        [this, call](const RedisException& error) { failed(*call, error); });
  }
}

void DrogonRedis::answered(Call& call, const RedisResult& result) {
  if (call.pending()) call.finish()->answered(toReply(result));  // else too late
  call.drop();
}

void DrogonRedis::failed(Call& call, const RedisException& error) {
  const bool broken = error.code() != RedisErrorCode::kRedisError;
  if (broken) connectionBroke(call.loop);
  if (call.pending() && broken)
    call.finish()->failed(std::make_exception_ptr(
        BackendTimeout(options_.name, "connection broke before the reply")));
  else if (call.pending())
    call.finish()->refused(error.what());
  call.drop();
}

void DrogonRedis::sweep(PerLoop& loop) {
  const TimePoint now = clock_.now();
  // It is us who stood still, not the server: the replies are in the socket and are read first.
  if (now - std::exchange(loop.lastSweep, now) > kLateSweep) return;
  while (!loop.inFlight.empty()) {
    Call* const call = loop.inFlight.front();
    if (call->pending() && call->deadline > now) return;
    loop.inFlight.pop_front();
    if (call->pending()) {
      connectionBroke(loop);  // as far as we can tell: until a PING is answered, nobody else waits for it
      call->finish()->failed(std::make_exception_ptr(BackendTimeout(
          options_.name, "no reply within " + std::to_string(options_.timeout.count()) + " ms")));
    }
    call->drop();
  }
  if (loop.up && now >= loop.nextHeartbeat) {
    // Drogon does not say that an idle connection was lost, and would queue the next command for ever.
    loop.nextHeartbeat = now + kHeartbeatEvery;
    drogon::async_run([this]() -> Task<> { co_await heartbeat(); });
  }
}

Task<> DrogonRedis::heartbeat() {
  try {
    co_await Ping(*this);
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
  while (!loop.up) {
    try {
      co_await Ping(*this);
      loop.up = true;
    } catch (const std::exception&) {
      // still away
    }
    if (!loop.up) co_await clock_.sleep(kProbeEvery);
  }
  loop.probing = false;
}

}  // namespace turnstile
