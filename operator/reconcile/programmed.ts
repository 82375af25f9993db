// The verdict on a document and what the data planes say of it in; the Programmed finding, and what must be
// remembered for the next one, out. Pure: time comes in.

import type { DataPlaneReport } from '../data-plane.ts'
import type { Finding } from '../resource/condition.ts'
import { describeProblem } from './findings.ts'
import type { Verdict } from './verdict.ts'

/** Remembered from one finding to the next. */
export interface Latch {
  readonly generation: number
  readonly digest: string
  /** Since when a ready data plane has held something else, Unix time in milliseconds. */
  readonly differsSince?: number
}

export interface Programmed {
  readonly finding: Finding<'Programmed'>
  /** Set while Programmed is True. */
  readonly latch?: Latch
  /** Every data plane that answered refuses it: nothing changes until somebody acts. */
  readonly rejectedByAll: boolean
}

/** A latched document may differ somewhere for this long before it counts. */
const DIFFERS_MS = 30_000

/**
 * Latched per generation: data planes that come and go do not turn it; only a ready one that refuses, or
 * holds another digest for 30 s, does.
 * @param reports of the data planes that are to hold the document
 */
export const judgeProgrammed = (
  verdict: Verdict,
  reports: readonly DataPlaneReport[],
  latch: Latch | undefined,
  nowMs: number,
): Programmed => {
  const { digest, id } = verdict
  const isGood = verdict.accepted.status === 'True' && verdict.resolvedRefs.status === 'True'
  if (!isGood || digest === undefined || id === undefined) return notGood(verdict)
  const answers = reports.map((report) => answerOf(report, id, digest))
  const { generation } = verdict.resource.metadata
  const held = latch?.generation === generation && latch.digest === digest ? latch : undefined
  const rejectedByAll = isRejectedByAll(answers)
  const found = findingOf(answers, reports, id)
  if (found.status === 'True') {
    return { finding: found, latch: { generation, digest }, rejectedByAll }
  }
  if (held === undefined || answers.includes('rejected')) return { finding: found, rejectedByAll }
  return stayLatched(held, answers, { found, nowMs })
}

/** Without counts: data planes that come and go must not write a status. */
const PROGRAMMED: Finding<'Programmed'> = {
  type: 'Programmed',
  status: 'True',
  reason: 'Programmed',
  message: 'held by every data plane that is ready',
}

type Answer =
  /** Ready, and holds this digest. */
  | 'holds'
  /** Ready, and holds another version or none. */
  | 'differs'
  | 'rejected'
  /** It answers, and is not ready yet. */
  | 'syncing'
  | 'unreachable'

const UNREACHABLE: ReadonlySet<string> = new Set([
  ...['unreachable', 'unauthorized', 'not_owner', 'superseded'],
])

const answerOf = (report: DataPlaneReport, id: string, digest: string): Answer => {
  if (UNREACHABLE.has(report.phase)) return 'unreachable'
  if (report.rejected.documents.get(id)?.digest === digest) return 'rejected'
  if (!report.ready) return 'syncing'
  return report.documents.get(id)?.digest === digest ? 'holds' : 'differs'
}

const isRejectedByAll = (answers: readonly Answer[]): boolean =>
  answers.includes('rejected') &&
  answers.every((answer) => answer === 'rejected' || answer === 'unreachable')

const notGood = ({ serving }: Verdict): Programmed => {
  const message =
    serving === undefined
      ? 'this generation is not good, and none before it serves'
      : `this generation is not good; generation ${serving.generation} still serves`
  return {
    finding: { type: 'Programmed', status: 'False', reason: 'Invalid', message },
    rejectedByAll: false,
  }
}

const findingOf = (
  answers: readonly Answer[],
  reports: readonly DataPlaneReport[],
  id: string,
): Finding<'Programmed'> => {
  const count = (wanted: Answer): number => answers.filter((answer) => answer === wanted).length
  if (answers.length === 0) {
    return unprogrammed(
      'NoDataPlanes',
      'no data plane is selected: is one running, and does the selector fit it?',
    )
  }
  if (count('rejected') > 0) {
    const reason = count('holds') > 0 ? 'PartiallyProgrammed' : 'Rejected'
    return unprogrammed(reason, rejectionWords(answers, reports, id))
  }
  const ready = count('holds') + count('differs')
  if (ready > 0 && count('differs') === 0) {
    return PROGRAMMED
  }
  if (count('holds') > 0) {
    return unprogrammed(
      'PartiallyProgrammed',
      `held by ${count('holds')} of ${ready} ready data planes`,
    )
  }
  if (count('unreachable') === answers.length) {
    return unprogrammed('Unreachable', unreachableWords(reports))
  }
  return unprogrammed('Pending', 'being sent to the data planes')
}

const unprogrammed = (
  reason: Extract<Finding<'Programmed'>, { status: 'False' }>['reason'],
  message: string,
): Finding<'Programmed'> => ({ type: 'Programmed', status: 'False', reason, message })

const rejectionWords = (
  answers: readonly Answer[],
  reports: readonly DataPlaneReport[],
  id: string,
): string => {
  const refusing = reports.filter((_report, i) => answers[i] === 'rejected')
  const first = refusing[0]
  const error = first?.rejected.documents.get(id)?.errors[0]
  const cause = error === undefined ? 'no cause given' : describeProblem(error)
  const more = refusing.length > 1 ? ` and ${refusing.length - 1} more` : ''
  return `refused by ${first?.dataPlane.name ?? 'a data plane'}${more}: ${cause}`
}

const unreachableWords = (reports: readonly DataPlaneReport[]): string => {
  const first = reports[0]
  const more = reports.length > 1 ? ` (and ${reports.length - 1} more)` : ''
  if (first === undefined || first.message === '') return 'no data plane has answered yet'
  return `${first.dataPlane.name}: ${first.message}${more}`
}

const stayLatched = (
  latch: Latch,
  answers: readonly Answer[],
  { found, nowMs }: { readonly found: Finding<'Programmed'>; readonly nowMs: number },
): Programmed => {
  const { generation, digest } = latch
  if (!answers.includes('differs')) {
    return { finding: PROGRAMMED, latch: { generation, digest }, rejectedByAll: false }
  }
  const differsSince = latch.differsSince ?? nowMs
  if (nowMs - differsSince >= DIFFERS_MS) return { finding: found, rejectedByAll: false }
  return { finding: PROGRAMMED, latch: { generation, digest, differsSince }, rejectedByAll: false }
}
