import { beforeEach, describe, expect, it } from '@jest/globals'
import { readAuthorization } from '../../../../dataplane/security/schemes/authorization-header.ts'
import { readBasic } from '../../../../dataplane/security/schemes/basic.ts'
import { quickHash } from '../phc.ts'
import { headersOf, REALM, type SecurityHome, securityHome, statusOf } from '../security-home.ts'

const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64')
const bytes = (...values: readonly number[]): string => Buffer.from(values).toString('base64')

describe('readAuthorization', () => {
  it.each<[readonly string[], unknown]>([
    [[], undefined],
    [['X-Authorization', 'Basic x'], undefined],
    [['Authorization', 'Basic YTpi'], { scheme: 'basic', credentials: 'YTpi' }],
    [['AUTHORIZATION', 'bAsIc   YTpi '], { scheme: 'basic', credentials: 'YTpi' }],
    [['authorization', 'Basic'], { scheme: 'basic', credentials: '' }],
    [['authorization', ''], { scheme: '', credentials: '' }],
    [['authorization', 'Basic\tYTpi'], { scheme: 'basic\tytpi', credentials: '' }],
    [['Authorization', 'Basic a', 'authorization', 'Basic b'], { scheme: '', credentials: '' }],
    [['Authorization', 'Basic a', 'authorization', ''], { scheme: '', credentials: '' }],
  ])('%j', (raw, expected) => {
    expect(readAuthorization(raw)).toEqual(expected)
  })
})

describe('readBasic', () => {
  it.each([
    ['alice:wonderland', 'alice', 'wonderland'],
    ['alice:pass:with:colons', 'alice', 'pass:with:colons'],
    ['alice:', 'alice', ''],
    ['élise:pässwörd €', 'élise', 'pässwörd €'],
    ['a b:c d', 'a b', 'c d'],
    ['__proto__:x', '__proto__', 'x'],
  ])('%s', (text, username, password) => {
    expect(readBasic(encode(text))).toEqual({ username, password })
  })

  it.each([
    ['nothing', ''],
    ['no base64', '!!!'],
    ['no colon', 'YWxpY2U='],
    ['no name', encode(':password')],
    ['no padding', encode('alice:wonderland').replaceAll('=', '')],
    ['more padding', `${encode('alice:wonderland')}=`],
    ['two of them', `${encode('alice:x')} ${encode('bob:y')}`],
    ['a list', `${encode('alice:x')}, ${encode('bob:y')}`],
    ['base64url', 'YTpj_-8='],
    ['bits behind the text', 'YTpiZR=='],
    ['no UTF-8', bytes(0x61, 0x3a, 0xff)],
    ['a surrogate', bytes(0x61, 0x3a, 0xed, 0xa0, 0x80)],
    ['an overlong character', bytes(0x61, 0x3a, 0xc0, 0xaf)],
    ['a zero in the name', encode('ali\u0000ce:x')],
    ['a zero in the password', encode('alice:x\u0000')],
    ['a line more', encode('alice:x\r\n')],
    ['a control character', encode('alice\u007f:x')],
    ['4 kB', encode(`alice:${'x'.repeat(4096)}`)],
  ])('refuses %s', (_, credentials) => {
    expect(readBasic(credentials)).toBeUndefined()
  })
})

describe('the basic scheme', () => {
  let home: SecurityHome

  beforeEach(() => {
    home = securityHome({
      realms: [
        {
          uri: REALM,
          users: [
            {
              username: 'alice',
              password_hash: quickHash('wonderland'),
              groups: ['staff', 'admins'],
              meta: { dept: 'hats', locale: 'es' },
            },
            { username: 'bob', password_hash: quickHash('pass:with:colons') },
          ],
        },
        { uri: 'com.example.other', users: [{ username: 'bob', password_hash: quickHash('b') }] },
      ],
    })
  })

  const ask = (authorization: string | undefined, realm = REALM) =>
    home.call(
      { type: 'basic' },
      authorization === undefined ? [] : [['Authorization', authorization]],
      { realm },
    )

  it('knows a user', async () => {
    for (let round = 0; round < 2; round++)
      expect(await ask(`Basic ${encode('alice:wonderland')}`)).toMatchObject({
        kind: 'identity',
        identity: {
          type: 'basic',
          realm_uri: REALM,
          authid: 'alice',
          username: 'alice',
          authmethod: 'password',
          authroles: ['staff', 'admins'],
          groups: ['staff', 'admins'],
          client_id: '',
          session: '',
          scope: [],
          locale: 'es',
          meta: { dept: 'hats', locale: 'es' },
        },
      })
    expect(home.audited).toEqual([])
  })

  it('keeps realms apart that share their users', async () => {
    const users = home.realms.get(REALM)?.users ?? []
    home.realms.set('com.example.other', { uri: 'com.example.other', users })
    for (const realm of [REALM, 'com.example.other', REALM]) {
      const verdict = await ask(`Basic ${encode('bob:pass:with:colons')}`, realm)
      expect(verdict).toMatchObject({ identity: { realm_uri: realm } })
    }
  })

  it.each<[string, string | undefined, string | undefined]>([
    ['nothing', undefined, undefined],
    ['nothing behind the scheme', 'Basic', 'malformed_credentials'],
    ['another scheme', `Bearer ${encode('alice:wonderland')}`, undefined],
    ['no base64', 'Basic !!!', 'malformed_credentials'],
    ['no colon', 'Basic YWxpY2U=', 'malformed_credentials'],
    ['a wrong password', `Basic ${encode('alice:Wonderland')}`, 'wrong_password'],
    ['an empty password', `Basic ${encode('alice:')}`, 'wrong_password'],
    ['an unknown user', `Basic ${encode('nobody:wonderland')}`, 'unknown_user'],
    [
      'two users',
      `Basic ${encode('alice:wonderland')}, Basic ${encode('bob:x')}`,
      'malformed_credentials',
    ],
  ])('refuses %s', async (_, authorization, reason) => {
    const verdict = await ask(authorization)
    expect(statusOf(verdict)).toBe(401)
    expect(headersOf(verdict)).toEqual({
      'www-authenticate': `Basic realm="${REALM}", charset="UTF-8"`,
    })
    expect(home.audited.map((event) => event.reason)).toEqual(reason === undefined ? [] : [reason])
    expect(JSON.stringify(home.audited)).not.toMatch(/wonderland|YWxp/i)
  })

  it('says the same of a wrong password and an unknown user', async () => {
    const [one, other] = [
      await ask(`Basic ${encode('alice:x')}`),
      await ask(`Basic ${encode('x:x')}`),
    ]
    expect(one).toEqual(other)
  })

  it.each([
    ['an unknown user', 'hunter2', 1, 'unknown_user'],
    ['an unknown user, too often', 'hunter2', 101, 'too_many_failures'],
    ['a user', 'alice', 1, 'wrong_password'],
    ['a user, too often', 'alice', 101, 'too_many_failures'],
  ])('reports %s by name only if it is one', async (_, name, times, reason) => {
    for (let time = 0; time < times; time++) await ask(`Basic ${encode(`${name}:x${time}`)}`)
    const event = home.audited.find((each) => each.reason === reason)
    expect(event?.reason).toBe(reason)
    expect(event?.authid).toBe(name === 'alice' ? name : undefined)
    expect(JSON.stringify(home.audited)).not.toContain('hunter2')
  })

  it('reports no unknown user of those for whom there was no room', async () => {
    const names = Array.from({ length: 80 }, (__, index) => `hunter${index}`)
    await Promise.all([...names, 'alice'].map((name) => ask(`Basic ${encode(`${name}:x`)}`)))
    expect(home.audited.map(({ reason }) => reason)).toContain('overloaded')
    expect(JSON.stringify(home.audited)).not.toContain('hunter')
  })

  it('refuses two headers', async () => {
    const right = `Basic ${encode('alice:wonderland')}`
    const twice = [
      ['Authorization', right],
      ['authorization', right],
    ] as const
    expect(statusOf(await home.call({ type: 'basic' }, twice))).toBe(401)
  })

  it('throttles no client behind a trusted proxy that names none', async () => {
    const guess = (password: string) =>
      home.call({ type: 'basic' }, [['Authorization', `Basic ${encode(`alice:${password}`)}`]], {
        isAddressKnown: false,
      })
    for (let time = 0; time < 40; time++) expect(statusOf(await guess(`x${time}`))).toBe(401)
    expect(statusOf(await guess('wonderland'))).toBe(200)
  })

  it('answers 429 to who fails too often, 503 when too many ask', async () => {
    for (let time = 0; time < 30; time++) await ask(`Basic ${encode(`alice:${time}`)}`)
    const damped = await ask(`Basic ${encode('alice:x')}`)
    expect([statusOf(damped), headersOf(damped)]).toEqual([429, { 'retry-after': '1' }])
    expect(statusOf(await ask(`Basic ${encode('alice:y')}`))).toBe(429)
    const unverified = await ask(`Basic ${encode('alice:wonderland')}`)
    expect([statusOf(unverified), headersOf(unverified)]).toEqual([429, { 'retry-after': '1' }])
    home.clock.advance(1000)
    expect(statusOf(await ask(`Basic ${encode('alice:wonderland')}`))).toBe(200)
    const flood = Array.from({ length: 80 }, (_, index) => ask(`Basic ${encode(`bob${index}:x`)}`))
    const overloaded = (await Promise.all(flood)).filter((each) => statusOf(each) === 503)
    expect(overloaded).toHaveLength(14)
    expect(overloaded.map((each) => headersOf(each)['retry-after'])).toContain('1')
  })
})
