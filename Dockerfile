# One image for every service of docker-compose.yml: the same Debian packages as the local stack, so there is one set of
# versions to reason about. Build: docker compose build
FROM debian:12 AS build
WORKDIR /src
COPY scripts/lib.sh scripts/drogon.sh scripts/setup scripts/
RUN TURNSTILE_CACHE=/opt/turnstile scripts/setup
COPY . .
RUN TURNSTILE_CACHE=/opt/turnstile scripts/build --without-tests

FROM debian:12
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        redis-server mariadb-server-core mariadb-client nginx etcd-server libzookeeper-java default-jre-headless curl \
        libjsoncpp25 libhiredis0.14 libmariadb3 libssl3 libuuid1 zlib1g libzookeeper-mt2 libjemalloc2 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --home-dir /data --create-home turnstile
COPY --from=build /src/build/turnstile-server /usr/local/bin/
COPY --from=build /src/app/config.json /etc/turnstile/config.json
COPY --from=build /src/scripts /opt/turnstile/scripts
COPY --from=build /src/nginx /opt/turnstile/nginx
COPY --from=build /src/sql /opt/turnstile/sql
# Nothing here needs root; /data is the one place that is written to, and a volume for the services that keep something.
USER turnstile
WORKDIR /data
