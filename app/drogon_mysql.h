// MySQL and MariaDB through Drogon's per-loop client. Adds an awaitable commit, and errors that tell
// "not done" from "not known".
#pragma once

#include <drogon/orm/DbClient.h>

#include "app/mysql.h"
#include "app/time.h"

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
  };

  /// Before app().run(), after the number of threads is set.
  explicit DrogonMySql(Options options);

  Task<SqlResult> exec(std::string_view statement, SqlArgs args) override;
  Task<> inTransaction(Body body) override;

 private:
  Task<> commit(std::shared_ptr<drogon::orm::Transaction> transaction);
  Options options_;
};

}  // namespace turnstile
