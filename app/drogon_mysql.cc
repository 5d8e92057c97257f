#include "app/drogon_mysql.h"

#include <drogon/HttpAppFramework.h>

#include "app/errors.h"
#include "app/slots.h"
#include "app/wakeup.h"

namespace turnstile {

namespace orm = drogon::orm;

struct DrogonMySql::PerLoop {
  PerLoop(orm::DbClientPtr dbClient, std::size_t connections)
      : client(std::move(dbClient)), connectionSlots(connections) {}
  orm::DbClientPtr client;
  Slots connectionSlots;  // as many as connections, so that Drogon never has to queue
  bool stalled = false;   // connected, but a statement got no reply in time
};

namespace {

constexpr Millis kProbeEvery{100};
constexpr Millis kGrace{500};  // Drogon's own timeout is first, where it works

// What Drogon will say of a statement, a new transaction or a commit. Not always: when a connection breaks it may lose a
// callback, and then its timeout, which lives in that callback, is gone too. So the wait has an end of ours. And whoever
// waits goes on after Drogon has finished its step, not in the middle of it.
template <class T>
struct Told : Wakeup {
  void tell(T said) {
    value = std::move(said);
    wake();
  }
  void fail(std::exception_ptr why) {
    failure = std::move(why);
    wake();
  }
  std::optional<T> value;
  std::exception_ptr failure;
};

/// Drogon has not said a word of it; what comes of it is not known.
struct Unheard : BackendTimeout {
  Unheard() : BackendTimeout("mysql", "no word of the statement in time") {}
};

SqlError::Kind kindOf(int code) {
  switch (code) {
    case 1205: return SqlError::Kind::lockWaitTimeout;
    case 1213: return SqlError::Kind::deadlock;
    case 1062: return SqlError::Kind::duplicateKey;
    default: return SqlError::Kind::other;
  }
}

// Refused because the server ends, or ended this connection: shutdown, connection killed, idle too long.
bool meansServerGoes(int code) {
  return code == 1053 || code == 1927 || code == 3169 || code == 4031;
}

[[noreturn]] void throwAsOurs(const orm::SqlError& sql) {
  constexpr int kServerGone = 2006, kServerLost = 2013;
  if (sql.errcode() == kServerLost) throw BackendTimeout("mysql", sql.what());
  if (sql.errcode() == kServerGone || meansServerGoes(sql.errcode()))
    throw BackendDown("mysql", sql.what());
  throw SqlError(kindOf(sql.errcode()), sql.what());
}

SqlResult toResult(const orm::Result& result) {
  SqlResult out;
  out.affected = result.affectedRows();
  out.insertId = result.insertId();
  for (const auto& row : result) {
    auto& values = out.rows.emplace_back();
    for (const auto& field : row)
      values.push_back(field.isNull() ? std::string() : field.as<std::string>());
  }
  return out;
}

// Drogon has no option for any of this, but passes the host on as it is, and MariaDB's connector
// takes "host=…;option=…" there. No blanks: Drogon would quote the text and then misread its own quotes.
// reconnect: off, since Drogon switches it on, and a connection that comes back has lost its transaction.
// ssl-verify-server-cert also refuses a server without TLS; asking for TLS alone would fall back to clear text.
std::string hostWithOptions(const DrogonMySql::Options& options) {
  std::string text = "host=" + options.host + ";reconnect=0;init-command={SET@@innodb_lock_wait_timeout=" +
                     std::to_string(options.lockWait.count()) + "}";
  if (!options.tlsCa.empty()) text += ";ssl-ca={" + options.tlsCa + "};ssl-verify-server-cert=1";
  return text;
}

}  // namespace

DrogonMySql::DrogonMySql(Options options, Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  drogon::app().addDbClient(orm::MysqlConfig{
      hostWithOptions(options_), options_.port, options_.database, options_.user, options_.password,
      options_.connectionsPerLoop, options_.name, /*isFast=*/true, "utf8mb4",
      std::chrono::duration<double>(options_.timeout).count()});
}

DrogonMySql::~DrogonMySql() = default;

void DrogonMySql::start() {
  loops_.setThreadData(std::make_shared<PerLoop>(drogon::app().getFastDbClient(options_.name),
                                                 options_.connectionsPerLoop));
}

DrogonMySql::PerLoop& DrogonMySql::connected() {
  const auto& here = loops_.getThreadData();
  if (!here) throw BackendDown("mysql", "this instance is starting");
  PerLoop& loop = *here;
  if (!loop.client->hasAvailableConnections()) throw BackendDown("mysql", "not connected");
  if (loop.stalled) throw BackendDown("mysql", "connected, but not answering");
  return loop;
}

Task<SqlResult> DrogonMySql::exec(std::string_view statement, SqlArgs args) {
  PerLoop& loop = connected();
  const auto slot = co_await loop.connectionSlots.take(options_.timeout);
  if (!slot) throw PoolExhausted("mysql", "no connection came free in time");
  co_return co_await execOn(loop, loop.client, statement, std::move(args));
}

// `client` is the pool or a transaction of it: both are DbClients.
Task<SqlResult> DrogonMySql::execOn(PerLoop& loop, orm::DbClientPtr client,
                                    std::string_view statement, SqlArgs args) {
  const auto told = std::make_shared<Told<orm::Result>>();
  {
    auto binder = *client << std::string(statement);
    for (const std::string& value : args) binder << value;
    binder >> [told](const orm::Result& result) { told->tell(result); };
    binder >> [told](const std::exception_ptr& why) { told->fail(why); };
    binder.exec();
  }
  co_await told->wait(options_.timeout + kGrace);
  if (told->value) co_return toResult(*told->value);
  if (!told->failure) {
    stalled(loop);
    throw Unheard();
  }
  try {
    std::rethrow_exception(told->failure);
  } catch (const orm::SqlError& error) {
    throwAsOurs(error);
  } catch (const orm::TimeoutError& timeout) {
    stalled(loop);
    throw BackendTimeout("mysql", timeout.what());
  } catch (const orm::DrogonDbException& other) {
    throw BackendDown("mysql", other.base().what());
  }
}

// A statement that waits for a row ends earlier (lockWait), so no reply means the server, not a lock.
void DrogonMySql::stalled(PerLoop& loop) {
  if (std::exchange(loop.stalled, true)) return;
  drogon::async_run([this, &loop]() -> Task<> { co_await probe(loop); });
}

Task<> DrogonMySql::probe(PerLoop& loop) {
  const SqlArgs none;
  while (loop.stalled) {
    try {
      co_await execOn(loop, loop.client, "SELECT 1", none);
      loop.stalled = false;
    } catch (const std::exception&) {
      // still away
    }
    if (loop.stalled) co_await clock_.sleep(kProbeEvery);
  }
}

class DrogonMySql::TransactionSql final : public Sql {
 public:
  TransactionSql(DrogonMySql& mysql, PerLoop& loop, std::shared_ptr<orm::Transaction> transaction)
      : mysql_(mysql), loop_(loop), transaction_(std::move(transaction)) {}

  Task<SqlResult> exec(std::string_view statement, SqlArgs args) override {
    rolledBack_ = true;  // Drogon queues a rollback when a statement fails
    try {
      SqlResult result = co_await mysql_.execOn(loop_, transaction_, statement, std::move(args));
      rolledBack_ = false;
      co_return result;
    } catch (const Unheard&) {
      rolledBack_ = false;  // it does not know that this one did
      throw;
    }
  }
  bool rolledBack() const { return rolledBack_; }

 private:
  DrogonMySql& mysql_;
  PerLoop& loop_;
  std::shared_ptr<orm::Transaction> transaction_;
  bool rolledBack_ = false;
};

Task<std::shared_ptr<orm::Transaction>> DrogonMySql::begin(PerLoop& loop) {
  const auto told = std::make_shared<Told<std::shared_ptr<orm::Transaction>>>();
  loop.client->newTransactionAsync(
      [told](const std::shared_ptr<orm::Transaction>& transaction) { told->tell(transaction); });
  co_await told->wait(options_.timeout + kGrace);
  auto transaction = std::exchange(told->value, std::nullopt).value_or(nullptr);
  if (!transaction) throw PoolExhausted("mysql", "no connection in time");
  co_return transaction;
}

Task<> DrogonMySql::inTransaction(Body body, std::optional<Millis> connectionWithin) {
  PerLoop& loop = connected();
  const auto slot = co_await loop.connectionSlots.take(connectionWithin.value_or(options_.timeout));
  if (!slot) throw PoolExhausted("mysql", "no connection came free in time");
  auto transaction = co_await begin(loop);
  co_await runOrRollBack(loop, transaction, std::move(body));
  co_await commit(loop, std::move(transaction));
}

Task<> DrogonMySql::runOrRollBack(PerLoop& loop, std::shared_ptr<orm::Transaction> transaction,
                                  Body body) {
  TransactionSql sql(*this, loop, transaction);
  std::exception_ptr failure;
  std::string unanswered;
  try {
    co_await body(sql);
  } catch (const BackendTimeout& timeout) {
    unanswered = timeout.what();
    failure = std::current_exception();
  } catch (...) {
    failure = std::current_exception();
  }
  if (!failure) co_return;
  // Without a rollback the destructor would commit.
  if (!sql.rolledBack()) transaction->rollback();
  if (!unanswered.empty())
    throw BackendDown("mysql", unanswered + "; the transaction was not committed");
  std::rethrow_exception(failure);
}

// The destructor of Drogon's transaction queues the commit; its callback tells when it is done. The
// callback stays away if the server does, hence the deadline.
Task<> DrogonMySql::commit(PerLoop& loop, std::shared_ptr<orm::Transaction> transaction) {
  const auto told = std::make_shared<Told<bool>>();
  transaction->setCommitCallback([told](bool committed) { told->tell(committed); });
  transaction.reset();
  if (!co_await told->wait(options_.timeout)) stalled(loop);
  if (!told->value.value_or(false)) throw BackendTimeout("mysql", "the commit was not acknowledged");
}

}  // namespace turnstile
