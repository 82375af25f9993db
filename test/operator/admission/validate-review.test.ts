// AdmissionReviews in, what is allowed and in which words out.

import { describe, expect, it } from '@jest/globals'
import { problemMessage, warningTexts } from '../../../operator/admission/problem-text.ts'
import { validateResource } from '../../../operator/admission/validate-resource.ts'
import { readReview, reviewResponse } from '../../../operator/admission/review.ts'
import type { CompileRequest } from '../../../compiler/bounded-compiler.ts'
import { CompilerError } from '../../../compiler/compile-thread.ts'
import { documentDigest } from '../../../language/wire/digest.ts'
import {
  type ValidateOptions,
  validateReview,
} from '../../../operator/admission/validate-review.ts'
import { API_VERSION, GROUP } from '../../../operator/resource/resource.ts'
import type { Adviser } from '../../../operator/admission/advise-review.ts'
import type {
  DocumentRequest,
  DocumentResult,
} from '../../../operator/reconcile/documents/compile-document.ts'
import { ANY_REALM } from '../../../operator/reconcile/documents/make-document.ts'
import { mapAt } from '../../../language/expression/members.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { aSpecification } from '../../support/resources.ts'

const good = aSpecification('orders')
const bad = aSpecification('orders', { host: 'a..b', id: '_a' })
const realm = { uri: 'com.shop', info: { oidcProviders: {} } }
const badRealm = { ...realm, router: { url: 'ftp://x' } }

const objectOf = (kind: string, spec: unknown, metadata: object = {}): object => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name: 'orders', namespace: 'shop', ...metadata },
  spec,
})

interface Asked {
  readonly kind?: string
  readonly group?: string
  readonly operation?: string
  readonly subResource?: string
  readonly fieldManager?: string
  readonly object?: object | null
  readonly oldObject?: object | null
}

const ask = (asked: Asked, options: Partial<ValidateOptions> = {}) => {
  const { kind = 'ApiSpecification', group = GROUP, fieldManager = 'kubectl' } = asked
  const request = readReview({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u',
      kind: { group, version: 'v1alpha1', kind },
      operation: asked.operation ?? 'CREATE',
      ...(asked.subResource !== undefined && { subResource: asked.subResource }),
      namespace: 'shop',
      name: 'orders',
      options: { fieldManager },
      dryRun: true,
      object: asked.object ?? null,
      oldObject: asked.oldObject ?? null,
    },
  })
  if (request === undefined) throw new Error('that was no review')
  return validateReview(request, { className: 'svc', ...options })
}

const specification = (document: unknown, more: object = {}): object =>
  objectOf('ApiSpecification', { document, ...more })

describe('allowed without a word', () => {
  it.each<[string, Asked]>([
    ['a good document', { object: specification(good) }],
    ['a good realm', { kind: 'Realm', object: objectOf('Realm', realm) }],
    ['a kind that is not ours', { kind: 'Pod', group: '', object: { spec: bad } }],
    ['our name of another group', { group: 'x.test', object: specification(bad) }],
    ['a name from the prototype', { kind: 'constructor', object: specification(bad) }],
    ['another version', { object: { ...specification(bad), apiVersion: `${GROUP}/v9` } }],
    ['status', { subResource: 'status', object: specification(bad) }],
    ['a deletion', { operation: 'DELETE', object: null, oldObject: specification(bad) }],
    ['no object', { object: null }],
    ['another class', { object: specification(bad, { gatewayClassName: 'other' }) }],
    [
      'a realm of another class',
      { kind: 'Realm', object: objectOf('Realm', { ...badRealm, gatewayClassName: 'other' }) },
    ],
    [
      'an update of what goes',
      {
        operation: 'UPDATE',
        object: objectOf(
          'ApiSpecification',
          { document: bad },
          { deletionTimestamp: '2026-01-01T00:00:00Z' },
        ),
        oldObject: specification(good),
      },
    ],
    [
      'a label on what was bad before',
      {
        operation: 'UPDATE',
        object: objectOf('ApiSpecification', { document: bad }, { labels: { a: 'b' } }),
        oldObject: specification(bad),
      },
    ],
    [
      'a document in a ConfigMap',
      {
        object: objectOf('ApiSpecification', {
          documentFrom: { configMap: { name: 'a', key: 'b' } },
        }),
      },
    ],
    ['a realm that is not there', { object: specification({ ...good, realm_uri: 'com.nobody' }) }],
    [
      'secrets that are not there',
      {
        kind: 'Realm',
        object: objectOf('Realm', {
          uri: 'com.shop',
          signingKeys: [{ secretRef: { name: 'none', key: 'a' } }],
          callbackSecret: { secretRef: { name: 'none', key: 'b' } },
          info: {
            oidcProviders: {
              a: {
                issuer: 'https://idp.test',
                clientId: 'x',
                clientSecret: { secretRef: { name: 'none', key: 'c' } },
                redirectUri: 'https://api.test/oidc/a/callback',
              },
            },
          },
        }),
      },
    ],
  ])('%s', async (_, asked) => {
    expect(await ask(asked)).toEqual({ allowed: true, warnings: [] })
  })
})

describe('refused', () => {
  it('with every fault at once, each with its pointer', async () => {
    const document = {
      ...bad,
      versions: { v1: { base_path: 'v1', paths: { '/': {}, '/x': { get: { action: 'x' } } } } },
    }
    const response = await ask({ object: specification(document) })
    if (response.allowed) throw new Error('it was allowed')
    const [first = '', ...lines] = response.message.split('\n')
    expect(first).toBe(`${lines.length} problems in ApiSpecification shop/orders:`)
    for (const path of ['/host', '/id', '/versions/v1/base_path', '/versions/v1/paths/~1'])
      expect(lines.filter((line) => line.startsWith(`/spec/document${path}:`))).not.toEqual([])
    expect(response.causes).toHaveLength(lines.length)
    expect(response.causes).toContainEqual(
      expect.objectContaining({ reason: 'invalid_value', field: '/spec/document/host' }),
    )
  })

  it.each<[string, Asked, string]>([
    ['no spec', { object: { apiVersion: API_VERSION, kind: 'ApiSpecification' } }, '/spec is'],
    ['no document', { object: specification(undefined) }, '/spec/document is missing'],
    ['an unknown field', { object: specification(good, { nope: 1 }) }, '/spec/nope is no'],
    ['a realm without uri', { kind: 'Realm', object: objectOf('Realm', {}) }, '/spec/uri is'],
    [
      'what a data plane would refuse of a realm',
      { kind: 'Realm', object: objectOf('Realm', badRealm) },
      '/spec/router/url',
    ],
    [
      'a secret in clear',
      { kind: 'Realm', object: objectOf('Realm', { ...realm, callbackSecret: 'clear' }) },
      '/spec/callbackSecret must not stand here in clear',
    ],
    [
      'an update that brings the fault',
      { operation: 'UPDATE', object: specification(bad), oldObject: specification(good) },
      '/spec/document/host',
    ],
    ['our class by name', { object: specification(bad, { gatewayClassName: 'svc' }) }, '/host'],
    ['no class', { object: specification(bad, { gatewayClassName: null }) }, '/host'],
    [
      'a realm of our class by name',
      { kind: 'Realm', object: objectOf('Realm', { ...badRealm, gatewayClassName: 'svc' }) },
      '/spec/router/url',
    ],
    [
      'a realm of no class',
      { kind: 'Realm', object: objectOf('Realm', { ...badRealm, gatewayClassName: null }) },
      '/spec/router/url',
    ],
  ])('%s', async (_, asked, words) => {
    const response = await ask(asked)
    expect(response).toMatchObject({ allowed: false })
    expect('message' in response && response.message).toContain(words)
  })

  it('says nothing of the values of a realm', async () => {
    const response = await ask({
      kind: 'Realm',
      object: objectOf('Realm', {
        ...realm,
        users: [{ username: 'a', passwordHash: 'hunter2' }],
        callbackSecret: 'hunter3',
      }),
    })
    expect(response.allowed).toBe(false)
    expect(JSON.stringify(response)).not.toMatch(/hunter/)
  })
})

describe('warnings', () => {
  it('of properties that are not read', async () => {
    const response = await ask({ object: specification({ ...good, colour: 'red', __proto__x: 1 }) })
    expect(response.allowed).toBe(true)
    expect(response.warnings).toHaveLength(2)
    expect(response.warnings[0]).toBe(
      "There is no property 'colour' here: it has no effect (/spec/document/colour)",
    )
  })

  it('with the whole reason, before a place that is long', () => {
    const at = `/spec/document/${'paths/'.repeat(50)}end`
    const reason = `{{request.bindings.${'x'.repeat(64)}}} can only fail: the path has no such binding`
    const [text] = warningTexts([{ code: 'UnknownContextKey', path: at, message: reason }])
    expect(text).toMatch(
      /^\{\{request\.bindings\.x+\}\} can only fail: the path has no such binding \(\.\.\./,
    )
  })

  it('beside the problems of a document that is refused', async () => {
    const response = await ask({ object: specification({ ...bad, colour: 'red' }) })
    expect([response.allowed, response.warnings]).toEqual([
      false,
      [expect.stringMatching(/^There is no property 'colour' .* \(\/spec\/document\/colour\)$/)],
    ])
  })

  const annotated = (document: unknown): object =>
    objectOf(
      'ApiSpecification',
      { document },
      { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' } },
    )

  it.each<[string, string, number]>([
    ['kubectl-client-side-apply', 'client-side', 1],
    ['', 'by whom is not said', 1],
    ['argocd-controller', 'by somebody else', 1],
    ['kubectl', 'server-side, of what was applied client-side once', 0],
  ])('%s: %s', async (fieldManager, _, count) => {
    const { warnings } = await ask({ object: annotated(good), fieldManager })
    expect(warnings.filter((warning) => warning.includes('--server-side'))).toHaveLength(count)
    const again = { operation: 'UPDATE', object: annotated(good), oldObject: specification(bad) }
    expect((await ask({ ...again, fieldManager })).warnings).toHaveLength(count)
  })

  it('come with a refusal, too', async () => {
    const { warnings } = await ask({ object: annotated(bad), fieldManager: '' })
    expect(warnings).toHaveLength(1)
  })
})

describe('variables from Secrets', () => {
  const withVariable = (expression: string, more: object = {}): object => ({
    ...good,
    ...more,
    versions: {
      v1: {
        base_path: '/v1',
        paths: { '/a': { get: { action: { type: 'static', body: expression }, response: {} } } },
      },
    },
  })
  const named = { variablesFrom: [{ name: 'token', secretRef: { name: 'keys', key: 'a' } }] }
  const whole = { variablesFrom: [{ secretRef: { name: 'keys' } }] }

  it.each<[string, string, object, number]>([
    ['read', '{{variables.token}}', named, 0],
    ['read of a whole Secret', '{{variables.token}}', whole, 1],
    ['another than was named', '{{variables.other}}', named, 1],
    ['made into something else', '{{variables.token |> json:decode |> get(a)}}', named, 0],
  ])('%s: allowed', async (_, expression, from, warnings) => {
    const response = await ask({ object: specification(withVariable(expression), from) })
    expect(response.allowed).toBe(true)
    expect(response.warnings).toHaveLength(warnings)
    expect(response.warnings.join()).toMatch(warnings === 0 ? /^$/ : /keys/)
  })

  it('what is wrong whatever they are is refused', async () => {
    const document = withVariable('{{variables.other}}', { host: 'a..b', realm_uri: 5 })
    const response = await ask({ object: specification(document, named) })
    if (response.allowed) throw new Error('it was allowed')
    expect(response.message).toMatch(/^2 problems/)
    expect(response.warnings).toHaveLength(1)
  })

  it('without any, an expression that fails is a fault', async () => {
    const response = await ask({ object: specification(withVariable('{{variables.other}}')) })
    expect(response.allowed).toBe(false)
  })

  it.each<[string, object]>([
    ['an integer', { defaults: { timeout: '{{variables.token |> integer}}' } }],
    ['a list', { defaults: { schemes: '{{variables.token |> json:decode}}' } }],
    ['a map', { defaults: { security: '{{variables.token |> json:decode}}' } }],
    ['a text in a text', { variables: { url: 'https://{{variables.token}}/' } }],
  ])('in place of %s: allowed', async (_, more) => {
    const document = withVariable('x', more)
    expect((await ask({ object: specification(document, named) })).allowed).toBe(true)
  })
})

describe('bounds', () => {
  const problem = (path: string, message = 'wrong') => ({ code: 'invalid_value', path, message })

  it('one response holds at most 30 KB, and says what it left out', () => {
    const problems = Array.from({ length: 1000 }, (_, i) => problem(`/a/${i}`, 'x'.repeat(200)))
    const message = problemMessage('X', problems)
    expect(message.length).toBeLessThan(30_000)
    expect(message).toMatch(/^1000 problems in X:\n/)
    const shown = message.split('\n').length - 2
    expect(message).toMatch(new RegExp(`\n... and ${1000 - shown} more$`))
  })

  it('a fault is one line, of a bounded length', () => {
    const message = problemMessage('X', [problem('/a\nb\u0000c', `y\r\n${'z'.repeat(5000)}`)])
    expect(message.split('\n')).toHaveLength(2)
    expect(message.length).toBeLessThan(1100)
  })

  it('warnings are short and few', () => {
    const long = `/${'deep/'.repeat(100)}end`
    const texts = warningTexts(
      Array.from({ length: 50 }, () => problem(long, 'unknown\nproperty '.repeat(50))),
    )
    expect(texts).toHaveLength(21)
    expect(texts[20]).toBe('... and 30 more warnings')
    for (const text of texts) expect(text.length).toBeLessThanOrEqual(512)
    expect(texts[0]).toMatch(/^unknown property .*\.\.\. \(\.\.\.[a-z/]+end\)$/)
  })

  /** Of about so many bytes. */
  const large = (bytes: number, letter = 'x'): object => {
    const paths = Object.fromEntries(
      Array.from({ length: Math.round(bytes / 1100) }, (_, i) => [
        `/p${i}`,
        { get: { action: { type: 'static', body: letter.repeat(1000) }, response: {} } },
      ]),
    )
    return specification({ ...good, versions: { v1: { base_path: '/v1', paths } } })
  }

  it.each<[string, object, boolean, RegExp]>([
    ['of 1.3 MB', large(1.3e6), true, /^$/],
    [
      'of 1.48 MB',
      large(1.48e6),
      true,
      /^the object takes 1,4\d\d,\d{3} bytes in the store, close to /,
    ],
    ['of 2 MB', large(2e6), false, /more than the limit of 1,540,096 bytes .*Split .*ConfigMap/],
    ['that six times as much is stored of', large(3e5, '<'), false, /takes 1,\d{3},\d{3} bytes/],
    ['of 250 KB, that is stored longer', large(2.5e5, '&'), true, /^$/],
  ])('a document %s', async (_, object, isAllowed, words) => {
    const response = await ask({ object })
    expect(response.allowed).toBe(isAllowed)
    expect(response.allowed ? response.warnings.join() : response.message).toMatch(words)
  })

  it('what the store has taken before is no reason to refuse a change', async () => {
    const change = { operation: 'UPDATE', object: large(2e6), oldObject: large(1.9e6) }
    expect(await ask(change)).toEqual({ allowed: true, warnings: [] })
    expect((await ask({ ...change, oldObject: large(1e6) })).allowed).toBe(false)
  })

  it('a Realm of 2 MB is refused without advice on documents', async () => {
    const info = { text: 'x'.repeat(2e6) }
    const response = await ask({ kind: 'Realm', object: objectOf('Realm', { ...realm, info }) })
    expect('message' in response && response.message).toMatch(
      /1 problem.*\n.*Make the Realm smaller$/,
    )
  })
})

describe('a document that is not compiled in time', () => {
  const near = {
    object: specification({ ...good, name: 'x'.repeat(1.48e6) }, {}),
    fieldManager: 'kubectl-client-side-apply',
  }
  const unfinished = (why: string): readonly unknown[] => [
    `not validated yet, as ${why}: its conditions will show the result`,
    expect.stringContaining('close to the limit'),
  ]

  it('is allowed before the API server gives up, with what is known without compiling', async () => {
    const clock = createManualClock()
    const asked: CompileRequest[] = []
    const response = ask(near, {
      clock,
      compile: (request) => {
        asked.push(request)
        return new Promise(() => undefined)
      },
    })
    await clock.run(1_999)
    expect(asked).toMatchObject([
      { namespace: 'shop', purpose: 'review', signal: { aborted: false } },
    ])
    await clock.run(1)
    expect(await response).toEqual({ allowed: true, warnings: unfinished('it took too long') })
    expect(asked.map(({ signal }) => signal?.aborted)).toEqual([true])
  })

  it('as others wait, is allowed at once, and nothing is waited for', async () => {
    const clock = createManualClock()
    const compile = () => Promise.reject(new CompilerError('overloaded'))
    const response = await ask(near, { clock, compile })
    expect(response).toEqual({
      allowed: true,
      warnings: unfinished('other large documents are being compiled'),
    })
    expect(clock.pending).toBe(0)
  })

  it('with stand-ins for Secrets is another document than its text alone, which may be of others', async () => {
    const asked: CompileRequest[] = []
    const compile: ValidateOptions['compile'] = (request) => {
      asked.push(request)
      return { problems: [], warnings: [] }
    }
    const variablesFrom = [{ name: 'a', secretRef: { name: 's', key: 'k' } }]
    await ask({ object: specification(good) }, { compile })
    await ask({ object: specification(good, { variablesFrom }) }, { compile })
    const [alone, withStandIns] = asked.map(({ digest }) => digest())
    expect(alone).toBe(documentDigest({ spec: JSON.parse(JSON.stringify(good)) as ValueMap }))
    expect(withStandIns).not.toBe(alone)
  })

  it('because of a fault of the compiler is no review', async () => {
    const compile = () => Promise.reject(new Error('a bug'))
    await expect(ask(near, { compile })).rejects.toThrow('a bug')
  })
})

describe('a forecast that takes long', () => {
  const adviserOf = (forecast: Adviser['forecast']): Adviser => ({
    forecast,
    adviseClass: () => Promise.resolve([]),
    adviseDelete: () => [],
  })
  const requestOf = (document: ValueMap): DocumentRequest => ({
    key: 'shop/orders',
    namespace: 'shop',
    document,
    realm: ANY_REALM,
    secrets: { variables: {}, versions: [] },
  })

  it.each<[string, object, boolean]>([
    ['a document with problems is refused', bad, false],
    ['a good document is allowed', good, true],
  ])('is not waited for: %s', async (_, document, isAllowed) => {
    const clock = createManualClock()
    const adviser = adviserOf(() => new Promise(() => undefined))
    const response = ask({ object: specification(document) }, { clock, adviser })
    await clock.run(1_000)
    expect(await response).toMatchObject({ allowed: isAllowed, warnings: [] })
    expect(clock.pending).toBe(0)
  })

  it('because its document is being compiled has it compiled once, and it is refused', async () => {
    const clock = createManualClock()
    const asked: CompileRequest[] = []
    const compiled = Promise.withResolvers<DocumentResult>()
    const adviser = adviserOf(async (object, compilation) => {
      const document = mapAt(mapAt(object, 'spec'), 'document')
      compilation.compile(requestOf(document))
      await compilation.run()
      return undefined
    })
    const compile: ValidateOptions['compile'] = (request) => {
      asked.push(request)
      return compiled.promise
    }
    const response = ask({ object: specification(good) }, { clock, adviser, compile })
    await clock.run(1_500)
    compiled.resolve({
      problems: [{ code: 'invalid_value', path: '/host', message: 'Wrong' }],
      warnings: [],
    })
    expect(await response).toMatchObject({ allowed: false })
    expect(asked).toHaveLength(1)
  })

  it('has its compilation aborted where that begins after the review', async () => {
    const clock = createManualClock()
    const lookedUp = Promise.withResolvers<undefined>()
    const signals: (AbortSignal | undefined)[] = []
    const adviser = adviserOf(async (_, compilation) => {
      compilation.compile(requestOf({}))
      await lookedUp.promise
      await compilation.run()
      return undefined
    })
    const compile: ValidateOptions['compile'] = ({ signal }) => {
      signals.push(signal)
      return { problems: [], warnings: [] }
    }
    const response = ask({ object: specification(good) }, { clock, adviser, compile })
    await clock.run(1_000)
    await response
    lookedUp.resolve(undefined)
    await clock.run(0)
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true])
  })
})

describe('reviews', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'x'],
    ['a list', []],
    [
      'another version',
      { apiVersion: 'admission.k8s.io/v1beta1', request: { uid: 'a', kind: {} } },
    ],
    ['no request', { apiVersion: 'admission.k8s.io/v1' }],
    ['no uid', { apiVersion: 'admission.k8s.io/v1', request: { kind: {} } }],
    ['no kind', { apiVersion: 'admission.k8s.io/v1', request: { uid: 'a' } }],
    [
      'a kind that is a text',
      { apiVersion: 'admission.k8s.io/v1', request: { uid: 'a', kind: 'x' } },
    ],
  ])('%s is none', (_, value) => {
    expect(readReview(value)).toBeUndefined()
  })

  it('are answered with what the API server asks for', () => {
    const request = readReview({
      apiVersion: 'admission.k8s.io/v1',
      request: { uid: 'a', kind: { group: 'g', kind: 'K' }, name: 'n' },
    })
    if (request === undefined) throw new Error('that was no review')
    expect(reviewResponse(request, { allowed: true, warnings: [] })).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: 'a', allowed: true },
    })
    const refusal = { allowed: false, warnings: ['w'], message: 'm', causes: [] } as const
    expect(reviewResponse(request, refusal)).toMatchObject({
      response: {
        uid: 'a',
        allowed: false,
        warnings: ['w'],
        status: { code: 422, message: 'm', details: { name: 'n', group: 'g', kind: 'K' } },
      },
    })
  })
})

it('what is no object of ours has no validation', async () => {
  const foreign: ValueMap = { apiVersion: 'v1', kind: 'Secret', data: {} }
  expect(await validateResource(foreign)).toBeUndefined()
  expect(await validateResource({})).toBeUndefined()
})
