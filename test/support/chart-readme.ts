// Writes the README of the chart from its values.yaml and the head that is written by hand.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMap, isScalar, type Node, parseDocument, type YAMLMap } from 'yaml'

const CHART = join(import.meta.dirname, '../../helm/svc-gateway')

export const README_PATH = join(CHART, 'README.md')

export const renderReadme = (): string => {
  const head = readFileSync(join(CHART, 'README.head.md'), 'utf8')
  return `${head}\n${valuesTable(readFileSync(join(CHART, 'values.yaml'), 'utf8'))}`
}

/**
 * A row for each value that a comment `# -- …` describes.
 * @internal exported for tests
 */
export const valuesTable = (text: string): string => {
  const { contents } = parseDocument(text)
  if (!isMap(contents)) throw new Error('values.yaml is no map')
  const rows = rowsOf(contents, '').map(
    ({ path, value, description }) =>
      `| \`${path}\` | \`${escapeCell(value)}\` | ${escapeCell(description)} |\n`,
  )
  const head = '| value | default | |\n|---|---|---|\n'
  return `<!-- From here on generated from values.yaml by \`make golden\`. -->\n## Values\n\n${head}${rows.join('')}`
}

interface Row {
  readonly path: string
  readonly value: string
  readonly description: string
}

/** @throws Error where a value has no description */
const rowsOf = (map: YAMLMap, prefix: string): readonly Row[] =>
  map.items.flatMap(({ key, value }, i) => {
    if (!isScalar(key)) throw new Error(`${prefix}: a key that is no text`)
    const path = `${prefix}${String(key.value)}`
    // What stands before the first key of a map belongs to the map.
    const comment = i === 0 ? (map.commentBefore ?? key.commentBefore) : key.commentBefore
    const description = /(?:^|\n) -- ([\s\S]*)$/.exec(comment ?? '')?.[1]
    if (description !== undefined) {
      const words = description.split('\n').map((line) => line.trim())
      return [{ path, value: jsonOf(value as Node | null), description: words.join(' ') }]
    }
    if (!isMap(value)) throw new Error(`values.yaml: ${path} has no description`)
    return rowsOf(value, `${path}.`)
  })

const jsonOf = (value: Node | null): string =>
  JSON.stringify((value as { toJSON?: () => unknown } | null)?.toJSON?.() ?? null)

const escapeCell = (text: string): string => text.replaceAll('|', '\\|')
