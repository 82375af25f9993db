// Turns the security requirements of an OpenAPI description into Security Objects. What has no counterpart is replaced by
// something that lets nobody in until it is filled in, never by nothing.

import { childPointer } from '../../base/json-pointer.ts'
import { listAt, mapAt, memberAt, textAt } from '../../language/expression/members.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { type Description, type Drop, follow, type Placed } from './description.ts'

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const MOST_ALTERNATIVES = 8

/** `{}`: anybody may call. */
export const convertSecurity = (
  description: Description,
  requirements: Value,
  pointer: string,
  drop: Drop,
): Value => {
  if (!isList(requirements)) {
    drop(pointer, 'this is no list of requirements: basic stands in, so that nothing is open')
    return { type: 'basic' }
  }
  const alternatives = new Map<string, Value>()
  for (const [at, requirement] of requirements.entries()) {
    const required = readRequirement(requirement, childPointer(pointer, at), drop)
    if (required === undefined) {
      if (requirements.length > 1) drop(pointer, 'security is optional: everybody may call')
      return {}
    }
    const converted = convertScheme(description, required, drop)
    const key = `${textAt(converted, 'type')} ${textAt(converted, 'header_name')}`
    if (alternatives.has(key) || alternatives.size === MOST_ALTERNATIVES)
      drop(required.place, 'an alternative of this type is there already')
    else alternatives.set(key, converted)
  }
  const all = [...alternatives.values()]
  return all.length > 1 ? all : (all[0] ?? {})
}

/** Undefined: nothing is required. What is no map has a scheme without a name, which is none. */
const readRequirement = (requirement: Value, place: string, drop: Drop): Required | undefined => {
  if (!isMap(requirement)) return { name: '', scopes: [], place }
  const [name, another] = Object.keys(requirement)
  if (another !== undefined) {
    drop(place, 'several schemes at once are none here: basic stands in, so that nothing is open')
    return { name: '', scopes: [], place }
  }
  return name === undefined ? undefined : { name, scopes: listAt(requirement, name), place }
}

interface Required {
  readonly name: string
  readonly scopes: readonly Value[]
  readonly place: string
}

const convertScheme = (description: Description, required: Required, drop: Drop): ValueMap => {
  const { value: scheme, pointer } = findScheme(description, required)
  switch (kindOfScheme(scheme)) {
    case 'basic':
      return { type: 'basic' }
    case 'apiKey':
      return convertApiKey(scheme, pointer, drop)
    case 'bearer':
      drop(
        pointer,
        'fill in the issuer of bearer tokens in trustedIssuers of the Realm: until then nobody is let in',
      )
      return withScopes(required, drop)
    case 'other':
      drop(pointer, 'there is no such scheme here: basic stands in, so that nothing is open')
      return { type: 'basic' }
  }
}

const findScheme = (description: Description, { name }: Required): Placed<ValueMap> => {
  const { root, dialect } = description
  const [schemes, section] =
    dialect === '2.0'
      ? [mapAt(root, 'securityDefinitions'), '/securityDefinitions']
      : [mapAt(mapAt(root, 'components'), 'securitySchemes'), '/components/securitySchemes']
  const pointer = childPointer(section, name)
  const placed = { value: memberAt(schemes, name) ?? null, pointer }
  return follow(description, placed) ?? { value: {}, pointer }
}

const kindOfScheme = (scheme: ValueMap): 'basic' | 'apiKey' | 'bearer' | 'other' => {
  const type = textAt(scheme, 'type')
  const kind = type === 'http' ? textAt(scheme, 'scheme').toLowerCase() : type
  if (kind === 'basic' || kind === 'apiKey') return kind
  return kind === 'bearer' || kind === 'oauth2' || kind === 'openIdConnect' ? 'bearer' : 'other'
}

const convertApiKey = (scheme: ValueMap, pointer: string, drop: Drop): ValueMap => {
  const name = textAt(scheme, 'name').toLowerCase()
  const isName = HEADER_NAME.test(name) && name !== 'cookie'
  if (textAt(scheme, 'in') !== 'header' || !isName) drop(pointer, 'keys come in a header here')
  return { type: 'api_key', header_name: isName ? name : 'x-api-key' }
}

const withScopes = ({ scopes, place }: Required, drop: Drop): ValueMap => {
  if (!scopes.every((scope) => typeof scope === 'string' && !scope.includes('{{'))) {
    drop(place, 'these are no scopes: basic stands in, so that nothing is open')
    return { type: 'basic' }
  }
  return { type: 'oauth2', flow: 'authorization_code', ...(scopes.length > 0 && { scopes }) }
}

/** What stands nearest: at the operation, else at the description. */
export const requirementsOf = (
  { root }: Description,
  operation: ValueMap,
  pointer: string,
): { readonly value: Value; readonly pointer: string } => {
  const own = ownValue(operation, 'security')
  const all = ownValue(root, 'security')
  return own === undefined
    ? { value: all === undefined ? [] : all, pointer: '/security' }
    : { value: own, pointer: childPointer(pointer, 'security') }
}
