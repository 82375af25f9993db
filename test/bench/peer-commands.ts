// Writes the configuration file of a server for a port and what is to be served, and gives its command line. Each
// serves from one process, without a log.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileOf } from './machine.ts'

/** One of our own, in `servers/`. */
export const node = (file: string, ...args: readonly (string | number)[]): readonly string[] => [
  process.execPath,
  fileURLToPath(new URL(`servers/${file}`, import.meta.url)),
  ...args.map(String),
]

/** @param http lines of its `http` block */
export const nginx = (directory: string, http: readonly string[]): readonly string[] => {
  const file = join(directory, 'nginx.conf')
  const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const lines = [
    'daemon off; master_process off; worker_processes 1;',
    `pid ${directory}/nginx.pid; error_log stderr crit;`,
    'events { worker_connections 4096; }',
    'http { access_log off; keepalive_requests 1000000000;',
    ...scratch.map((name) => `${name}_temp_path ${directory}/${name};`),
    ...http,
    '}',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return ['nginx', '-e', 'stderr', '-p', directory, '-c', file]
}

/** A proxy that takes `/v1` off the path. */
export const haproxy = (
  directory: string,
  port: number,
  upstreamPort: number,
): readonly string[] => {
  const file = join(directory, 'haproxy.cfg')
  const lines = [
    'global',
    '  nbthread 1',
    '  maxconn 4096',
    'defaults',
    '  mode http',
    '  timeout connect 5s',
    '  timeout client 60s',
    '  timeout server 60s',
    '  http-reuse always',
    'frontend clients',
    `  bind 127.0.0.1:${port}`,
    '  option forwardfor',
    String.raw`  http-request replace-path /v1(/.*) \1`,
    '  default_backend origin',
    'backend origin',
    `  server origin 127.0.0.1:${upstreamPort} pool-max-conn 200`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return ['haproxy', '-db', '-q', '-f', file]
}

/** @param site lines of its one site */
export const caddy = (
  directory: string,
  port: number,
  site: readonly string[],
): readonly string[] => {
  const file = join(directory, 'Caddyfile')
  const options = ['{', 'admin off', 'auto_https off', 'log {', 'output discard', '}', '}']
  const lines = [...options, `http://127.0.0.1:${port} {`, ...site, '}']
  writeFileSync(file, `${lines.join('\n')}\n`)
  // It would keep its configuration in the home directory.
  const home = [`XDG_CONFIG_HOME=${directory}`, `XDG_DATA_HOME=${directory}`]
  return ['env', ...home, 'caddy', 'run', '--config', file, '--adapter', 'caddyfile']
}

/** A proxy with one worker that takes `/v1` off the path. */
export const envoy = (directory: string, port: number, upstreamPort: number): readonly string[] => {
  const file = join(directory, 'envoy.json')
  writeFileSync(file, JSON.stringify({ static_resources: envoyResources(port, upstreamPort) }))
  const options = ['--concurrency', '1', '-l', 'error', '--use-dynamic-base-id']
  return [fileOf('envoy'), '-c', file, ...options]
}

const envoyResources = (port: number, upstreamPort: number): object => ({
  listeners: [
    {
      address: loopback(port),
      filter_chains: [
        {
          filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: HTTP }],
        },
      ],
    },
  ],
  clusters: [
    {
      name: 'origin',
      type: 'STATIC',
      connect_timeout: '1s',
      load_assignment: {
        cluster_name: 'origin',
        endpoints: [{ lb_endpoints: [{ endpoint: { address: loopback(upstreamPort) } }] }],
      },
    },
  ],
})

const loopback = (port: number): object => ({
  socket_address: { address: '127.0.0.1', port_value: port },
})

const TYPES = 'type.googleapis.com/envoy.extensions.filters'

const HTTP = {
  '@type': `${TYPES}.network.http_connection_manager.v3.HttpConnectionManager`,
  stat_prefix: 'in',
  generate_request_id: false,
  // The client's address in X-Forwarded-For.
  use_remote_address: true,
  route_config: {
    virtual_hosts: [
      {
        name: 'all',
        domains: ['*'],
        routes: [{ match: { prefix: '/v1/' }, route: { cluster: 'origin', prefix_rewrite: '/' } }],
      },
    ],
  },
  http_filters: [
    {
      name: 'envoy.filters.http.router',
      typed_config: { '@type': `${TYPES}.http.router.v3.Router` },
    },
  ],
}
