# The image of Parley: `docker build -t parley .`; docs/install.md says how to run it.
ARG NODE_IMAGE=docker.io/library/node:22-bookworm-slim

# What npm would publish, made from the sources.
FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY console/package.json console/
# The secret is for a registry of your own: docker build --secret id=npmrc,src=$HOME/.npmrc
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci --no-audit --no-fund
COPY . .
RUN npm pack --silent && mkdir /package && tar -xzf parley-*.tgz -C /package --strip-components=1

# The packages that the service runs with, in the versions of the lockfile.
FROM ${NODE_IMAGE} AS packages
WORKDIR /packages
COPY package.json package-lock.json ./
COPY console/package.json console/
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci --omit=dev --workspaces=false --no-audit --no-fund

FROM ${NODE_IMAGE}
ARG VERSION
LABEL org.opencontainers.image.title="Parley" \
      org.opencontainers.image.description="A self-hosted WhatsApp messaging service" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}"

# The embedded PostgreSQL needs a user that has a name; Kubernetes needs its number. The socket of another one may be mounted.
RUN groupadd --gid 10001 parley \
 && useradd --uid 10001 --gid parley --home-dir /var/lib/parley --shell /usr/sbin/nologin parley \
 && install -d -o parley -g parley -m 0700 /var/lib/parley \
 && install -d /run/postgresql \
 && ln -s /opt/parley/dist/src/main.js /usr/local/bin/parley
COPY --from=packages /packages/node_modules /opt/parley/node_modules
COPY --from=build /package /opt/parley

# The socket of the embedded PostgreSQL is in TMPDIR: nothing is written outside the volume.
ENV NODE_ENV=production \
    PARLEY_HOST=0.0.0.0 \
    PARLEY_PORT=8080 \
    PARLEY_DATA_DIR=/var/lib/parley \
    TMPDIR=/var/lib/parley
USER 10001:10001
WORKDIR /var/lib/parley
VOLUME /var/lib/parley
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "http.get({ host: '127.0.0.1', port: process.env.PARLEY_PORT, path: '/healthz', timeout: 4000 }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('timeout', () => process.exit(1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["parley"]
CMD ["serve"]
