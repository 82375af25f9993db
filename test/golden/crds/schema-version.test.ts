// test/golden/crds/schema.json: which kinds the number in their stamp stands for. UPDATE_GOLDEN=1 writes it anew once the
// number is raised; a change of the kinds without that fails, as an older chart would take the newer kinds back.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { expect, it } from '@jest/globals'
import {
  customResourceDefinitions,
  SCHEMA_STAMP,
  SCHEMA_VERSION,
} from '../../../operator/resource/crd.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { digestOf } from '../../../language/wire/digest.ts'

const FILE = join(import.meta.dirname, 'schema.json')

interface Recorded {
  readonly version: number
  readonly digest: string
}

/** What was recorded of the kinds, and what is to be recorded now: the same digest needs no other number. */
const recordOf = (before: Recorded, definitions: readonly ValueMap[]): Recorded => {
  const digest = digestOf(definitions.map(({ spec = null }): Value => spec))
  const isRaised = SCHEMA_VERSION > before.version
  return { version: SCHEMA_VERSION, digest: digest === before.digest || isRaised ? digest : '' }
}

const read = (): Recorded => JSON.parse(readFileSync(FILE, 'utf8')) as Recorded

it('the kinds have changed only together with SCHEMA_VERSION in operator/resource/crd.ts: raise it', () => {
  const record = recordOf(read(), customResourceDefinitions())
  if (env['UPDATE_GOLDEN'] === '1' && record.digest !== '')
    writeFileSync(FILE, `${JSON.stringify(record, null, 2)}\n`)
  expect(read()).toEqual(record)
})

it('a kind that changes without another number is noticed', () => {
  const [first = {}, ...others] = customResourceDefinitions()
  const spec = { ...(first['spec'] as ValueMap), scope: 'Cluster' }
  expect(recordOf(read(), [{ ...first, spec }, ...others]).digest).toBe('')
})

it('each kind has the stamp, as a text of a whole number', () => {
  for (const { metadata } of customResourceDefinitions())
    expect((metadata as ValueMap)['annotations']).toMatchObject({
      [SCHEMA_STAMP]: String(SCHEMA_VERSION),
    })
  expect(Number.isInteger(SCHEMA_VERSION)).toBe(true)
})
