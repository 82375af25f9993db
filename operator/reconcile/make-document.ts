// A compiled document, its variables and the resource it stands in, in; the entry of the desired set out. Also for
// a document that came back from a data plane: it counts only with the very digest that it should have. Pure.

import { compile } from '../../spec/compile.ts'
import type { CompiledApi } from '../../spec/compiled.ts'
import { claimsOf } from '../../spec/conflicts.ts'
import { documentDigest } from '../../spec/digest.ts'
import type { RealmFacts } from '../../spec/environment.ts'
import type { ValueMap } from '../../spec/expression/value.ts'
import { measure } from '../../spec/measure.ts'
import type { DesiredDocument } from '../desired-set.ts'
import type { ApiSpecificationResource, ApiSpecificationSpec } from '../resource/resource.ts'
import type { SecretVariables } from './read-variables.ts'

export interface DocumentParts {
  readonly document: ValueMap
  readonly compiled: CompiledApi
  readonly secrets: SecretVariables
}

export const makeDocument = (
  resource: ApiSpecificationResource,
  { document, compiled, secrets }: DocumentParts,
): DesiredDocument => ({
  id: compiled.id,
  digest: documentDigest({ spec: document, secretVersions: secrets.versions }),
  since: resource.metadata.createdAt,
  realmUri: compiled.realmUri,
  spec: document,
  ...(secrets.versions.length > 0 && { variables: secrets.variables }),
  claims: claimsOf(compiled),
  namespace: resource.metadata.namespace,
  ...selectorOf(resource),
})

/**
 * Undefined where the digest is another one, also with the Secrets as they are now: a Secret that has changed since
 * took the document's variables with it, for these are never read back.
 * @param secrets of the newest generation, as they are now; undefined: not all of them can be read
 */
export const remakeDocument = (
  resource: ApiSpecificationResource,
  digest: string,
  document: ValueMap,
  secrets: SecretVariables | undefined,
): DesiredDocument | undefined => {
  // Also a bound on what the digest walks through.
  if (measure(document).length > 0) return undefined
  const fitting = [NO_SECRETS, secrets ?? NO_SECRETS].find(
    ({ versions }) => documentDigest({ spec: document, secretVersions: versions }) === digest,
  )
  if (fitting === undefined) return undefined
  const compilation = compile(document, {
    realm: () => ANY_REALM,
    variables: fitting.variables,
  })
  if ('problems' in compilation) return undefined
  return makeDocument(resource, { document, compiled: compilation.compiled, secrets: fitting })
}

/** Allows whatever a document may ask of a realm. */
export const ANY_REALM: RealmFacts = {
  authmethods: ['oidcrp', 'cookie'],
  oidcProviders: [],
}

const NO_SECRETS: SecretVariables = { variables: {}, versions: [] }

const selectorOf = ({ checked }: ApiSpecificationResource): Pick<DesiredDocument, 'selector'> => {
  const spec: Partial<ApiSpecificationSpec> = 'spec' in checked ? checked.spec : {}
  return spec.dataPlaneSelector === undefined ? {} : { selector: spec.dataPlaneSelector }
}
