// What comes out of the thread is what would have been compiled in place: for gateway and operator, of every document
// of the conformance cases and of large ones.

import { hash } from 'node:crypto'
import { deserialize } from 'node:v8'
import { afterAll, describe, expect, it } from '@jest/globals'
import { CompileThread, fileBeside } from '../../compiler/compile-thread.ts'
import { BoundedCompiler } from '../../compiler/bounded-compiler.ts'
import type { CompileTask, CompileWork } from '../../compiler/task.ts'
import {
  compileDocument,
  validateInProcess,
  validateWith,
  refuseDocument,
} from '../../dataplane/store/change/validate-document.ts'
import type { PackedDocument } from '../../dataplane/store/packed/packed-document.ts'
import { Unpacker } from '../../dataplane/store/packed/unpack.ts'
import { compileDocument as compileForOperator } from '../../operator/reconcile/documents/compile-document.ts'
import { setOwn, type ValueMap } from '../../language/expression/value.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { caseDocuments } from '../language/case-documents.ts'
import { manyOperations, manyRoutes, muchInherited, oddOne } from './costly-documents.ts'
import { expand } from '../../dataplane/store/packed/compact.ts'

const LIMITS = { maxRoutes: 20_000, memoryMb: 128, timeMs: 600_000 }
const REALM = { authmethods: ['oidcrp', 'cookie'], oidcProviders: ['a'] }

const LARGE: readonly ValueMap[] = [
  manyRoutes('routes', 6000),
  manyOperations('operations', 600),
  muchInherited('inherited', 100, 300),
  manyRoutes('refused', 20_016),
  oddOne('odd'),
]

const closing: { readonly close: () => Promise<void> }[] = []
afterAll(() => Promise.all(closing.map((each) => each.close())))

const options = (program: 'dataplane/start/control' | 'operator/document-compiler') => ({
  entry: fileBeside(new URL(`../../${program}.ts`, import.meta.url).href, 'compile-entry'),
  limits: LIMITS,
  timers: createManualClock(),
})

interface Result {
  readonly packed?: PackedDocument
}

/** As one text: a buffer that was sent is a plain Uint8Array. */
const textOf = (result: unknown, read: (content: Buffer) => unknown): string => {
  const { packed, ...rest } = result as Result
  const content = packed && read(expand(packed.content))
  return JSON.stringify({ ...rest, packed: packed && { ...packed, content } })
}

/**
 * A difference of megabytes tells nobody anything. By what was packed and not by its bytes: they also say which equal
 * values are one object, and that depends on what was compiled before.
 */
const digestOfResult = (result: unknown): string => hash('sha256', textOf(result, deserialize))

const PROGRAMS: readonly (readonly [
  'dataplane/start/control' | 'operator/document-compiler',
  CompileWork<unknown>,
])[] = [
  ['dataplane/start/control', compileDocument],
  ['operator/document-compiler', compileForOperator],
]

describe.each(PROGRAMS)('%s', (program, work) => {
  const thread = new CompileThread<unknown>(options(program))
  closing.push(thread)
  const isSame = async (task: CompileTask): Promise<boolean> => {
    const result = await thread.run(task, LIMITS.timeMs)
    return digestOfResult(result) === digestOfResult(work(task, LIMITS))
  }

  it('documents of the conformance cases', async () => {
    const documents = caseDocuments()
    expect(documents.length).toBeGreaterThan(100)
    const others: string[] = []
    for (const { name, document } of documents)
      for (const realm of [REALM, undefined])
        if (!(await isSame({ document, realm }))) others.push(name)
    expect(others).toEqual([])
  })

  it.each(LARGE.map((document) => [document['id'], document]))('%s', async (_, document) => {
    const variables: Record<string, string> = {}
    setOwn(variables, '__proto__', 'x')
    expect(await isSame({ document, realm: REALM, variables })).toBe(true)
  })
})

it('a document that was packed in the thread serves like any other', async () => {
  const compiler = new BoundedCompiler({
    ...options('dataplane/start/control'),
    work: compileDocument,
    refuse: refuseDocument,
  })
  closing.push(compiler)
  const document = manyOperations('orders', 100)
  const environment = { realm: () => REALM }
  const validated = await validateWith(compiler)(document, environment)
  const expected = validateInProcess()(document, environment)
  if (!validated.ok || !expected.ok) throw new Error('it was refused')
  const [packed, packedHere] = [validated, expected].map(({ pack }) => pack({ since: 7, rank: 1 }))
  if (packed === undefined || packedHere === undefined) throw new Error('there is nothing')
  expect([packed.since, packed.rank]).toEqual([7, 1])
  expect(validated.source()).toEqual(expected.source())
  const paths = packed.versions[0]?.paths ?? []
  expect(paths.length).toBeGreaterThan(10)
  const [unpacker, unpackerHere] = [new Unpacker(packed), new Unpacker(packedHere)]
  for (const index of paths.keys()) {
    const path = unpacker.path(index)
    expect(path.operations.get?.action.type).toBe('static')
    expect(path).toEqual(unpackerHere.path(index))
  }
})

describe('what is compiled grows with what was written', () => {
  // Of work, not of time: bytes that are kept and routes, for a document and for one of twice the size.
  it.each<[string, (size: number) => ValueMap, readonly number[]]>([
    ['routes', (size) => manyRoutes('a', size), [2000, 4000, 8000]],
    ['operations', (size) => manyOperations('a', size), [200, 400, 800]],
    ['values that are inherited', (size) => muchInherited('a', 100, size), [250, 500, 1000]],
    ['paths that inherit', (size) => muchInherited('a', size, 100), [500, 1000, 2000]],
  ])('%s', (_, make, sizes) => {
    const kept = sizes.map((size) => {
      const document = make(size)
      const outcome = compileDocument({ document, realm: REALM }, LIMITS)
      if (!outcome.ok) throw new Error(outcome.problems[0]?.message)
      const bytes = textOf(outcome, (content) => content.toString('latin1')).length
      return { share: bytes / JSON.stringify(document).length, routes: outcome.claims.length }
    })
    const [first = { share: 0 }, ...rest] = kept
    // A route is kept with its key, its pointer and its pattern, and there are sixteen of a path.
    expect(first.share).toBeLessThan(60)
    for (const { share, routes } of rest) {
      expect(share).toBeLessThan(first.share * 1.1)
      expect(routes).toBeLessThanOrEqual(LIMITS.maxRoutes)
    }
  })
})
