// Checks the `@example` blocks of doc comments: what they import exists and is exported there, and what they call or
// construct is a name of the program.

import * as fs from 'node:fs'
import * as http from 'node:http'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from '@jest/globals'

const ROOT = join(import.meta.dirname, '../..')
const NOT_SOURCE: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage', 'test'])

const sourceFilesBelow = (folder: string): readonly string[] =>
  fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || NOT_SOURCE.has(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sourceFilesBelow(path)
    return path.endsWith('.ts') && !path.endsWith('.d.ts') ? [path] : []
  })

const COMMENT = /\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm

const exportsOf = (text: string): readonly string[] => {
  const code = text.replaceAll(COMMENT, '')
  const declared = code.matchAll(
    /^export (?:declare |abstract |async )*(?:const|let|class|function\*?|interface|type) (\w+)/gm,
  )
  const listed = code.matchAll(/^export (?:type )?\{([^}]*)\}/gm)
  return [
    ...Array.from(declared, ([, name = '']) => name),
    ...Array.from(listed, ([, names = '']) => names.split(','))
      .flat()
      .map((name) => name.trim().split(/\s+/).at(-1) ?? ''),
  ]
}

/** The blocks without the stars of their comment, each up to the next tag. */
const examplesOf = (text: string): readonly string[] =>
  Array.from(text.matchAll(/\/\*\*[^]*?\*\//g), ([comment]) => comment)
    .flatMap((comment) => comment.split(/(?=@\w+\b)/).filter((part) => part.startsWith('@example')))
    .map((part) => part.slice('@example'.length).replaceAll(/^\s*\*\/?|\*\/$/gm, ''))

interface Import {
  readonly from: string
  readonly names: readonly string[]
}

const importsOf = (example: string): readonly Import[] => [
  ...Array.from(
    example.matchAll(/import (?:type )?\{([^}]*)\} from '([^']+)'/g),
    ([, names = '', from = '']) => ({
      from,
      names: names.split(',').map(
        (name) =>
          name
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0] ?? '',
      ),
    }),
  ),
  ...Array.from(example.matchAll(/import\('([^']+)'\)(?:\)\.(\w+))?/g), ([, from = '', name]) => ({
    from,
    names: name === undefined ? [] : [name],
  })),
]

const faultOf = (file: string, { from, names }: Import): readonly string[] => {
  if (!from.startsWith('.')) return fs.existsSync(join(ROOT, 'node_modules', from)) ? [] : [from]
  const path = join(dirname(file), from)
  if (!fs.existsSync(path)) return [`there is no ${from}`]
  const exported = exportsOf(fs.readFileSync(path, 'utf8'))
  return names
    .filter((name) => name !== '' && !exported.includes(name))
    .map((name) => `${from} exports no ${name}`)
}

/** Names that an example calls or constructs; methods belong to whatever is before their dot. */
const calledIn = (example: string): readonly string[] => {
  const code = example.replaceAll(/\/\/.*$/gm, '').replaceAll(/'[^'\n]*'|`[^`]*`/g, "''")
  const called = Array.from(code.matchAll(/(?<![.\w-])([a-z_]\w*)\(/g), ([, name = '']) => name)
  const made = Array.from(code.matchAll(/\bnew ([A-Z]\w+)/g), ([, name = '']) => name)
  return [...called, ...made]
}

const KEYWORDS: ReadonlySet<string> = new Set(['if', 'for', 'while', 'await', 'import', 'return'])

const sources = sourceFilesBelow(ROOT).map((file) => {
  const text = fs.readFileSync(file, 'utf8')
  return { file, text, examples: examplesOf(text) }
})

/** By any file; of Node's modules those whose functions stand in examples without an import. */
const exported = new Set([
  ...sources.flatMap(({ text }) => exportsOf(text)),
  ...Object.keys(fs),
  ...Object.keys(http),
])

/** Names in the code around an example, and those that it declares itself. */
const wordsOf = (code: string): ReadonlySet<string> => new Set(code.match(/\w+/g))

const unknownIn = (example: string, text: string): readonly string[] => {
  const own = wordsOf(text.replaceAll(COMMENT, ''))
  const declared = wordsOf(
    Array.from(example.matchAll(/\b(?:const ([^=]*)=|class \w+)/g), ([all]) => all).join(),
  )
  return calledIn(example).filter(
    (name) =>
      ![KEYWORDS, own, declared, exported].some((names) => names.has(name)) &&
      !(name in globalThis),
  )
}

describe('the examples of doc comments', () => {
  it('are found', () => {
    expect(sources.flatMap(({ examples }) => examples).length).toBeGreaterThan(200)
  })

  it('import what is there', () => {
    const faults = sources.flatMap(({ file, examples }) =>
      examples
        .flatMap(importsOf)
        .flatMap((each) => faultOf(file, each))
        .map((fault) => `${relative(ROOT, file)}: ${fault}`),
    )
    expect(faults).toEqual([])
  })

  it('call what is there', () => {
    const faults = sources.flatMap(({ file, text, examples }) =>
      examples
        .flatMap((example) => unknownIn(example, text))
        .map((name) => `${relative(ROOT, file)}: ${name}`),
    )
    expect(faults).toEqual([])
  })

  const here = join(import.meta.dirname, 'example.ts')
  it.each([
    ["import { describe } from '@jest/globals'", []],
    ["import { nothing } from './no-such-file.ts'", ['there is no ./no-such-file.ts']],
    ["import { a, tries as b } from './try-lines.ts'", ['a', 'tries']],
    ["(await import('./try-lines.ts')).nothing()", ['nothing']],
  ])('would not pass with %s', (example, faults) => {
    const found = importsOf(example).flatMap((each) => faultOf(here, each))
    expect(found).toEqual(
      faults.map((fault) => (fault.includes(' ') ? fault : `./try-lines.ts exports no ${fault}`)),
    )
  })

  it('would not pass with a name that nothing declares', () => {
    const example = 'const made = createNothing(1) // leaves(2)\nmade(3).method(4)\nnew Nothing()'
    expect(unknownIn(example, '// createNothing(0)')).toEqual(['createNothing', 'Nothing'])
  })
})
