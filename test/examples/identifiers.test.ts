// Holds the names in code to docs/glossary.md: no identifier of the product has a retired name as a part, no title of a
// test has a word that CONTRIBUTING.md gives up, and no doc comment of the product lacks its subject.

import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import ts from 'typescript'
import { filesBelow } from '../support/files-below.ts'

const ROOT = join(import.meta.dirname, '../..')
const PRODUCT = [
  'base',
  'cli',
  'compiler',
  'dataplane',
  'language',
  'operator',
  'telemetry',
  'web',
] as const

/** Retired names that stand alone, in small letters, each with the terms to write instead. */
const RETIRED = new Map<string, string>()
const GLOSSARY = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8')
for (const [, term = '', names = ''] of GLOSSARY.matchAll(/^\| \*\*(.*?)\*\*.*\|(.*)\|$/gm))
  for (const name of names.split(',').map((each) => each.trim()))
    if (/^[a-z]+$/.test(name))
      RETIRED.set(name, RETIRED.has(name) ? `${RETIRED.get(name)}' or '${term}` : term)

/** Names that readers outside of the program know. */
const CONTRACTS: readonly {
  readonly part: string
  readonly files: RegExp
  readonly why: string
}[] = [
  {
    part: 'verdict',
    files:
      /^(?:cli\/(?:commands\/explain|explain\/)|language\/explain\/|operator\/fleet\/client\/read-explanation|web\/page\/explain)/,
    why: 'a member of the response to GET /explain',
  },
  {
    part: 'outcome',
    files:
      /^(?:cli\/(?:commands\/explain|explain\/)|language\/explain\/|operator\/fleet\/client\/read-explanation|web\/page\/explain)/,
    why: 'a member of the response to GET /explain',
  },
  {
    part: 'outcome',
    files:
      /^dataplane\/(?:audit|oauth2\/oauth2|oidc\/|security\/schemes\/create-authenticate|start\/serving-)/,
    why: 'a label of metrics and a field of the audit log',
  },
  {
    part: 'outcome',
    files: /^language\/validate\/document-schema/,
    why: 'a definition of the published JSON schema of documents',
  },
  {
    part: 'fault',
    files: /^dataplane\/upstream(?:-ejections|-report|\/)/,
    why: 'a label of the metric of ejections, and a member of the report on upstreams',
  },
  {
    part: 'asked',
    files:
      /^(?:dataplane\/(?:management\/why-endpoint|upstream-report)|operator\/(?:fleet\/find-|status\/fleet-pages))/,
    why: 'how many processes or gateways were called, in responses of the management API and of the status listener',
  },
  {
    part: 'finding',
    files: /^cli\/validate\/validation-diagnostic/,
    why: 'a member of the report of svc validate',
  },
  {
    part: 'trouble',
    files:
      /^(?:dataplane\/(?:management\/overview-endpoints|start\/upstream-watch|upstream-report|upstream\/upstream-view)|operator\/status\/overview-gateways|web\/(?:overview|page\/realms))/,
    why: 'a member of the overview, and of messages between processes',
  },
]

const isContract = (part: string, file: string): boolean =>
  CONTRACTS.some((each) => each.part === part && each.files.test(file))

/** The retired names among the camel-case parts, in singular. */
const retiredParts = (identifier: string): readonly string[] =>
  identifier
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[ _#$]+/)
    .flatMap((part) => {
      const name = part.toLowerCase()
      const found = [name, name.replace(/s$/, ''), name.replace(/es$/, '')].find((each) =>
        RETIRED.has(each),
      )
      return found === undefined ? [] : [found]
    })

const parse = (path: string, text: string): ts.SourceFile =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false)

const eachNode = (node: ts.Node, visitor: (node: ts.Node) => void): void => {
  visitor(node)
  ts.forEachChild(node, (child) => {
    eachNode(child, visitor)
  })
}

const lineOf = (source: ts.SourceFile, node: ts.Node): number =>
  source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1

const retiredIn = (file: string, text: string): readonly string[] => {
  const source = parse(file, text)
  const found: string[] = []
  eachNode(source, (node) => {
    if (!ts.isIdentifier(node) && !ts.isPrivateIdentifier(node)) return
    for (const part of retiredParts(node.text))
      if (!isContract(part, file))
        found.push(
          `${file}:${lineOf(source, node)} ${node.text}: write '${RETIRED.get(part)}' instead of '${part}'`,
        )
  })
  return found
}

const GIVEN_UP = /\b(?:told|asked|nobody|whoever|lest|anew)\b/i
const TITLED = new Set(['describe', 'it', 'test'])

/** `it` of `it(…)`, `it.each(…)(…)`, and of it.each`…`(…). */
const calledName = (node: ts.Expression): string => {
  if (ts.isIdentifier(node)) return node.text
  if (ts.isTaggedTemplateExpression(node)) return calledName(node.tag)
  return ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)
    ? calledName(node.expression)
    : ''
}

const titlesGivenUp = (file: string, text: string): readonly string[] => {
  if (!GIVEN_UP.test(text)) return []
  const source = parse(file, text)
  const found: string[] = []
  eachNode(source, (node) => {
    if (!ts.isCallExpression(node) || !TITLED.has(calledName(node.expression))) return
    const [title] = node.arguments
    if (title === undefined || !(ts.isStringLiteralLike(title) || ts.isTemplateExpression(title)))
      return
    const [word] = GIVEN_UP.exec(title.getText(source)) ?? []
    if (word !== undefined)
      found.push(
        `${file}:${lineOf(source, title)} '${word}': write who does what: '… is requested', '… is notified', 'no one'`,
      )
  })
  return found
}

const sourcesBelow = (folder: string): readonly (readonly [file: string, text: string])[] =>
  filesBelow(join(ROOT, folder), /\.(?:js|ts)$/).map((path) => [
    relative(ROOT, path),
    readFileSync(path, 'utf8'),
  ])

describe('identifiers', () => {
  it.each(PRODUCT)('of %s/ have no name that the glossary has retired', (folder) => {
    const sources = sourcesBelow(folder)
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.flatMap(([file, text]) => retiredIn(file, text))).toEqual([])
  })

  it('that are contracts are in the files that are named', () => {
    const sources = PRODUCT.flatMap(sourcesBelow)
    const unused = CONTRACTS.filter(
      ({ part, files }) =>
        !sources.some(([file, text]) => files.test(file) && new RegExp(part, 'i').test(text)),
    )
    expect(unused).toEqual([])
  })

  it.each([
    ['const documentVerdict = 1', ["x.ts:1 documentVerdict: write 'result' instead of 'verdict'"]],
    ['\nclass A { #verdicts = 1 }', ["x.ts:2 #verdicts: write 'result' instead of 'verdict'"]],
    ['const MAX_OBSTACLES = 1', ["x.ts:1 MAX_OBSTACLES: write 'problem' instead of 'obstacle'"]],
    ["const text = 'verdict' // verdict", []],
    ['const asking = default_', []],
  ])('of %j are found: %j', (text, expected) => {
    expect(retiredIn('x.ts', text)).toEqual(expected)
  })
})

/** The first line of a doc comment that hangs on the name below it, with its place in the text. */
const SUBJECTLESS = /\/\*\*(?:\n\s*\*)? (?:Of|By)\b.*/g

const subjectlessIn = (file: string, text: string): readonly string[] =>
  [...text.matchAll(SUBJECTLESS)].map(
    ({ index, 0: comment }) =>
      `${file}:${text.slice(0, index).split('\n').length} ${comment}: say what it is, as a sentence`,
  )

describe('doc comments', () => {
  it.each(PRODUCT)('of %s/ begin with what they describe', (folder) => {
    const sources = sourcesBelow(folder)
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.flatMap(([file, text]) => subjectlessIn(file, text))).toEqual([])
  })

  it.each([
    ['/** Of a bucket. */', 1],
    ['a\n  /**\n   * By its name.\n   */', 1],
    ['/** Often read. */', 0],
    ['/** The name of a bucket. */', 0],
    ['// Of a bucket.', 0],
  ])('%j: %i', (text, count) => {
    expect(subjectlessIn('x.ts', text)).toHaveLength(count)
  })
})

describe('titles of tests', () => {
  it('have none of the words that are given up', () => {
    const sources = sourcesBelow('test').filter(([file]) => !file.endsWith('identifiers.test.ts'))
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.flatMap(([file, text]) => titlesGivenUp(file, text))).toEqual([])
  })

  it.each([
    ["it('is told', f)", 1],
    ["it.each([1])('is asked: %s', f)", 1],
    ['describe(`nobody ${x}`, f)', 1],
    ["it('is requested', () => told('asked'))", 0],
  ])('%j: %i', (text, count) => {
    expect(titlesGivenUp('x.ts', text)).toHaveLength(count)
  })
})
