# shellcheck shell=bash
# How each service of the stack is started, on which port, and when it counts as ready. All listen on loopback only.
# shellcheck disable=SC2034,SC2153  # the names are scripts/stack's
# Needs RUN, BASE, INSTANCES, STRATEGY, SERVER, APP_ENV and process.sh. Sourced by scripts/stack.

readonly kRedis=(redis-main redis-replica redis-node-1 redis-node-2 redis-node-3 redis-node-4 redis-node-5)
readonly kBackends=("${kRedis[@]}" zookeeper etcd mariadb)
readonly kDatabase=turnstile

# Built with the instances and wanted by them alone: without instances there is none.
issuer() { if ((INSTANCES)); then echo issuer; fi; }
apps() { local i; for ((i = 1; i <= ${1:-$INSTANCES}; i++)); do printf 'app-%s\n' "$i"; done; }

port_of() {
  case $1 in
    nginx) echo "$BASE" ;;
    app-*) echo $((BASE + ${1#app-})) ;;
    redis-main) echo $((BASE + 20)) ;;
    redis-replica) echo $((BASE + 21)) ;;
    redis-node-*) echo $((BASE + 21 + ${1#redis-node-})) ;;
    mariadb) echo $((BASE + 30)) ;;
    zookeeper) echo $((BASE + 31)) ;;
    etcd) echo $((BASE + 32)) ;;
    etcd-peer) echo $((BASE + 33)) ;;
    issuer) echo $((BASE + 40)) ;;
  esac
}

# The file name of the running program, as /proc shows it (redis-server is a link to another name).
program_of() {
  case $1 in
    nginx) echo nginx ;;
    redis-*) echo redis ;;
    mariadb) echo mariadbd ;;
    zookeeper) echo java ;;
    etcd) echo etcd ;;
    app-*) echo turnstile-server ;;
    issuer) echo turnstile-issuer ;;
  esac
}

# For the processes that a sale passes through: one that is woken does not push aside the one that runs, which so ends its
# round first and hands on more at once. With more processes than cores that is a fifth to a third more sales.
readonly kInRounds=(chrt --batch 0)

# The append-only file is on wherever sales are taken, synced each second: what a careful owner of sales data would run.
# A snapshot beside it, or a file rewritten in mid-run, would only disturb the measurement.
start_redis() {
  local service=$1 data=$RUN/data/$1 extra=(--appendonly yes --appendfsync everysec --auto-aof-rewrite-min-size 256mb)
  mkdir -p "$data"
  # The replica asks at once and gets the data through the socket: no wait for more replicas that never come. It keeps no
  # file: restarted, it asks again.
  [[ $service != redis-replica ]] || extra=(--appendonly no --replicaof 127.0.0.1 "$(port_of redis-main)")
  # What is on its way to the replica may gather in the socket: nobody waits for it.
  launch "$service" "${kInRounds[@]}" redis-server --port "$(port_of "$service")" --bind 127.0.0.1 --dir "$data" --daemonize no \
    --save '' --repl-diskless-sync-delay 0 --repl-disable-tcp-nodelay yes --latency-tracking no --maxclients 4000 \
    --tcp-backlog 1024 --loglevel notice --set-proc-title no "${extra[@]}"
}

# As root mariadbd wants to be told that it may be root; a user of its own could not enter a checkout in a home directory.
# The socket's name is relative to the data directory: an absolute one can exceed the kernel's 107 characters.
# The log is synced each second, as Redis's is here: the same promise for both (a killed server loses nothing, a power cut
# at most a second), so the comparison shows strategies and not disks. Every report states it.
start_mariadb() {
  local data=$RUN/data/mariadb
  if [[ ! -d $data ]]; then
    rm -rf "$data.new"
    mariadb-install-db --no-defaults --datadir="$data.new" --user="$(id -un)" --auth-root-authentication-method=socket \
      --auth-root-socket-user="$(id -un)" --skip-test-db --skip-name-resolve >>"$RUN/logs/mariadb.log" 2>&1 9>&- || {
      say "turnstile: mariadb-install-db failed; its log is $RUN/logs/mariadb.log"; return 1; }
    mv "$data.new" "$data"
  fi
  launch mariadb mariadbd --no-defaults --datadir="$data" --user="$(id -un)" --socket=mariadb.sock --pid-file=mariadb.pid \
    --bind-address=127.0.0.1 --port="$(port_of mariadb)" --skip-name-resolve --skip-log-bin --max-connections=500 \
    --thread-cache-size=128 --innodb-flush-log-at-trx-commit=2 --innodb-buffer-pool-size=128M --performance-schema=OFF --log-warnings=1
}

as_database_owner() { (cd "$RUN/data/mariadb" && timeout 30 mariadb --no-defaults --socket=mariadb.sock --connect-timeout=2 "$@"); }

# The schema is written to be applied again and again, so each `up` brings an older data directory up to date.
apply_schema() {
  local password file
  password=$(<"$RUN/mysql.password")
  as_database_owner --batch <<END || return 1
CREATE DATABASE IF NOT EXISTS $kDatabase CHARACTER SET utf8mb4;
CREATE OR REPLACE USER turnstile@'127.0.0.1' IDENTIFIED BY '$password';
GRANT ALL ON $kDatabase.* TO turnstile@'127.0.0.1';
END
  for file in "$TURNSTILE_ROOT"/sql/*.sql; do
    [[ -e $file ]] || continue
    as_database_owner --batch "$kDatabase" <"$file" || { say "turnstile: cannot apply $file"; return 1; }
  done
}

# Ticks of 500 ms allow sessions as short as a lock's holder wants them (1 s; the default would be 4 s).
start_zookeeper() {
  local data=$RUN/data/zookeeper java=/usr/share/java
  mkdir -p "$data"
  cat >"$RUN/zookeeper.cfg" <<END
dataDir=$data
clientPort=$(port_of zookeeper)
clientPortAddress=127.0.0.1
tickTime=500
minSessionTimeout=1000
maxSessionTimeout=60000
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=*
autopurge.purgeInterval=1
END
  launch zookeeper java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true \
    -Dzookeeper.preAllocSize=4096 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -cp "$java/zookeeper.jar:$java/slf4j-simple.jar" org.apache.zookeeper.server.quorum.QuorumPeerMain "$RUN/zookeeper.cfg"
}

start_etcd() {
  local client peer arch=()
  # etcd 3.4 refuses to run on arm64 unless told that this is meant.
  [[ $(uname -m) == x86_64 ]] || arch=(env ETCD_UNSUPPORTED_ARCH="$(dpkg --print-architecture)")
  client=http://127.0.0.1:$(port_of etcd) peer=http://127.0.0.1:$(port_of etcd-peer)
  # Writes are synced: no unsafe option is set.
  launch etcd "${arch[@]}" etcd --name turnstile --data-dir "$RUN/data/etcd" \
    --listen-client-urls "$client" --advertise-client-urls "$client" --listen-peer-urls "$peer" \
    --initial-advertise-peer-urls "$peer" --initial-cluster "turnstile=$peer" --logger zap --log-level warn \
    --auto-compaction-mode revision --auto-compaction-retention 10000
}

# Several --app-env for one name: the last wins, and one for a single instance wins over one for all.
app_environment() {  # app_environment <number>
  local entry
  for entry in "${APP_ENV[@]}"; do [[ $entry =~ ^[0-9]+: ]] || printf '%s\n' "$entry"; done
  for entry in "${APP_ENV[@]}"; do [[ $entry != "$1":* ]] || printf '%s\n' "${entry#*:}"; done
}

start_app() {
  local service=$1 nodes='' node extra config=$TURNSTILE_ROOT/app/config.json
  mkdir -p "$RUN/data/$service"
  for node in 1 2 3 4 5; do nodes+=${nodes:+,}127.0.0.1:$(port_of "redis-node-$node"); done
  mapfile -t extra < <(app_environment "${service#app-}")
  # Values of the environment, so that none of them (a password, a token) shows in the process list.
  (
    trap : INT TERM HUP  # an interrupt waits until the pid is written; the caller hears it then
    unset TURNSTILE_ROOT TURNSTILE_CACHE TURNSTILE_RUN_DIR TURNSTILE_BUILD_DIR TURNSTILE_TEST_BASE_PORT
    export TURNSTILE_LISTEN=127.0.0.1 TURNSTILE_LAB=true TURNSTILE_INSTANCE=$service TURNSTILE_STRATEGY=$STRATEGY \
      TURNSTILE_ZOOKEEPER=127.0.0.1:$((BASE + 31)) TURNSTILE_ETCD=127.0.0.1:$((BASE + 32)) \
      TURNSTILE_PORT=$((BASE + ${service#app-})) TURNSTILE_REDIS_MAIN=127.0.0.1:$((BASE + 20)) \
      TURNSTILE_REDIS_NODES=$nodes TURNSTILE_MYSQL_HOST=127.0.0.1 TURNSTILE_MYSQL_PORT=$((BASE + 30)) \
      TURNSTILE_MYSQL_USER=turnstile TURNSTILE_MYSQL_DATABASE=$kDatabase TURNSTILE_TOKEN_ISSUER=127.0.0.1:$((BASE + 40))
    TURNSTILE_MYSQL_PASSWORD=$(<"$RUN/mysql.password")
    TURNSTILE_ADMIN_TOKEN=$(<"$RUN/admin.token")
    export TURNSTILE_MYSQL_PASSWORD TURNSTILE_ADMIN_TOKEN
    for node in "${extra[@]}"; do export "${node?}"; done
    cd "$RUN/data/$service" || exit  # a core file or a directory that Drogon makes belongs there, not in the checkout
    launch "$service" "${kInRounds[@]}" "$SERVER" --config "$config"
  )
  LAUNCHED+=("$service")  # the subshell's own note of it is lost
}

# Stands for somebody else's service, so it is no backend that readiness depends on.
start_issuer() {
  mkdir -p "$RUN/data/issuer"
  launch issuer env -C "$RUN/data/issuer" "$(dirname "$SERVER")/turnstile-issuer" --port "$(port_of issuer)"
}

# Half the cores: the instances, Redis and the load generator share them. On two cores, one worker sold more than two.
write_nginx_conf() {
  local user=- servers=() app cores
  cores=$(nproc)
  ((EUID != 0)) || user=www-data
  for app in $(apps "$((INSTANCES > 0 ? INSTANCES : 1))"); do servers+=("127.0.0.1:$(port_of "$app")"); done
  mkdir -p "$RUN/data/nginx"
  "$TURNSTILE_ROOT/scripts/nginx-conf" "127.0.0.1:$BASE" "$RUN/data/nginx" "${TURNSTILE_NGINX_WORKERS:-$((cores > 3 ? cores / 2 : 1))}" "$user" \
    "${servers[@]}" >"$RUN/nginx.conf"
}

start_nginx() {
  write_nginx_conf
  launch nginx "${kInRounds[@]}" nginx -p "$RUN/data/nginx" -e stderr -c "$RUN/nginx.conf"
}

start_service() {
  case $1 in
    redis-*) start_redis "$1" ;;
    app-*) start_app "$1" ;;
    *) "start_$1" ;;
  esac
}

# One question to a service, answered within a second or two, else it is not ready. Never blocks on a frozen one.
ready() {
  local port reply
  port=$(port_of "$1")
  case $1 in
    redis-replica) reply=$(timeout 2 redis-cli -p "$port" info replication 2>/dev/null) && [[ $reply == *master_link_status:up* ]] ;;
    redis-*) [[ $(timeout 2 redis-cli -p "$port" ping 2>/dev/null) == PONG ]] ;;
    mariadb) as_database_owner -e 'SELECT 1' >/dev/null 2>&1 ;;
    zookeeper) [[ $( (exec 3<>"/dev/tcp/127.0.0.1/$port" && printf ruok >&3 && timeout 2 cat <&3) 2>/dev/null) == imok ]] ;;
    etcd) [[ $(curl -fsS -m 2 "http://127.0.0.1:$port/health" 2>/dev/null) == *'"health":"true"'* ]] ;;
    app-*) curl -fsS -m 2 -o /dev/null "http://127.0.0.1:$port/healthz" 2>/dev/null ;;
    issuer) curl -fsS -m 2 -o /dev/null "http://127.0.0.1:$port/stats" 2>/dev/null ;;
    nginx) if ((INSTANCES)); then curl -fsS -m 2 -o /dev/null "http://127.0.0.1:$port/ping" 2>/dev/null; else port_open "$port"; fi ;;
  esac
}

# An instance that sees all its backends: what `up` promises. A single `start` asks less, since a test may have ended one.
sees_backends() { curl -fsS -m 2 -o /dev/null "http://127.0.0.1:$(port_of "$1")/readyz" 2>/dev/null; }
