// Verdicts and what the data planes report, again and again, in; the status of every resource out. Keeps
// conditions from one time to the next, so that times move only when a status does. Time comes in.

import type { Problem, Warning } from '../../spec/problem.ts'
import { type DataPlaneReport, isSelected } from '../data-plane.ts'
import { type Condition, settleConditions } from '../resource/condition.ts'
import type { LabelSelector } from '../resource/resource.ts'
import { documentFindings } from './document-findings.ts'
import { judgeProgrammed, type Latch } from './programmed.ts'
import { realmFindings } from './realm-findings.ts'
import type { Verdict } from './verdict.ts'

export interface ResourceStatus {
  readonly verdict: Verdict
  readonly conditions: readonly Condition[]
  /** At most eight. */
  readonly errors: readonly Problem[]
  /** Of the language, and of the data planes (routes that another document has). */
  readonly warnings: readonly Warning[]
  readonly programmed?: { readonly generation: number; readonly digest: string }
}

interface Entry {
  readonly status: ResourceStatus
  readonly latch: Latch | undefined
}

const MAX_ERRORS = 8

export class StatusBook {
  #entries: ReadonlyMap<string, Entry> = new Map()

  /** By key of the resource. An entry that has not changed is the same object. */
  update(
    verdicts: ReadonlyMap<string, Verdict>,
    reports: readonly DataPlaneReport[],
    nowMs: number,
  ): ReadonlyMap<string, ResourceStatus> {
    const entries = new Map<string, Entry>()
    for (const [key, verdict] of verdicts) {
      const before = this.#entries.get(key)
      const entry =
        verdict.resource.kind === 'Realm'
          ? realmEntry(verdict, reports, { before, nowMs })
          : documentEntry(verdict, reports, { before, nowMs })
      entries.set(key, before !== undefined && sameEntry(before, entry) ? before : entry)
    }
    this.#entries = entries
    return new Map([...entries].map(([key, { status }]) => [key, status]))
  }

  /** A data plane has held something else for a while: the verdict on that may change by time alone. */
  get isWaiting(): boolean {
    return [...this.#entries.values()].some(({ latch }) => latch?.differsSince !== undefined)
  }
}

interface Moment {
  readonly before: Entry | undefined
  readonly nowMs: number
}

const documentEntry = (
  verdict: Verdict,
  reports: readonly DataPlaneReport[],
  { before, nowMs }: Moment,
): Entry => {
  const target = { ...selectorOf(verdict), namespace: verdict.resource.metadata.namespace }
  const selected = reports.filter(({ dataPlane }) => isSelected(target, dataPlane))
  const programmed = judgeProgrammed(verdict, selected, before?.latch, nowMs)
  const findings = documentFindings(verdict, programmed)
  const { latch } = programmed
  const last = latch ?? before?.status.programmed
  return {
    latch,
    status: {
      verdict,
      conditions: settle(verdict, findings, { before, nowMs }),
      errors: errorsOf(verdict, selected),
      warnings: warningsOf(verdict, selected),
      ...(last !== undefined && {
        programmed: { generation: last.generation, digest: last.digest },
      }),
    },
  }
}

const realmEntry = (
  verdict: Verdict,
  reports: readonly DataPlaneReport[],
  moment: Moment,
): Entry => ({
  latch: undefined,
  status: {
    verdict,
    conditions: settle(verdict, realmFindings(verdict, reports), moment),
    errors: verdict.errors.slice(0, MAX_ERRORS),
    warnings: verdict.warnings,
  },
})

const settle = (
  verdict: Verdict,
  findings: Parameters<typeof settleConditions>[1],
  { before, nowMs }: Moment,
): readonly Condition[] =>
  settleConditions(
    before?.status.conditions ?? [],
    findings,
    verdict.resource.metadata.generation,
    nowMs,
  )

/** What a data plane refuses is a fault of the document, as the data plane sees it. */
const errorsOf = (verdict: Verdict, reports: readonly DataPlaneReport[]): readonly Problem[] => {
  if (verdict.errors.length > 0 || verdict.id === undefined) {
    return verdict.errors.slice(0, MAX_ERRORS)
  }
  for (const { rejected } of reports) {
    const rejection = rejected.documents.get(verdict.id)
    if (rejection?.digest === verdict.digest) {
      return (rejection?.errors ?? []).slice(0, MAX_ERRORS).map(inDocument)
    }
  }
  return []
}

const warningsOf = (verdict: Verdict, reports: readonly DataPlaneReport[]): readonly Warning[] => {
  if (verdict.id === undefined) return verdict.warnings
  for (const { documents } of reports) {
    const held = documents.get(verdict.id)
    const shadowed = held?.warnings.filter(({ code }) => code === 'Shadowed') ?? []
    if (shadowed.length > 0) return [...verdict.warnings, ...shadowed.map(inDocument)]
  }
  return verdict.warnings
}

const inDocument = <Located extends { readonly path: string }>(located: Located): Located => ({
  ...located,
  path: `/spec/document${located.path}`,
})

const selectorOf = ({ resource }: Verdict): { readonly selector?: LabelSelector } => {
  if (resource.kind !== 'ApiSpecification' || !('spec' in resource.checked)) return {}
  const { dataPlaneSelector } = resource.checked.spec
  return dataPlaneSelector === undefined ? {} : { selector: dataPlaneSelector }
}

const sameEntry = (left: Entry, right: Entry): boolean =>
  left.latch?.differsSince === right.latch?.differsSince &&
  left.latch?.digest === right.latch?.digest &&
  left.status.verdict === right.status.verdict &&
  left.status.conditions === right.status.conditions &&
  JSON.stringify(left.status.errors) === JSON.stringify(right.status.errors) &&
  JSON.stringify(left.status.warnings) === JSON.stringify(right.status.warnings)
