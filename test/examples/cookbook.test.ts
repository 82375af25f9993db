// Runs every recipe of docs/cookbook.md: its examples by `svc test`, and its requests in a playground of its own, where what
// stands there is loaded as it is.

import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Playground, startPlayground } from '../../dev/playground.ts'
import { ANY_PORTS } from '../../dev/ports.ts'
import { isReady } from '../../cli/serve/status-view.ts'
import { svc } from '../cli/run-svc.ts'
import { eventually } from '../support/eventually.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { COOKBOOK, manifestOf, RECIPES, type Try } from './recipes.ts'
import { canSend, EXAMPLES, holds, send } from './try-lines.ts'

/** What a cookbook is good for begins there. */
const FEWEST_RECIPES = 20

let directory: TempDir
let playground: Playground

beforeAll(async () => {
  directory = await makeTempDir()
  cpSync(join(EXAMPLES, 'realm.yaml'), join(directory.path, 'realm.yaml'))
  RECIPES.forEach((recipe, index) => {
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
  it('has recipes, each with something to try or an example, and a link to each', () => {
    expect(RECIPES.length).toBeGreaterThanOrEqual(FEWEST_RECIPES)
    for (const { title, yaml, tries } of RECIPES) {
      expect([title, tries.length > 0 || yaml.includes('examples:')]).toEqual([title, true])
      for (const { expected } of tries)
        expect([title, expected]).toEqual([title, expect.stringMatching(/^[1-5]\d\d/)])
      const anchor = title
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-')
      expect(COOKBOOK).toContain(`](#${anchor})`)
    }
  })

  it('is served as a whole, without a warning', async () => {
    const status = await playground.status()
    expect(status?.notes).toEqual([])
    const unready = status?.resources.filter((resource) => !isReady(resource)) ?? []
    expect(unready).toEqual([])
  })
})

describe('the examples of a recipe', () => {
  it.each(
    RECIPES.flatMap((recipe, index) =>
      recipe.yaml.includes('examples:') ? [[recipe.title, manifestOf(recipe, index)]] : [],
    ),
  )('%s: all pass', async (_title, stdin) => {
    const { code, stdout } = await svc(['test', '-'], { stdin })
    expect([code, stdout]).toEqual([0, ''])
  })
})

const tries = RECIPES.flatMap(({ title, tries: each }) => each.map((one) => ({ title, ...one })))

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
