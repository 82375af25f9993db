import { describe, expect, it } from '@jest/globals'
import { validateRealmRecord } from '../../../../dataplane/store/change/validate-realm.ts'

const HASH =
  '$scrypt$ln=14,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

describe('validateRealmResource', () => {
  it.each([
    { record: { uri: 'com.acme' }, paths: [] },
    { record: { uri: 'com.acme', users: [{ username: 'a', password_hash: HASH }] }, paths: [] },
    { record: {}, paths: ['/uri'] },
    { record: { uri: 'com.acme', signing_keys: ['no PEM'] }, paths: ['/signing_keys/0'] },
    {
      record: {
        uri: 'com.acme',
        users: [{ username: 'a', password_hash: HASH.replace('ln=14', 'ln=30') }],
      },
      paths: ['/users/0/password_hash'],
    },
  ])('finds $paths', ({ record, paths }) => {
    const validated = validateRealmRecord(record)
    expect(validated.ok ? [] : validated.problems.map(({ path }) => path)).toEqual(paths)
  })
})
