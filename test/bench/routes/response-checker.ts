// Decides whether a response of a document that is being changed is one that some version of it gives, and no mixture.

import { liveVersion, type LiveVersion } from './documents.ts'

/** What was asked: the path that is always there with and without the API key, or the one that comes and goes. */
export type Question = 'with key' | 'without key' | 'extra path'

export const QUESTIONS = ['with key', 'without key', 'extra path'] as const

export interface Seen {
  readonly status: number
  /** Of the response header that the document adds. */
  readonly version: number | undefined
  /** Index of the upstream that answered. */
  readonly upstream: number | undefined
  /** Of the request header that the upstream received. */
  readonly sentVersion: number | undefined
}

/** Oldest and newest version that may answer a request, both included. */
export interface Window {
  readonly oldest: number
  readonly newest: number
}

/** @example expectedStatus('without key', liveVersion(2)) // 401 */
export const expectedStatus = (question: Question, version: LiveVersion): 200 | 401 | 404 => {
  if (question === 'extra path' && !version.hasExtraPath) return 404
  return question === 'without key' && version.isSecured ? 401 : 200
}

/** Why the response is wrong; undefined: it is right. */
export const wrongness = (
  question: Question,
  seen: Seen,
  { oldest, newest }: Window,
): string | undefined => {
  const { status, version, upstream, sentVersion } = seen
  if (status !== 200) {
    const numbers = Array.from({ length: newest - oldest + 1 }, (_, index) => oldest + index)
    const isOfOne = numbers.some((each) => expectedStatus(question, liveVersion(each)) === status)
    return isOfOne ? undefined : `${status}, which no version from ${oldest} to ${newest} answers`
  }
  if (version === undefined || Number.isNaN(version)) return '200 without a version'
  if (version < oldest) return `version ${version} after version ${oldest} had been seen`
  if (version > newest) return `version ${version}, which is not applied yet`
  const own = liveVersion(version)
  if (expectedStatus(question, own) !== 200) return `200 of version ${version}, which refuses it`
  if (sentVersion !== version) return `version ${version}, sent to the upstream as ${sentVersion}`
  return upstream === own.upstream
    ? undefined
    : `version ${version} by upstream ${upstream}, which is not its own`
}
