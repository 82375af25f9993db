// What a real gateway holds, as manifests: they say the same, pass `validate`, and a second gateway that gets them
// answers alike. No secret is in them.

import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { redacted, secretPointers } from '../../../language/realm/redact.ts'
import { type OperatorSettings, readOperatorSettings } from '../../../operator/config.ts'
import { documentManifest } from '../../../cli/import/document-manifest.ts'
import { manifestText } from '../../../cli/import/manifest-text.ts'
import { realmManifest } from '../../../cli/import/realm-manifest.ts'
import { resourceNames, secretKeys } from '../../../cli/import/resource-names.ts'
import { operate } from '../../../operator/operate.ts'
import { parseYaml } from '../../../operator/manifests/parse-yaml.ts'
import { writeYaml } from '../../../operator/manifests/write-yaml.ts'
import { realmRecord } from '../../../operator/resource/realm-record.ts'
import { checkRealmSpec } from '../../../operator/resource/realm-spec-schema.ts'
import type { RealmSpec } from '../../../operator/resource/resource.ts'
import { validateFiles } from '../../../cli/validate/validate-files.ts'
import { digestOf } from '../../../language/wire/digest.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { StateView } from '../../../language/wire/wire.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { type GatewayProcess, startGateway } from '../../support/gateway-process.ts'
import { programEnvironment } from '../../support/program-environment.ts'
import { HIDDEN, realmWithEverything } from '../../support/realm-with-everything.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { aSpecification } from '../../support/resources.ts'
import { svc, type SvcRun } from '../run-svc.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** As people run it. */
const importByProgram = (...argv: readonly string[]): Promise<SvcRun> =>
  new Promise((resolve) => {
    const program = [join(ROOT, 'cli/main.ts'), 'import', ...argv]
    const options = { env: programEnvironment(), timeout: 60_000 }
    execFile(process.execPath, program, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
    })
  })

const settingsOf = (...argv: readonly string[]): OperatorSettings => {
  const parsed = readOperatorSettings(argv, {})
  if (parsed.kind === 'settings') return parsed.settings
  throw new Error(parsed.kind === 'error' ? parsed.message : parsed.kind)
}

const importFrom = (url: string, ...flags: readonly string[]): Promise<SvcRun> =>
  svc(['import', url, ...flags])

/** As `--once`: whether all is Ready in the end. */
const bring = async (manifests: string, gateway: GatewayProcess): Promise<boolean> => {
  const at = ['--data-planes', gateway.management, '--status', 'off']
  const operator = await operate({
    settings: { ...settingsOf('--manifests', manifests, ...at), manifests },
    log: createSilentLog(),
    output: { isTerminal: false, clear: () => undefined, write: () => true },
    onOpen: () => undefined,
  })
  const { resources, notes } = await operator.settled
  await operator.stop()
  const areReady = [...resources.values()].every(({ conditions }) =>
    conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
  )
  return areReady && !notes.some(({ severity }) => severity === 'error')
}

const post = async (gateway: GatewayProcess, path: string, body: unknown): Promise<void> => {
  const response = await fetch(`${gateway.management}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 204)
    throw new Error(`${path}: ${response.status} ${await response.text()}`)
}

const read = async (gateway: GatewayProcess, path: string): Promise<unknown> =>
  (await fetch(`${gateway.management}${path}`)).json()

const stateOf = async (gateway: GatewayProcess): Promise<StateView> =>
  (await read(gateway, '/api_specs?view=state')) as StateView

/** What stands under a key of the comment, filled in. */
const fillIn = (text: string, values: Readonly<Record<string, string>>): string => {
  const comment = [...text.matchAll(/^# ?(.*)$/gm)].map(([, line = '']) => line).join('\n')
  const yaml = comment.slice(comment.indexOf('apiVersion: v1'))
  return yaml.replaceAll(/^ {2}(\S+): ""$/gm, (line, key: string) =>
    Object.hasOwn(values, key) ? `  ${key}: ${JSON.stringify(values[key])}` : line,
  )
}

const HASH =
  '$scrypt$ln=14,r=8,p=1$TFyn0r5DOc3SbJW+ja7IxA$hGz3JmuyETAUZfFCITUKwqvhsYtZM91En3i6ZgMAjD8'
const KEY_HASH = '3081a6ba404d72c8c3aa7af54b71064310fd2d9e5e7f490262352e13c945c2a8'

describe('names of resources', () => {
  it.each([
    [['com.example.shop'], ['com.example.shop']],
    [
      ['My API', 'a_b', 'x..y', '-a-.-b-'],
      ['my-api', 'a-b', 'x.y', 'a.b'],
    ],
    [
      ['constructor', '__proto__'],
      ['constructor', 'proto'],
    ],
  ])('%j: %j', (ids, names) => {
    expect([...resourceNames(ids).values()]).toEqual(names)
  })

  it('are unique, valid and the same each time', () => {
    const ids = ['shop', 'Shop', 'SHOP', 'ÄÖ', 'ß', 'x'.repeat(400), `${'x'.repeat(400)}y`]
    const names = [...resourceNames(ids).values()]
    expect(new Set(names).size).toBe(ids.length)
    expect(names[0]).toBe('shop')
    for (const name of names) expect(name).toMatch(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/)
    expect([...resourceNames(ids).values()]).toEqual(names)
  })

  it('keys of one Secret', () => {
    expect(secretKeys(['key-a', 'key-a', 'key a/b'])).toEqual(['key-a', 'key-a-2', 'key-a-b'])
  })
})

describe('YAML', () => {
  it.each([
    [{ on: 'yes', no: true, y: 'n', '010': '010', a: '1e3' }],
    [{ time: '12:30:45', date: '2020-01-01', big: '0x1f', under: '1_000', octal: '0o17' }],
    [{ '<<': { a: 1 }, '=': '=', '~': null, '': '', ' ': ' a ' }],
    [{ text: 'a\nb\n', more: '# no comment', dash: '- a', tab: '\t', bell: '\u0007\u2028' }],
    [{ constructor: { __proto__: null }, list: [[], {}, [null]], number: -0.5e-7, int: 1e21 }],
  ])('%j is read as it was', (value: ValueMap) => {
    const parsed = parseYaml(writeYaml(value))
    const [document] = 'documents' in parsed ? parsed.documents : []
    expect(document?.value).toEqual(value)
    expect(document?.warnings).toEqual([])
  })
})

describe('a realm', () => {
  const record = {
    uri: 'com.shop',
    router: {
      urls: ['ws://u:p@127.0.0.1:1/?t=1'],
      auth: { method: 'wampcra', authid: 'g', secret: 's3cret-1' },
    },
    users: [{ username: 'carol', password_hash: HASH, meta: { a_b: 1 } }, { username: 'scanner' }],
    api_keys: [
      { key_sha256: KEY_HASH, username: 'scanner' },
      { key_sha256: KEY_HASH, username: 'scanner' },
    ],
    callback_secret: 's3cret-2',
    info: { oidc_providers: { 'a/b': { issuer: 'https://a', client_secret: 's3cret-3' } } },
    signing_keys: ['s3cret-4'],
  } as never
  const secrets = secretPointers(record)
  const realm = {
    uri: 'com.shop',
    router: { urls: ['ws://127.0.0.1:1/'], auth: { method: 'wampcra', authid: 'g' } },
    users: [{ username: 'carol', meta: { a_b: 1 } }, { username: 'scanner' }],
    api_keys: [{ username: 'scanner' }, { username: 'scanner' }],
    info: { oidc_providers: { 'a/b': { issuer: 'https://a' } } },
  }
  const manifest = realmManifest(
    { uri: 'com.shop', realm, secrets },
    { name: 'com.shop', namespace: 'shop' },
  )
  const ref = (key: string): object => ({ secretRef: { name: 'com.shop-realm', key } })

  it('every secret is a reference, and no other', () => {
    expect(manifest.object['spec']).toEqual({
      uri: 'com.shop',
      router: {
        urls: ['ws://127.0.0.1:1/'],
        auth: { method: 'wampcra', authid: 'g', secret: ref('router-secret') },
      },
      users: [
        { username: 'carol', passwordHash: ref('password-hash-carol'), meta: { a_b: 1 } },
        { username: 'scanner' },
      ],
      apiKeys: [
        { keySha256: ref('key-sha256-scanner'), username: 'scanner' },
        { keySha256: ref('key-sha256-scanner-2'), username: 'scanner' },
      ],
      callbackSecret: ref('callback-secret'),
      info: {
        oidcProviders: { 'a/b': { issuer: 'https://a', clientSecret: ref('client-secret-a-1b') } },
      },
      signingKeys: [ref('signing-key-1')],
    })
    expect(manifest.notes).toEqual(['/spec/router/urls/0: put back its user, password or query'])
  })

  it('every member that the schema has comes through', () => {
    const place = { name: 'all', namespace: 'shop' }
    const { record } = realmWithEverything()
    const read = { uri: 'com.all', realm: redacted(record), secrets: secretPointers(record) }
    const spec = realmManifest(read, place).object['spec'] as RealmSpec
    expect(checkRealmSpec(spec)).toEqual([])
    expect(realmRecord(spec, () => HIDDEN)).toEqual(realmWithEverything('ws://router/').record)
  })

  it('the text has the Secret as a comment, and no secret', () => {
    const text = manifestText('Realm\ncom.shop', manifest)
    expect(text).toContain('# - password-hash-carol: /spec/users/0/passwordHash\n')
    expect(text).toContain('#   password-hash-carol: ""\n')
    expect(text).not.toContain('s3cret')
    expect(text).not.toContain(HASH)
    expect(text.split('\n', 2)).toEqual([
      '# Realm\u{fffd}com.shop',
      '# /spec/router/urls/0: put back its user, password or query',
    ])
  })
})

describe('a document', () => {
  const place = { name: 'large', namespace: null }
  const document = aSpecification('large', { meta: { text: 'x'.repeat(1_200_000) } }) as ValueMap

  it('over 1 MB is gzip in a ConfigMap, and validated alike', () => {
    const manifest = documentManifest({ document, digest: digestOf(document) }, place)
    if (manifest === undefined) throw new Error('none')
    expect(manifest.object['spec']).toEqual({
      documentFrom: { configMap: { name: 'large-document', key: 'document.json.gz' } },
    })
    const { diagnostics } = validateFiles([{ name: 'a', text: manifestText('Large.', manifest) }])
    expect(diagnostics.map(({ severity, code }) => [severity, code])).toEqual([
      ['notice', 'RealmNotFound'],
    ])
  })

  it('variables that came from Secrets come from there again', () => {
    const action = { type: 'static', body: '{{variables.token}} {{variables.own}}' }
    const versions = { v1: { base_path: '/', paths: { '/a': { get: { action } } } } }
    const held = { ...aSpecification('a', { versions }), variables: { own: 1 } } as ValueMap
    const manifest = documentManifest({ document: held, digest: 'of-secrets-too' }, place)
    expect(manifest?.object['spec']).toMatchObject({
      variablesFrom: [{ name: 'token', secretRef: { name: 'large-variables', key: 'token' } }],
    })
  })
})

describe('import', () => {
  it('the examples: read back from one gateway, they make another that is alike', async () => {
    await using dir = await makeTempDir()
    const managed = { flags: ['--managed', 'svc-operator'] }
    const starting = [startGateway(managed), startGateway(managed)] as const
    await using first = await starting[0]
    await using second = await starting[1]
    const [examples, out] = [join(ROOT, 'examples'), join(dir.path, 'out')]
    await bring(examples, first)
    const imported = await importFrom(first.management, '--dir', out)
    expect(imported).toMatchObject({ code: 0, stdout: '' })
    expect(imported.stderr).toContain('kubectl create secret generic com.example-realm')
    expect(imported.stderr).toContain(
      "kubectl annotate namespace NAMESPACE 'gateway.svc.dev/hosts=*'",
    )
    expect(await svc(['validate', out])).toMatchObject({ code: 0 })

    const names = await readdir(out)
    const texts = await Promise.all(names.map((name) => readFile(join(out, name), 'utf8')))

    const values = {
      'callback-secret': 'tell-nobody',
      'client-secret-playground': 'playground-only',
      'password-hash-carol': HASH,
      'password-hash-reports': HASH,
      'key-sha256-scanner': KEY_HASH,
      partner_token: 'open-sesame',
      'signature-hub-1': 'it-signs-for-hub',
      'signature-partner-1': 'it-signs-for-partner',
    }
    expect(texts.join('\n')).not.toMatch(/tell-nobody|playground-only|open-sesame|\$scrypt|3081a6/)
    const secrets = texts.filter((text) => text.includes('# kind: Secret'))
    expect(secrets).toHaveLength(2)
    for (const [i, text] of secrets.entries())
      await writeFile(join(out, `secret-${i}.yaml`), fillIn(text, values))

    const areReady = await bring(out, second)
    const [before, after] = [await stateOf(first), await stateOf(second)]
    expect(Object.keys(before.specs).length).toBeGreaterThan(15)
    expect([Object.keys(after.specs).sort(), areReady]).toEqual([
      Object.keys(before.specs).sort(),
      true,
    ])
    for (const id of Object.keys(before.specs)) {
      const path = `/api_specs/${id}?view=source`
      expect(await read(second, path)).toEqual(await read(first, path))
    }
    const realms = '/realms?view=source'
    expect(await read(second, realms)).toEqual(await read(first, realms))
    for (const path of ['/hello/Ada', '/from-configmap/hello', '/partner/stock', '/nowhere']) {
      const [a, b] = await Promise.all(
        [first, second].map(async (each) => {
          const response = await fetch(`${each.public}${path}`)
          // An error has the id of its request.
          const text = await response.text()
          return [response.status, response.ok ? text : '']
        }),
      )
      expect(b).toEqual(a)
    }
  }, 120_000)

  it('writes to stdout, and over nothing; says what is wrong', async () => {
    await using dir = await makeTempDir()
    await using gateway = await startGateway()
    expect(await importFrom(gateway.management)).toEqual({
      code: 0,
      stdout: '',
      stderr: `${gateway.management} has no documents and no realms\n`,
    })
    await post(gateway, '/realms', { uri: 'com.shop' })
    await post(gateway, '/api_specs', aSpecification('one', { realm_uri: 'com.shop' }))
    const streamed = await importFrom(gateway.management, '--namespace', 'shop')
    expect(streamed.code).toBe(0)
    expect(streamed.stdout.match(/^kind: .*$|^ {2}namespace: .*$/gm)).toEqual([
      'kind: Realm',
      '  namespace: shop',
      'kind: ApiSpecification',
      '  namespace: shop',
    ])
    await mkdir(join(dir.path, 'api-one.yaml'))
    expect(await importFrom(gateway.management, '--dir', dir.path)).toMatchObject({
      code: 2,
      stderr: `svc import: ${dir.path}/api-one.yaml is there already: nothing was written\n`,
    })
    expect(await readdir(dir.path)).toEqual(['api-one.yaml'])
  }, 60_000)

  it('nothing listens: exit 2', async () => {
    const { code, stderr } = await importByProgram('http://127.0.0.1:1')
    expect(code).toBe(2)
    expect(stderr).toMatch(/nothing listens there/)
  })
})

describe('adoption', () => {
  it('what was loaded by hand passes to the operator without a request lost', async () => {
    await using dir = await makeTempDir()
    const [state, out] = [join(dir.path, 'state'), join(dir.path, 'out')]
    const kept = ['--state-dir', state]
    await using before = await startGateway({ flags: kept })
    await post(before, '/realms', { uri: 'com.shop', callback_secret: 'hush' })
    const versions = {
      v1: { base_path: '/v1', paths: { '/a': { get: { action: { type: 'static', body: 'a' } } } } },
    }
    const one = aSpecification('one', { host: '_', realm_uri: 'com.shop', versions })
    await post(before, '/api_specs', one)
    expect((await importByProgram(before.management, '--dir', out)).code).toBe(0)
    const realm = await readFile(join(out, 'realm-com.shop.yaml'), 'utf8')
    await before.stop()

    // As it was, and open to an operator: what was loaded by hand serves on from the snapshot.
    const managed = ['--managed', 'svc-operator', '--allow-unmanaged']
    await using gateway = await startGateway({ flags: [...kept, ...managed] })
    const failures: unknown[] = []
    let [sent, isOver] = [0, false]
    const asking = (async () => {
      while (!isOver) {
        const response = await fetch(`${gateway.public}/v1/a`)
        if ((await response.text()) !== '"a"' || response.status !== 200)
          failures.push(response.status)
        sent += 1
      }
    })()
    expect((await stateOf(gateway)).specs['one']?.managedBy).toBeNull()
    // The Secret is not there: nothing is taken over before it is.
    expect(await bring(out, gateway)).toBe(false)
    expect((await stateOf(gateway)).realms['com.shop']?.managedBy).toBeNull()
    await writeFile(join(out, 'secret.yaml'), fillIn(realm, { 'callback-secret': 'hush' }))
    expect(await bring(out, gateway)).toBe(true)
    isOver = true
    await asking
    const { specs, realms } = await stateOf(gateway)
    expect([specs['one']?.managedBy, realms['com.shop']?.managedBy]).toEqual([
      'svc-operator',
      'svc-operator',
    ])
    expect(specs['one']?.digest).toBe(digestOf(one as ValueMap))
    expect({ failures, many: sent > 10 }).toEqual({ failures: [], many: true })
  }, 120_000)
})
