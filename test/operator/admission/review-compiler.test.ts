import { describe, expect, it } from '@jest/globals'
import type { CompileRequest } from '../../../compiler/bounded-compiler.ts'
import { createReviewCompiler, ReviewError } from '../../../operator/admission/review-compiler.ts'
import type { DocumentResult } from '../../../operator/reconcile/documents/compile-document.ts'
import { documentDigest } from '../../../language/wire/digest.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const OUTCOME: DocumentResult = { problems: [], warnings: [] }

/** Everything is large, and takes until it is told to be done. */
const aRig = () => {
  const clock = createManualClock()
  const asked: (CompileRequest & { readonly done: () => void })[] = []
  const compile = createReviewCompiler(
    {
      compile: (request) => {
        if (request.signal?.aborted === true) return Promise.reject(request.signal.reason as Error)
        const { promise, resolve } = Promise.withResolvers<DocumentResult>()
        asked.push({
          ...request,
          done: () => {
            resolve(OUTCOME)
          },
        })
        return promise
      },
    },
    clock,
  )
  const ask = async (namespace: string): Promise<string> => {
    try {
      await compile({ document: { id: namespace }, realm: undefined }, namespace)
      return 'validated'
    } catch (error) {
      return error instanceof ReviewError ? error.message : 'another fault'
    }
  }
  return { clock, asked, ask, compile }
}

describe('large documents at the webhook', () => {
  it('are validated, beside those of the namespace', async () => {
    const { asked, ask, clock } = aRig()
    const response = ask('shop')
    asked[0]?.done()
    expect([await response, asked[0]?.group, clock.pending]).toEqual([
      'validated',
      'webhook shop',
      0,
    ])
  })

  it('with stand-ins for Secrets are other documents than their text alone, which may be of others', () => {
    const { asked, compile } = aRig()
    const document = { id: 'd' }
    void compile({ document, realm: undefined }, 'shop')
    void compile({ document, realm: undefined, variables: { a: '' } }, 'shop')
    const [alone, withStandIns] = asked.map(({ digest }) => digest())
    expect(alone).toBe(documentDigest({ spec: document }))
    expect(withStandIns).not.toBe(alone)
  })

  it('are not waited for longer than the API server waits', async () => {
    const { asked, ask, clock } = aRig()
    const response = ask('shop')
    await clock.run(2_499)
    expect(asked[0]?.signal?.aborted).toBe(false)
    await clock.run(1)
    expect([await response, asked[0]?.signal?.aborted]).toEqual([
      'it is large, and took too long',
      true,
    ])
    // And there is room again.
    void ask('shop')
    expect(asked).toHaveLength(2)
  })

  it.each<[string, readonly string[], string]>([
    ['two of a namespace', ['a', 'a'], 'a'],
    ['eight of all', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], 'i'],
  ])('wait, %s; one more is refused', async (_, namespaces, more) => {
    const { asked, ask } = aRig()
    const responses = namespaces.map(ask)
    expect(await ask(more)).toBe('other large documents are being validated')
    for (const { done } of asked) done()
    expect(new Set(await Promise.all(responses))).toEqual(new Set(['validated']))
  })
})
