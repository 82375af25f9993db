import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { readGatewaySettings } from '../../dataplane/config.ts'
import { isLocal } from '../../telemetry/bound-address.ts'
import { readVersion } from '../../telemetry/version.ts'
import { parseAddress } from '../../telemetry/settings-value.ts'
import { renderSettingsPage } from '../support/settings-page.ts'

const read = (...argv: readonly string[]): ReturnType<typeof readGatewaySettings> =>
  readGatewaySettings(argv, {}, () => '')

describe('readGatewaySettings', () => {
  it('needs nothing on a laptop', () => {
    expect(read()).toMatchObject({
      kind: 'settings',
      settings: {
        public: { port: 18080 },
        management: { host: '127.0.0.1', port: 18081 },
        health: null,
        processes: 1,
        accessLog: 0,
        drainDelaySeconds: 5,
        drainSeconds: 20,
        maxHeaderBytes: 16_384,
      },
    })
  })

  const TLS = ['--management-tls-cert', 'c', '--management-tls-key', 'k']
  const CLIENTS = ['--management-client-ca', 'a', '--management-client-name', 'n']
  it.each<[string, readonly string[]]>([
    ['a token', ['--management', '0.0.0.0:1', '--management-token-file', 't']],
    ['client certificates', ['--management', '0.0.0.0:1', ...TLS, ...CLIENTS]],
    ['a socket', ['--management', 'unix:/run/m.sock']],
    ['IPv6 loopback', ['--management', '[::1]:1']],
    [
      'an operator',
      ['--managed', 'op', '--allow-unmanaged', '--state-dir', 'd', '--ready-from-snapshot', '60'],
    ],
    ['no operator, in so many words', ['--no-allow-unmanaged', '--ready-from-snapshot', '0']],
    ['proxies', ['--trusted-proxies', '10.0.0.0/8,fd00::/8,192.0.2.1']],
    ['balancers', ['--public-proxy-protocol', '10.0.0.0/8,fd00::/8,192.0.2.1']],
    ['as many connections as memory holds', ['--max-connections', 'off']],
    [
      'destinations',
      ['--upstream-deny', '10.0.0.0/8,*.internal', '--upstream-allow', 'api.example.com'],
    ],
    ['an own origin', ['--base-url', 'https://api.example.com:8443/']],
    ['a Redis', ['--redis', 'redis://10.0.0.1']],
    ['a Redis in TLS', ['--redis', 'rediss://app:s%40cret@[::1]:6380/3', '--redis-away', 'accept']],
    ['keys of logins', ['--oidc-state-keys-file', 'k.json', '--oidc-state-seconds', '5m']],
    ['a name', ['--node-name', 'gateway-0@rack/1']],
    ['as many as cores', ['--processes', 'auto']],
  ])('takes %s', (_, argv) => {
    expect(read(...argv).kind).toBe('settings')
  })

  it.each<[readonly string[], string]>([
    [['--management', '0.0.0.0:1'], '--management: not on loopback'],
    [['--management', 'host:1', ...TLS], '--management: not on loopback'],
    // Every client that the CA has ever named would get in.
    [
      ['--management', 'host:1', ...TLS, '--management-client-ca', 'a'],
      '--management: not on loopback',
    ],
    [['--management-tls-cert', 'c'], '--management-tls-cert: needs --management-tls-key'],
    [['--management-client-ca', 'c'], '--management-client-ca: needs --management-tls-cert'],
    [['--management-client-name', 'n'], '--management-client-name: needs --management-client-ca'],
    [['--public-tls', 'a:1'], '--public-tls: needs --tls-cert and --tls-key, or --tls-dir'],
    [['--tls-dir', 'd'], '--tls-dir: needs --public-tls'],
    [['--tls-cert', 'a'], '--tls-cert: needs --public-tls'],
    [['--allow-unmanaged'], '--allow-unmanaged: needs --managed'],
    [
      ['--managed', 'op', '--ready-from-snapshot', '60'],
      '--ready-from-snapshot: needs --state-dir',
    ],
    [['--processes', '0'], '--processes: '],
    [['--processes', '257'], '--processes: '],
    [['--trusted-proxies', '10.0.0.0/33'], '--trusted-proxies: '],
    [['--trusted-proxies', 'fd00::/129'], '--trusted-proxies: '],
    [['--trusted-proxies', '10.0.0.0/8/8'], '--trusted-proxies: '],
    [['--trusted-proxies', 'proxy.example'], '--trusted-proxies: '],
    [['--public-proxy-protocol', '10.0.0.0/33'], '--public-proxy-protocol: '],
    [['--public-proxy-protocol', 'balancer.example'], '--public-proxy-protocol: '],
    [['--upstream-deny', '10.0.0.0/x'], '--upstream-deny: '],
    [['--access-log', '2'], '--access-log: '],
    [['--max-header-bytes', '10'], '--max-header-bytes: '],
    [['--sentinel', 'x'], '--sentinel: unknown setting'],
    [['--redis', 'x'], '--redis: this is not valid; expected redis://'],
    [['--redis', 'http://:hush@a'], '--redis: this is not valid'],
    [['--redis', 'redis://:hush@'], '--redis: this is not valid'],
    [['--redis', 'redis://:hush@a/zero'], '--redis: this is not valid'],
    [['--redis', 'redis://:hush@a/0?x=1'], '--redis: this is not valid'],
    [['--redis-away', 'accept'], '--redis-away: needs --redis'],
    [['--redis', 'redis://a', '--redis-away', 'open'], "--redis-away: 'open' is not valid"],
    [['--base-url', 'api.example.com'], '--base-url: '],
    [['--base-url', '/v1'], '--base-url: '],
    [['--base-url', 'ftp://a'], '--base-url: '],
    [['--base-url', 'https://a/v1'], '--base-url: '],
    [['--base-url', 'https://a/?'], '--base-url: '],
    [['--base-url', 'https://a#'], '--base-url: '],
    [['--base-url', 'https://u:p@a'], '--base-url: '],
    [['--base-url', 'https:\\\\a'], '--base-url: '],
    [['--oidc-state-seconds', '5'], '--oidc-state-seconds: '],
    [['--oidc-state-seconds', '2h'], '--oidc-state-seconds: '],
    [['--node-name', 'a b'], '--node-name: '],
    [['--otlp', 'collector:4318'], '--otlp: this is not valid'],
    [['--otlp', 'ftp://a'], '--otlp: this is not valid'],
    [['--otlp', 'http://u:hush@a'], '--otlp: this is not valid'],
    [['--otlp', 'http://a/?token=hush'], '--otlp: this is not valid'],
    [['--otlp', 'http://a/#'], '--otlp: this is not valid'],
    [['--trace-share', '0.1'], '--trace-share: needs --otlp'],
    [['--otlp', 'http://a', '--trace-share', '1.1'], '--trace-share: '],
    [['--otlp', 'http://a', '--trace-share', '-0.1'], '--trace-share: '],
    [['--otlp-headers-file', 'h'], '--otlp-headers-file: needs --otlp'],
    [['--node-name', 'ä'], '--node-name: '],
  ])('refuses %j', (argv, message) => {
    const parsed = read(...argv)
    expect(parsed.kind === 'error' && parsed.message).toContain(message)
    expect(parsed.kind === 'error' && parsed.message).not.toContain('\n')
    expect(parsed.kind === 'error' && parsed.message).not.toContain('hush')
  })

  it.each([
    ['http://collector:4318', 'http://collector:4318/v1/traces'],
    ['https://otlp.example.com/tenant/', 'https://otlp.example.com/tenant/v1/traces'],
    ['http://[::1]:4318/v1/traces', 'http://[::1]:4318/v1/traces'],
  ])('of the collector %s makes %s', (text, otlp) => {
    expect(read('--otlp', text)).toMatchObject({ settings: { otlp, traceShare: 1 } })
    expect(read()).toMatchObject({ settings: { otlp: null, otlpHeadersFile: null } })
  })

  it('of the own origin keeps what an origin is', () => {
    expect(read('--base-url', 'HTTPS://API.example.com:443/')).toMatchObject({
      settings: { baseUrl: 'https://api.example.com' },
    })
    expect(read()).toMatchObject({
      settings: {
        baseUrl: null,
        nodeName: null,
        redis: null,
        redisAway: 'fail-closed',
        oidcStateKeysFile: null,
        oidcStateSeconds: 600,
      },
    })
  })

  it('reads a file', () => {
    const parsed = readGatewaySettings(
      ['--config', join(import.meta.dirname, 'gateway-settings.yaml')],
      {},
    )
    expect(parsed).toMatchObject({
      kind: 'settings',
      settings: {
        public: { port: 8080 },
        trustedProxies: ['10.0.0.0/8', '192.0.2.1'],
        publicProxyProtocol: ['10.1.0.0/16', 'fd00::/8'],
        accessLog: 1,
      },
    })
  })
})

it.each([
  ['127.0.0.1:1', true],
  ['127.9.9.9:1', true],
  ['localhost:1', true],
  ['[::1]:1', true],
  ['unix:/a', true],
  ['0.0.0.0:1', false],
  ['[::]:1', false],
  [':1', false],
  ['127.example.com:1', false],
  ['10.0.0.1:1', false],
])('%s is local: %s', (text, local) => {
  const address = parseAddress(text)
  expect(address && isLocal(address)).toBe(local)
})

it('docs/settings.md is what the tables say (make golden writes it again), with who needs each', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/settings.md'), 'utf8')
  expect(page).toBe(renderSettingsPage())
  expect(page.split('\n').filter((line) => /^\| `--.*\|\s*\|$/.test(line))).toEqual([])
})

describe('readVersion', () => {
  it('finds the package from a folder within it', () => {
    expect(readVersion(join(import.meta.dirname, '../../dataplane/http'))).toMatch(/^\d+\.\d+\.\d+/)
    expect(readVersion()).toBe(readVersion(import.meta.dirname))
  })

  it('is unknown outside', () => {
    expect(readVersion('/')).toBe('unknown')
  })
})
