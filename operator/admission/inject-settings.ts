// Reads the parsed file of `--sidecar` into the settings of injected gateways, or lists every problem with its pointer.
// Strict, because a mistake here would have the API server reject each pod. Pure.

import { childPointer } from '../../base/json-pointer.ts'
import { listAt, mapsAt, memberAt, textAt } from '../../language/expression/members.ts'
import { isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { checkSchema } from '../resource/check-schema.ts'
import {
  KEY_REFERENCE,
  type ListSchema,
  type ObjectSchema,
  type ResourceSchema,
  TEXT,
} from '../resource/resource-schema.ts'
import { flagProblems } from './inject-flags.ts'
import { readQuantity } from './inject-quantity.ts'

export interface SidecarSettings {
  readonly image: string
  readonly imagePullPolicy?: string
  /** Names of Secrets; in the namespace of each pod. */
  readonly imagePullSecrets: readonly string[]
  readonly resources: SidecarResources
  /** More flags of the gateway, each `--name=value`. */
  readonly args: readonly string[]
  readonly env: readonly ValueMap[]
  readonly volumes: readonly ValueMap[]
  readonly volumeMounts: readonly ValueMap[]
  /** The wait before containers of the application are stopped; 0: they stay as they are. */
  readonly appPreStopSeconds: number
}

/** Quantities by `cpu` and `memory`. */
export interface SidecarResources {
  readonly requests: Readonly<Record<string, string>>
  readonly limits: Readonly<Record<string, string>>
}

export type ReadSidecarSettings =
  { readonly settings: SidecarSettings } | { readonly problems: readonly Problem[] }

/** Without a CPU limit, because a throttled gateway responds late. V8 sizes its heap by the limit of memory. */
const DEFAULT_RESOURCES: SidecarResources = {
  requests: { cpu: '20m', memory: '128Mi' },
  limits: { memory: '384Mi' },
}

/** As long as the gateway takes to leave all balancers: its `--drain-delay-seconds`. */
const DEFAULT_PRE_STOP_SECONDS = 5

/** @example readSidecarSettings({ image: 'registry.example/svc-gateway:1.0.0' }) */
export const readSidecarSettings = (value: unknown): ReadSidecarSettings => {
  const wrong = checkSchema(SETTINGS, value, '')
  if (wrong.length > 0 || !isMap(value)) return { problems: wrong }
  const problems = [
    ...resourceProblems(value),
    ...flagProblems(listAt(value, 'args'), listAt(value, 'env')),
    ...listAt(value, 'env').flatMap(envProblems),
    ...volumeProblems(value),
    ...preStopProblems(value),
  ]
  return problems.length > 0 ? { problems } : { settings: settingsOf(value) }
}

const FEW = 32

const few = (items: ResourceSchema): ListSchema => ({ type: 'array', items, maxItems: FEW })

const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const
const BOOLEAN = { type: 'boolean' } as const
const LABEL = { ...TEXT, maxLength: 63 } as const

const KEY = {
  type: 'object',
  required: KEY_REFERENCE.required,
  properties: { ...KEY_REFERENCE.properties, optional: BOOLEAN },
} as const satisfies ObjectSchema

const SETTINGS: ObjectSchema = {
  type: 'object',
  required: ['image'],
  properties: {
    image: { ...TEXT, maxLength: 1000 },
    imagePullPolicy: { type: 'string', enum: ['Always', 'IfNotPresent', 'Never'] },
    imagePullSecrets: few({ type: 'object', required: ['name'], properties: { name: TEXT } }),
    resources: { type: 'object', properties: { requests: OPEN, limits: OPEN } },
    args: few({ ...TEXT, maxLength: 4096 }),
    env: few({
      type: 'object',
      required: ['name'],
      properties: {
        name: { ...TEXT, maxLength: 253 },
        value: { type: 'string', maxLength: 4096 },
        valueFrom: {
          type: 'object',
          properties: {
            secretKeyRef: KEY,
            configMapKeyRef: KEY,
            fieldRef: { type: 'object', required: ['fieldPath'], properties: { fieldPath: TEXT } },
          },
        },
      },
    }),
    volumes: few({
      type: 'object',
      required: ['name'],
      properties: {
        name: LABEL,
        configMap: OPEN,
        secret: OPEN,
        emptyDir: OPEN,
        projected: OPEN,
        csi: OPEN,
      },
    }),
    volumeMounts: few({
      type: 'object',
      required: ['name', 'mountPath'],
      properties: { name: LABEL, mountPath: TEXT, readOnly: BOOLEAN, subPath: TEXT },
    }),
    appPreStopSeconds: { type: 'integer', minimum: 0 },
  },
}

const settingsOf = (value: ValueMap): SidecarSettings => {
  const policy = memberAt(value, 'imagePullPolicy')
  const seconds = memberAt(value, 'appPreStopSeconds')
  return {
    image: textAt(value, 'image'),
    ...(typeof policy === 'string' && { imagePullPolicy: policy }),
    imagePullSecrets: mapsAt(value, 'imagePullSecrets').map((each) => textAt(each, 'name')),
    resources: resourcesOf(value) ?? DEFAULT_RESOURCES,
    args: listAt(value, 'args').filter((each) => typeof each === 'string'),
    env: mapsAt(value, 'env'),
    volumes: mapsAt(value, 'volumes'),
    volumeMounts: mapsAt(value, 'volumeMounts'),
    appPreStopSeconds: typeof seconds === 'number' ? seconds : DEFAULT_PRE_STOP_SECONDS,
  }
}

const resourcesOf = (value: ValueMap): SidecarResources | undefined => {
  const resources = memberAt(value, 'resources')
  if (!isMap(resources)) return undefined
  const quantities = (side: string): Record<string, string> => {
    const given = memberAt(resources, side)
    const entries = isMap(given) ? Object.entries(given) : []
    return Object.fromEntries(entries.map(([name, each]) => [name, wordOf(each)]))
  }
  return { requests: quantities('requests'), limits: quantities('limits') }
}

const resourceProblems = (value: ValueMap): readonly Problem[] => {
  const resources = resourcesOf(value)
  if (resources === undefined) return []
  const problems = (['requests', 'limits'] as const).flatMap((side) =>
    Object.entries(resources[side]).flatMap(([name, quantity]) => {
      const path = `/resources/${side}/${name}`
      if (!['cpu', 'memory'].includes(name))
        return [problem(path, 'only cpu and memory are allowed')]
      if (readQuantity(quantity) !== undefined) return []
      return [problem(path, `'${quantity.slice(0, 50)}' is not a quantity such as 250m or 128Mi`)]
    }),
  )
  if (problems.length > 0) return problems
  return ['cpu', 'memory'].flatMap((name) => {
    const request = readQuantity(resources.requests[name] ?? '') ?? 0
    const limit = readQuantity(resources.limits[name] ?? '') ?? Infinity
    return request > limit
      ? [problem(`/resources/requests/${name}`, 'the request is above the limit')]
      : []
  })
}

const envProblems = (each: Value, index: number): readonly Problem[] => {
  if (!isMap(each)) return []
  const path = childPointer('/env', index)
  const problems: Problem[] = []
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(textAt(each, 'name')))
    problems.push(problem(`${path}/name`, 'it must be letters, digits and _'))
  const from = memberAt(each, 'valueFrom')
  const hasValue = memberAt(each, 'value') !== undefined
  if (isMap(from) ? hasValue || Object.keys(from).length !== 1 : !hasValue)
    problems.push(problem(path, 'it needs a value, or one source in valueFrom'))
  return problems
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** Names of volumes and mounts that the injection adds begin with it. */
const OWN_PREFIX = 'svc-gateway'
const OWN_PLACES = ['/etc/svc-gateway/management', '/var/lib/svc-gateway']

const volumeProblems = (value: ValueMap): readonly Problem[] => {
  const names = new Set<string>()
  const problems = mapsAt(value, 'volumes').flatMap((volume, index) => {
    const path = childPointer('/volumes', index)
    const name = textAt(volume, 'name')
    const isKnown = names.has(name)
    names.add(name)
    if (!DNS_LABEL.test(name) || name.startsWith(OWN_PREFIX))
      return [
        problem(`${path}/name`, `it must be a-z, 0-9 and -, and not begin with ${OWN_PREFIX}`),
      ]
    if (isKnown) return [problem(`${path}/name`, 'there are two volumes of that name')]
    return Object.keys(volume).length === 2 ? [] : [problem(path, 'it needs exactly one source')]
  })
  const mounts = mapsAt(value, 'volumeMounts').flatMap((mount, index) => {
    const path = childPointer('/volumeMounts', index)
    const place = textAt(mount, 'mountPath').replace(/\/+$/, '')
    if (!names.has(textAt(mount, 'name')))
      return [problem(`${path}/name`, 'no volume has that name')]
    if (!place.startsWith('/') || place.includes(':'))
      return [problem(`${path}/mountPath`, 'it must be an absolute path')]
    return OWN_PLACES.includes(place)
      ? [problem(`${path}/mountPath`, 'the injection mounts its own volume there')]
      : []
  })
  return [...problems, ...mounts]
}

const preStopProblems = (value: ValueMap): readonly Problem[] => {
  const seconds = memberAt(value, 'appPreStopSeconds')
  return typeof seconds === 'number' && seconds > 60
    ? [problem('/appPreStopSeconds', 'it must be at most 60 s')]
    : []
}

const problem = (path: string, words: string): Problem => ({
  code: 'invalid_value',
  path,
  message: `${path}: ${words}`,
})

/** YAML reads `cpu: 1` as a number. */
const wordOf = (value: Value): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
