// Checks commands that the documentation shows: programs, subcommands, flags, targets, resources, fields and chart
// values exist. What a command does is for the tests that run it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { COMMANDS, isCommandName } from '../../cli/commands.ts'
import { SETTINGS as GATEWAY } from '../../dataplane/config.ts'
import { SETTINGS as OPERATOR } from '../../operator/config.ts'
import { CONDITION_TYPES } from '../../operator/resource/condition.ts'
import { readCommandLine } from '../../telemetry/settings-source.ts'
import type { Words } from './command-lines.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const SVC_TABLES = await Promise.all(
  Object.values(COMMANDS).map(async ({ load }) => (await load()).table),
)

/** Flags of our programs, and of others that the documentation names. */
const FLAGS: ReadonlySet<string> = new Set([
  ...[GATEWAY, OPERATOR, ...SVC_TABLES].flatMap(({ settings }) => Object.keys(settings)),
  ...'config help version'.split(' '),
  // How the pages write a flag of any name.
  ...'flag name'.split(' '),
  // kubectl, helm, npm, docker, oauth2-proxy.
  ...'dry-run force-conflicts recursive server-side timeout'.split(' '),
  ...'create-namespace no-hooks reset-then-reuse-values reuse-values set take-ownership wait'.split(
    ' ',
  ),
  ...'ignore-scripts network'.split(' '),
  ...'allowed-group client-id cookie-secret email-domain oidc-issuer-url pass-access-token provider skip-provider-button'.split(
    ' ',
  ),
])

/** @param flag with its dashes; a family such as `--namespace-max-…` has none */
export const flagFault = (flag: string): string | undefined => {
  const name = flag.replace(/^--(?:no-)?/, '')
  return FLAGS.has(name) || FLAGS.has(flag.slice(2))
    ? undefined
    : `no program has the flag '${flag}'`
}

/** What is wrong with a command; undefined: nothing. */
export const faultOf = async ([program = '', ...argv]: Words): Promise<string | undefined> => {
  if (ELSEWHERE.has(program)) return undefined
  const check = CHECKS[program]
  return check === undefined ? `there is no check for the program '${program}'` : check(argv)
}

/** Programs of every machine that runs these commands, whose flags are not ours to know. */
const ELSEWHERE: ReadonlySet<string> = new Set(
  'base64 cat cd cp curl echo export git grep gunzip gzip head jq kill kustomize ls mkdir mv node openssl pip printf rm sed sha256sum sh sleep sort source tail test true umask unset wait'.split(
    ' ',
  ),
)

type Check = (argv: readonly string[]) => string | undefined | Promise<string | undefined>

const CHECKS: Readonly<Record<string, Check>> = {
  svc: async (argv) => {
    const [name = '', ...rest] = argv
    if (QUESTIONS.has(name)) return undefined
    if (!isCommandName(name)) return `svc has no command '${name}'`
    const { table } = await COMMANDS[name].load()
    const line = readCommandLine(table, rest)
    return line.ok ? undefined : `svc ${name}: ${line.message}`
  },
  'svc-gateway': (argv) => faultOfLine('svc-gateway', GATEWAY, argv),
  'svc-operator': (argv) => faultOfLine('svc-operator', OPERATOR, argv),
  kubectl: (argv) => kubectlFault(argv),
  helm: (argv) => helmFault(argv),
  make: (argv) => {
    const targets = argv.filter((word) => !word.includes('='))
    const missing = targets.find((target) => !TARGETS.has(target))
    return missing === undefined ? undefined : `make has no target '${missing}'`
  },
  npm: (argv) => npmFault(argv),
  npx: (argv) => {
    const at = argv.indexOf('svc')
    return at === -1 ? 'npx does not run svc' : faultOf(argv.slice(at))
  },
  docker: (argv) => containerFault(argv),
  kind: (argv) => {
    const [verb = '', noun = ''] = argv
    return KIND.has(`${verb} ${noun}`) ? undefined : `kind has no '${verb} ${noun}'`
  },
}

const QUESTIONS: ReadonlySet<string> = new Set(['--help', '--version', 'help', '-h'])
const KIND: ReadonlySet<string> = new Set(['create cluster', 'delete cluster', 'load docker-image'])

const faultOfLine = (
  program: string,
  table: typeof GATEWAY | typeof OPERATOR,
  argv: readonly string[],
): string | undefined => {
  const line = readCommandLine(table, argv)
  return line.ok ? undefined : `${program}: ${line.message}`
}

const TARGETS: ReadonlySet<string> = new Set(
  [...read('Makefile').matchAll(/^([a-z-]+):/gm)].map(([, name = '']) => name),
)

const { scripts } = JSON.parse(read('package.json')) as {
  readonly scripts: Readonly<Record<string, string>>
}
const PROGRAM_OF_SCRIPT: Readonly<Record<string, string>> = {
  gateway: 'svc-gateway',
  operator: 'svc-operator',
  svc: 'svc',
}
const NPM_VERBS: ReadonlySet<string> = new Set(['ci', 'install', 'pack', 'start', 'test'])

const npmFault: Check = (argv) => {
  const words = argv.filter((word) => word !== '-s' && word !== '--silent')
  const [verb = '', name = ''] = words
  if (NPM_VERBS.has(verb)) return undefined
  if (verb !== 'run') return `npm has no '${verb}' here`
  if (!Object.hasOwn(scripts, name)) return `npm has no script '${name}'`
  const program = PROGRAM_OF_SCRIPT[name]
  const at = words.indexOf('--')
  return program === undefined || at === -1 ? undefined : faultOf([program, ...words.slice(at + 1)])
}

/** What runs in our image; every other image is its own affair. */
const containerFault: Check = (argv) => {
  const at = argv.findIndex((word) => /^(?:[\w.-]+\/)*svc-gateway:[\w.-]+$/.test(word))
  const command = argv.slice(at + 1)
  if (argv[0] !== 'run' || at === -1) return undefined
  if (command.length === 0) return undefined
  return faultOf(command[0]?.startsWith('-') === true ? ['svc-gateway', ...command] : command)
}

const GLOBAL_FLAGS = 'n namespace A all-namespaces kubeconfig context'
/** Verb → flags that the documentation may use. */
const KUBECTL: Readonly<Record<string, string>> = {
  annotate: 'overwrite',
  apply: 'f filename k server-side force-conflicts dry-run field-manager',
  auth: 'as',
  config: 'current',
  create: 'f dry-run o from-file from-literal clusterrole serviceaccount user labels',
  debug: 'it image target',
  delete: 'f filename all wait ignore-not-found l',
  describe: 'l',
  events: 'for',
  exec: 'it i t c',
  explain: 'recursive',
  get: 'o output w l selector field-selector f',
  label: 'overwrite',
  logs: 'p l f c tail',
  kustomize: '',
  'port-forward': '',
  rollout: 'timeout',
  run: 'rm i it image restart',
  scale: 'replicas',
  wait: 'for timeout l all f',
}

const KINDS: ReadonlySet<string> = new Set(
  'all apispec apispecification apispecifications realm realms svc-gateway certificate clusterrolebinding clusterrole configmap crd deployment endpointslices events hpa lease namespace namespaces ns pdb pod pods replicaset role rolebinding secret secrets service services serviceaccount svc'.split(
    ' ',
  ),
)

const flagsOf = (argv: readonly string[]): readonly string[] =>
  argv.flatMap((word) => /^--?([A-Za-z][\w-]*)/.exec(word)?.[1] ?? [])

const kubectlFault: Check = (argv) => {
  const [verb = '', ...rest] = argv
  const known = KUBECTL[verb]
  if (known === undefined) return `kubectl: no verb '${verb}' is known here`
  const flags = new Set([...GLOBAL_FLAGS.split(' '), ...known.split(' ')])
  const end = rest.includes('--') ? rest.indexOf('--') : rest.length
  const unknown = flagsOf(rest.slice(0, end)).find((flag) => !flags.has(flag))
  if (unknown !== undefined) return `kubectl ${verb}: no flag '${unknown}' is known here`
  return (
    typeFault(verb, rest) ??
    conditionFault(rest) ??
    (verb === 'explain' ? explainFault(rest) : undefined)
  )
}

const VERBS_OF_TYPES: ReadonlySet<string> = new Set([
  'get',
  'delete',
  'describe',
  'annotate',
  'label',
])

const typeFault = (verb: string, [first = '']: readonly string[]): string | undefined => {
  if (!VERBS_OF_TYPES.has(verb) || first === '' || first.startsWith('-')) return undefined
  const types = (first.split('/')[0] ?? '').split(',').map((type) => type.replace(/\..*$/, ''))
  const unknown = types.find((type) => !KINDS.has(type))
  return unknown === undefined ? undefined : `kubectl ${verb}: no type '${unknown}' is known here`
}

/** Of `kubectl wait` for what is ours. */
const conditionFault = (argv: readonly string[]): string | undefined => {
  if (!argv.some((word) => /^(apispec|realm)/.test(word))) return undefined
  const [, condition] =
    /^--for=condition=(\w+)/.exec(argv.find((word) => word.startsWith('--for=')) ?? '') ?? []
  if (condition === undefined || (CONDITION_TYPES as readonly string[]).includes(condition))
    return undefined
  return `there is no condition '${condition}'`
}

interface CrdSchema {
  readonly properties?: Readonly<Record<string, CrdSchema>>
  readonly items?: CrdSchema
  readonly additionalProperties?: CrdSchema
}

const crdSchema = (plural: string): CrdSchema => {
  const [definition] = parseAllDocuments(read(`crds/${plural}.yaml`)).map(
    (each) => each.toJS() as { spec: { versions: { schema: { openAPIV3Schema: CrdSchema } }[] } },
  )
  return definition?.spec.versions[0]?.schema.openAPIV3Schema ?? {}
}
const PLURALS: Readonly<Record<string, string>> = {
  apispec: 'apispecifications',
  apispecification: 'apispecifications',
  realm: 'realms',
}

const explainFault = ([path = '']: readonly string[]): string | undefined => {
  const [kind = '', ...fields] = path.split('.')
  const plural = PLURALS[kind]
  if (plural === undefined) return undefined
  let schema: CrdSchema | undefined = crdSchema(plural)
  for (const field of fields) {
    const inner: CrdSchema | undefined = schema.items ?? schema.additionalProperties ?? schema
    schema = inner.properties?.[field]
    if (schema === undefined) return `kubectl explain: there is no '${path}'`
  }
  return undefined
}

const HELM: Readonly<Record<string, string>> = {
  get: '',
  install:
    'create-namespace wait take-ownership set values f version no-hooks timeout force-conflicts',
  rollback: 'force-conflicts wait',
  template: 'set values f',
  test: '',
  uninstall: 'wait no-hooks',
  upgrade:
    'install reset-then-reuse-values reuse-values wait set values f take-ownership force-conflicts create-namespace',
}

const helmFault: Check = (argv) => {
  const [verb = '', ...rest] = argv
  const known = HELM[verb]
  if (known === undefined) return `helm: no command '${verb}' is known here`
  const flags = new Set([...GLOBAL_FLAGS.split(' '), ...known.split(' ')])
  const unknown = flagsOf(rest).find((flag) => !flags.has(flag))
  if (unknown !== undefined) return `helm ${verb}: no flag '${unknown}' is known here`
  const values = rest.flatMap((word, at) =>
    word === '--set' ? [rest[at + 1] ?? ''] : word.startsWith('--set=') ? [word.slice(6)] : [],
  )
  const paths = values.flatMap((value) => [
    ...value.replaceAll(/\{[^}]*\}/g, '').matchAll(/(?:^|,)([^=,]+)=/g),
  ])
  return paths.map(([, path = '']) => valueFault(path)).find((fault) => fault !== undefined)
}

const VALUES = parse(read('helm/svc-gateway/values.yaml')) as Readonly<Record<string, unknown>>

/** Names at the top of the chart's values. */
export const chartSections = (): readonly string[] => Object.keys(VALUES)

/** @param path such as `gateway.service.type` */
export const valueFault = (path: string): string | undefined => {
  let value: unknown = VALUES
  for (const key of path.replaceAll(/\[\d*\]$/g, '').split('.')) {
    // A map or list that is empty by default may hold anything; the schema of the chart is for those who render it.
    if (isEmpty(value)) return undefined
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
      return `the chart has no value '${path}'`
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return undefined
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0
