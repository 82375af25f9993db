// Documents for tests of compile(): only what a test is about need be said.

import { compile } from '../../language/compile.ts'
import type {
  CompiledApi,
  CompiledOperation,
  CompiledPath,
} from '../../language/compile/compiled.ts'
import type { Environment, RealmFacts } from '../../language/realm/environment.ts'
import type { Value, ValueMap } from '../../language/expression/value.ts'
import type { Problem, Warning } from '../../language/problem.ts'

export const STATIC: ValueMap = { action: { type: 'static', body: 'x' } }

const PLAIN: RealmFacts = { authmethods: [], oidcProviders: [] }

export interface Parts {
  readonly api?: Readonly<Record<string, unknown>>
  readonly version?: Readonly<Record<string, unknown>>
  readonly paths?: Readonly<Record<string, unknown>>
  readonly realm?: RealmFacts
  readonly secrets?: ValueMap
}

/** One version `v1` at `/v1` with one path `/x`, unless said otherwise. */
export const documentOf = ({
  api = {},
  version = {},
  paths = { '/x': { get: STATIC } },
}: Parts) => ({
  id: 'a',
  host: '_',
  realm_uri: 'com.acme',
  versions: { v1: { base_path: '/v1', paths, ...version } },
  ...api,
})

const environmentOf = ({ realm = PLAIN, secrets }: Parts): Environment => ({
  realm: () => realm,
  ...(secrets === undefined ? {} : { variables: secrets }),
})

export const problemsOf = (parts: Parts): readonly Problem[] => {
  const compilation = compile(documentOf(parts), environmentOf(parts))
  return 'problems' in compilation ? compilation.problems : []
}

export const faultsOf = (parts: Parts): readonly (readonly [path: string, code: string])[] =>
  problemsOf(parts).map(({ path, code }) => [path, code] as const)

/** Throws what is wrong with the document. */
export const compiled = (parts: Parts): CompiledApi & { readonly warnings: readonly Warning[] } => {
  const compilation = compile(documentOf(parts), environmentOf(parts))
  if ('problems' in compilation) throw new Error(JSON.stringify(compilation.problems))
  return { ...compilation.compiled, warnings: compilation.warnings }
}

/** The first path of the first version. */
export const compiledPath = (parts: Parts): CompiledPath => {
  const path = compiled(parts).versions[0]?.paths[0]
  if (path === undefined) throw new Error('there is no path')
  return path
}

/** The GET of `/x`, whose static body is `body`. */
export const compiledGet = (parts: Parts): CompiledOperation => {
  const { get } = compiledPath(parts).operations
  if (get === undefined) throw new Error('there is no GET')
  return get
}

/** What the body of a static GET at `/x` becomes. */
export const foldedBody = (body: Value, parts: Omit<Parts, 'paths'> = {}, path: ValueMap = {}) => {
  const paths = { '/x': { ...path, get: { action: { type: 'static', body } } } }
  const { action } = compiledGet({ ...parts, paths })
  return action.type === 'static' ? action.body : undefined
}
