// Manifests and documents that anybody may write are read and compiled: what is wrong with them comes out, or a document
// that can be packed and that stands for no more routes than it may. Nothing is thrown.

import { readdirSync, readFileSync } from 'node:fs'
import { packDocument } from '../../../dataplane/store/packed/pack.ts'
import { parseYaml } from '../../../operator/manifests/parse-yaml.ts'
import { readManifest } from '../../../operator/manifests/read-manifest.ts'
import { compile } from '../../../language/compile.ts'
import { isMap, type Value } from '../../../language/expression/value.ts'
import type { Problem } from '../../../language/problem.ts'
import type { FuzzTarget } from '../fuzz.ts'
import { mutateBytes, mutateJsonText } from '../mutate.ts'
import { EXPRESSION_TOKENS } from './expressions.ts'

const EXAMPLES = new URL('../../../examples/', import.meta.url)
/** The largest example has 8 kB. */
const MAX_BYTES = 24_000
/** Behaviour §2. */
const MAX_ROUTES = 20_000

const REALM = { authmethods: ['oidcrp', 'cookie'], oidcProviders: ['default'] } as const

const validate = (document: unknown): string => {
  const outcome = compile(document, { realm: () => REALM })
  if ('problems' in outcome) return checkProblems(outcome.problems)
  const { compiled, warnings } = outcome
  checkTexts(warnings)
  let routes = 0
  for (const { paths } of compiled.versions)
    for (const { patterns } of paths) routes += patterns.length * compiled.hosts.length
  if (routes > MAX_ROUTES) throw new Error(`the document compiles to ${routes} routes`)
  packDocument(compiled, { since: 0, rank: 0 })
  return `compiled with ${Math.min(3, warnings.length)} warnings`
}

const checkProblems = (problems: readonly Problem[]): string => {
  if (problems.length === 0) throw new Error('it is refused without a reason')
  checkTexts(problems)
  return [...new Set(problems.map(({ code, message }) => `${code} ${wordsOf(message)}`))]
    .slice(0, 3)
    .join()
}

/** Without what is quoted from the input. */
const wordsOf = (message: string): string =>
  message.replaceAll(/'[^]*'|"[^]*"|\d+/g, '').slice(0, 40)

const checkTexts = (
  diagnostics: readonly { readonly path: string; readonly message: string }[],
): void => {
  for (const { path, message } of diagnostics) {
    if (path !== '' && !path.startsWith('/')) throw new Error(`${path} is no pointer`)
    if (message === '' || message.length > 4096)
      throw new Error(`a message of ${message.length} characters`)
  }
}

const checkDocument = (input: Buffer): string => {
  let document: unknown
  try {
    document = JSON.parse(input.toString())
  } catch {
    return 'no JSON'
  }
  return validate(document)
}

const checkManifest = (input: Buffer): string => {
  const read = readManifest(input.toString(), 'fuzz.yaml')
  const fault = read.problems[0]
  if (fault !== undefined && read.entries.length === 0) return wordsOf(fault.message)
  const outcomes = read.entries.map(({ value, positionOf }) => {
    if (!(positionOf('/spec/document').line >= 1)) throw new Error('an entry stands on no line')
    const spec = isMap(value) ? value['spec'] : undefined
    return isMap(spec) && spec['document'] !== undefined
      ? validate(spec['document'])
      : 'no document'
  })
  return outcomes.slice(0, 2).join()
}

const MANIFESTS = readdirSync(EXAMPLES)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => readFileSync(new URL(name, EXAMPLES)))

/** Comments are the most of an example. */
const withoutComments = (manifest: Buffer): Buffer =>
  Buffer.from(manifest.toString().replaceAll(/^\s*#.*\n/gm, ''))

const documentsOf = (manifest: Buffer): readonly Buffer[] => {
  const parsed = parseYaml(manifest.toString())
  if ('error' in parsed) throw new Error(parsed.error.message)
  return parsed.documents.flatMap(({ value }) => {
    const spec = isMap(value) ? value['spec'] : undefined
    return isMap(spec) && isMap(spec['document'])
      ? [Buffer.from(JSON.stringify(spec['document']))]
      : []
  })
}

const PATHS = [
  '/',
  '/:x',
  '/[a]',
  '/[a]/[b]/[c]/[d]/[e]/[f]',
  '/[a/[b/[c]]]',
  '/[...]',
  '/ws',
  '/a//b',
  '/%',
]
const HOSTS = [
  '_',
  '[www.]a.test',
  '[a.][b.][c.][d.]a.test',
  ':x.a.test',
  '[...].a',
  '[::1]',
  'a..b',
]

const KEYS = [
  'id',
  'host',
  'realm_uri',
  'versions',
  'variables',
  'defaults',
  'status_codes',
  'security',
  'meta',
  'base_path',
  'paths',
  'get',
  'post',
  'put',
  'options',
  'ws',
  'action',
  'response',
  'type',
  'path',
  'body',
  'headers',
  'args',
  'kwargs',
  'procedure',
  'topic',
  'on_result',
  'on_error',
  'status_code',
  'timeout',
  'retries',
  'pool_size',
  'accepts',
  'provides',
  'schemes',
  'languages',
  'events',
  'url',
  'deprecated',
  'v1',
  'hosts',
  'weight',
  ...PATHS,
]

const LEAVES: readonly Value[] = [
  ...PATHS,
  ...HOSTS,
  'forward',
  'static',
  'wamp_call',
  'wamp_subscribe',
  'wamp_publish',
  'basic',
  'oidc',
  'oauth2',
  'http://a:1',
  'a.b.c',
  '{{variables}}',
  '{{variables.a}}{{variables.a}}',
  '{{request.body |> get(a)}}',
  '{{status_codes}}',
  '{{defaults.security}}',
  60_000,
  600,
  { type: 'static', body: '{{request}}' },
  { type: 'oauth2', flow: 'implicit' },
  {
    type: 'forward',
    hosts: [
      { host: 'a', weight: 1 },
      { host: '{{request.id}}', weight: 0 },
    ],
  },
  { host: 'http://b', weight: '{{request.id}}' },
  ['application/json'],
  ...EXPRESSION_TOKENS,
]

export const documents: FuzzTarget = {
  name: 'documents',
  seeds: MANIFESTS.flatMap(documentsOf),
  mutate: (input, random, pool) =>
    mutateJsonText(input, { random, pool, keys: KEYS, leaves: LEAVES, maxBytes: MAX_BYTES }),
  open: () => ({ check: checkDocument }),
}

const YAML_TOKENS = [
  '&a ',
  '*a',
  '<<: *a\n',
  '<<: [*a, *a]\n',
  '!!binary ',
  '!!js/function ',
  '!x ',
  '---\n',
  '...\n',
  '%YAML 1.2\n',
  '\n',
  '\n  ',
  '\t',
  ': ',
  '- ',
  '? ',
  '{',
  '}',
  '[',
  ']',
  ',',
  '|\n',
  '>-\n',
  "'",
  '"',
  '\\x',
  '#',
  '@',
  '`',
  '~',
  'yes',
  '0o17',
  '017',
  '1:30',
  '2026-01-01',
  '.inf',
  '.nan',
  '0x1F',
  '1_000',
  '\xef\xbb\xbf',
  '\0',
  '\x85',
  'kind: List\nitems:\n',
  '__proto__: 1\n',
  'a: &a [*a]\n',
  '[ '.repeat(400),
  '- '.repeat(400),
]

export const manifests: FuzzTarget = {
  name: 'manifests',
  seeds: MANIFESTS.map(withoutComments),
  mutate: (input, random, pool) =>
    mutateBytes(input, { random, pool, tokens: YAML_TOKENS, maxBytes: MAX_BYTES }),
  open: () => ({ check: checkManifest }),
}
