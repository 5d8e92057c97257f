-- The MySQL stock and its ledger. Idempotent; accepted by MariaDB 10.11+ and MySQL 8.4+.
CREATE TABLE IF NOT EXISTS events (
  event     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  size      INT NOT NULL,
  remaining INT NOT NULL,
  version   BIGINT UNSIGNED NOT NULL DEFAULT 0,  -- mysql-optimistic
  fence     BIGINT UNSIGNED NOT NULL DEFAULT 0   -- the youngest seen; older writes are refused
) ENGINE = InnoDB;

-- Every sale, written in the transaction that takes the seat. No unique key on the seat: a seat sold
-- twice must be visible, not prevented.
CREATE TABLE IF NOT EXISTS orders (
  id       BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  event    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  seat     INT NOT NULL,
  fence    BIGINT UNSIGNED NOT NULL,
  strategy VARCHAR(64) CHARACTER SET ascii NOT NULL,
  instance VARCHAR(64) CHARACTER SET ascii NOT NULL,
  buyer    VARCHAR(64) NOT NULL,
  sold_at  TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  KEY by_event (event, id)
) ENGINE = InnoDB;
