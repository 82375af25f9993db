# One image for all programs: svc-gateway (what it starts by itself), svc-operator and svc. Builds with docker, podman
# and buildah (1.28 and newer), so without what only BuildKit understands; `make image` finds one of them.
#
# The last stage starts FROM scratch: node, the few libraries that it is linked to, and what the programs import.
# No shell, no package manager, nothing else to keep free of holes or to be used by someone who got in. glibc (2.34
# and newer) resolves names by itself, Node brings ICU, time zones and the certificate authorities along.

# Any Debian with glibc and Node 24 or newer, with npm. Nothing but node and its libraries get into the image.
ARG BASE=node:24-slim

# ---- what the programs import, and the list of it ----
FROM ${BASE} AS modules
# npm takes the name of the application from its folder.
WORKDIR /build/svc-gateway
COPY package.json package-lock.json ./
# No scripts: `prepare` wants git, and nothing that the programs import has any.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
# What is installed, not what the lock file knows for other systems; without the time and random number that would
# make each build another one.
RUN npm pkg delete devDependencies scripts \
  && npm sbom --sbom-format cyclonedx --omit dev >/build/sbom.json \
  && node -e ' \
    const { readFileSync, writeFileSync } = require("node:fs"); \
    const bom = JSON.parse(readFileSync("/build/sbom.json", "utf8")); \
    delete bom.serialNumber; \
    delete bom.metadata.timestamp; \
    writeFileSync("/build/sbom.json", JSON.stringify(bom, null, 2) + "\n")'
# What no program reads. Licences stay, and each package.json: it says which package of the list stands there.
RUN find node_modules -type d -name .bin -prune -exec rm -rf {} + \
  && rm -rf node_modules/.package-lock.json node_modules/@opentelemetry/*/build/esm \
    node_modules/@opentelemetry/*/build/esnext \
  && find node_modules -type f ! -iname 'licen[cs]e*' ! -iname 'notice*' ! -iname 'copying*' \( \
    -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.flow' -o -name '*.tsbuildinfo' \
    -o -iname '*.md' -o -iname '*.markdown' -o -name '*.html' -o -name '*.yml' -o -name '.*' \
    -o -name '*.c' -o -name '*.cc' -o -name '*.cpp' -o -name '*.h' -o -name '*.gyp' -o -name '*.gypi' \
    -o -name '*.bare' -o -name '*.sh' -o -name '*.zip' \) -delete \
  && find node_modules -mindepth 2 -maxdepth 3 -type d -path '*/node_modules/*' -prune -o \
    -mindepth 2 -maxdepth 3 -type d \( -name test -o -name tests -o -name docs -o -name example -o -name examples \
    -o -name bench -o -name benchmark -o -name benchmarks -o -name .github -o -name prebuilds \) -print0 \
    | xargs -0 rm -rf \
  && find node_modules -type d -empty -delete

# ---- our own code ----
FROM ${BASE} AS programs
WORKDIR /build/svc-gateway
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY base base/
COPY language language/
COPY telemetry telemetry/
COPY compiler compiler/
COPY web web/
COPY dataplane dataplane/
COPY operator operator/
COPY cli cli/
ARG REVISION=unknown
# There is no env in the image, which `#!/usr/bin/env node` would ask for.
RUN npm run build \
  && find dist -name '*.map' -delete \
  && for program in dataplane operator cli; do \
    sed -i '1s|^#!.*|#!/usr/local/bin/node|' dist/$program/main.js && chmod 755 dist/$program/main.js || exit 1; \
  done

# ---- the file system of the image: /image/system changes with the base, /image/modules with the lock file ----
FROM ${BASE} AS assembly
ARG SOURCE_DATE_EPOCH=0
COPY --from=modules /build/ /image/build/
RUN set -eu; mkdir -p /image/system/usr/local/bin /image/system/etc/ssl/certs /image/system/var/lib/dpkg/status.d; \
  cd /image/system; \
  cp "$(readlink -f "$(command -v node)")" usr/local/bin/node; \
  for library in $({ ldd usr/local/bin/node; find /image/build -name '*.node' -exec ldd {} \;; } \
    | grep -o '/[^ ]*\.so[^ ]*' | sort -u); do \
    cp --parents -L "$library" .; \
    dpkg-query -S "$library" "$(readlink -f "$library")" 2>/dev/null | cut -d: -f1; \
  done | sort -u >/tmp/packages; \
  # Scanners find here which Debian packages the libraries are of.
  while read -r package; do dpkg-query -s "$package" >"var/lib/dpkg/status.d/$package"; done </tmp/packages; \
  cp -L /etc/os-release etc/os-release; \
  echo 'hosts: files dns' >etc/nsswitch.conf; \
  printf '%s localhost\n' 127.0.0.1 ::1 >etc/hosts; \
  printf '%s\n' 'root:x:0:0:root:/:/sbin/nologin' 'svc:x:65532:65532:svc-gateway:/nonexistent:/sbin/nologin' >etc/passwd; \
  printf '%s\n' 'root:x:0:' 'svc:x:65532:' >etc/group; \
  # Node has them compiled in; the file is for `NODE_OPTIONS=--use-openssl-ca` or `--use-system-ca`, and to be mounted over.
  node -p 'require("node:tls").rootCertificates.join("\n")' >etc/ssl/certs/ca-certificates.crt; \
  mkdir -p /image/modules/app /image/state/svc-gateway; \
  mv /image/build/svc-gateway/node_modules /image/modules/app/; \
  mv /image/build/sbom.json /image/modules/app/; \
  chmod 700 /image/state/svc-gateway
COPY --from=programs /build/svc-gateway/dist/ /image/programs/app/dist/
COPY package.json LICENSE /image/programs/app/
RUN set -eu; mkdir -p /image/programs/usr/local/bin; \
  ln -s /app/dist/dataplane/main.js /image/programs/usr/local/bin/svc-gateway; \
  ln -s /app/dist/operator/main.js /image/programs/usr/local/bin/svc-operator; \
  ln -s /app/dist/cli/main.js /image/programs/usr/local/bin/svc; \
  chmod -R u=rwX,go=rX /image/system /image/modules /image/programs; \
  find /image -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +

FROM scratch
COPY --from=assembly /image/system/ /
COPY --from=assembly /image/modules/ /
COPY --from=assembly /image/programs/ /
# For a --state-dir in a volume of docker, which takes its owner from here.
COPY --from=assembly --chown=65532:65532 /image/state/ /var/lib/
ENV PATH=/usr/local/bin NODE_ENV=production
USER 65532:65532
EXPOSE 18080 18443
CMD ["svc-gateway"]
ARG VERSION=0.0.0
ARG REVISION=unknown
ARG SOURCE=
LABEL org.opencontainers.image.title="svc-gateway" \
  org.opencontainers.image.description="HTTP API gateway that serves declarative API Specifications, and its operator" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.source="${SOURCE}" \
  org.opencontainers.image.licenses="Apache-2.0"
