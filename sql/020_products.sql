-- What the cache scenarios read through Redis (docs/caches.md). Idempotent; accepted by MariaDB 10.11+ and MySQL 8.4+.
CREATE TABLE IF NOT EXISTS products (
  id      VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  name    VARCHAR(120) NOT NULL,
  price   INT NOT NULL,                          -- in cents
  version BIGINT UNSIGNED NOT NULL DEFAULT 1     -- grows by one with each write: what a stale read is told by
) ENGINE = InnoDB;

-- Some goods to look at: p1 to p500. A row that was changed since stays as it is.
INSERT IGNORE INTO products (id, name, price)
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 500)
SELECT CONCAT('p', n), CONCAT('Product ', n), 100 * n FROM numbers;
