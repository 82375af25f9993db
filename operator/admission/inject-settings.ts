// What the file of `--sidecar` says, already parsed, in; what an injected gateway is, or every fault with its
// pointer, out. Strict, as what an API server refuses here would be refused of each pod. Pure.

import { childPointer } from '../../base/json-pointer.ts'
import { listAt, mapsAt, memberAt, textAt } from '../../language/expression/members.ts'
import { isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import {
  checkShape,
  KEY_REFERENCE,
  type ListShape,
  type ObjectShape,
  type Shape,
  TEXT,
} from '../resource/shape.ts'
import { flagFaults } from './inject-flags.ts'
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
  /** Of containers of the application; 0: they are left as they are. */
  readonly appPreStopSeconds: number
}

/** Quantities by `cpu` and `memory`. */
export interface SidecarResources {
  readonly requests: Readonly<Record<string, string>>
  readonly limits: Readonly<Record<string, string>>
}

export type ReadSidecarSettings =
  { readonly settings: SidecarSettings } | { readonly faults: readonly Problem[] }

/** Without a limit of CPU: one that is throttled answers late. V8 sizes its heap by the limit of memory. */
const DEFAULT_RESOURCES: SidecarResources = {
  requests: { cpu: '20m', memory: '128Mi' },
  limits: { memory: '384Mi' },
}

/** As long as the gateway takes to be out of all balancers: its `--drain-delay-seconds`. */
const DEFAULT_PRE_STOP_SECONDS = 5

/** @example readSidecarSettings({ image: 'registry.example/svc-gateway:1.0.0' }) */
export const readSidecarSettings = (value: unknown): ReadSidecarSettings => {
  const shapeFaults = checkShape(SETTINGS, value, '')
  if (shapeFaults.length > 0 || !isMap(value)) return { faults: shapeFaults }
  const faults = [
    ...resourceFaults(value),
    ...flagFaults(listAt(value, 'args'), listAt(value, 'env')),
    ...listAt(value, 'env').flatMap(envFaults),
    ...volumeFaults(value),
    ...preStopFaults(value),
  ]
  return faults.length > 0 ? { faults } : { settings: settingsOf(value) }
}

const FEW = 32

const few = (of: Shape): ListShape => ({ type: 'list', of, maxItems: FEW })

const optional = (shape: Shape, description = ''): ObjectShape['fields'][string] => ({
  shape,
  description,
})

const required = (shape: Shape): ObjectShape['fields'][string] => ({
  ...optional(shape),
  required: true,
})

const LABEL = { type: 'string', maxLength: 63 } satisfies Shape

const SETTINGS = {
  type: 'object',
  fields: {
    image: required({ type: 'string', maxLength: 1000 }),
    imagePullPolicy: optional({ type: 'string', oneOf: ['Always', 'IfNotPresent', 'Never'] }),
    imagePullSecrets: optional(few({ type: 'object', fields: { name: required(TEXT) } })),
    resources: optional({
      type: 'object',
      fields: { requests: optional({ type: 'open' }), limits: optional({ type: 'open' }) },
    }),
    args: optional(few({ type: 'string', maxLength: 4096 })),
    env: optional(
      few({
        type: 'object',
        fields: {
          name: required({ type: 'string', maxLength: 253 }),
          value: optional({ type: 'string', mayBeEmpty: true, maxLength: 4096 }),
          valueFrom: optional({
            type: 'object',
            fields: {
              secretKeyRef: optional(keyReference()),
              configMapKeyRef: optional(keyReference()),
              fieldRef: optional({ type: 'object', fields: { fieldPath: required(TEXT) } }),
            },
          }),
        },
      }),
    ),
    volumes: optional(
      few({
        type: 'object',
        fields: {
          name: required(LABEL),
          configMap: optional({ type: 'open' }),
          secret: optional({ type: 'open' }),
          emptyDir: optional({ type: 'open' }),
          projected: optional({ type: 'open' }),
          csi: optional({ type: 'open' }),
        },
      }),
    ),
    volumeMounts: optional(
      few({
        type: 'object',
        fields: {
          name: required(LABEL),
          mountPath: required(TEXT),
          readOnly: optional({ type: 'boolean' }),
          subPath: optional(TEXT),
        },
      }),
    ),
    appPreStopSeconds: optional({ type: 'integer', minimum: 0 }),
  },
} satisfies ObjectShape

function keyReference(): ObjectShape {
  const { fields } = KEY_REFERENCE
  return { type: 'object', fields: { ...fields, optional: optional({ type: 'boolean' }) } }
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

const resourceFaults = (value: ValueMap): readonly Problem[] => {
  const resources = resourcesOf(value)
  if (resources === undefined) return []
  const faults = (['requests', 'limits'] as const).flatMap((side) =>
    Object.entries(resources[side]).flatMap(([name, quantity]) => {
      const path = `/resources/${side}/${name}`
      if (!['cpu', 'memory'].includes(name)) return [fault(path, 'known are cpu and memory')]
      if (readQuantity(quantity) !== undefined) return []
      return [fault(path, `'${quantity.slice(0, 50)}' is no quantity such as 250m or 128Mi`)]
    }),
  )
  if (faults.length > 0) return faults
  return ['cpu', 'memory'].flatMap((name) => {
    const request = readQuantity(resources.requests[name] ?? '') ?? 0
    const limit = readQuantity(resources.limits[name] ?? '') ?? Infinity
    return request > limit ? [fault(`/resources/requests/${name}`, 'it is above its limit')] : []
  })
}

const envFaults = (each: Value, index: number): readonly Problem[] => {
  if (!isMap(each)) return []
  const path = childPointer('/env', index)
  const faults: Problem[] = []
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(textAt(each, 'name')))
    faults.push(fault(`${path}/name`, 'it must be letters, digits and _'))
  const from = memberAt(each, 'valueFrom')
  const hasValue = memberAt(each, 'value') !== undefined
  if (isMap(from) ? hasValue || Object.keys(from).length !== 1 : !hasValue)
    faults.push(fault(path, 'it needs a value, or one source in valueFrom'))
  return faults
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** Volumes and places that the injection makes begin with it. */
const OWN_PREFIX = 'svc-gateway'
const OWN_PLACES = ['/etc/svc-gateway/management', '/var/lib/svc-gateway']

const volumeFaults = (value: ValueMap): readonly Problem[] => {
  const names = new Set<string>()
  const faults = mapsAt(value, 'volumes').flatMap((volume, index) => {
    const path = childPointer('/volumes', index)
    const name = textAt(volume, 'name')
    const isKnown = names.has(name)
    names.add(name)
    if (!DNS_LABEL.test(name) || name.startsWith(OWN_PREFIX))
      return [fault(`${path}/name`, `it must be a-z, 0-9 and -, and not begin with ${OWN_PREFIX}`)]
    if (isKnown) return [fault(`${path}/name`, 'there are two of that name')]
    return Object.keys(volume).length === 2 ? [] : [fault(path, 'it needs exactly one source')]
  })
  const mounts = mapsAt(value, 'volumeMounts').flatMap((mount, index) => {
    const path = childPointer('/volumeMounts', index)
    const place = textAt(mount, 'mountPath').replace(/\/+$/, '')
    if (!names.has(textAt(mount, 'name'))) return [fault(`${path}/name`, 'no volume has that name')]
    if (!place.startsWith('/') || place.includes(':'))
      return [fault(`${path}/mountPath`, 'it must be an absolute path')]
    return OWN_PLACES.includes(place)
      ? [fault(`${path}/mountPath`, 'the injection mounts its own there')]
      : []
  })
  return [...faults, ...mounts]
}

const preStopFaults = (value: ValueMap): readonly Problem[] => {
  const seconds = memberAt(value, 'appPreStopSeconds')
  return typeof seconds === 'number' && seconds > 60
    ? [fault('/appPreStopSeconds', 'more than 60 s is no pause')]
    : []
}

const fault = (path: string, words: string): Problem => ({
  code: 'invalid_value',
  path,
  message: `${path}: ${words}`,
})

/** YAML has `cpu: 1` as a number. */
const wordOf = (value: Value): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
