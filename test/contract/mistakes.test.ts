// What is found in a document is the same wherever it is validated: the command line, the webhook, the operator for its
// conditions, and a gateway for its management API.

import { describe, expect, it } from '@jest/globals'
import { validateInProcess } from '../../dataplane/store/change/validate-document.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import { readReview } from '../../operator/admission/review.ts'
import { validateReview } from '../../operator/admission/validate-review.ts'
import { parseYaml } from '../../operator/manifests/parse-yaml.ts'
import { compileAtOnce } from '../../operator/reconcile/documents/compile-document.ts'
import { Reconciler } from '../../operator/reconcile/reconciler.ts'
import { readResource } from '../../operator/resource/read-resource.ts'
import { API_VERSION, GROUP, keyOf, type Resource } from '../../operator/resource/resource.ts'
import { validateFiles } from '../../cli/validate/validate-files.ts'
import { REALM, withMistake } from '../support/mistakes.ts'

const valueOf = (text: string): ValueMap => {
  const parsed = parseYaml(text)
  if ('error' in parsed) throw new Error(parsed.error.message)
  return parsed.documents[0]?.value as ValueMap
}

type Found = readonly string[]

/** Without what the operator sets before pointers into the document. */
const shown = (found: readonly (Problem | Warning)[]): Found =>
  found.map(({ code, path, message }) => `${code} ${path.replace('/spec/document', '')} ${message}`)

const byCommandLine = (text: string): Found =>
  validateFiles([
    { name: 'document.yaml', text },
    { name: 'realm.yaml', text: REALM },
  ])
    .diagnostics.map(({ code, path, message }) => `${code} ${path} ${message}`)
    .sort()

const byManagement = (text: string): Found => {
  const facts = { authmethods: [], oidcProviders: [] }
  const validation = validateInProcess()(valueOf(text), { realm: () => facts })
  return shown([...(validation.ok ? [] : validation.problems), ...validation.warnings])
}

const manifestOf = (text: string): ValueMap => ({
  apiVersion: API_VERSION,
  kind: 'ApiSpecification',
  metadata: { name: 'orders', namespace: 'default' },
  spec: { document: valueOf(text) },
})

const byConditions = (text: string): Found => {
  const known = { uid: '', resourceVersion: '', generation: 1, createdAt: 0 }
  const resources = [manifestOf(text), valueOf(REALM)].map((value): Resource => {
    const read = readResource(value, known)
    if (read.result !== 'resource') throw new Error('that was no resource')
    return read.resource
  })
  const cache = {
    version: 1,
    resources: new Map(resources.map((each) => [keyOf(each), each])),
    notes: [],
  }
  const reconciler = new Reconciler({ className: 'svc', compiler: compileAtOnce() })
  const { results } = reconciler.reconcile(cache)
  const result = results.get('ApiSpecification/default/orders')
  return shown([...(result?.errors ?? []), ...(result?.warnings ?? [])])
}

/** All that it says, as texts. */
const byWebhook = async (text: string): Promise<string> => {
  const object = manifestOf(text)
  const request = readReview({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u',
      kind: { group: GROUP, version: 'v1alpha1', kind: 'ApiSpecification' },
      operation: 'CREATE',
      namespace: 'default',
      name: 'orders',
      options: { fieldManager: 'kubectl' },
      object,
      oldObject: null,
    },
  })
  if (request === undefined) throw new Error('that was no review')
  return JSON.stringify(await validateReview(request, { className: 'svc' }))
}

/** kubectl cuts warnings behind a long pointer. */
const SHOWN = 40

describe('what is found does not depend on who looks', () => {
  it.each<[string, string | RegExp, string]>([
    ['a required name that is misspelt', 'base_path:', 'basepath:'],
    ['a name that is misspelt', 'response:', 'respones:'],
    ['a time with its unit', 'timeout: 5000', 'timeout: 5s'],
    ['seconds', 'timeout: 5000', 'timeout: 30'],
    ['an unknown variable', 'variables.backend}', 'variables.backened}'],
    ['an unknown function', 'variables.backend}', 'variables.backend |> upper}'],
    ['a binding that the path lacks', 'request.bindings.id', 'request.bindings.item_id'],
    ['{id} in a path', '/items/:id:', '/items/{id}:'],
    ['a host with a path', 'http://backend.test:8080', 'http://backend.test/api'],
    ['a path with a line break', 'path: /items/', 'path: |\n              /items/'],
    ['an expression without quotes', "'{{variables.backend}}'", '{{variables.backend}}'],
    ['{x}', '{{request.bindings.id}}', '{request.bindings.id}'],
    ['a value from a variable', 'timeout: 5000', "timeout: '{{variables.backend}}'"],
    ['oidc in a realm without', '        get:', '        security: {type: oidc}\n        get:'],
  ])('%s', async (_, right, wrong) => {
    const text = withMistake(right, wrong)
    const found = byCommandLine(text)
    expect(found.length).toBeGreaterThan(0)
    expect([...byManagement(text)].sort()).toEqual(found)
    expect([...byConditions(text)].sort()).toEqual(found)
    const words = await byWebhook(text)
    // Of a realm the webhook knows nothing.
    const messages = found
      .map((each) => each.split(' ').slice(2).join(' '))
      .filter((message) => !message.startsWith('oidc needs'))
    for (const message of messages)
      expect(words).toContain(JSON.stringify(message).slice(1, -1).slice(0, SHOWN))
  })

  it('no offset is sent to anybody', async () => {
    const text = withMistake('variables.backend}', 'variables.backened}')
    const facts = { authmethods: [], oidcProviders: [] }
    const validation = validateInProcess()(valueOf(text), { realm: () => facts })
    expect(JSON.stringify(validation)).not.toContain('offset')
    expect(await byWebhook(text)).not.toContain('offset')
  })
})
