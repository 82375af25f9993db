// The pages of Kubernetes have every reason, condition, field and role that there is, and of no other; the check for
// Argo CD and kstatus read every state as docs/gitops.md says.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, afterAll, describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import type { ValueMap } from '../../language/expression/value.ts'
import { documentConditions } from '../../operator/reconcile/status/document-conditions.ts'
import { API_SPECIFICATION_SPEC } from '../../operator/resource/api-specification-schema.ts'
import {
  type Condition,
  CONDITION_TYPES,
  type ConditionType,
  CONDITIONS,
  type NewCondition,
  lastingTypes,
  nothingFoundBy,
  settleConditions,
} from '../../operator/resource/condition.ts'
import { REALM_SPEC } from '../../operator/resource/realm-spec-schema.ts'
import {
  CERTIFICATE_WRITER,
  clusterRoles,
  CONFIGMAP_READER,
  SECRET_READER,
} from '../../operator/resource/roles.ts'
import { grantCommand } from '../../operator/resource/roles-for.ts'
import type { ResourceSchema } from '../../operator/resource/resource-schema.ts'
import { API_SPECIFICATION_STATUS, REALM_STATUS } from '../../operator/resource/status-schema.ts'
import {
  ARGOCD_HEALTH,
  type ArgoCdChecker,
  type ArgoCdHealth,
  startArgoCdChecker,
} from '../support/argocd-health.ts'
import { DOCUMENTED_ACCOUNT } from '../support/install-files.ts'
import { type KubernetesHealth, kstatus } from '../support/kstatus.ts'
import { guideOf } from '../support/pages.ts'
import { redisAvailability } from '../support/redis-server.ts'
import { resourceOf } from '../support/resources.ts'
import { describeWhenAvailable } from '../support/when-available.ts'

const PAGE = guideOf('kubernetes')

/** The lines below a heading, up to the next one. */
const section = (heading: string): string =>
  new RegExp(`^#+ ${heading}\\n(.*?)(?=^#+ )`, 'ms').exec(`${PAGE}\n# `)?.[1] ?? ''

/** Condition → its reasons, whatever the status. */
const VOCABULARY: ReadonlyMap<string, readonly string[]> = new Map(
  CONDITION_TYPES.map((type) => [type, reasonsOf(type)]),
)

function reasonsOf(type: ConditionType): readonly string[] {
  return [...new Set(Object.values<readonly string[]>(CONDITIONS[type].reasons).flat())]
}

const conditionsOf = (reason: string): readonly string[] =>
  [...VOCABULARY].flatMap(([type, reasons]) => (reasons.includes(reason) ? [type] : []))

/** The section has a table of Events, too. */
const EVENT_TYPES = /^(Normal|Warning)$/

const reasonRows = [...section('Reasons and their cures').matchAll(/^\| `(\w+)` \| ([^|]*) \|/gm)]
  .map(([, reason = '', of = '']) => ({ reason, of }))
  .filter(({ of }) => !EVENT_TYPES.test(of))

describe('reasons', () => {
  it('are listed, all of them and no others', () => {
    const known = [...VOCABULARY.values()].flat()
    expect(reasonRows.map(({ reason }) => reason).sort()).toEqual([...new Set(known)].sort())
  })

  it.each(reasonRows)('$reason is of $of', ({ reason, of }) => {
    const told = of === 'all' ? lastingTypes('ApiSpecification') : of.split(', ')
    expect(told).toEqual(conditionsOf(reason))
  })

  it('conditions too', () => {
    const told = [...section('Conditions').matchAll(/^\| `(\w+)` \|/gm)].map(([, type]) => type)
    expect(told).toEqual(CONDITION_TYPES)
  })

  it('and the conditions of docs/manifests.md', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/manifests.md'), 'utf8')
    const named = new Set([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, type]) => type))
    expect(CONDITION_TYPES.filter((type) => !named.has(type))).toEqual([])
  })
})

/** Names of all fields below, but for those that a reference has. */
const fieldNames = (schema: ResourceSchema): readonly string[] => {
  if ('items' in schema) return fieldNames(schema.items)
  if ('additionalProperties' in schema) return fieldNames(schema.additionalProperties)
  const properties = 'properties' in schema ? schema.properties : {}
  return Object.entries(properties).flatMap(([name, each]) => [name, ...fieldNames(each)])
}

describe('fields', () => {
  it.each([
    // Selectors are told of once.
    ['Realm', ['Realm', 'ApiSpecification'], REALM_SPEC],
    ['ApiSpecification', ['ApiSpecification'], API_SPECIFICATION_SPEC],
    ['Status', ['Status', 'Conditions'], API_SPECIFICATION_STATUS],
    ['Status', ['Status', 'Conditions'], REALM_STATUS],
  ] as const)('every one of %s stands in its table', (_name, headings, schema) => {
    const lines = headings.flatMap((heading) => section(heading).split('\n'))
    const table = lines.filter((line) => line.startsWith('|')).join('\n')
    const missing = fieldNames(schema).filter(
      (name) => !IN_CONDITION.has(name) && !new RegExp(`\\b${name}\\b`).test(table),
    )
    expect(missing).toEqual([])
  })
})

/** Of every condition of Kubernetes. */
const IN_CONDITION: ReadonlySet<string> = new Set([
  'type',
  'status',
  'reason',
  'message',
  'lastTransitionTime',
])

describe('roles', () => {
  it('every one stands there', () => {
    const names = clusterRoles().map((role) => (role['metadata'] as ValueMap)['name'])
    const told = new Set(
      [...section('Rights').matchAll(/`(svc-gateway-[a-z-]+)`/g)].map(([, name]) => name),
    )
    expect(names.filter((name) => typeof name !== 'string' || !told.has(name))).toEqual([])
  })

  it.each([SECRET_READER, CONFIGMAP_READER, CERTIFICATE_WRITER] as const)(
    'the line that grants %s is that of the operator',
    (role) => {
      expect(PAGE).toContain(`\n${grantCommand(DOCUMENTED_ACCOUNT, role, 'shop')}\n`)
    },
  )
})

const GOOD = {
  accepted: { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'valid' },
  resolvedRefs: { type: 'ResolvedRefs', status: 'True', reason: 'ResolvedRefs', message: 'all' },
} as const satisfies {
  accepted: NewCondition<'Accepted'>
  resolvedRefs: NewCondition<'ResolvedRefs'>
}
const PROGRAMMED: NewCondition<'Programmed'> = {
  type: 'Programmed',
  status: 'True',
  reason: 'Programmed',
  message: 'held',
}
type Unprogrammed = Extract<NewCondition<'Programmed'>, { status: 'False' }>['reason']
const unprogrammed = (reason: Unprogrammed): NewCondition<'Programmed'> => ({
  type: 'Programmed',
  status: 'False',
  reason,
  message: `words of ${reason}`,
})
const unaccepted = (
  reason: 'Invalid' | 'TooLarge' | 'TooExpensive' | 'QuotaExceeded' | 'Conflicted',
): NewCondition<'Accepted'> => ({
  type: 'Accepted',
  status: 'False',
  reason,
  message: `words of ${reason}`,
})
type Unresolved = Extract<NewCondition<'ResolvedRefs'>, { status: 'False' }>['reason']
const unresolved = (reason: Unresolved): NewCondition<'ResolvedRefs'> => ({
  type: 'ResolvedRefs',
  status: 'False',
  reason,
  message: `words of ${reason}`,
})

interface State {
  readonly state: string
  readonly accepted?: NewCondition<'Accepted'>
  readonly resolvedRefs?: NewCondition<'ResolvedRefs'>
  readonly programmed?: NewCondition<'Programmed'>
  readonly rejectedByAll?: boolean
  /** Absent: the resource has not changed since it was validated. */
  readonly generation?: number
  readonly annotations?: Readonly<Record<string, string>>
  /** In place of the one of its type, or beside the others. */
  readonly condition?: Condition
  readonly kubernetes: KubernetesHealth
  readonly argo: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended'
}

const WAITS = { kubernetes: 'InProgress', argo: 'Progressing' } as const
const ENDED = { kubernetes: 'Failed', argo: 'Degraded' } as const
const PAUSED = { 'gateway.svc.dev/paused': 'true' }
const NOT_GOOD = unprogrammed('Invalid')

const conditionOf = (type: string, status: Condition['status'], reason: string): Condition => ({
  type: type as Condition['type'],
  status,
  reason: reason as Condition['reason'],
  message: `words of ${reason}`,
  observedGeneration: 2,
  lastTransitionTime: '2026-11-23T00:00:00Z',
})
const RELEASED = conditionOf('Ready', 'Unknown', 'Released')

const STATES: readonly State[] = [
  { state: 'ready', kubernetes: 'Current', argo: 'Healthy' },
  { state: 'ready, and changed since', generation: 3, ...WAITS },
  { state: 'on its way', programmed: unprogrammed('Pending'), ...WAITS },
  { state: 'partially programmed', programmed: unprogrammed('PartiallyProgrammed'), ...WAITS },
  { state: 'no gateway answers', programmed: unprogrammed('Unreachable'), ...WAITS },
  { state: 'no gateway', programmed: unprogrammed('NoDataPlanes'), ...WAITS },
  { state: 'refused by one', programmed: unprogrammed('Rejected'), ...WAITS },
  { state: 'refused by all', programmed: unprogrammed('Rejected'), rejectedByAll: true, ...ENDED },
  { state: 'invalid', accepted: unaccepted('Invalid'), programmed: NOT_GOOD, ...ENDED },
  { state: 'too large', accepted: unaccepted('TooLarge'), programmed: NOT_GOOD, ...ENDED },
  { state: 'too expensive', accepted: unaccepted('TooExpensive'), programmed: NOT_GOOD, ...ENDED },
  {
    state: 'beyond a quota',
    accepted: unaccepted('QuotaExceeded'),
    programmed: NOT_GOOD,
    ...ENDED,
  },
  { state: 'conflicted', accepted: unaccepted('Conflicted'), programmed: NOT_GOOD, ...ENDED },
  {
    state: 'invalid, and mended since',
    accepted: unaccepted('Invalid'),
    programmed: NOT_GOOD,
    generation: 3,
    ...WAITS,
  },
  { state: 'no realm', resolvedRefs: unresolved('RealmNotFound'), programmed: NOT_GOOD, ...WAITS },
  {
    state: 'a realm that is not for it',
    resolvedRefs: unresolved('RefNotPermitted'),
    programmed: NOT_GOOD,
    ...ENDED,
  },
  {
    state: 'no Secret',
    resolvedRefs: unresolved('SecretNotFound'),
    programmed: NOT_GOOD,
    ...WAITS,
  },
  {
    state: 'a Secret out of reach',
    resolvedRefs: unresolved('SecretForbidden'),
    programmed: NOT_GOOD,
    ...WAITS,
  },
  {
    state: 'no ConfigMap',
    resolvedRefs: unresolved('ConfigMapNotFound'),
    programmed: NOT_GOOD,
    ...WAITS,
  },
  {
    state: 'a ConfigMap out of reach',
    resolvedRefs: unresolved('ConfigMapForbidden'),
    programmed: NOT_GOOD,
    ...WAITS,
  },
  { state: 'no key', resolvedRefs: unresolved('KeyNotFound'), programmed: NOT_GOOD, ...WAITS },
  {
    state: 'paused, with something newer',
    programmed: unprogrammed('Pending'),
    annotations: PAUSED,
    kubernetes: 'InProgress',
    argo: 'Suspended',
  },
  { state: 'paused, and as it is', annotations: PAUSED, kubernetes: 'Current', argo: 'Healthy' },
  {
    state: 'ready, and its upstream is away',
    condition: conditionOf('Degraded', 'True', 'UpstreamUnreachable'),
    kubernetes: 'Current',
    argo: 'Degraded',
  },
  {
    state: 'ready, and its upstream is back',
    condition: conditionOf('Degraded', 'False', 'Ready'),
    kubernetes: 'Current',
    argo: 'Healthy',
  },
  {
    state: 'let go by its operator',
    condition: RELEASED,
    kubernetes: 'InProgress',
    argo: 'Degraded',
  },
  {
    state: 'let go by its operator, and changed since',
    condition: RELEASED,
    generation: 3,
    kubernetes: 'InProgress',
    argo: 'Degraded',
  },
  {
    state: 'paused, and what is newer is wrong',
    accepted: unaccepted('Invalid'),
    programmed: NOT_GOOD,
    annotations: PAUSED,
    ...ENDED,
  },
]

/** As a map: a resource has one condition of a type. */
const withCondition = (
  conditions: readonly Condition[],
  more: Condition | undefined,
): readonly Condition[] =>
  more === undefined ? conditions : [...conditions.filter(({ type }) => type !== more.type), more]

const objectOf = (state: State): ValueMap => {
  const verdict = { ...GOOD, resource: resourceOf('Realm', 'a', { spec: { uri: 'a' } }) }
  const { accepted = GOOD.accepted, resolvedRefs = GOOD.resolvedRefs } = state
  const { programmed = PROGRAMMED, rejectedByAll = false, generation = 2, annotations } = state
  if (verdict.resource.kind !== 'Realm') throw new Error('no Realm')
  const computed = documentConditions(
    {
      accepted,
      resolvedRefs,
      found: nothingFoundBy('document'),
      resource: verdict.resource,
      errors: [],
      warnings: [],
    },
    { condition: programmed, rejectedByAll },
    { isRealmForbidden: false, found: nothingFoundBy('gateways') },
  )
  const settled = withCondition(settleConditions([], computed, 2, 0), state.condition)
  const conditions = settled.map((each) => ({ ...each }))
  const metadata = { generation, ...(annotations !== undefined && { annotations }) }
  return { metadata, status: { observedGeneration: 2, conditions } }
}

/** As the schema has it before anybody has validated the resource. */
const FRESH: ValueMap = {
  metadata: { generation: 1 },
  status: API_SPECIFICATION_STATUS.default ?? null,
}

describe('kstatus', () => {
  it.each(STATES)('$state: $kubernetes', (state) => {
    expect(kstatus(objectOf(state))).toBe(state.kubernetes)
  })

  it('not validated yet: InProgress', () => {
    expect(kstatus(FRESH)).toBe('InProgress')
  })
})

describeWhenAvailable('the check for Argo CD', redisAvailability(), () => {
  let checker: ArgoCdChecker
  beforeAll(async () => {
    checker = await startArgoCdChecker()
  })
  afterAll(async () => {
    await checker[Symbol.asyncDispose]()
  })

  const check = (object: ValueMap): Promise<ArgoCdHealth> => checker.check(object)

  it.each(STATES)('$state: $argo', async (state) => {
    expect(await check(objectOf(state))).toMatchObject({ status: state.argo })
  })

  it('not validated yet: Progressing', async () => {
    expect(await check(FRESH)).toMatchObject({ status: 'Progressing' })
    expect(await check({ metadata: { generation: 1 } })).toMatchObject({ status: 'Progressing' })
  })

  it('says why', async () => {
    const state = { ...STATES[8] } as State
    expect(await check(objectOf(state))).toEqual({
      status: 'Degraded',
      message: 'Invalid: words of Invalid',
    })
  })
})

it('the ConfigMap for Argo CD has the check for both kinds', () => {
  const path = join(import.meta.dirname, '../../docs/gitops/argocd-cm.yaml')
  const { data } = parse(readFileSync(path, 'utf8')) as { readonly data: object }
  expect(data).toEqual({
    'resource.customizations.health.gateway.svc.dev_ApiSpecification': ARGOCD_HEALTH,
    'resource.customizations.health.gateway.svc.dev_Realm': ARGOCD_HEALTH,
  })
})
