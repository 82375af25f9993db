// Runs every recipe of docs/cookbook.md in a playground of its own: what stands there is loaded as it is, and answers its
// requests as the page says.

import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parseAllDocuments, stringify } from 'yaml'
import { type Playground, startPlayground } from '../../dev/playground.ts'
import { ANY_PORTS } from '../../dev/ports.ts'
import { isReady } from '../../cli/serve/status-view.ts'
import { eventually } from '../support/eventually.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { canSend, EXAMPLES, holds, send } from './try-lines.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/cookbook.md'), 'utf8')
/** What a cookbook is good for begins there. */
const FEWEST_RECIPES = 20

interface Try {
  readonly command: string
  readonly expected: string
}

interface Recipe {
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
const manifestOf = ({ yaml }: Recipe, index: number): string => {
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

const recipes = readRecipes(PAGE)

let directory: TempDir
let playground: Playground

beforeAll(async () => {
  directory = await makeTempDir()
  cpSync(join(EXAMPLES, 'realm.yaml'), join(directory.path, 'realm.yaml'))
  recipes.forEach((recipe, index) => {
    writeFileSync(join(directory.path, `recipe-${index}.yaml`), manifestOf(recipe, index))
  })
  const onLine = (): void => undefined
  playground = await startPlayground({ ports: ANY_PORTS, examples: directory.path, onLine })
})

afterAll(async () => {
  await playground.stop()
  await directory[Symbol.asyncDispose]()
})

describe('the cookbook', () => {
  it('has recipes, each with something to try, and a link to each', () => {
    expect(recipes.length).toBeGreaterThanOrEqual(FEWEST_RECIPES)
    for (const { title, tries } of recipes) {
      expect([title, tries.length]).not.toEqual([title, 0])
      for (const { expected } of tries)
        expect([title, expected]).toEqual([title, expect.stringMatching(/^[1-5]\d\d/)])
      const anchor = title
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-')
      expect(PAGE).toContain(`](#${anchor})`)
    }
  })

  it('is served as a whole, without a warning', async () => {
    const status = await playground.status()
    expect(status?.notes).toEqual([])
    const unready = status?.resources.filter((resource) => !isReady(resource)) ?? []
    expect(unready).toEqual([])
  })
})

const tries = recipes.flatMap(({ title, tries: each }) => each.map((one) => ({ title, ...one })))

const outputOf = async ({ command, expected }: Try): Promise<string> => {
  const { host } = new URL(playground.urls.public)
  const response = await send(command.replaceAll('127.0.0.1:18080', host))
  return holds(response, expected) ? expected : response.text
}

if (canSend()) {
  const isForSeconds = ({ command }: Try): boolean => command.includes('--max-time')

  it.each(tries.filter((one) => !isForSeconds(one)))('$title: $command', async (one) => {
    expect(await outputOf(one)).toBe(one.expected)
  })

  // On a busy machine its seconds may be over before an event has come: then the reader sends it again.
  it.each(tries.filter(isForSeconds))('$title: $command', async (one) => {
    await eventually(async () => {
      expect(await outputOf(one)).toBe(one.expected)
    })
  })
} else {
  process.stderr.write('skipped: there is no curl to try the cookbook with\n')
}
