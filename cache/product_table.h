// The products in the database: what every cache here is a copy of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/mysql.h"
#include "app/time.h"

namespace turnstile {

struct Product {
  std::uint64_t version = 0;
  std::string
      json;  // {"id":…,"name":…,"price":…,"version":…}, written by the database, escaped by it
};

class ProductTable {
 public:
  explicit ProductTable(MySql& mysql) : mysql_(mysql) {}

  /// One query that keeps the database busy for `slowPart`, whether the product exists or not.
  /// nullopt: it does not. A read that timed out changed nothing and says BackendDown.
  Task<std::optional<Product>> read(std::string id, Millis slowPart);

  /// Creates or changes it; the version it has now.
  Task<std::uint64_t> write(std::string id, std::string name, int price);

 private:
  MySql& mysql_;
};

}  // namespace turnstile
