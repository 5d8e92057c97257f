#include "cache/product_table.h"

#include "app/errors.h"

namespace turnstile {
namespace {

constexpr std::string_view kColumns =
    "SELECT p.version, JSON_OBJECT('id', p.id, 'name', p.name, 'price', p.price, 'version', "
    "p.version) ";
const std::string kPlainRead = std::string(kColumns) + "FROM products p WHERE p.id = ?";

// The sleep comes first and once, not once a row found: a product that is not there costs as much.
const std::string kSlowRead =
    std::string(kColumns) +
    "FROM (SELECT SLEEP(?) AS slept) pause LEFT JOIN products p ON p.id = ? AND pause.slept = 0";

// LAST_INSERT_ID(x) hands the new version back with the reply: no second query, no transaction.
constexpr std::string_view kWrite =
    "INSERT INTO products (id, name, price, version) VALUES (?, ?, ?, LAST_INSERT_ID(1)) "
    "ON DUPLICATE KEY UPDATE name = VALUES(name), price = VALUES(price), "
    "version = LAST_INSERT_ID(version + 1)";

std::string seconds(Millis time) {
  return std::to_string(std::chrono::duration<double>(time).count());
}

}  // namespace

Task<std::optional<Product>> ProductTable::read(std::string id, Millis slowPart) {
  try {
    SqlResult found;
    if (slowPart > Millis{0}) {
      const std::string pause = seconds(slowPart);
      found = co_await mysql_.exec(kSlowRead, {pause, id});
    } else {
      found = co_await mysql_.exec(kPlainRead, {id});
    }
    if (found.rows.empty() || found.rows[0][0].empty()) co_return std::nullopt;
    Product product;
    product.version = std::stoull(found.rows[0][0]);
    product.json = std::move(found.rows[0][1]);
    co_return product;
  } catch (const BackendTimeout& timeout) {
    throw BackendDown(timeout.backend, "no reply to a read");
  }
}

Task<std::uint64_t> ProductTable::write(std::string id, std::string name, int price) {
  const SqlResult written = co_await mysql_.exec(kWrite, {id, name, price});
  co_return written.insertId;
}

}  // namespace turnstile
