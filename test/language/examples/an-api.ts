// Compiles an API and lists its examples, for tests of them.

import { compile } from '../../../language/compile.ts'
import type { CompiledApi } from '../../../language/compile/compiled.ts'
import type { Example, PlacedExample } from '../../../language/examples/example.ts'
import type { Environment } from '../../../language/realm/environment.ts'
import { listExamples } from '../../../language/examples/list-examples.ts'

export const ANY_REALM: Environment = {
  realm: () => ({ authmethods: ['oidcrp', 'cookie'], oidcProviders: ['default'] }),
}

/** @throws Error with what is wrong with it */
export const compiledApi = (document: unknown): CompiledApi => {
  const compilation = compile(document, ANY_REALM)
  if ('problems' in compilation) throw new Error(JSON.stringify(compilation.problems))
  return compilation.compiled
}

export const apiOf = (paths: object, { host = '_', basePath = '/' } = {}) => ({
  id: 'com.example.api',
  host,
  realm_uri: 'com.example',
  versions: { v1: { base_path: basePath, paths } },
})

/** Of a path whose GET has this one example. */
export const exampleAt = (
  path: string,
  example: Partial<Example>,
  more: { readonly host?: string; readonly basePath?: string } = {},
): PlacedExample => {
  const examples = { one: { expect: {}, ...example } }
  const get = { action: { type: 'static', body: 'a' }, examples }
  const document = apiOf({ [path]: { get } }, more)
  const [placed] = listExamples(document, compiledApi(document)).flatMap((each) => each.examples)
  if (placed === undefined) throw new Error('there is no example')
  return placed
}
