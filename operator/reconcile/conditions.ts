// Defines the wordings of the conditions that reconciling sets, in one place, so that equal facts have equal words.

import type { Problem, Warning } from '../../language/problem.ts'
import type { NewCondition } from '../resource/condition.ts'
import { ANNOTATIONS } from '../resource/resource.ts'
import type { MissingReference } from '../resource/secret-value.ts'

const ACCEPTED: NewCondition<'Accepted'> = {
  type: 'Accepted',
  status: 'True',
  reason: 'Accepted',
  message: 'valid',
}

/** Warnings show in conditions too: how many, and the first. */
export const acceptedWith = (warnings: readonly Warning[]): NewCondition<'Accepted'> => {
  const first = warnings[0]
  if (first === undefined) return ACCEPTED
  const count = warnings.length === 1 ? 'a warning' : `${warnings.length} warnings`
  return { ...ACCEPTED, message: `valid, with ${count}: ${describeProblem(first)}` }
}

export const ACCEPTED_PENDING: NewCondition<'Accepted'> = {
  type: 'Accepted',
  status: 'Unknown',
  reason: 'Pending',
  message: 'validated once its references resolve',
}

export const ACCEPTED_COMPILING: NewCondition<'Accepted'> = {
  type: 'Accepted',
  status: 'Unknown',
  reason: 'Pending',
  message: 'it is being compiled',
}

export const RESOLVED: NewCondition<'ResolvedRefs'> = {
  type: 'ResolvedRefs',
  status: 'True',
  reason: 'ResolvedRefs',
  message: 'every reference resolves',
}

export const REFERENCES_PENDING: NewCondition<'ResolvedRefs'> = {
  type: 'ResolvedRefs',
  status: 'Unknown',
  reason: 'Pending',
  message: 'checked once the resource is valid',
}

export const REFERENCES_WITHOUT_ROOM: NewCondition<'ResolvedRefs'> = {
  ...REFERENCES_PENDING,
  message: 'checked once the quota of the namespace has room for it',
}

/** The first problem with its pointer, and how many there are. */
export const invalid = (problems: readonly Problem[]): NewCondition<'Accepted'> => {
  const first = problems[0]
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  const message = first === undefined ? 'invalid' : `${describeProblem(first)}${more}`
  return { type: 'Accepted', status: 'False', reason: 'Invalid', message }
}

/** @example '/host: host is missing' */
export const describeProblem = ({ path, message }: Problem | Warning): string =>
  path === '' || message.startsWith(path) ? message : `${path}: ${message}`

export const tooLarge = (message: string): NewCondition<'Accepted'> => ({
  type: 'Accepted',
  status: 'False',
  reason: 'TooLarge',
  message,
})

export const tooExpensive = (message: string): NewCondition<'Accepted'> => ({
  type: 'Accepted',
  status: 'False',
  reason: 'TooExpensive',
  message,
})

export const conflicted = (message: string): NewCondition<'Accepted'> => ({
  type: 'Accepted',
  status: 'False',
  reason: 'Conflicted',
  message,
})

export const missing = ({ reason, message }: MissingReference): NewCondition<'ResolvedRefs'> => ({
  type: 'ResolvedRefs',
  status: 'False',
  reason,
  message,
})

/** The message is the same for a missing Realm and one that may not be used, as it must not disclose which ones exist. */
export const realmUnusable = (
  reason: 'RealmNotFound' | 'RefNotPermitted',
  uri: string,
  namespace: string,
): NewCondition<'ResolvedRefs'> => ({
  type: 'ResolvedRefs',
  status: 'False',
  reason,
  message:
    `there is no realm '${uri}' that namespace ${namespace} may use: create a Realm with this uri, ` +
    'or let allowedNamespaces of the existing one admit the namespace',
})

/** The message of a document that serves for a while after its Realm was deleted. */
export const realmStillServes = ({
  uri,
}: {
  readonly uri: string
}): NewCondition<'ResolvedRefs'> => ({
  ...RESOLVED,
  message:
    `every reference resolves, but the Realm of '${uri}' has been deleted, or given another class, and serves for ` +
    'a moment only: create it again, or use another realm_uri',
})

/** The message of a document that serves with a realm that is gone for good. */
export const realmDeleted = (uri: string): NewCondition<'ResolvedRefs'> => ({
  type: 'ResolvedRefs',
  status: 'False',
  reason: 'RealmDeleted',
  message:
    `the Realm of '${uri}' has been deleted, or given another class: operations that need no realm are still served, all others are ` +
    'rejected (wamp.error.no_such_realm, 401, 503); create a Realm with this uri, or delete this document',
})

/** Where a document selects a sidecar of its namespace, and its Realm is of another one. */
export const realmForbidden = (uri: string, namespace: string): NewCondition<'ResolvedRefs'> => ({
  type: 'ResolvedRefs',
  status: 'False',
  reason: 'RefNotPermitted',
  message:
    `a sidecar selected by this document may not receive the realm '${uri}', which belongs to another namespace: ` +
    'a sidecar receives only Realms of its own namespace, as they contain signing keys. ' +
    `Create a Realm in ${namespace}, or select gateways of the shared pool`,
})

/**
 * For a document that serves with a realm that was paused or unreadable when this operator started: the version that data
 * planes have is not known, as they never return its secrets.
 * @param namespace of the document; the Realm is named only within its own namespace
 */
export const realmHeld = (
  uri: string,
  namespace: string,
  realm: { readonly namespace: string; readonly name: string; readonly isPaused: boolean },
): NewCondition<'ResolvedRefs'> => {
  const isOwn = realm.namespace === namespace
  const named = isOwn ? `Realm ${namespace}/${realm.name}` : `the realm '${uri}'`
  const why = realm.isPaused
    ? 'is paused, and has changed or become unreadable since it was loaded'
    : `can't be loaded as it is now${isOwn ? ' (see its conditions)' : ''}`
  const cure = realm.isPaused
    ? `remove the annotation ${ANNOTATIONS.paused} from it to go on`
    : 'it is checked again by itself'
  return {
    type: 'ResolvedRefs',
    status: 'Unknown',
    reason: 'Pending',
    message:
      `${named} ${why}, and this operator does not know the version that serves: gateways that have it keep it, ` +
      `and this document with it; a new gateway can't get it, as gateways never return secrets, and rejects what ` +
      `needs it; ${cure}`,
  }
}

/** For documents in the namespace of the Realm only, as the message discloses that it exists. */
export const realmUnready = (namespace: string, name: string): NewCondition<'ResolvedRefs'> => ({
  type: 'ResolvedRefs',
  status: 'False',
  reason: 'RealmNotFound',
  message: `Realm ${namespace}/${name} is not valid itself: see its conditions`,
})
