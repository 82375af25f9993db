// Caches the key set of one provider: concurrent callers share one fetch, and an unknown key causes another one
// immediately, but not more often than a provider can bear.

import { isWithin } from '../security/is-within.ts'

export interface Jwks {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

export interface JwksStore {
  /** The cached key set, if it is still fresh. */
  cached(): Jwks | undefined
  /** For a key that is missing: fetches again, unless that was done within the last 10 s. */
  refresh(): Promise<JwksAnswer>
}

/** `jwks` if the provider sent one; otherwise `response`, whatever it was. */
export interface JwksAnswer {
  readonly jwks?: Jwks
  readonly status: number
}

/** A rotated key under an old name is noticed after this time. */
const FRESH_MS = 300_000
const NOT_WITHIN_MS = 10_000

/** @param fetch rejects if there is no response; never called twice at a time */
export const createJwksStore = (fetch: () => Promise<Response>, now: () => number): JwksStore => {
  let known: { readonly jwks: Jwks; readonly since: number } | undefined
  let running: Promise<JwksAnswer> | undefined

  const download = async (): Promise<JwksAnswer> => {
    const response = await fetch()
    const jwks = response.status === 200 ? await readJwks(response) : undefined
    if (jwks === undefined) return { status: response.status }
    known = { jwks, since: now() }
    return { jwks, status: 200 }
  }

  const isKnownFor = (spanMs: number): boolean =>
    known !== undefined && isWithin(spanMs, { now: now(), since: known.since })

  return {
    cached: () => (isKnownFor(FRESH_MS) ? known?.jwks : undefined),
    refresh() {
      if (known !== undefined && isKnownFor(NOT_WITHIN_MS))
        return Promise.resolve({ jwks: known.jwks, status: 200 })
      running ??= download().finally(() => (running = undefined))
      return running
    },
  }
}

const readJwks = async (response: Response): Promise<Jwks | undefined> => {
  try {
    const body: unknown = await response.json()
    if (typeof body !== 'object' || body === null || !('keys' in body)) return undefined
    const { keys } = body
    return Array.isArray(keys) && keys.every(isObject) ? { keys } : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
