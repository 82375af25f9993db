import { describe, expect, it } from '@jest/globals'
import { grantScopes } from '../../../dataplane/oauth2/scopes.ts'

const OWN = ['staff', 'sales dept', 'a"b', 'é', 'constructor', 'staff']

describe('grantScopes', () => {
  it('stands for all groups, where none are requested; a scope names those that it can', () => {
    expect(grantScopes(OWN, undefined)).toEqual({
      groups: ['staff', 'sales dept', 'a"b', 'é', 'constructor'],
      scopes: ['staff', 'constructor'],
    })
  })

  it.each<[string, readonly string[]]>([
    ['staff', ['staff']],
    ['constructor staff', ['staff', 'constructor']],
    ['staff staff', ['staff']],
  ])('%j asks for %j', (requested, groups) => {
    expect(grantScopes(OWN, requested)).toEqual({ groups, scopes: groups })
  })

  it.each(['other', 'staff other', 'sales dept', 'a"b', 'é', ' staff', 'staff  constructor', ' '])(
    '%j asks for what can not be given',
    (requested) => {
      expect(() => grantScopes(OWN, requested)).toThrow(
        expect.objectContaining({ code: 'invalid_scope', reason: 'scope_not_granted' }),
      )
    },
  )
})
