// The paths of docs/architecture.md, file by file, are the paths that the code takes.

import { describe, expect, it } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')

const sectionOf = (page: string): string =>
  /^## Five paths, file by file\n([\s\S]*?)^## /m.exec(page)?.[1] ?? ''

/** Title → files, in the order of the page. */
const traces = sectionOf(PAGE)
  .split(/^\*\*/m)
  .slice(1)
  .map((trace): readonly [string, readonly string[]] => [
    trace.slice(0, trace.indexOf('**')),
    [...trace.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file]) => file ?? ''),
  ])

const importsOf = (file: string): ReadonlySet<string> => {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const specifiers = [...text.matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, at]) => at ?? '')
  return new Set(specifiers.map((specifier) => join(dirname(file), specifier)))
}

const isTied = (one: string, other: string): boolean =>
  importsOf(one).has(other) || importsOf(other).has(one)

describe('the traces of docs/architecture.md', () => {
  it('are five', () => {
    expect(traces.map(([, files]) => files.length > 8)).toEqual(Array(5).fill(true))
  })

  it.each(traces)('of %s name files that are there', (_title, files) => {
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
  })

  it.each(traces)('of %s tie each file to one before it', (_title, files) => {
    const loose = files.filter(
      (file, at) => at > 0 && !files.slice(0, at).some((before) => isTied(before, file)),
    )
    expect(loose).toEqual([])
  })
})
