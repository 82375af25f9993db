import { describe, expect, it } from '@jest/globals'
import { SETTINGS as GATEWAY_SETTINGS } from '../../dataplane/config.ts'
import { SETTINGS as OPERATOR_SETTINGS } from '../../operator/config.ts'
import {
  renderCommandHelp,
  renderHelp,
  renderSettingsMarkdown,
} from '../../telemetry/settings-help.ts'
import type { ReasonedTable, SettingsTable } from '../../telemetry/settings-table.ts'
import { parseSettings } from '../../telemetry/settings.ts'

const TABLE = {
  program: 'svc-thing',
  summary: 'does things',
  envPrefix: 'SVC_THING_',
  commands: {
    stop: 'stops',
    judge: 'judges',
  },
  settings: {
    public: { type: 'address', default: '127.0.0.1:80', help: 'where' },
    'public-tls': { type: 'address', default: null, needs: ['cert'], help: 'where, in TLS' },
    cert: { type: 'path', default: null, help: 'PEM | chain' },
    careful: { type: 'boolean', default: false, needs: ['cert'], help: 'takes care' },
    hasty: { type: 'boolean', default: true, help: 'does not' },
    count: { type: 'integer', short: 'c', default: 3, min: 1, max: 9, help: 'how many' },
    share: { type: 'number', default: 0.5, help: 'how much' },
    wait: { type: 'duration', default: 5, max: 3600, help: 'how long' },
    name: { type: 'string', default: null, help: 'who' },
    peers: {
      type: 'list',
      default: ['a'],
      accept: (element: string) => element !== 'bad',
      expected: 'good names',
      help: 'with whom',
    },
    level: { type: 'enum', values: ['low', 'high'], default: 'low', help: 'how loud' },
    processes: {
      type: 'custom',
      default: '1',
      expected: 'a digit or auto',
      parse: (text: string) =>
        text === 'auto' ? 'auto' : /^\d$/.test(text) ? Number(text) : undefined,
      help: 'how wide',
    },
  },
} as const satisfies SettingsTable

/** A program without commands. */
const WITH_OPERANDS = {
  program: 'thing',
  summary: 'takes things',
  envPrefix: 'THING_',
  operands: 'FILE…',
  repeated: { flag: '-H', placeholder: 'TEXT', help: 'what to hear' },
  settings: { count: TABLE.settings.count },
} as const satisfies SettingsTable

const noFile = (path: string): string => {
  throw new Error(`ENOENT: ${path}`)
}

const parse = (
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  readConfigFile: (path: string) => string = noFile,
): ReturnType<typeof parseSettings<typeof TABLE>> => parseSettings(TABLE, argv, env, readConfigFile)

const valuesOf = (...args: Parameters<typeof parse>): Readonly<Record<string, unknown>> => {
  const parsed = parse(...args)
  return parsed.kind === 'settings' ? parsed.settings : { ...parsed }
}

describe('parseSettings', () => {
  it('gives every setting its default, under its camel-case name', () => {
    expect(parse([])).toEqual({
      kind: 'settings',
      command: null,
      operands: [],
      repeated: [],
      given: new Set(),
      settings: {
        public: { kind: 'tcp', host: '127.0.0.1', port: 80 },
        publicTls: null,
        cert: null,
        careful: false,
        hasty: true,
        count: 3,
        share: 0.5,
        wait: 5,
        name: null,
        peers: ['a'],
        level: 'low',
        processes: 1,
      },
    })
  })

  it.each<[string, readonly string[], object]>([
    ['a value that follows', ['--name', 'x'], { name: 'x' }],
    ['a value behind =', ['--name=x=y'], { name: 'x=y' }],
    ['a value that begins with a dash', ['--name', '-x'], { name: '-x' }],
    ['the last of two', ['--name', 'x', '--name', 'y'], { name: 'y' }],
    [
      'a list, repeated and with commas',
      ['--peers', 'a, b', '--peers=c'],
      { peers: ['a', 'b', 'c'] },
    ],
    ['an empty list', ['--peers='], { peers: [] }],
    ['a boolean', ['--careful', '--cert', 'x'], { careful: true }],
    ['a boolean turned off', ['--no-hasty'], { hasty: false }],
    ['a boolean with a value', ['--hasty=off'], { hasty: false }],
    ['off for what is off by default', ['--public-tls', 'off'], { publicTls: null }],
    ['milliseconds', ['--wait', '500ms'], { wait: 0.5 }],
    ['minutes', ['--wait', '1.5m'], { wait: 90 }],
    ['an hour', ['--wait', '1h'], { wait: 3600 }],
    ['a form of its own', ['--processes', 'auto'], { processes: 'auto' }],
    ['IPv6', ['--public', '[::1]:0'], { public: { kind: 'tcp', host: '::1', port: 0 } }],
    ['a socket', ['--public', 'unix:/run/x'], { public: { kind: 'unix', path: '/run/x' } }],
  ])('takes %s', (_, argv, values) => {
    expect(valuesOf(argv)).toMatchObject(values)
  })

  it('prefers flag to variable to file to default', () => {
    const file = (): string => 'name: file\nlevel: high\ncount: 4\npeers: [x, y]\nhasty: false\n'
    const env = { SVC_THING_NAME: 'variable', SVC_THING_COUNT: '5', SVC_THING_CONFIG: 'thing.yaml' }
    expect(valuesOf(['--name', 'flag'], env, file)).toMatchObject({
      name: 'flag',
      count: 5,
      level: 'high',
      peers: ['x', 'y'],
      hasty: false,
    })
  })

  it.each([
    ['an empty file', ''],
    ['a comment', '# nothing'],
  ])('takes %s', (_, text) => {
    expect(valuesOf(['--config', 'f'], {}, () => text)).toMatchObject({ count: 3 })
  })

  it('takes an empty variable as not set, and passes over those of other programs', () => {
    expect(valuesOf([], { SVC_THING_NAME: '', SVC_THINGS: 'x', PATH: '/bin' })).toMatchObject({
      name: null,
    })
  })

  it.each([
    'PORT',
    'SERVICE_HOST',
    'SERVICE_PORT_HTTP',
    'PORT_80_TCP',
    'PORT_80_TCP_ADDR',
    'PUBLIC_PORT',
  ])('passes over what Kubernetes sets for a Service of the same name: %s', (rest) => {
    expect(parse([], { [`SVC_THING_${rest}`]: 'tcp://10.0.0.1:80' }).kind).toBe('settings')
  })

  it.each<[readonly string[], string]>([
    [['stop', '--count', '4'], 'stop'],
    [['-c', '4', 'judge', '-c=5'], 'judge'],
  ])('%j is a command', (argv, command) => {
    expect(parse(argv)).toMatchObject({ kind: 'settings', command, operands: [] })
  })

  it.each<[readonly string[], readonly string[]]>([
    [
      ['--count', '4', 'a.yaml', '-'],
      ['a.yaml', '-'],
    ],
    [
      ['a', '--', '--odd'],
      ['a', '--odd'],
    ],
    [[], []],
  ])('%j has operands', (argv, operands) => {
    expect(parseSettings(WITH_OPERANDS, argv, {}, noFile)).toMatchObject({
      kind: 'settings',
      command: null,
      operands,
    })
  })

  it.each([
    [['--help'], 'help'],
    [['-h', '--version'], 'help'],
    [['--help', 'all'], 'help all'],
    [['-h', 'all', '--version'], 'help all'],
    [['--version'], 'version'],
  ])('%j asks for %s', (argv, kind) => {
    expect(parse(argv)).toMatchObject({ kind })
  })

  it.each<[readonly string[], readonly string[]]>([
    [
      ['-H', 'a, b', 'x', '-H', '--odd'],
      ['a, b', '--odd'],
    ],
    [['-H', ''], ['']],
    [['x'], []],
  ])('%j has the values of the flag that may be repeated, as they are', (argv, repeated) => {
    expect(parseSettings(WITH_OPERANDS, argv, {}, noFile)).toMatchObject({
      kind: 'settings',
      repeated,
    })
  })

  it('a flag that may be repeated needs a value, and is unknown where there is none', () => {
    expect(parseSettings(WITH_OPERANDS, ['-H'], {}, noFile)).toEqual({
      kind: 'error',
      message: '-H: a value must follow',
    })
    expect(parse(['stop', '-H', 'x'])).toEqual({
      kind: 'error',
      message: expect.stringMatching(/-H: unknown setting/),
    })
  })
})

describe('a fault is one line that names its source', () => {
  it.each<[readonly string[], Readonly<Record<string, string>>, string]>([
    [['--nme', 'x'], {}, '--nme: unknown setting; did you mean --name?'],
    [['--public-', 'x'], {}, '--public-: unknown setting; did you mean --public?'],
    [['--nothing-like-it'], {}, '--nothing-like-it: unknown setting; see --help'],
    [['--constructor', 'x'], {}, '--constructor: unknown setting; see --help'],
    [['--__proto__', 'x'], {}, '--__proto__: unknown setting; see --help'],
    [['-n', 'x'], {}, '-n: unknown setting; see --help'],
    [['--no-name'], {}, '--no-name: unknown setting; see --help'],
    [['--name'], {}, '--name: a value must follow'],
    [['--name', '--count'], {}, '--name: a value must follow'],
    [['--name='], {}, "--name: '' is not valid; expected a text that is not empty"],
    [['--count', '10'], {}, "--count: '10' is not valid; expected a whole number from 1 to 9"],
    [['--count', '1.5'], {}, "--count: '1.5' is not valid; expected a whole number from 1 to 9"],
    [['--share', 'x'], {}, "--share: 'x' is not valid; expected a number of at least 0"],
    [
      ['--wait', '2h'],
      {},
      "--wait: '2h' is not valid; expected seconds from 0 to 3600, or a duration such as 500ms, 10s, 5m or 1h",
    ],
    [['--hasty=maybe'], {}, "--hasty: 'maybe' is not valid; expected true or false"],
    [['--level', 'loud'], {}, "--level: 'loud' is not valid; expected one of low, high"],
    [['--peers', 'a,bad'], {}, "--peers: 'a,bad' is not valid; expected good names"],
    [['--processes', 'x'], {}, "--processes: 'x' is not valid; expected a digit or auto"],
    [
      ['--public', '1.2.3.4'],
      {},
      "--public: '1.2.3.4' is not valid; expected host:port, [::1]:port, :port (every address) or unix:/path",
    ],
    [
      ['--public', 'off'],
      {},
      "--public: 'off' is not valid; expected host:port, [::1]:port, :port (every address) or unix:/path",
    ],
    [['--cert='], {}, "--cert: '' is not valid; expected a path"],
    [['--public-tls', 'a:1'], {}, '--public-tls: needs --cert too'],
    [['--careful'], {}, '--careful: needs --cert too'],
    [['dance'], {}, 'dance: unexpected argument; see --help'],
    [['constructor'], {}, 'constructor: unexpected argument; see --help'],
    [['stop', 'now'], {}, 'now: stop takes no argument'],
    [['-x', '1'], {}, '-x: unknown setting; see --help'],
    [['-c', '12'], {}, "--count: '12' is not valid; expected a whole number from 1 to 9"],
    [
      [],
      { SVC_THING_COUNT: 'x' },
      "SVC_THING_COUNT: 'x' is not valid; expected a whole number from 1 to 9",
    ],
    [[], { SVC_THING_COUNTS: '1' }, 'SVC_THING_COUNTS: unknown setting; did you mean --count?'],
    [[], { SVC_THING_CONFIG: '/no' }, 'SVC_THING_CONFIG: cannot read the file: ENOENT: /no'],
    [['--config', '/no'], {}, '--config: cannot read the file: ENOENT: /no'],
  ])('%j %j', (argv, env, message) => {
    expect(parse(argv, env)).toEqual({ kind: 'error', message })
  })

  it.each([
    ['count: 12', "f: count: '12' is not valid; expected a whole number from 1 to 9"],
    ['coutn: 1', 'f: coutn: unknown setting; did you mean --count?'],
    ['config: other', 'f: config: cannot be set in a file'],
    ['name: {a: 1}', 'f: name: expected a text, number, boolean or list'],
    ['name:', 'f: name: expected a text, number, boolean or list'],
    ['peers: [[a]]', 'f: peers: expected a text, number, boolean or list'],
    ['- a', 'f: expected a map of settings'],
    ['just text', 'f: expected a map of settings'],
    ['a: &x 1\nb: *x', '--config: cannot read the file: Alias resolution is disabled'],
  ])('file %j', (text, message) => {
    expect(valuesOf(['--config', 'f'], {}, () => text)).toEqual({ kind: 'error', message })
  })

  it('YAML that is none', () => {
    const { message } = valuesOf(['--config', 'f'], {}, () => 'a: [1\nb: 2')
    expect(message).toMatch(/^f: [^\n]+$/)
  })

  it('cuts a huge value', () => {
    const { message } = valuesOf(['--level', 'x'.repeat(10_000)])
    expect(String(message).length).toBeLessThan(200)
  })
})

describe('what people read', () => {
  it('the help of a command has its flag, its settings and examples', () => {
    const examples = [['thing a.yaml', 'takes it']] as const
    const help = renderCommandHelp({ name: 'thing', ...WITH_OPERANDS, examples })
    expect(help).toContain('Usage: thing FILE… [-H TEXT]… [settings]')
    expect(help).toMatch(/-H TEXT +what to hear/)
    expect(help).toMatch(/-c, --count N +how many \[3\]/)
    expect(help).toContain('\nExamples:\n  thing a.yaml\n      takes it\n')
  })

  it('the help names every flag with its default', () => {
    const help = renderHelp(TABLE, 'help')
    for (const name of Object.keys(TABLE.settings)) expect(help).toContain(name)
    expect(help).toContain('Usage: svc-thing [settings]')
    expect(help).toContain('svc-thing judge [settings]')
    expect(help).toMatch(/--no-hasty +does not\b/)
    expect(help).toMatch(/--wait SECONDS +how long \[5\]/)
    expect(help).toMatch(/--level WORD +how loud \(low, high\) \[low\]/)
    expect(help).toMatch(/--public-tls ADDRESS +where, in TLS\n/)
  })

  it.each<[string, ReasonedTable]>([
    ['svc-gateway', GATEWAY_SETTINGS],
    ['svc-operator', OPERATOR_SETTINGS],
  ])('the help of %s fits on a screen, and that of all settings has the others', (_, table) => {
    const names = Object.keys(table.settings)
    const [help, all] = [renderHelp(table, 'help'), renderHelp(table, 'help all')]
    expect(help.split('\n').length).toBeLessThanOrEqual(50)
    expect(names).toEqual(expect.arrayContaining([...(table.common ?? [])]))
    expect(help).toContain(`print the other ${names.length - (table.common ?? []).length} settings`)
    for (const name of table.common ?? []) expect(help).toContain(`--${name}`)
    for (const name of names) expect(all).toContain(name)
  })

  it('no line of the help is wider than a terminal, and none is cut', () => {
    const long = 'a text of many words that goes on and on, '.repeat(5).trim()
    const settings = {
      'a-setting-with-a-name-that-is-long': { ...TABLE.settings.name, help: long },
    }
    const help = renderHelp({ ...TABLE, settings }, 'help')
    expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(help.replaceAll(/\s+/g, ' ')).toContain(long)
  })

  it('renderSettingsMarkdown is a table that survives a | in a text', () => {
    const page = renderSettingsMarkdown(reasoned(TABLE))
    expect(page).toContain(
      '| `--cert` | `SVC_THING_CERT` | a path |  | PEM \\| chain | those with cert |',
    )
    expect(page).toContain('where, in TLS; needs `--cert`')
    expect(page).toContain('- `svc-thing judge`: judges')
  })

  it('does without commands', () => {
    const { commands, ...bare } = TABLE
    expect(Object.keys(commands)).not.toHaveLength(0)
    expect(renderHelp(bare, 'help')).not.toContain('judge')
    expect(renderSettingsMarkdown(reasoned(bare))).not.toContain('judge')
    expect(parseSettings(bare, ['stop'], {}, noFile).kind).toBe('error')
  })
})

function reasoned(table: SettingsTable): ReasonedTable {
  const settings = Object.entries(table.settings).map(
    ([name, setting]) => [name, { ...setting, reason: `those with ${name}` }] as const,
  )
  return { ...table, settings: Object.fromEntries(settings) }
}
