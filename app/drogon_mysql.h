// MySQL and MariaDB through Drogon's per-loop client. Adds what that client lacks: an awaitable commit;
// errors that tell "not done" from "not known"; a queue for connections in order of arrival (Drogon's own
// lets a statement starve behind transactions); failing at once while the server is known to be away;
// a limit for row-lock waits; TLS.
#pragma once

#include <drogon/IOThreadStorage.h>
#include <drogon/orm/DbClient.h>

#include "app/clock.h"
#include "app/mysql.h"

namespace turnstile {

class DrogonMySql final : public MySql {
 public:
  struct Options {
    std::string name;  // Drogon's name for the pool; errors say "mysql"
    std::string host;
    std::uint16_t port = 3306;
    std::string user;
    std::string password;
    std::string database;
    std::size_t connectionsPerLoop = 4;
    Millis timeout{3000};
    std::chrono::seconds lockWait{1};  // of a statement for a row, then SqlError::lockWaitTimeout
    std::string tlsCa{};  // PEM file: TLS, with the server's certificate and name checked; empty: clear text
  };

  /// Before app().run(), after the number of threads is set.
  DrogonMySql(Options options, Clock& clock);
  ~DrogonMySql() override;

  /// On every I/O loop, once the loops run.
  void start();

  Task<SqlResult> exec(std::string_view statement, SqlArgs args) override;
  Task<> inTransaction(Body body, std::optional<Millis> connectionWithin) override;

 private:
  struct PerLoop;
  class TransactionSql;
  PerLoop& connected();  // throws BackendDown at once when the server is away
  Task<SqlResult> execOn(PerLoop& loop, drogon::orm::DbClientPtr client, std::string_view statement,
                         SqlArgs args);
  Task<std::shared_ptr<drogon::orm::Transaction>> begin(PerLoop& loop);
  Task<> runOrRollBack(PerLoop& loop, std::shared_ptr<drogon::orm::Transaction> transaction, Body body);
  Task<> commit(PerLoop& loop, std::shared_ptr<drogon::orm::Transaction> transaction);
  void stalled(PerLoop& loop);
  Task<> probe(PerLoop& loop);

  Options options_;
  Clock& clock_;
  drogon::IOThreadStorage<std::shared_ptr<PerLoop>> loops_;
};

}  // namespace turnstile
