// What the pages of security say: its manifests are good, its Security Objects compile, its commands make keys that the
// gateway takes, and no reason of the audit log and no metric is left out.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { parseKeyRing } from '../../language/realm/key-ring.ts'
import { validateSigningKeys } from '../../dataplane/security/tokens/key-signing.ts'
import { readManifest } from '../../operator/manifests/read-manifest.ts'
import { compile } from '../../language/compile.ts'
import { validateRealm } from '../../language/validate-realm.ts'
import { guideOf, textOf } from '../support/pages.ts'

const ROOT = join(import.meta.dirname, '../..')
const GUIDE = guideOf('security')

const blocks = [...GUIDE.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text)
const startingWith = (word: string) => blocks.filter((text) => text.startsWith(word))

describe('manifests', () => {
  it.each(startingWith('apiVersion: '))('are Realms without a fault: %#', (text) => {
    const read = readManifest(text, 'security.md')
    expect(read).toMatchObject({
      notes: [],
      problems: [],
      entries: [{ position: { line: 1 } }],
    })
    const resource = read.entries[0]?.resource
    expect(resource).toMatchObject({ kind: 'Realm', checked: { spec: {} } })
  })
})

const providers = startingWith('issuer: ').map((text) => parse(text) as Record<string, string>)

describe('entries of providers', () => {
  it.each(providers)('are good: $issuer', (entry) => {
    const snake = Object.entries(entry).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ])
    const whole = {
      client_id: 'gateway',
      client_secret: 'x',
      redirect_uri: 'https://api.acme.test/cb',
      ...(Object.fromEntries(snake) as object),
    }
    const realm = { uri: 'com.acme', info: { oidc_providers: { corp: whole } } }
    expect(validateRealm(realm)).toMatchObject({ ok: true })
  })

  it('are there for all that are promised', () => {
    expect(providers).toHaveLength(15)
  })
})

describe('Security Objects', () => {
  const objects = startingWith('security:').map(
    (text) => (parse(text) as { security: object }).security,
  )

  it.each(objects.map((security) => [JSON.stringify(security), security] as const))(
    '%s compiles',
    (_text, security) => {
      const document = {
        id: 'guide',
        host: '_',
        realm_uri: 'com.acme',
        defaults: { security },
        versions: { v1: { base_path: '/x', paths: { '/y': { get: { action: STATIC } } } } },
      }
      const facts = { authmethods: ['oidcrp', 'cookie'], oidcProviders: ['corp'] }
      const compilation = compile(document, { realm: () => facts })
      expect(compilation).toMatchObject({ compiled: { id: 'guide' }, warnings: [] })
    },
  )

  const STATIC = { type: 'static', body: '' }
})

describe('keys', () => {
  it('of signing are made by openssl', () => {
    const line = /\$ openssl (genpkey .*) -out \S+$/m.exec(GUIDE)?.[1] ?? ''
    const made = spawnSync('openssl', line.split(' '), { encoding: 'utf8' })
    if (made.error !== undefined) {
      process.stderr.write('skipped: there is no openssl to make a key with\n')
      return
    }
    expect(validateSigningKeys({ uri: 'com.acme', signing_keys: [made.stdout] })).toEqual([])
  })

  it('of logins are made by node', () => {
    const script = /\$ node -p '(.*)' >/.exec(GUIDE)?.[1] ?? ''
    const made = spawnSync(execPath, ['-p', script], { encoding: 'utf8', env: {} })
    expect(parseKeyRing(made.stdout).keys).toHaveLength(1)
  })
})

/** The texts of a union in a source file. */
const wordsOf = (path: string, type: string): readonly string[] => {
  const source = readFileSync(join(ROOT, path), 'utf8')
  const union = new RegExp(`export type ${type} =\\n((?:  \\| .+\\n)+)`).exec(source)?.[1] ?? ''
  return [...union.matchAll(/^ {2}\| (?:'(\w+)'|(\w+))/gm)].flatMap(([, word, other = '']) =>
    word === undefined ? wordsOf('dataplane/gateway-error.ts', other) : [word],
  )
}

describe('the table of reasons', () => {
  it.each([
    ['`authentication`', 'dataplane/security/schemes/authenticator.ts', 'FailureReason'],
    ['`login`', 'dataplane/oidc/oidc-endpoint.ts', 'OidcErrorCode'],
    ['`token`, `revocation` of `oauth2`', 'dataplane/oauth2/oauth-error.ts', 'RejectionReason'],
  ])('names every one of %s', (event, path, type) => {
    const row = GUIDE.split('\n').find((line) => line.startsWith(`| ${event} | \``)) ?? ''
    const cell = row.slice(`| ${event} `.length)
    const told = [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word)
    expect(told.length).toBeGreaterThan(5)
    expect([...new Set(told)].sort()).toEqual([...new Set(wordsOf(path, type))].sort())
  })
})

describe('metrics', () => {
  it('are all in docs/operations/observability.md', () => {
    const names = /name: '(svc_\w+)'/g
    const source = ['dataplane/metrics.ts', 'operator/metrics.ts', 'operator/metrics-kubernetes.ts']
      .map((path) => readFileSync(join(ROOT, path), 'utf8'))
      .join('\n')
    expect(source).toMatch(/svc_gateway_.*svc_operator_/s)
    const page = textOf('docs/operations/observability.md')
    const missing = [...source.matchAll(names)]
      .map(([, name = '']) => name)
      .filter((name) => !page.includes(`\`${name}\``))
    expect(missing).toEqual([])
  })
})
