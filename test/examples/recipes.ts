// Reads the recipes of docs/cookbook.md, and writes each as a manifest.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments, stringify } from 'yaml'

export const COOKBOOK: string = readFileSync(
  join(import.meta.dirname, '../../docs/cookbook.md'),
  'utf8',
)

export interface Try {
  readonly command: string
  readonly expected: string
}

export interface Recipe {
  readonly title: string
  readonly yaml: string
  readonly tries: readonly Try[]
}

const readRecipes = (page: string): readonly Recipe[] =>
  page
    .split('\n## ')
    .slice(1)
    .map((section) => {
      const title = section.split('\n')[0] ?? ''
      const yaml = /```yaml\n([\s\S]*?)```/.exec(section)?.[1] ?? ''
      const lines = (/```\n(curl [\s\S]*?)```/.exec(section)?.[1] ?? '').trim().split('\n')
      const tries = lines.flatMap((line, i) =>
        line.startsWith('curl ')
          ? [{ command: line, expected: (lines[i + 1] ?? '').replace(/^-> /, '') }]
          : [],
      )
      return { title, yaml, tries }
    })

/** A recipe is a Version Object, a document, or manifests. */
export const manifestOf = ({ yaml }: Recipe, index: number): string => {
  const documents: readonly unknown[] = parseAllDocuments(yaml).map(
    (each) => each.toJS() as unknown,
  )
  const [first = {}] = documents
  if (Object.hasOwn(first as object, 'kind')) return yaml
  const isDocument = Object.hasOwn(first as object, 'versions')
  const head = { id: `com.example.cookbook-${index}`, host: '_', realm_uri: 'com.example' }
  const document = isDocument ? first : { ...head, versions: { v1: first } }
  return stringify({
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind: 'ApiSpecification',
    metadata: { name: `cookbook-${index}` },
    spec: { document },
  })
}

export const RECIPES: readonly Recipe[] = readRecipes(COOKBOOK)
