import { describe, expect, it } from '@jest/globals'
import type { CompileRequest } from '../../../compiler/bounded-compiler.ts'
import { createReviewCompiler, ReviewError } from '../../../operator/admission/review-compiler.ts'
import type { DocumentResult } from '../../../operator/reconcile/documents/compile-document.ts'
import { documentDigest } from '../../../language/wire/digest.ts'

const OUTCOME: DocumentResult = { problems: [], warnings: [] }

/** Everything is large, and takes until it is told to be done. */
const aRig = () => {
  const asked: (CompileRequest & { readonly done: () => void })[] = []
  const compile = createReviewCompiler({
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
  })
  const ask = async (namespace: string, timeUp = new AbortController()): Promise<string> => {
    try {
      const review = { namespace, signal: timeUp.signal }
      await compile({ document: { id: namespace }, realm: undefined }, review)
      return 'validated'
    } catch (error) {
      return error instanceof ReviewError ? error.message : 'another fault'
    }
  }
  return { asked, ask, compile }
}

describe('large documents at the webhook', () => {
  it('are validated, beside those of the namespace', async () => {
    const { asked, ask } = aRig()
    const response = ask('shop')
    asked[0]?.done()
    expect([await response, asked[0]?.group]).toEqual(['validated', 'webhook shop'])
  })

  it('with stand-ins for Secrets are other documents than their text alone, which may be of others', () => {
    const { asked, compile } = aRig()
    const document = { id: 'd' }
    const review = { namespace: 'shop', signal: new AbortController().signal }
    void compile({ document, realm: undefined }, review)
    void compile({ document, realm: undefined, variables: { a: '' } }, review)
    const [alone, withStandIns] = asked.map(({ digest }) => digest())
    expect(alone).toBe(documentDigest({ spec: document }))
    expect(withStandIns).not.toBe(alone)
  })

  it('are not waited for once the time of their review is up, whatever runs', async () => {
    const { asked, ask } = aRig()
    const reviews = [new AbortController(), new AbortController()]
    const responses = reviews.map((timeUp) => ask('shop', timeUp))
    for (const timeUp of reviews) timeUp.abort(new ReviewError('timeout', 'it took too long'))
    expect(await Promise.all(responses)).toEqual(['it took too long', 'it took too long'])
    expect(asked.map(({ signal }) => signal?.aborted)).toEqual([true, true])
    // And there is room again.
    void ask('shop')
    expect(asked).toHaveLength(3)
  })

  it.each<[string, readonly string[], string]>([
    ['two of a namespace', ['a', 'a'], 'a'],
    ['eight of all', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], 'i'],
  ])('wait, %s; one more is refused', async (_, namespaces, more) => {
    const { asked, ask } = aRig()
    const responses = namespaces.map((namespace) => ask(namespace))
    expect(await ask(more)).toBe('other large documents are being validated')
    for (const { done } of asked) done()
    expect(new Set(await Promise.all(responses))).toEqual(new Set(['validated']))
  })
})
