// Makes the rows that kubectl would print from the status of the operator, and every fault with its place. Pure text:
// where it goes is decided elsewhere.

import { printableLine } from '../../telemetry/printable.ts'
import type { DataPlaneReport } from '../data-plane.ts'
import { alignColumns } from './align-columns.ts'
import type { OperatorStatus } from '../controller/controller.ts'
import type { ResourceStatus } from '../reconcile/status/status-registry.ts'
import { conditionOf, type ConditionType } from '../resource/condition.ts'
import { documentColumns } from '../resource/crd.ts'
import type { Locate, SourceNote } from '../resource/resource-source.ts'

/** @param nowMs Unix time, for ages */
export const renderTable = (
  status: OperatorStatus,
  nowMs: number,
  locate: Locate = nowhere,
): string => {
  const all = [...status.resources.values()].sort(byName)
  const documents = all.filter(({ result }) => result.resource.kind === 'ApiSpecification')
  const realms = all.filter(({ result }) => result.resource.kind === 'Realm')
  const parts = [
    alignColumns([
      ['NAME', ...documentColumns()],
      ...documents.map((each) => documentRow(each, nowMs)),
    ]),
    realms.length === 0
      ? ''
      : alignColumns([
          ['REALM', 'URI', 'READY', 'REASON', 'AGE'],
          ...realms.map((each) => realmRow(each, nowMs)),
        ]),
    alignColumns([
      ['DATA PLANE', 'STATE', 'READY', 'DOCUMENTS'],
      ...status.dataPlanes.map(planeRow),
    ]),
    renderProblems(status, locate).join('\n'),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** Every fault and warning as a line: place, resource, pointer, message. */
export const renderProblems = (
  status: OperatorStatus,
  locate: Locate = nowhere,
): readonly string[] =>
  [
    ...status.notes.map(noteLine),
    ...[...status.resources.values()].sort(byName).flatMap((each) => resourceLines(each, locate)),
    ...status.dataPlanes.flatMap(({ dataPlane, message }) =>
      message === '' ? [] : [`data plane ${dataPlane.name}: ${message}`],
    ),
  ].map(printableLine)

/** `Ready=False Invalid …` of one resource. */
export const renderResource = ({ result, conditions }: ResourceStatus): string => {
  const ready = conditionOf(conditions, 'Ready')
  const words = [
    `Ready=${ready?.status ?? 'Unknown'}`,
    ready?.reason ?? 'Pending',
    ready?.message ?? '',
  ]
  return printableLine(`${nameOf(result)}  ${words.join('  ')}`)
}

const nowhere: Locate = () => undefined

const resourceLines = (status: ResourceStatus, locate: Locate): readonly string[] => {
  const { result, errors, warnings } = status
  const { resource } = result
  const placeAt = (pointer: string, within?: number): string => {
    const { origin } = resource
    return origin === undefined ? '' : placeOf({ ...origin, ...locate(resource, pointer, within) })
  }
  const reference = result.resolvedRefs.status === 'False' ? [result.resolvedRefs.message] : []
  return [
    ...errors.map(
      ({ path, code, message, offset }) =>
        `${placeAt(path, offset)}${nameOf(result)} ${path} ${code} ${message}`,
    ),
    ...reference.map((message) => `${placeAt('')}${nameOf(result)} ${message}`),
    ...warnings.map(
      ({ path, message, offset }) =>
        `${placeAt(path, offset)}${nameOf(result)} ${path} warning: ${message}`,
    ),
  ]
}

const documentRow = (
  { result, conditions, summary }: ResourceStatus,
  nowMs: number,
): readonly string[] => {
  const of = (type: ConditionType): string => conditionOf(conditions, type)?.status ?? 'Unknown'
  const reason = conditionOf(conditions, 'Ready')?.reason ?? 'Pending'
  const { metadata } = result.resource
  return [
    shortName(metadata),
    summary?.host ?? '',
    summary?.realm ?? '',
    summary?.serving ?? '',
    summary?.gateways ?? '',
    of('Programmed'),
    of('Ready'),
    reason,
    age(nowMs - metadata.createdAt),
  ]
}

const realmRow = ({ result, conditions }: ResourceStatus, nowMs: number): readonly string[] => {
  const ready = conditionOf(conditions, 'Ready')
  const { metadata } = result.resource
  return [
    shortName(metadata),
    result.id ?? '',
    ready?.status ?? 'Unknown',
    ready?.reason ?? 'Pending',
    age(nowMs - metadata.createdAt),
  ]
}

const planeRow = ({ dataPlane, phase, ready, documents }: DataPlaneReport): readonly string[] => [
  dataPlane.name,
  phase,
  ready ? 'True' : 'False',
  String(documents.size),
]

const noteLine = ({ severity, message, origin, resource, path }: SourceNote): string => {
  const words = [resource, path, severity === 'warning' ? `warning: ${message}` : message]
  return `${placeOf(origin)}${words.filter((word) => word !== undefined && word !== '').join(' ')}`
}

const placeOf = (origin: SourceNote['origin']): string =>
  origin === undefined ? '' : `${origin.file}:${origin.line}:${origin.column} `

const nameOf = ({ resource }: ResourceStatus['result']): string =>
  `${resource.kind} ${resource.metadata.namespace}/${resource.metadata.name}`

/** As kubectl: the namespace is left out where it is the usual one. */
const shortName = ({
  namespace,
  name,
}: {
  readonly namespace: string
  readonly name: string
}): string => (namespace === 'default' ? name : `${namespace}/${name}`)

/** Compares by kind, namespace and name. */
export const byName = (left: ResourceStatus, right: ResourceStatus): number =>
  nameOf(left.result) < nameOf(right.result) ? -1 : 1

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
]

/** @example age(90_000) // '1m' */
const age = (ms: number): string => {
  const unit = UNITS.find(([size]) => ms >= size)
  return unit === undefined
    ? `${Math.max(0, Math.floor(ms / 1000))}s`
    : `${Math.floor(ms / unit[0])}${unit[1]}`
}
