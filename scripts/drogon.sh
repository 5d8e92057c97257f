# shellcheck shell=bash
# Drogon >= 1.9.13: the distribution's own when new enough, else trantor + drogon built from the source packages of
# Debian's next release. apt fetches them, so their signatures are checked; it does so in a state directory of its own,
# so the machine's package lists stay as they are. Sourced by scripts/setup.

readonly kDrogonMinimum=1.9.13
readonly kDrogonSuite=forky
readonly kRecipe=2  # raise when the build options below change: an older cache is then built anew

new_enough() { dpkg --compare-versions "$1" ge "$kDrogonMinimum"; }

platform() {
  local id=unknown
  # shellcheck source=/dev/null
  id=$(. /etc/os-release && printf '%s%s' "$ID" "${VERSION_ID:-}")
  printf '%s-%s' "$id" "$(dpkg --print-architecture)"
}

# Where Drogon is, or status 1 when it is nowhere yet. Prints nothing else: scripts/build reads it.
drogon_prefix() {
  local packaged stamp
  packaged=$(dpkg-query -W -f='${db:Status-Status} ${Version}' libdrogon-dev 2>/dev/null || true)
  if [[ $packaged == 'installed '* ]] && new_enough "${packaged#installed }"; then printf '/usr\n'; return; fi
  for stamp in "$TURNSTILE_CACHE"/drogon-*-"$(platform)"/.complete; do
    if [[ $(cat "$stamp" 2>/dev/null) == "recipe $kRecipe" ]]; then dirname "$stamp"; return; fi
  done
  return 1
}

install_drogon() {
  local candidate
  candidate=$(apt-cache policy libdrogon-dev 2>/dev/null | sed -n 's/^ *Candidate: //p')
  if [[ $candidate && $candidate != '(none)' ]] && new_enough "$candidate"; then
    install_packages libdrogon-dev
    return
  fi
  mkdir -p "$TURNSTILE_CACHE"
  (
    # Two runs at once: the second waits, then finds the work done.
    flock --nonblock 9 || { say "==> waiting for another run that builds Drogon (at most 20 minutes)"
      flock --timeout 1200 9 || die "another run has held $TURNSTILE_CACHE/drogon.lock for 20 minutes; end it and retry"; }
    drogon_prefix >/dev/null || build_drogon
  ) 9>"$TURNSTILE_CACHE/drogon.lock"
}

# The machine's own Debian archive, as apt itself understands its sources (either file format): never a host of ours,
# neither the security archive nor a third party's.
archive_uris() {
  # shellcheck disable=SC2016  # apt's own notation
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' \
    'Component: main' 2>/dev/null | sort -u
}

# apt with its own lists, cache and sources. Only signature checks are shared with the system: the Debian keyring.
private_apt() {  # private_apt <apt-get|apt-cache> <arguments...>
  local tool=$1 state=$TURNSTILE_CACHE/apt
  shift
  local options=(-o "Dir::State=$state/state" -o "Dir::Cache=$state/cache" -o "Dir::Log=$state/log"
    -o "Dir::State::status=/var/lib/dpkg/status" -o "Dir::Etc::sourcelist=$state/sources.list"
    -o "Dir::Etc::sourceparts=$state/none" -o "Acquire::Check-Valid-Until=false" -o "Acquire::Languages=none"
    -o "Acquire::Retries=3")
  # As root apt would download as _apt, which cannot enter a home directory.
  ((EUID != 0)) || options+=(-o APT::Sandbox::User=root)
  "$tool" -q "${options[@]}" "$@"
}

write_private_sources() {
  local state=$TURNSTILE_CACHE/apt keyring=/usr/share/keyrings/debian-archive-keyring.gpg uri uris
  uris=$(archive_uris)
  if [[ -z $uris ]]; then  # a fresh image has no lists at all, and then apt does not know whose archive is whose
    step "apt-get update" "$TURNSTILE_CACHE/logs/apt-update.log" "check the network and /etc/apt" apt_get update
    uris=$(archive_uris)
  fi
  [[ $uris ]] || die "no Debian main archive among this machine's apt sources, so there is nowhere to get Drogon from
  to do: add the Debian main archive to /etc/apt/sources.list.d, or install libdrogon-dev >= $kDrogonMinimum"
  mkdir -p "$state/state/lists/partial" "$state/cache/archives/partial" "$state/log" "$state/none"
  for uri in $uris; do
    printf 'deb-src [signed-by=%s] %s %s main\n' "$keyring" "$uri" "$kDrogonSuite"
  done >"$state/sources.list"
}

source_version() {
  private_apt apt-cache showsrc --only-source "$1" 2>/dev/null | sed -n 's/^Version: //p' | sort -V | tail -n 1
}

fetch_sources() {  # fetch_sources <into>
  local log=$TURNSTILE_CACHE/logs
  write_private_sources
  step "reading the source index of Debian $kDrogonSuite" "$log/source-index.log" \
    "check the network; if a key is missing: apt-get update && apt-get install debian-archive-keyring; then run this again" \
    private_apt apt-get update -o APT::Update::Error-Mode=any
  new_enough "$(source_version drogon)" ||
    die "Debian $kDrogonSuite offers drogon '$(source_version drogon)' here, but >= $kDrogonMinimum is needed
  to do: use a mirror that is up to date (sources: $TURNSTILE_CACHE/apt/sources.list)"
  (cd "$1" && step "fetching the sources of trantor and drogon" "$log/source-fetch.log" "check the network, then run this again" \
    private_apt apt-get source --only-source trantor drogon)
}

# Several sources to a compiler run: little more than half the time. Names that meet in a later version may forbid it: then one by one.
make_quickly() {  # make_quickly <build directory>
  ninja -C "$1" -j "$(nproc)" install && return
  cmake -S "$1/.." -B "$1" -DCMAKE_UNITY_BUILD=OFF && ninja -C "$1" -j "$(nproc)" install
}

# compile <name> <source> <prefix> <cmake options...>
compile() {
  local name=$1 from=$2 prefix=$3 log=$TURNSTILE_CACHE/logs
  local advice="read the log; is the disk full, or memory below 2 GB? then run this again"
  shift 3
  step "configuring $name" "$log/$name-configure.log" "$advice" \
    cmake -S "$from" -B "$from/.build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_CXX_STANDARD=20 -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_UNITY_BUILD=ON "$@"
  step "building $name" "$log/$name-build.log" "$advice" make_quickly "$from/.build"
}

# Built beside its place and renamed into it, so that an interrupted build is never taken for a finished one.
build_drogon() {
  local work version final
  work=$(mktemp -d "$TURNSTILE_CACHE/building.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  fetch_sources "$work"
  version=$(source_version drogon)
  final=$TURNSTILE_CACHE/drogon-${version//[^0-9A-Za-z.+~-]/_}-$(platform)
  # TLS stays in: the connectors need OpenSSL anyhow. What the service never calls stays out.
  compile trantor "$(echo "$work"/trantor-*/)" "$work/prefix" -DTRANTOR_USE_TLS=openssl -DBUILD_C-ARES=OFF -DBUILD_TESTING=OFF \
    -DCMAKE_UNITY_BUILD_BATCH_SIZE=6
  compile drogon "$(echo "$work"/drogon-*/)" "$work/prefix" -DUSE_SUBMODULE=OFF -DBUILD_CTL=OFF -DBUILD_EXAMPLES=OFF \
    -DBUILD_TESTING=OFF -DBUILD_BROTLI=OFF -DBUILD_YAML_CONFIG=OFF -DBUILD_ORM=ON -DBUILD_POSTGRESQL=OFF -DBUILD_MYSQL=ON \
    -DBUILD_SQLITE=OFF -DBUILD_REDIS=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=13
  printf 'recipe %s\n' "$kRecipe" >"$work/prefix/.complete"
  rm -rf "$final"
  mv "$work/prefix" "$final"
  say "    Drogon $version is in $final"
}
