import { describe, expect, it } from '@jest/globals'
import {
  atGateway,
  validateInProcess,
  type DocumentValidation,
} from '../../../../dataplane/store/change/validate-document.ts'
import { factsOf } from '../../../../language/realm/facts.ts'
import type { RealmRecord } from '../../../../language/realm/record.ts'

const RECORD: RealmRecord = {
  uri: 'com.example',
  authmethods: ['oidcrp', 'cookie'],
  users: [{ username: 'reports', groups: ['api_clients'] }],
}
const KEYED: RealmRecord = { ...RECORD, signing_keys: ['a key'] }
const DOCUMENT = {
  id: 'a',
  host: '_',
  realm_uri: 'com.example',
  security: { type: 'oauth2', flow: 'client_credentials' },
  versions: {
    v1: { base_path: '/v1', paths: { '/x': { get: { action: { type: 'static', body: {} } } } } },
  },
}

const validate = validateInProcess()
const ALONE = { hasReplicas: false, hasConnectionsAlone: false }
const validateAlone = atGateway(validate, ALONE)
const validateAmongReplicas = atGateway(validate, { ...ALONE, hasReplicas: true })

const warningsOf = (validation: DocumentValidation): readonly string[] =>
  validation.ok ? validation.warnings.map(({ code }) => code) : ['not ok']

describe('where a document leads', () => {
  const forward = (host: string): object => ({ get: { action: { type: 'forward', host } } })
  const validated = (versions: object, variables: object = {}): readonly string[] => {
    const validation = validate(
      { id: 'a', host: '_', realm_uri: 'com.example', variables, versions },
      { realm: () => factsOf(RECORD) },
    )
    if (!validation.ok) throw new Error(JSON.stringify(validation.problems))
    expect(validation.forwards.realmUri).toBe('com.example')
    return validation.forwards.origins
  }
  const version = (paths: object, more: object = {}): object => ({
    v1: { base_path: '/v1', paths, ...more },
  })

  it.each<[what: string, versions: object, origins: string[]]>([
    ['nowhere', version({ '/x': { get: { action: { type: 'static', body: 1 } } } }), []],
    ['to a host', version({ '/x': forward('orders:8080') }), ['http://orders:8080']],
    [
      'to two, each once',
      version({ '/x': forward('a'), '/y': forward('https://b'), '/z': forward('http://A:80') }),
      ['http://a', 'https://b'],
    ],
    ['to a variable', version({ '/x': forward('{{variables.up}}') }), ['http://stock']],
    ['to where a request says', version({ '/x/:h': forward('{{request.bindings.h}}') }), []],
    [
      'from a version that is not active',
      version({ '/x': forward('a') }, { is_active: false }),
      [],
    ],
  ])('%s', (_, versions, origins) => {
    expect(validated(versions, { up: 'stock' })).toEqual(origins)
  })

  it('is reported for 32 origins', () => {
    const paths = Array.from({ length: 100 }, (_, at) => [`/${at}`, forward(`up-${at}`)] as const)
    expect(validated(version(Object.fromEntries(paths)))).toHaveLength(32)
  })
})

describe('keys that replicas do not share', () => {
  it.each([
    ['one gateway', validateAlone, RECORD, []],
    ['replicas', validateAmongReplicas, RECORD, ['UnsharedKeys']],
    ['replicas of a realm with keys', validateAmongReplicas, KEYED, []],
  ])('%s', (_, validating, record, expected) => {
    expect(warningsOf(validating(DOCUMENT, { realm: () => factsOf(record) }))).toEqual(expected)
  })

  it('a realm that is not there is still none', () => {
    expect(validateAmongReplicas(DOCUMENT, { realm: () => undefined })).toMatchObject({
      ok: false,
      problems: [{ code: 'no_such_realm' }],
    })
  })
})

describe('limits of a document, at a gateway', () => {
  it.each([
    ['without Redis', false, ['CountedPerGateway']],
    ['with Redis', true, []],
  ])('%s', (_, hasReplicas, expected) => {
    const validating = atGateway(validate, { ...ALONE, hasReplicas })
    const defaults = { rate_limits: { calls: { requests: 1, seconds: 1 } } }
    const document = { ...DOCUMENT, defaults, security: {} }
    expect(warningsOf(validating(document, { realm: () => factsOf(RECORD) }))).toEqual(expected)
  })
})

describe('networks of a document, at a gateway', () => {
  const security = [{ type: 'oauth2', flow: 'implicit', networks: ['::1'] }, { networks: ['::1'] }]
  it.each([
    ['that reads addresses of connections alone', true, ['0/networks', '1/networks']],
    ['that trusts a proxy or reads PROXY headers', false, []],
  ])('%s', (_, hasConnectionsAlone, expected) => {
    const validating = atGateway(validate, { ...ALONE, hasConnectionsAlone })
    const validation = validating({ ...DOCUMENT, security }, { realm: () => factsOf(RECORD) })
    expect(validation.ok).toBe(true)
    const places = validation.warnings.flatMap(({ code, path }) =>
      code === 'ConnectionAddress' ? [path] : [],
    )
    expect(places).toEqual(expected.map((place) => `/security/${place}`))
  })
})
