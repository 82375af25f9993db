// Well-known servers on the same work, and what they are compared with: which of them the machine has, and
// what each is to do. In: a port, and for proxies the upstream's. Out: servers that run.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LARGE_BYTES, SMALL_BODY, STATIC_BODY } from './documents.ts'
import { hasPackage, type Machine, type Program } from './machine.ts'
import { caddy, envoy, haproxy, nginx, node } from './peer-commands.ts'
import type { Server, StartServer } from './server-process.ts'

export interface Peer {
  readonly name: string
  /** What it needs: a program of the machine, or a package. Nothing: it is ours. */
  readonly program?: Program
  readonly package?: string
  /** `directory` is its own, and empty. */
  readonly command: (port: number, directory: string) => readonly string[]
}

export interface StartedPeer {
  readonly name: string
  readonly server: Server
}

export interface PeerOptions {
  readonly machine: Machine
  readonly start: StartServer
  /** For their configurations; exists. */
  readonly directory: string
}

/** Those that the machine has, in their order, and a remark on each that it has not. */
export const startPeers = async (
  peers: readonly Peer[],
  { machine, start, directory }: PeerOptions,
): Promise<{ readonly started: readonly StartedPeer[]; readonly remarks: readonly string[] }> => {
  const started: StartedPeer[] = []
  const remarks: string[] = []
  for (const peer of peers) {
    if (!isThere(peer, machine)) {
      remarks.push(`${peer.name} is not installed here and was left out.`)
      continue
    }
    const own = join(directory, peer.name.replaceAll(/\W+/g, '-'))
    mkdirSync(own)
    const server = await start({ command: (port) => peer.command(port, own) })
    started.push({ name: peer.name, server })
  }
  return { started, remarks }
}

const isThere = (peer: Peer, machine: Machine): boolean =>
  (peer.program === undefined || machine.has(peer.program)) &&
  (peer.package === undefined || hasPackage(peer.package))

/** The same JSON at `/v1/static`; the reference first. */
export const staticPeers: readonly Peer[] = [
  { name: 'raw node:http', command: (port) => node('raw.ts', port) },
  { name: 'fastify', package: 'fastify', command: (port) => node('fastify.ts', port) },
  {
    name: 'nginx',
    program: 'nginx',
    command: (port, directory) =>
      nginx(directory, [
        'default_type application/json;',
        `server { listen 127.0.0.1:${port}; location / { return 200 '${STATIC_JSON}'; } }`,
      ]),
  },
  {
    name: 'caddy',
    program: 'caddy',
    command: (port, directory) =>
      caddy(directory, port, [
        'header Content-Type application/json',
        `respond /v1/static \`${STATIC_JSON}\` 200`,
      ]),
  },
]

const STATIC_JSON = JSON.stringify(STATIC_BODY)

/** `/v1/x` goes to `/x` of the upstream, with the client's address in a header; the reference first. */
export const forwardPeers = (upstream: Server): readonly Peer[] => [
  {
    name: 'bare undici dispatch',
    command: (port) => node('bare-forwarder.ts', port, upstream.url),
  },
  {
    name: 'nginx',
    program: 'nginx',
    command: (port, directory) =>
      nginx(directory, [
        `upstream origin { server 127.0.0.1:${upstream.port}; keepalive 200; keepalive_requests 1000000000; }`,
        `server { listen 127.0.0.1:${port}; location /v1/ {`,
        'proxy_pass http://origin/; proxy_http_version 1.1; proxy_set_header Connection "";',
        'proxy_set_header X-Forwarded-For $remote_addr; proxy_max_temp_file_size 0;',
        '} }',
      ]),
  },
  {
    name: 'haproxy',
    program: 'haproxy',
    command: (port, directory) => haproxy(directory, port, upstream.port),
  },
  {
    name: 'caddy',
    program: 'caddy',
    command: (port, directory) =>
      caddy(directory, port, [
        'uri strip_prefix /v1',
        `reverse_proxy 127.0.0.1:${upstream.port} {`,
        'transport http {',
        'keepalive_idle_conns_per_host 200',
        '}',
        '}',
      ]),
  },
  {
    name: 'envoy',
    program: 'envoy',
    command: (port, directory) => envoy(directory, port, upstream.port),
  },
  {
    name: 'http-proxy',
    package: 'http-proxy',
    command: (port) => node('http-proxy.ts', port, upstream.url),
  },
]

/** 200 bytes of JSON at `/small`, 1 MiB at `/large`: nginx where the machine has it. */
export const startUpstream = ({ machine, start, directory }: PeerOptions): Promise<Server> => {
  const own = join(directory, 'upstream')
  mkdirSync(own)
  if (!machine.has('nginx'))
    return start({ core: 'load', command: (port) => node('upstream.ts', port) })
  writeFileSync(join(own, 'large'), Buffer.alloc(LARGE_BYTES, 'x'))
  return start({
    core: 'load',
    command: (port) =>
      nginx(own, [
        'default_type application/json; sendfile on;',
        `server { listen 127.0.0.1:${port}; root ${own};`,
        `location = /small { return 200 '${SMALL_BODY}'; } }`,
      ]),
  })
}
