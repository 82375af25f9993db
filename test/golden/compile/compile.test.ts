// Documents in, what they mean out: `in.yaml` holds a document and what it is validated against, `out.yaml` all
// that compile() makes of it. `UPDATE_GOLDEN=1 npm test -- test/golden` writes the latter anew: read the
// difference before you commit it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { env } from 'node:process'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { compile } from '../../../language/compile.ts'
import type { RealmFacts } from '../../../language/realm/environment.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { printCompilation } from './print-compilation.ts'

interface Case {
  readonly document: unknown
  /** The realm of the document; plain when left out, `null`: there is none. */
  readonly realm?: RealmFacts | null
  /** From Secrets. */
  readonly secrets?: ValueMap
}

const PLAIN: RealmFacts = { authmethods: [], oidcProviders: [] }

const isUpdate = env['UPDATE_GOLDEN'] === '1'
const place = (name: string, file: 'in' | 'out') => new URL(`${name}/${file}.yaml`, import.meta.url)

const names = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

const compileCase = ({ document, realm = PLAIN, secrets }: Case) =>
  compile(document, {
    realm: (uri) => (uri === 'com.acme' && realm !== null ? realm : undefined),
    ...(secrets === undefined ? {} : { variables: secrets }),
  })

describe('what documents mean', () => {
  it.each(names)('%s', (name) => {
    const given = parse(readFileSync(place(name, 'in'), 'utf8')) as Case
    const printed = printCompilation(compileCase(given))
    if (isUpdate) writeFileSync(place(name, 'out'), printed)
    expect(printed).toBe(readFileSync(place(name, 'out'), 'utf8'))
  })

  it('does not depend on what was compiled before', () => {
    const print = (name: string) =>
      printCompilation(compileCase(parse(readFileSync(place(name, 'in'), 'utf8')) as Case))
    const first = names.map(print)
    expect(names.map(print)).toEqual(first)
  })
})
