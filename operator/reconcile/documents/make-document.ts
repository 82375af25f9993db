// Makes the entry of the desired state from a compiled document, its variables and its resource. Also for a document that was
// recovered from a data plane: it is accepted only if it has the expected digest. Pure.

import {
  documentDigest,
  plainDigest,
  restrictedDigest,
  withheldBy,
} from '../../../language/wire/digest.ts'
import type { RealmFacts } from '../../../language/realm/environment.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { withDescribedExamples } from '../../../language/without-examples.ts'
import { measure } from '../../../language/measure.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import type { ApiSpecificationResource, ApiSpecificationSpec } from '../../resource/resource.ts'
import { isSameValue } from '../../resource/same-value.ts'
import type { CompiledDocument, DocumentCompiler } from './compile-document.ts'
import type { SecretVariables } from './read-variables.ts'

export interface DocumentParts {
  readonly document: ValueMap
  readonly compiled: CompiledDocument
  readonly secrets: SecretVariables
  readonly restrictions: Restrictions
}

/** What gateways must keep a document from, whatever it says. */
export interface Restrictions {
  /** Its namespace, where it may reach no other. */
  readonly confinedTo: string | undefined
  /** Credentials of its realm that it may not use. */
  readonly withheld: readonly string[]
}

export const makeDocument = (
  resource: ApiSpecificationResource,
  { document, compiled, secrets, restrictions }: DocumentParts,
): DesiredDocument => {
  const spec = withDescribedExamples(document)
  const credentials = [...new Set(compiled.credentialUses.map(({ name }) => name))].sort()
  const plain: DesiredDocument = {
    id: compiled.id,
    digest: documentDigest({ spec, secretVersions: secrets.versions }),
    since: resource.metadata.createdAt,
    realmUri: compiled.realmUri,
    spec,
    ...(secrets.versions.length > 0 && { variables: secrets.variables }),
    hosts: compiled.hosts,
    claims: compiled.claims,
    ...(compiled.callsRouter && { callsRouter: true }),
    ...(compiled.forwardHosts.length > 0 && { forwardHosts: hostsOf(compiled) }),
    ...(credentials.length > 0 && { credentials }),
    namespace: resource.metadata.namespace,
    resource: `${resource.metadata.namespace}/${resource.metadata.name}`,
    ...selectorOf(resource),
  }
  return restrictDocument(plain, restrictions)
}

const hostsOf = ({ forwardHosts }: CompiledDocument): readonly string[] => [
  ...new Set(forwardHosts.map(({ host }) => host)),
]

export interface RemakeContext {
  /** The key of the resource. */
  readonly key: string
  /** Values of the newest generation, as they are now; undefined: not all of them can be read. */
  readonly secrets: SecretVariables | undefined
  readonly compiler: DocumentCompiler
}

/**
 * The same text under other restrictions: what serves follows them, also where it is no longer what is wanted.
 * The same object where nothing changes.
 */
export const restrictDocument = (
  document: DesiredDocument,
  { confinedTo, withheld }: Restrictions,
): DesiredDocument => {
  const { confinedTo: confinedBefore, withheld: withheldBefore = [], ...rest } = document
  const withheldNow = (document.credentials ?? []).filter((name) => withheld.includes(name))
  if (confinedBefore === confinedTo && isSameValue(withheldBefore, withheldNow)) return document
  return {
    ...rest,
    digest: restrictedDigest(plainDigest(document.digest), { confinedTo, withheld: withheldNow }),
    ...(confinedTo !== undefined && { confinedTo }),
    ...(withheldNow.length > 0 && { withheld: withheldNow }),
  }
}

/**
 * With the credentials withheld that were withheld when its digest was recorded: while nothing is known of its realm, a
 * restart must not give any back.
 */
export const withholdAsRecorded = (document: DesiredDocument, digest: string): DesiredDocument =>
  restrictDocument(document, {
    confinedTo: document.confinedTo,
    withheld: withheldBy(digest, document.credentials ?? []),
  })

/**
 * Undefined where the digest is another one, also with the Secrets as they are now: a Secret that has changed since
 * took the document's variables with it, for these are never read back.
 */
export const remakeDocument = async (
  resource: ApiSpecificationResource,
  digest: string,
  document: ValueMap,
  { key, secrets, compiler }: RemakeContext,
): Promise<DesiredDocument | undefined> => {
  // Also a bound on what the digest walks through.
  if (measure(document).length > 0) return undefined
  const fitting = [NO_SECRETS, secrets ?? NO_SECRETS].find(
    ({ versions }) =>
      documentDigest({ spec: document, secretVersions: versions }) === plainDigest(digest),
  )
  if (fitting === undefined) return undefined
  const { namespace } = resource.metadata
  const compilation = await compiler.compileToEnd({
    key,
    namespace,
    document,
    realm: ANY_REALM,
    secrets: fitting,
    quarantined: resource.quarantined,
  })
  if ('problems' in compilation) return undefined
  const { compiled } = compilation
  const parts = { document, compiled, secrets: fitting, restrictions: UNRESTRICTED }
  return withholdAsRecorded(makeDocument(resource, parts), digest)
}

/** Until it is validated, which is before it is sent; what was withheld is added to it. */
const UNRESTRICTED: Restrictions = { confinedTo: undefined, withheld: [] }

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
