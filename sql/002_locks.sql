-- The lock of mysql-unique-index: whose row is in, holds it. Idempotent; accepted by MariaDB 10.11+ and MySQL 8.4+.
-- Times are the database's (UTC_TIMESTAMP), so the clocks of the instances do not matter.
CREATE TABLE IF NOT EXISTS locks (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,  -- grows with every grant: the fence
  name       VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner      VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  holds      INT UNSIGNED NOT NULL DEFAULT 1,  -- how often its owner has entered
  expires_at DATETIME(3) NOT NULL,
  UNIQUE KEY by_name (name),
  KEY by_expiry (expires_at)
) ENGINE = InnoDB;

-- Who waits for which lock, in order of arrival. A waiter renews its row; a dead one's expires.
CREATE TABLE IF NOT EXISTS lock_waiters (
  ticket     BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name       VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner      VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expires_at DATETIME(3) NOT NULL,
  UNIQUE KEY by_owner (name, owner),
  KEY by_expiry (expires_at)
) ENGINE = InnoDB;
