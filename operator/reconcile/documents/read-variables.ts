// Reads the variables of an ApiSpecification from the Secrets that `variablesFrom` names, and the versions that stand
// for them in its digest.

import type { SecretVersion } from '../../../language/wire/digest.ts'
import { setOwn, type Value, type ValueMap } from '../../../language/expression/value.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import type {
  ApiSpecificationResource,
  SecretResource,
  VariableSource,
} from '../../resource/resource.ts'
import { findSecret, type Found, readSecretKey } from '../../resource/secret-value.ts'
import { secretInput } from '../realms/validate-realm-resource.ts'

export interface SecretVariables {
  readonly variables: ValueMap
  readonly versions: readonly SecretVersion[]
}

/** Later sources win over earlier ones of the same name. */
export const readVariables = (
  resource: ApiSpecificationResource,
  cache: ResourceCache,
): Found<SecretVariables> => {
  const variables: Record<string, Value> = {}
  const versions: SecretVersion[] = []
  for (const source of variableSources(resource)) {
    const secret = findSecret(cache, resource.metadata.namespace, source.secretRef.name)
    if ('missing' in secret) return secret
    for (const [name, key] of keysOf(source, secret.found)) {
      const text = readSecretKey(secret.found, key)
      if ('missing' in text) return text
      setOwn(variables, name, text.found.text)
      versions.push(versionOf(name, key, secret.found))
    }
  }
  return { found: { variables, versions } }
}

/** What the variables depend on, for a memo. */
export const variableInputs = (
  resource: ApiSpecificationResource,
  cache: ResourceCache,
): readonly unknown[] =>
  variableSources(resource).map(({ secretRef }) =>
    secretInput(cache, resource.metadata.namespace, secretRef.name),
  )

const variableSources = (resource: ApiSpecificationResource): readonly VariableSource[] =>
  'spec' in resource.checked ? (resource.checked.spec.variablesFrom ?? []) : []

const keysOf = (
  { name, secretRef }: VariableSource,
  secret: SecretResource,
): readonly (readonly [name: string, key: string])[] =>
  secretRef.key === undefined
    ? Object.keys(secret.data).map((key) => [key, key])
    : [[name ?? secretRef.key, secretRef.key]]

/** The name says which variable comes from which key, so that another key is another digest. */
const versionOf = (name: string, key: string, { metadata }: SecretResource): SecretVersion => ({
  name: `${name}=${metadata.name}/${key}`,
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion,
})
