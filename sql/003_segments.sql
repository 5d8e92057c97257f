-- The stock of mysql-segmented: one event in several rows, so that sales do not queue for one. The seats
-- base+1 .. top of a segment are still free. Idempotent; accepted by MariaDB 10.11+ and MySQL 8.4+.
CREATE TABLE IF NOT EXISTS segments (
  event   VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  segment INT NOT NULL,
  base    INT NOT NULL,
  size    INT NOT NULL,
  top     INT NOT NULL,
  PRIMARY KEY (event, segment)
) ENGINE = InnoDB;

-- Its ledger. Apart from `orders`, so that each ledger belongs to one count.
CREATE TABLE IF NOT EXISTS segment_orders LIKE orders;
