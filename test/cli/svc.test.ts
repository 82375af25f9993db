// Tests how `svc` finds commands, and that each explains itself on one screen.

import { describe, expect, it } from '@jest/globals'
import { createHash } from 'node:crypto'
import { parseJson } from '../../base/parse-json.ts'
import { COMMANDS, type CommandName } from '../../cli/commands.ts'
import { svc } from './run-svc.ts'

const NAMES = Object.keys(COMMANDS) as CommandName[]
const SCREEN_LINES = 30
const SCREEN_COLUMNS = 100

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n')

describe('the overview', () => {
  it.each([[['--help']], [['-h']], [['help']]])('is printed for %j', async (argv) => {
    const { code, stdout, stderr } = await svc(argv)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(linesOf(stdout).length).toBeLessThanOrEqual(SCREEN_LINES)
    for (const name of NAMES) expect(stdout).toContain(`\n  ${name} `)
  })

  it('goes to stderr with exit code 2 where no command is named', async () => {
    const { code, stdout, stderr } = await svc([])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('Usage: svc COMMAND')
  })
})

describe('a command', () => {
  it.each(NAMES)('%s explains itself on one screen, with an example', async (name) => {
    const { code, stdout } = await svc([name, '--help'])
    expect(code).toBe(0)
    expect(linesOf(stdout).length).toBeLessThanOrEqual(SCREEN_LINES)
    expect(Math.max(...linesOf(stdout).map((line) => line.length))).toBeLessThanOrEqual(
      SCREEN_COLUMNS,
    )
    expect(stdout).toContain(`Usage: svc ${name}`)
    expect(stdout).toMatch(/Examples:\n {2}\S/)
    expect(await svc(['help', name])).toEqual({ code, stdout, stderr: '' })
  })

  it.each([
    ['validte', "svc: there is no command 'validte'; did you mean 'validate'?\n"],
    ['constructor', "svc: there is no command 'constructor'; see svc --help\n"],
    ['__proto__', "svc: there is no command '__proto__'; see svc --help\n"],
  ])('that is called %s does not exist', async (word, stderr) => {
    expect(await svc([word])).toEqual({ code: 2, stdout: '', stderr })
  })

  it.each(NAMES)('%s refuses a setting that it does not have', async (name) => {
    const { code, stderr } = await svc([name, '--no-such-setting'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^svc [a-z-]+: --no-such-setting: unknown setting/)
  })
})

describe('-o', () => {
  const outputs = Object.entries(COMMANDS).map(async ([name, { load }]) => {
    const { output } = (await load()).table.settings
    return [name, output?.type === 'enum' ? output.values.join(' ') : undefined] as const
  })

  it('is how every command with more than one form of its result is given the form', async () => {
    expect(Object.fromEntries(await Promise.all(outputs))).toEqual({
      ...Object.fromEntries(NAMES.map((name) => [name, undefined])),
      validate: 'text json github sarif junit',
      test: 'text json junit',
      key: 'text json yaml',
      routes: 'text json',
      explain: 'text json',
      why: 'text json',
      diff: 'text json github',
      openapi: 'json yaml',
      apply: 'text json',
      serve: 'text json',
      status: 'text json',
    })
  })

  it('names the forms that there are where it is given another one', async () => {
    for (const [name, values] of await Promise.all(outputs)) {
      if (values === undefined) continue
      const list = values.replaceAll(' ', ', ')
      expect(await svc([name, '-o', 'xml'])).toEqual({
        code: 2,
        stdout: '',
        stderr: `svc ${name}: --output: 'xml' is not valid; expected one of ${list}\n`,
      })
    }
  })
})

it.each([['version'], ['--version'], ['-v']])('%s says which build this is', async (word) => {
  const { code, stdout } = await svc([word])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^svc \d+\.\d+\.\d+ \(.+\), Node \d+\.\d+\.\d+\n$/)
})

it.each([
  [
    ['explain', 'https://a.test/x', 'apis'],
    'name the method before the URL of the request, such as GET https://a.test/x',
  ],
  [
    ['explain', 'GET'],
    'name the method and the URL of the request, such as GET https://api.acme.com/users',
  ],
  [['explain', 'GET', 'https://a.test/x'], 'name files or directories'],
  [['explain', 'GET', '/x', 'http://gateway.test:1'], "'http://gateway.test:1': http is for"],
  [['key'], 'svc key new'],
  [['key', 'new', 'old'], 'svc key new'],
  [['routes'], 'name files or directories'],
  [['routes', 'a.yaml', 'http://127.0.0.1:1'], 'name either files or one management address'],
  [['routes', 'http://me:pw@gateway.test:1'], "'http://…@gateway.test:1'"],
  [['import'], 'name the management address of one gateway'],
  [['import', 'http://10.0.0.1:18081'], 'http is for loopback only'],
])('%j says what is missing', async (argv, words) => {
  const { code, stderr } = await svc(argv)
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
})

it('explain shows the flag for headers in its help', async () => {
  expect((await svc(['explain', '--help'])).stdout).toContain("\n  -H 'NAME: VALUE' ")
})

it('hashes a password from stdin, and refuses none', async () => {
  const { code, stdout } = await svc(['hash-password'], { stdin: 'wonderland\n' })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^\$scrypt\$/)
  expect(await svc(['hash-password'])).toMatchObject({ code: 2, stdout: '' })
})

it('makes an API key, which stands nowhere where its hash is kept', async () => {
  const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex')
  const made = parseJson((await svc(['key', 'new', '-o', 'json'])).stdout) as { key: string }
  expect(made).toEqual({ key: made.key, keySha256: sha256(made.key) })
  const { stdout, stderr } = await svc(['key', 'new', '-o', 'yaml'])
  const [key = ''] = /svcgw_\w{49}/.exec(stderr) ?? []
  expect(stdout).toBe(`keySha256: ${sha256(key)}\n`)
  const [, shown = '', hashed] =
    /^key {8}(svcgw_\w+)\nkeySha256 {2}(\w+)\n$/.exec((await svc(['key', 'new'])).stdout) ?? []
  expect(hashed).toBe(sha256(shown))
  expect(shown).not.toBe(key)
})
