// Checks every fenced block and all inline code of every page, by what it is: YAML is valid as what it stands for,
// commands exist with their flags, JSON parses, scripts compile, expressions evaluate. A page that is new is covered
// without being named here.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SourceTextModule } from 'node:vm'
import { describe, expect, it } from '@jest/globals'
import { folded } from '../language/expression/scope-of.ts'
import { commandsOf } from '../support/command-lines.ts'
import { chartSections, faultOf, flagFault, valueFault } from '../support/documented-commands.ts'
import { PAGES, textOf } from '../support/pages.ts'
import { inlineCodeOf, type Snippet, snippetsOf } from '../support/snippets.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { faultsOfYaml } from '../support/yaml-snippets.ts'

const ROOT = join(import.meta.dirname, '../..')

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  )

/** Blocks that are not checked here: the page, what the block begins with, and why. */
const NOT_HERE: readonly (readonly [page: string, start: string, why: string])[] = [
  ['docs/cli.md', 'vim.lsp.config', 'Neovim is not among the tools of the tests'],
  ['docs/cli.md', 'name: apis', 'package.test.ts runs the commands of this job'],
  ['docs/cli.md', 'apis:', 'package.test.ts runs the commands of this job'],
  ['docs/cli.md', 'repos:', 'package.test.ts runs the commands of this hook'],
  [
    'docs/reference/document.md',
    'security:\n  type: hmac',
    'it has every key, and those that no sender can satisfy are a warning',
  ],
  ['docs/security/proxies.md', 'http_filters:', 'Envoy is not among the tools of the tests'],
  [
    'docs/sidecar.md',
    'metadata:',
    'a part of a Pod: labels and annotations, which sidecar tests set',
  ],
  ['docs/sidecar.md', '# Only image', 'inject-docs.test.ts reads it as the operator does'],
  ['docs/sidecar.md', 'initContainers:', 'inject-docs.test.ts compares it with what is injected'],
]

/** Inline code that only shows the form of an expression. */
const FORMS: ReadonlySet<string> = new Set([
  '{{',
  '"\\"{{x}}\\""',
  `'"{{x}}"'`,
  '{{path.to.key}}',
  '{{value |> function(argument)}}',
  '{{x |> f}}',
])
/** The domain of clusters, no value of the chart. */
const CLUSTER_DOMAIN = 'cluster.local'

const isNotHere = ({ page, text }: Snippet): boolean =>
  NOT_HERE.some(([of, start]) => of === page && text.startsWith(start))

type Check = (snippet: Snippet) => readonly string[] | Promise<readonly string[]>

const hasPython = spawnSync('python3', ['--version']).status === 0

const checkCommands = async (script: string): Promise<readonly string[]> => {
  const faults = await Promise.all(commandsOf(script).map((words) => faultOf(words)))
  return faults.filter((fault) => fault !== undefined)
}

/** Programs by which a line of a terminal is known as a command without a prompt. */
const COMMAND =
  /^(?:curl|docker|helm|kind|kubectl|make|npm|npx|openssl|printf|svc(?:-\w+)?) (?!.*: )/

/** Of a terminal: what follows prompts; where there is none, lines that begin with a known program. */
const commandsIn = (text: string): string => {
  const prompted = [...text.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)].map(([, command = '']) => command)
  const lines = text.split('\n').filter((line) => COMMAND.test(line))
  return (prompted.length > 0 ? prompted : lines).join('\n')
}

const hasNginx = spawnSync('nginx', ['-v']).status === 0

/** Names of hosts are not resolved here, and there is no certificate. */
const checkNginx = async (text: string): Promise<readonly string[]> => {
  if (!hasNginx) return []
  await using directory = await makeTempDir()
  const here = text.replaceAll(/http:\/\/[a-z]+:/g, 'http://127.0.0.1:').replace('443 ssl', '18443')
  const file = join(directory.path, 'nginx.conf')
  const paths = `pid ${directory.path}/pid; error_log stderr;`
  writeFileSync(file, `${paths} events {} http { access_log off; ${here} }`)
  const { status, stderr } = spawnSync('nginx', ['-t', '-q', '-c', file], { encoding: 'utf8' })
  return status === 0 ? [] : [stderr]
}

/** By the language of the fence. */
const CHECKS: Readonly<Record<string, Check>> = {
  '': ({ text }) => checkCommands(commandsIn(text)),
  console: ({ text }) => checkCommands(commandsIn(text)),
  sh: ({ text }) => checkCommands(text),
  yaml: ({ text }) => faultsOfYaml(text) ?? ['it is not known what this YAML stands for'],
  json: ({ text }) => {
    try {
      JSON.parse(text.trim().startsWith('"') ? `{${text}}` : text)
      return []
    } catch (error) {
      return [String(error)]
    }
  },
  js: ({ text }) => {
    try {
      return new SourceTextModule(text).status === 'unlinked' ? [] : ['it does not compile']
    } catch (error) {
      return [String(error)]
    }
  },
  python: ({ text }) => {
    if (!hasPython) return []
    const compile = 'import sys; compile(sys.stdin.read(), "snippet", "exec")'
    const { status, stderr } = spawnSync('python3', ['-c', compile], {
      input: text,
      encoding: 'utf8',
    })
    return status === 0 ? [] : [stderr]
  },
  nginx: ({ text }) => checkNginx(text),
  http: ({ text }) =>
    /^(?:HTTP\/1\.1 [1-5]\d\d|(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \S+)/.test(text)
      ? []
      : ['this is neither a request nor a response'],
  // Output, and drawings: nothing to check.
  text: () => [],
}

const snippets = PAGES.flatMap((page) => snippetsOf(page, textOf(page)))

describe('fenced blocks', () => {
  it.each(PAGES)('of %s are right', async (page) => {
    const faults: string[] = []
    for (const snippet of snippets.filter((each) => each.page === page && !isNotHere(each))) {
      const check = CHECKS[snippet.language]
      const found =
        check === undefined ? [`nothing checks '${snippet.language}'`] : await check(snippet)
      faults.push(...found.map((fault) => `${page}:${snippet.line}: ${fault}`))
    }
    expect(faults).toEqual([])
  })

  it.each(NOT_HERE)('of %s that begin with %j are not checked here: %s', (page, start) => {
    const those = snippets.filter((each) => each.page === page && each.text.startsWith(start))
    expect(those).toHaveLength(1)
  })
})

const PROGRAM =
  /^(?:(?:svc|svc-gateway|svc-operator|kubectl|helm|make|npx|docker) |npm (?:test|run (?:-s )?\w))\S*/
/** Something is left out, or stands for something else. */
const isElided = (code: string): boolean => /…|\bCOMMAND\b/.test(code)

const expressionFaults = (code: string): readonly string[] => {
  if (FORMS.has(code)) return []
  const { messages } = folded(code)
  // Which variables there are, the page says elsewhere.
  return messages.filter(
    (message) => !/no key .* in (?:variables|defaults|status_codes)/.test(message),
  )
}

/** By what inline code begins with; the first that fits counts. */
const KINDS_OF_CODE: readonly (readonly [
  fits: (code: string) => boolean,
  faults: (code: string) => readonly string[] | Promise<readonly string[]>,
])[] = [
  [isElided, () => []],
  [(code) => PROGRAM.test(code), checkCommands],
  [(code) => code.includes('{{'), expressionFaults],
  [
    (code) => /^--[a-z]/.test(code),
    (code) => listOf(flagFault(/^--[a-z-]*[a-z]/.exec(code)?.[0] ?? '')),
  ],
  [
    (code) => code !== CLUSTER_DOMAIN && isChartValue(code),
    (code) => listOf(valueFault(pathOf(code))),
  ],
]

const listOf = (fault: string | undefined): readonly string[] =>
  fault === undefined ? [] : [fault]

const pathOf = (code: string): string => /^([a-zA-Z]+(?:\.[a-zA-Z]+)+)(?:=|$)/.exec(code)?.[1] ?? ''
const SECTIONS = new Set(chartSections())
const isChartValue = (code: string): boolean => SECTIONS.has(pathOf(code).split('.')[0] ?? '')

const faultsOfCode = async (code: string): Promise<readonly string[]> => {
  const [, faults] = KINDS_OF_CODE.find(([fits]) => fits(code)) ?? []
  return (await faults?.(code)) ?? []
}

describe('inline code', () => {
  it.each(PAGES)('of %s is right', async (page) => {
    const faults: string[] = []
    for (const { line, code } of inlineCodeOf(textOf(page))) {
      const found = await faultsOfCode(code)
      faults.push(...found.map((fault) => `${page}:${line}: ${code}: ${fault}`))
    }
    expect(faults).toEqual([])
  })
})

describe('what would not pass', () => {
  it.each([
    ['svc validat apis/', "svc has no command 'validat'"],
    ['svc validate --strickt apis/', expect.stringContaining('--strickt')],
    ['npm run -s gateway -- --publik :1', expect.stringContaining('--publik')],
    ['kubectl get apispecs', "kubectl get: no type 'apispecs' is known here"],
    ['kubectl explain realm.spec.user', "kubectl explain: there is no 'realm.spec.user'"],
    ['kubectl wait realm/shop --for=condition=Redy', "there is no condition 'Redy'"],
    ['helm install a b --set gateway.replica=2', "the chart has no value 'gateway.replica'"],
    ['make imag', "make has no target 'imag'"],
    ['sh -c true | surprise', "there is no check for the program 'surprise'"],
  ])('%s', async (script, fault) => {
    expect(await checkCommands(script)).toEqual([fault])
  })

  it.each(['{{request.boddy |> lowr}}', '{{request.body', '{{requests.body}}'])('%s', (code) => {
    expect(expressionFaults(code)).not.toEqual([])
  })

  it.each([
    'security: {type: basik}',
    'action: {type: static, body: "{{request.body"}',
    'uri: com.example\nuser: []',
    'gateway: {replica: 2}',
    'kind: Realm\napiVersion: gateway.svc.dev/v1alpha1\nmetadata: {name: a}\nspec: {}',
    'a: {',
  ])('%j', (yaml) => {
    expect(faultsOfYaml(yaml)).not.toEqual([])
  })
})

/** `gateway.svc.dev/…` of labels and annotations; versions of the kinds are no names. */
const namesIn = (text: string): readonly string[] =>
  [
    ...text
      .replaceAll('${GROUP}', 'gateway.svc.dev')
      .matchAll(/(?<![\w.])gateway\.svc\.dev\/(?!v\d)[a-z-]*[a-z]/g),
  ].map(([name]) => name)

it('labels and annotations are those of the programs', () => {
  const sources = ['operator', 'dataplane', 'language', 'helm', 'crds'].flatMap((folder) =>
    filesBelow(join(ROOT, folder)),
  )
  const known = new Set(sources.flatMap((file) => namesIn(readFileSync(file, 'utf8'))))
  const faults = PAGES.flatMap((page) =>
    namesIn(textOf(page)).flatMap((name) => (known.has(name) ? [] : [`${page}: ${name}`])),
  )
  expect(known.size).toBeGreaterThan(10)
  expect(faults).toEqual([])
})
