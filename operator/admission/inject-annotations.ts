// Reads the annotations of a Pod as the wiring of its gateway, or finds the one problem that leaves no safe choice.
// Pure.

import type { Pod } from '../kubernetes/objects.ts'
import { GROUP } from '../resource/resource.ts'
import { annotationOf } from './inject-pod.ts'
import { readQuantity } from './inject-quantity.ts'
import type { SidecarResources } from './inject-settings.ts'

export interface Wiring {
  /** Where the gateway serves. */
  readonly port: number
  /** All of this pod's own addresses that documents may forward to; empty: any. */
  readonly appPorts: readonly number[]
  /** Path of the readiness probe: whether documents are complete, or only whether the gateway has started. */
  readonly readyPath: '/ready' | '/ping'
  readonly hasAppPreStop: boolean
  readonly resources: SidecarResources
  readonly warnings: readonly string[]
}

export type ReadWiring = { readonly wiring: Wiring } | { readonly problem: string }

/** The annotations by which a pod configures its gateway. */
export const ANNOTATIONS = {
  port: `${GROUP}/port`,
  appPort: `${GROUP}/app-port`,
  ready: `${GROUP}/ready`,
  appPreStop: `${GROUP}/app-pre-stop`,
  cpuLimit: `${GROUP}/cpu-limit`,
  memoryLimit: `${GROUP}/memory-limit`,
  cpuRequest: `${GROUP}/cpu-request`,
  memoryRequest: `${GROUP}/memory-request`,
} as const

const DEFAULT_PORT = 18080

/** An invalid limit is replaced by the default one; for an invalid port there is no replacement. */
export const readWiring = (pod: Pod, usual: SidecarResources): ReadWiring => {
  const port = readPort(annotationOf(pod, ANNOTATIONS.port) ?? String(DEFAULT_PORT), LEAST_PORT)
  if (port === undefined) {
    const wanted = `a port from ${LEAST_PORT} to 65535: the gateway is not root`
    return { problem: faulty(pod, ANNOTATIONS.port, wanted) }
  }
  const appPorts = readPorts(annotationOf(pod, ANNOTATIONS.appPort))
  if (appPorts === undefined) {
    return {
      problem: faulty(pod, ANNOTATIONS.appPort, 'a port such as 8080, or several with commas'),
    }
  }
  const resources = readResources(pod, usual)
  const ready = annotationOf(pod, ANNOTATIONS.ready)
  const warnings = [...resources.warnings]
  if (ready !== undefined && ready !== 'started')
    warnings.push(`${faulty(pod, ANNOTATIONS.ready, 'started, or absent')}; it was ignored`)
  return {
    wiring: {
      port,
      appPorts,
      warnings,
      readyPath: ready === 'started' ? '/ping' : '/ready',
      hasAppPreStop: annotationOf(pod, ANNOTATIONS.appPreStop) !== 'false',
      resources: resources.resources,
    },
  }
}

/** Below it only root may listen, with some container runtimes. */
const LEAST_PORT = 1024
const MAX_APP_PORTS = 16

const readPort = (text: string, least: number): number | undefined => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= least && port <= 65_535 ? port : undefined
}

const readPorts = (text: string | undefined): readonly number[] | undefined => {
  if (text === undefined) return []
  const words = text.split(',')
  const ports = words.flatMap((word) => readPort(word.trim(), 1) ?? [])
  return ports.length === words.length && ports.length <= MAX_APP_PORTS ? ports : undefined
}

interface ReadResources {
  readonly resources: SidecarResources
  readonly warnings: readonly string[]
}

const readResources = (pod: Pod, usual: SidecarResources): ReadResources => {
  const requests = { ...usual.requests }
  const limits = { ...usual.limits }
  const warnings: string[] = []
  for (const kind of ['cpu', 'memory'] as const) {
    const names = { limit: ANNOTATIONS[`${kind}Limit`], request: ANNOTATIONS[`${kind}Request`] }
    const said = {
      limit: annotationOf(pod, names.limit),
      request: annotationOf(pod, names.request),
    }
    const problems = Object.values(names).filter((name) => !isQuantity(annotationOf(pod, name)))
    warnings.push(...problems.map((name) => `${faulty(pod, name, EXAMPLES[kind])}; ${USUAL}`))
    if (problems.length > 0) continue
    if (
      said.limit !== undefined &&
      said.request !== undefined &&
      isAbove(said.request, said.limit)
    ) {
      warnings.push(`annotation ${names.request} is above ${names.limit}; ${USUAL}`)
      continue
    }
    if (said.limit !== undefined) limits[kind] = said.limit
    if (said.request !== undefined) requests[kind] = said.request
    settle(kind, { requests, limits }, said.limit !== undefined)
  }
  return { resources: { requests, limits }, warnings }
}

const USUAL = 'the default resources are used'
const EXAMPLES = { cpu: 'a quantity such as 500m', memory: 'a quantity such as 256Mi' }

/** Where the request is above the limit, which no API server accepts, the value that the pod itself names stays. */
const settle = (
  kind: string,
  { requests, limits }: { requests: Record<string, string>; limits: Record<string, string> },
  isLimitSaid: boolean,
): void => {
  const { [kind]: request } = requests
  const { [kind]: limit } = limits
  if (request === undefined || limit === undefined || !isAbove(request, limit)) return
  if (isLimitSaid) requests[kind] = limit
  else limits[kind] = request
}

const isQuantity = (text: string | undefined): boolean =>
  text === undefined || readQuantity(text) !== undefined

const isAbove = (left: string, right: string): boolean =>
  (readQuantity(left) ?? 0) > (readQuantity(right) ?? 0)

const faulty = (pod: Pod, name: string, wanted: string): string =>
  `annotation ${name} is '${(annotationOf(pod, name) ?? '').slice(0, 50)}'; it must be ${wanted}`
