import { describe, expect, it } from '@jest/globals'
import { hashPassword } from '../../../../dataplane/security/passwords/hash-password.ts'
import {
  DUMMY_HASH,
  matchesHash,
  validatePasswordHashes,
  readPasswordHash,
} from '../../../../dataplane/security/passwords/password-hash.ts'
import { quickHash } from '../phc.ts'

const H32 = 'A'.repeat(43)

describe('readPasswordHash', () => {
  it.each([
    ['ours', `$scrypt$ln=14,r=8,p=1$c2FsdA$${H32}`],
    ['stronger', `$scrypt$ln=16,r=8,p=1$c2FsdA$${H32}`],
    ['with lanes', `$scrypt$ln=15,r=8,p=3$c2FsdA$${H32}`],
    ['with a longer hash', `$scrypt$ln=14,r=8,p=1$c2FsdA$${'A'.repeat(85)}`],
  ])('reads %s', (_, text) => {
    expect(readPasswordHash(text)).toBeDefined()
  })

  it.each([
    ['128 MiB', `$scrypt$ln=17,r=8,p=1$c2FsdA$${H32}`],
    ['64 MiB by blocks', `$scrypt$ln=14,r=64,p=1$c2FsdA$${H32}`],
    ['99 everywhere', `$scrypt$ln=99,r=99,p=99$c2FsdA$${H32}`],
    ['16 lanes of 64 MiB', `$scrypt$ln=16,r=8,p=16$c2FsdA$${H32}`],
    ['no rounds', `$scrypt$ln=0,r=8,p=1$c2FsdA$${H32}`],
    ['no blocks', `$scrypt$ln=14,r=0,p=1$c2FsdA$${H32}`],
    ['no lanes', `$scrypt$ln=14,r=8,p=0$c2FsdA$${H32}`],
    ['more rounds than blocks allow', `$scrypt$ln=16,r=1,p=1$c2FsdA$${H32}`],
    ['a hash that chance meets', '$scrypt$ln=14,r=8,p=1$c2FsdA$AAAA'],
    ['a hash too long', `$scrypt$ln=14,r=8,p=1$c2FsdA$${'A'.repeat(256)}`],
    ['another function', `$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$${H32}`],
    ['a password', 'wonderland'],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(readPasswordHash(text)).toBeUndefined()
  })
})

describe('matchesHash', () => {
  it('takes the password that was hashed and no other', async () => {
    const hash = readPasswordHash(await hashPassword('wonderland'))
    if (hash === undefined) throw new Error('not read')
    expect(await matchesHash('wonderland', hash)).toBe(true)
    for (const wrong of ['Wonderland', 'wonderland ', '', 'wonderlan'])
      expect(await matchesHash(wrong, hash)).toBe(false)
  })

  it('accepts no password for an unknown user', async () => {
    for (const password of ['', 'a', '\u0000'.repeat(32)])
      expect(await matchesHash(password, DUMMY_HASH)).toBe(false)
  })
})

describe('validatePasswordHashes', () => {
  it('reports hashes that no login could match', () => {
    const users = [
      { username: 'a', password_hash: quickHash('a') },
      { username: 'b' },
      { username: 'c', password_hash: `$scrypt$ln=20,r=8,p=1$c2FsdA$${H32}` },
    ]
    expect(validatePasswordHashes({ uri: 'a.b', users })).toEqual([
      {
        code: 'invalid_value',
        path: '/users/2/password_hash',
        message: expect.stringContaining('64 MiB'),
      },
    ])
    expect(validatePasswordHashes({ uri: 'a.b' })).toEqual([])
  })
})
