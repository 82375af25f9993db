import { describe, expect, it } from '@jest/globals'
import { validateCredentials } from '../../../../dataplane/security/passwords/validate-credentials.ts'
import { quickHash } from '../phc.ts'

const COSTLY = `$scrypt$ln=20,r=8,p=1$c2FsdA$${'A'.repeat(43)}`

describe('validateCredentials', () => {
  it('reports every fault at once', () => {
    const record = {
      uri: 'a.b',
      signing_keys: ['secret', {}],
      users: [{ username: 'a', password_hash: COSTLY }],
    }
    const problems = validateCredentials(record)
    expect(problems.map(({ path }) => path)).toEqual([
      '/signing_keys/0',
      '/signing_keys/1',
      '/users/0/password_hash',
    ])
    expect(JSON.stringify(problems)).not.toMatch(/secret|c2FsdA/)
  })

  it('has nothing to say of a good record', () => {
    const users = [{ username: 'a', password_hash: quickHash('a') }]
    expect(validateCredentials({ uri: 'a.b', users })).toEqual([])
  })
})
