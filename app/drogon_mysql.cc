#include "app/drogon_mysql.h"

#include <drogon/drogon.h>

#include "app/errors.h"
#include "app/wakeup.h"

namespace turnstile {
namespace {

namespace orm = drogon::orm;

constexpr int kLockWaitTimeout = 1205, kDeadlock = 1213, kDuplicateKey = 1062;
constexpr int kServerGone = 2006, kServerLost = 2013;

SqlError::Kind kindOf(int code) {
  switch (code) {
    case kLockWaitTimeout: return SqlError::Kind::lockWaitTimeout;
    case kDeadlock: return SqlError::Kind::deadlock;
    case kDuplicateKey: return SqlError::Kind::duplicateKey;
    default: return SqlError::Kind::other;
  }
}

[[noreturn]] void rethrowAsOurs(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const orm::SqlError& sql) {
    if (sql.errcode() == kServerGone) throw BackendDown("mysql", sql.what());
    if (sql.errcode() == kServerLost) throw BackendTimeout("mysql", sql.what());
    throw SqlError(kindOf(sql.errcode()), sql.what());
  } catch (const orm::TimeoutError& timeout) {
    throw BackendTimeout("mysql", timeout.what());
  } catch (const orm::DrogonDbException& other) {
    throw BackendDown("mysql", other.base().what());
  }
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

// The client is named by pointer: a transaction and the pool are both DbClients.
Task<SqlResult> execOn(drogon::orm::DbClientPtr client, std::string_view statement, SqlArgs args) {
  std::exception_ptr failure;
  try {
    auto binder = *client << std::string(statement);
    for (const std::string& value : args) binder << value;
    co_return toResult(co_await orm::internal::SqlAwaiter(std::move(binder)));
  } catch (const orm::DrogonDbException&) {
    failure = std::current_exception();
  }
  rethrowAsOurs(failure);
}

class TransactionSql final : public Sql {
 public:
  explicit TransactionSql(std::shared_ptr<orm::Transaction> transaction)
      : transaction_(std::move(transaction)) {}
  Task<SqlResult> exec(std::string_view statement, SqlArgs args) override {
    return execOn(transaction_, statement, std::move(args));
  }

 private:
  std::shared_ptr<orm::Transaction> transaction_;
};

}  // namespace

DrogonMySql::DrogonMySql(Options options) : options_(std::move(options)) {
  drogon::app().addDbClient(orm::MysqlConfig{
      options_.host, options_.port, options_.database, options_.user, options_.password,
      options_.connectionsPerLoop, options_.name, /*isFast=*/true, "utf8mb4",
      std::chrono::duration<double>(options_.timeout).count()});
}

Task<SqlResult> DrogonMySql::exec(std::string_view statement, SqlArgs args) {
  return execOn(drogon::app().getFastDbClient(options_.name), statement, std::move(args));
}

Task<> DrogonMySql::inTransaction(Body body) {
  std::shared_ptr<orm::Transaction> transaction;
  try {
    transaction = co_await drogon::app().getFastDbClient(options_.name)->newTransactionCoro();
  } catch (const orm::DrogonDbException& error) {
    throw PoolExhausted("mysql", std::string("no connection in time: ") + error.base().what());
  }
  std::exception_ptr failure;
  std::string notCommitted;
  try {
    TransactionSql sql(transaction);
    co_await body(sql);
  } catch (const BackendTimeout& timeout) {
    notCommitted = timeout.what();
    failure = std::current_exception();
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    transaction->rollback();  // else its destructor would commit
    if (!notCommitted.empty())
      throw BackendDown("mysql", notCommitted + "; the transaction was not committed");
    std::rethrow_exception(failure);
  }
  co_await commit(std::move(transaction));
}

// The destructor of Drogon's transaction queues the commit; its callback tells when it is done. The
// callback stays away if the server does, hence the deadline.
Task<> DrogonMySql::commit(std::shared_ptr<orm::Transaction> transaction) {
  struct Ending {
    std::shared_ptr<Wakeup> wakeup = std::make_shared<Wakeup>();
    std::atomic<bool> committed{false};
  };
  const auto ending = std::make_shared<Ending>();
  transaction->setCommitCallback([ending](bool ok) {
    ending->committed = ok;
    ending->wakeup->wake();
  });
  transaction.reset();
  co_await ending->wakeup->wait(options_.timeout);
  if (!ending->committed) throw BackendTimeout("mysql", "the commit was not acknowledged");
}

}  // namespace turnstile
