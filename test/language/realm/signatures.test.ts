// Signatures of a realm: what may be written, which bytes a secret stands for, and what documents learn of them.

import { describe, expect, it } from '@jest/globals'
import type { RealmRecord, SignatureRecord } from '../../../language/realm/record.ts'
import {
  partsOf,
  PRESETS,
  secretBytes,
  signatureFactsOf,
  signatureFormOf,
} from '../../../language/realm/signatures.ts'
import { validateRealm } from '../../../language/validate-realm.ts'

const faultsOf = (signature: object): readonly string[] => {
  const result = validateRealm({ uri: 'com.acme', signatures: { partner: signature } })
  return result.ok
    ? []
    : result.problems.map(({ code, path }) => `${code} ${path.replace('/signatures/partner', '')}`)
}

const OWN = { secrets: ['s'], header: 'x-signature', signs: '{body}' }
const TIMED = { ...OWN, timestamp: 'x-time', signs: '{timestamp}.{body}' }
const WITH_ID = { ...TIMED, id: 'x-id' }

describe('a signature', () => {
  it.each<[object]>([
    [{ secrets: ['whsec_c2VjcmV0'] }],
    [{ secrets: ['plain text', 'another'] }],
    [{ preset: 'github', secrets: ['whsec_is text here'] }],
    [{ preset: 'stripe', secrets: ['s'], max_age_secs: 60 }],
    [{ preset: 'crossbar', secrets: ['s'] }],
    [OWN],
    [{ ...OWN, prefix: 'sha512=', algorithm: 'sha512', encoding: 'base64' }],
    [{ ...TIMED, max_age_secs: 86_400 }],
    [{ ...TIMED, signs: 'v0:{timestamp}:{body}' }],
    [{ ...WITH_ID, signs: '{id}.{timestamp}.{body}' }],
  ])('may be %j', (signature) => {
    expect(faultsOf(signature)).toEqual([])
  })

  it.each<[object, readonly string[]]>([
    [{}, ['missing_required_value /secrets']],
    [{ secrets: [] }, ['invalid_value /secrets']],
    [{ secrets: [''] }, ['invalid_value /secrets/0']],
    [{ secrets: ['s\n'] }, ['invalid_value /secrets/0']],
    [{ secrets: ['1', '2', '3', '4', '5'] }, ['invalid_value /secrets']],
    [{ secrets: ['whsec_'] }, ['invalid_value /secrets/0']],
    [{ secrets: ['fine', 'whsec_not base64'] }, ['invalid_value /secrets/1']],
    [{ secrets: ['s'], preset: 'gitlab' }, ['invalid_value /preset']],
    [{ secrets: ['s'], tolerance: 3 }, ['invalid_value /tolerance']],
    [{ secrets: ['s'], max_age_secs: 0 }, ['invalid_value /max_age_secs']],
    [{ secrets: ['s'], preset: 'github', max_age_secs: 9 }, ['invalid_value /max_age_secs']],
    [{ ...OWN, max_age_secs: 9 }, ['invalid_value /max_age_secs']],
    [{ ...OWN, preset: 'github' }, ['invalid_value /header', 'invalid_value /signs']],
    [{ secrets: ['s'], header: 'x-signature' }, ['missing_required_value /signs']],
    [{ secrets: ['s'], signs: '{body}' }, ['missing_required_value /header']],
    [{ ...OWN, header: 'Authorization' }, ['invalid_value /header']],
    [{ ...OWN, header: 'x_signature' }, ['invalid_value /header']],
    [{ ...TIMED, timestamp: 'X-Signature' }, ['invalid_value /timestamp']],
    [{ ...OWN, algorithm: 'sha1' }, ['invalid_value /algorithm']],
    // What a request says of its time and id is signed.
    [{ ...TIMED, signs: '{body}' }, ['invalid_value /signs']],
    [{ ...WITH_ID, signs: '{timestamp}.{body}' }, ['invalid_value /signs']],
    [{ ...OWN, signs: '{timestamp}.{body}' }, ['invalid_value /signs']],
    [{ ...OWN, signs: '{body}{body}' }, ['invalid_value /signs']],
    [{ ...OWN, signs: '{path}{body}' }, ['invalid_value /signs']],
    [{ ...OWN, signs: '{body}.' }, ['invalid_value /signs']],
    // The beginning of the body could be taken for the end of the time.
    [{ ...TIMED, signs: '{timestamp}{body}' }, ['invalid_value /signs']],
    [{ ...TIMED, signs: '{timestamp}0{body}' }, ['invalid_value /signs']],
    [{ ...WITH_ID, signs: '{id}{timestamp}.{body}' }, ['invalid_value /signs']],
  ])('may not be %j', (signature, faults) => {
    expect(faultsOf(signature)).toEqual(faults)
  })

  it('never stands in a message with its secret', () => {
    const signatures = { partner: { secrets: ['whsec_tell nobody'], preset: 'standard' } }
    expect(JSON.stringify(validateRealm({ uri: 'a.b', signatures }))).not.toContain('tell')
  })
})

it.each<[string, 'text' | 'whsec', string]>([
  ['whsec_c2VjcmV0', 'whsec', 'secret'],
  ['whsec_c2VjcmV0', 'text', 'whsec_c2VjcmV0'],
  ['Größe', 'whsec', 'Größe'],
  ['WHSEC_c2VjcmV0', 'whsec', 'WHSEC_c2VjcmV0'],
  // An empty key would be everybody's.
  ['whsec_', 'whsec', 'whsec_'],
])('the secret %s as %s stands for %s', (secret, kind, bytes) => {
  expect(Buffer.from(secretBytes(secret, kind)).toString()).toBe(bytes)
})

it.each<[SignatureRecord, object]>([
  [{ secrets: ['s'] }, PRESETS.standard],
  [{ secrets: ['s'], preset: 'stripe' }, PRESETS.stripe],
  [
    { secrets: ['s'], header: 'X-Signature', signs: '{timestamp}:{body}', timestamp: 'X-Time' },
    {
      signature: 'x-signature',
      encoding: 'hex',
      fields: { timestamp: { name: 'x-time', form: 'seconds' } },
      secret: 'text',
    },
  ],
])('%j has its form', (record, form) => {
  expect(signatureFormOf(record)).toMatchObject(form)
})

it('a text is read as what it is put together from', () => {
  expect(partsOf('v0:{timestamp}.{Body}{body}')).toEqual([
    { text: 'v0:' },
    { field: 'timestamp' },
    { text: '.{Body}' },
    { field: 'body' },
  ])
})

it('documents learn whether a delivery is taken once', () => {
  const signatures: RealmRecord['signatures'] = Object.fromEntries([
    ['hub', { preset: 'github', secrets: ['s'] }],
    ['__proto__', { secrets: ['s'] }],
  ])
  const facts = signatureFactsOf({ uri: 'com.acme', signatures })
  expect(Object.entries(facts)).toEqual([
    ['hub', { hasTimestamp: false }],
    ['__proto__', { hasTimestamp: true }],
  ])
})
