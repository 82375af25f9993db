// Says in lines for a person why the API server did not take an object, with the place in its file, and what would do.
// Pure.

import type { ApiError, ApiErrorCause } from '../../operator/kubernetes/client/api.ts'
import { plainText } from '../../operator/fleet/client/plain-text.ts'
import type { AppliedObject } from './applied-object.ts'
import { isMissingNamespace } from './apply-objects.ts'

/** The first line names the object and its place. */
export const failureLines = (object: AppliedObject, error: ApiError): readonly string[] => {
  const { title, placeOf } = object
  const at = (words: string, path = ''): string => `${placeOf(path)} ${title}${words}`
  const conflicts = error.causes.filter(({ reason }) => reason === 'FieldManagerConflict')
  if (conflicts.length > 0)
    return [at(': fields that another manager has set:'), ...conflicts.map(conflictLine)]
  const webhook = WEBHOOK.exec(error.message)?.[1]
  if (webhook !== undefined)
    return refusalLines(object, error, `: admission (${webhook}) refuses it`)
  if (error.status === 422) return refusalLines(object, error, ': the API server refuses it')
  if (isMissingNamespace(error))
    return [
      at(`: there is no namespace ${object.name.namespace}: create it, or apply its manifest too`),
    ]
  if (error.code === 'not_found')
    return [
      at(
        `: this cluster does not know the kind ${object.kind}: install the chart, or crds/, first`,
      ),
    ]
  if (error.code === 'forbidden') return [at(`: ${wordsOf(error)}`), ...rightLines(object)]
  return [at(`: ${wordsOf(error)}`)]
}

/** What helps against failures of their kind, once for all of them. */
export const remedyOf = (errors: readonly ApiError[]): string | undefined =>
  errors.some(({ causes }) => causes.some(({ reason }) => reason === 'FieldManagerConflict'))
    ? 'Take these fields over with --force-conflicts, or leave them out of the files.'
    : undefined

/**
 * Describes a failure of the whole cluster, which is printed once and not for each object.
 * @example describeClusterFailure(error, 'https://127.0.0.1:6443')
 */
export const describeClusterFailure = (error: ApiError, server: string): string | undefined => {
  if (error.code === 'unauthorized')
    return `the API server at ${server} does not accept the credentials of the kubeconfig: log in again, or choose another context`
  return error.code === 'no_response'
    ? `${server}: ${wordsOf(error).replace(/^\w+: /, '')}`
    : undefined
}

/** Describes the failure of a call that is about no object of a file. */
export const describeCall = (error: ApiError, server: string): string =>
  describeClusterFailure(error, server) ?? wordsOf(error)

const WEBHOOK = /admission webhook "([^"]{1,253})" denied the request/
const MAX_LINE = 1000

const conflictLine = ({ field, message }: ApiErrorCause): string => {
  const manager = /conflicts? with "([^"]*)"/.exec(message)?.[1] ?? message
  return `  ${plainText(field, MAX_LINE)} is set by ${plainText(manager, MAX_LINE)}`
}

const refusalLines = (
  { title, placeOf }: AppliedObject,
  error: ApiError,
  words: string,
): readonly string[] => {
  const { causes } = error
  if (causes.length === 0) {
    const message = withoutStatus(error).replace(/^[\s\S]*denied the request: /, '')
    return [
      `${placeOf('')} ${title}${words}:`,
      ...message.split('\n').map((line) => `  ${plainText(line, MAX_LINE)}`),
    ]
  }
  return [
    `${placeOf('')} ${title}${words}:`,
    ...causes.map(({ field, message }) => {
      const pointer = pointerOf(field)
      const words = plainText(message, MAX_LINE)
      return pointer === ''
        ? `  ${words}`
        : `  ${placeOf(pointer)} ${plainText(pointer, MAX_LINE)} ${words}`
    }),
  ]
}

/**
 * Our admission gives JSON pointers, the API server paths of its own.
 * @internal
 * @example pointerOf('spec.router.urls[0]') // '/spec/router/urls/0'
 */
export const pointerOf = (field: string): string =>
  field === '' || field.startsWith('/')
    ? field
    : `/${field
        .replace(/^\./, '')
        .replaceAll(/\[(\d+)\]/g, '.$1')
        .replaceAll('.', '/')}`

const withoutStatus = ({ message }: ApiError): string => message.replace(/ \(HTTP \d+\)$/, '')

const wordsOf = (error: ApiError): string => plainText(withoutStatus(error), MAX_LINE)

/** Which of the roles that every cluster has would do; see `clusterRoles`. */
const ROLES = {
  ApiSpecification: 'edit',
  Realm: 'admin',
  Secret: 'edit',
  ConfigMap: 'edit',
  Namespace: 'cluster-admin',
} as const satisfies Record<AppliedObject['kind'], string>

const rightLines = ({ kind, type, name }: AppliedObject): readonly string[] => {
  const resource = type.group === '' ? type.plural : `${type.plural}.${type.group}`
  const where = name.namespace === '' ? 'the cluster' : `namespace ${name.namespace}`
  return [
    `  Needed are get, create and patch of ${resource} in ${where}; the ClusterRole ${ROLES[kind]} has them.`,
  ]
}
