// Defines what a page of the operator is, and lists the pages: for a laptop, for probes, for people who look for a
// fault.

import type { OperatorStatus } from '../controller/controller.ts'
import type { Locate } from '../resource/resource-source.ts'
import type { LeaderRecord } from './leader-record.ts'
import { statusRecord } from './status-record.ts'

export type Page =
  | { readonly json: object; readonly status?: number }
  | { readonly text: string; readonly contentType: string }
  /** 204: all is well. */
  | { readonly isWell: true }
  /** 503, and why. */
  | { readonly error: string }

export const PAGE_NOT_FOUND = 'not found'

/** @param code as in error records of the management API */
export const errorPage = (
  status: number,
  code: string,
  message: string,
  description = '',
): Page => ({ status, json: { code, message, description } })

/** Pages by path. A page is passed the segments that `:name` stands for, in order, and then the query without its `?`. */
export type Pages = Readonly<
  Record<
    string,
    (
      ...values: readonly string[]
    ) => Page | typeof PAGE_NOT_FOUND | Promise<Page | typeof PAGE_NOT_FOUND>
  >
>

/** Those whose probes may wait for a good response (`?wait=SECONDS`): looking again costs nothing. */
export const READINESS_PATHS: ReadonlySet<string> = new Set(['/ready', '/readyz'])

export interface PageSources {
  readonly status: () => OperatorStatus
  /** Left out where there are no others: this one leads. */
  readonly leader?: () => LeaderRecord
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
  /** Undefined: everything has been read once, so that it could lead. */
  readonly unready: () => string | undefined
  /** Left out where resources are in no files. */
  readonly locate?: Locate
}

const WELL: Page = { isWell: true }

/** The operator's pages for people; on loopback, as they name what is served. */
export const statusPages = (sources: PageSources): Pages => ({
  '/status': () => {
    // First: where its Lease is over, a leader learns it by this.
    const leader = sources.leader?.()
    return { json: statusRecord(sources.status(), leader, sources.unready(), sources.locate) }
  },
  '/ping': () => WELL,
  '/ready': () => readiness(sources),
  '/metrics': () => sources.metrics(),
})

/** For the kubelet and Prometheus: nothing in it is worth hiding. */
export const healthPages = (sources: PageSources): Pages => ({
  '/livez': () => WELL,
  '/readyz': () => readiness(sources),
  '/metrics': () => sources.metrics(),
})

/** A standby is ready too: it could lead at once. */
const readiness = ({ unready }: PageSources): Page => {
  const error = unready()
  return error === undefined ? WELL : { error }
}
