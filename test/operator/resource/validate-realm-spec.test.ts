// Tests that what stands in Secrets, or many problems of one kind, never hides the other problems of a Realm.

import { describe, expect, it } from '@jest/globals'
import type { RealmSpec } from '../../../operator/resource/resource.ts'
import { realmRecord } from '../../../operator/resource/realm-record.ts'
import {
  validateCompleteRecord,
  validateRealmSpec,
} from '../../../operator/resource/validate-realm-spec.ts'

const secretRef = { secretRef: { name: 'passwords', key: 'a' } }

const usersWith = (count: number, passwordHash: unknown) =>
  Array.from({ length: count }, (_, i) => ({ username: `user-${i}`, passwordHash }))

const specOf = (more: object): RealmSpec => ({ uri: 'com.acme', ...more })

const pathsOf = (spec: RealmSpec): readonly string[] =>
  validateRealmSpec(spec).problems.map(({ path }) => path)

const WRONG = {
  router: { url: 'ftp://router.test' },
  apiKeys: [{ keySha256: 'short', username: 'user-1' }],
  credentials: { billing: { origins: ['nowhere'], bearer: { token: secretRef } } },
}
const WRONG_PATHS = [
  '/spec/router/url',
  '/spec/apiKeys/0/keySha256',
  '/spec/credentials/billing/origins/0',
]

describe('a Realm whose Secrets are not read', () => {
  it.each([0, 1, 999, 1000, 5000])(
    'with %i users that have secretRefs shows every other problem',
    (count) => {
      expect(pathsOf(specOf({ ...WRONG, users: usersWith(count, secretRef) }))).toEqual(WRONG_PATHS)
    },
  )

  it('has no problem where all is well but for the Secrets', () => {
    const provider = { issuer: 'https://a.test', clientId: 'a', redirectUri: 'https://b.test/c' }
    const spec = specOf({
      users: usersWith(1, secretRef),
      apiKeys: [{ keySha256: secretRef, username: 'user-0' }],
      router: {
        url: 'ws://router.test',
        auth: { method: 'ticket', authid: 'a', secret: secretRef },
      },
      callbackSecret: secretRef,
      info: { oidcProviders: { default: { ...provider, clientSecret: secretRef } } },
      signingKeys: [secretRef],
      credentials: {
        token: { origins: ['https://a.test'], bearer: { token: secretRef } },
        certificate: {
          origins: ['https://a.test'],
          certificate: { certificate: secretRef, privateKey: secretRef },
        },
      },
    })
    expect(pathsOf(spec)).toEqual([])
  })
})

describe('a Realm with more problems than are reported', () => {
  const spec = specOf({ ...WRONG, users: usersWith(3000, 'in clear') })

  it('shows 1000, those of every member among them', () => {
    const paths = pathsOf(spec)
    expect(paths).toHaveLength(1000)
    expect(paths).toEqual(expect.arrayContaining(WRONG_PATHS))
    expect(new Set(paths).size).toBe(1000)
  })

  it('shows the same when its Secrets are read', () => {
    const record = realmRecord(spec, () => 'a-token')
    expect(validateCompleteRecord(record).problems).toEqual(validateRealmSpec(spec).problems)
  })
})
