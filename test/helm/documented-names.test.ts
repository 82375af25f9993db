// Names, ports and labels in the `kubectl` commands of the documentation, and the release in its `helm` commands, are
// those of the chart as the pages install it.

import { beforeAll, describe, expect, it, jest } from '@jest/globals'
import { SETTINGS } from '../../operator/config.ts'
import { DATA_PLANE_SECRET, OPERATOR_SECRETS } from '../../operator/resource/roles.ts'
import {
  helmAvailability,
  type KubernetesObject,
  renderNotes,
  renderObjects,
} from '../support/helm.ts'
import { PAGES, textOf } from '../support/pages.ts'
import { describeWhenAvailable } from '../support/when-available.ts'

jest.setTimeout(120_000)

const RELEASE = 'svc-gateway'
const NAMESPACE = 'svc-gateway-system'
/** A second one beside it, in the chart's README. */
const OTHER_RELEASES: ReadonlySet<string> = new Set(['two'])

const pages = [
  'helm/svc-gateway/files/alerts.yaml',
  ...PAGES.filter((page) => page !== 'CONTRIBUTING.md'),
]

/** What a name of these types refers to. */
const KINDS: Readonly<Record<string, string>> = {
  deployment: 'Deployment',
  deploy: 'Deployment',
  deployments: 'Deployment',
  service: 'Service',
  svc: 'Service',
  services: 'Service',
  lease: 'Lease',
  secret: 'Secret',
  serviceaccount: 'ServiceAccount',
  pdb: 'PodDisruptionBudget',
  hpa: 'HorizontalPodAutoscaler',
}

/** What there is once the chart is installed. */
interface Installed {
  /** `Kind/name`. */
  readonly names: ReadonlySet<string>
  /** `Kind/name` → ports; of `Pod/` those of any. */
  readonly ports: ReadonlyMap<string, readonly number[]>
  /** `key=value` of any Pod. */
  readonly labels: ReadonlySet<string>
}

const commandsIn = (text: string): readonly (readonly string[])[] =>
  Array.from(text.matchAll(/\bkubectl ([^`"\n|;&]+)/g), ([, words = '']) =>
    words.trim().split(/\s+/),
  )

const optionOf = (words: readonly string[], ...names: readonly string[]): string | undefined => {
  const at = words.findIndex((word) => names.includes(word.split('=')[0] ?? ''))
  if (at === -1) return undefined
  const [, value] = words[at]?.split('=', 2) ?? []
  return value ?? words[at + 1]
}

/** `Kind/name` of what a command names, placeholders left out. */
const namedIn = (words: readonly string[]): readonly string[] => {
  const [verb = '', type = '', name = ''] = words
  const pairs = words.map((word) => word.split('/')).filter(({ length }) => length === 2)
  if (['get', 'describe', 'delete', 'scale'].includes(verb)) pairs.push([type, name])
  return pairs.flatMap(([of = '', called = '']) =>
    /^[a-z0-9.-]+$/.test(called) && !called.startsWith('-') && Object.hasOwn(KINDS, of)
      ? [`${KINDS[of] ?? ''}/${called}`]
      : [],
  )
}

const faultsOf = (
  words: readonly string[],
  { names, ports, labels }: Installed,
): readonly string[] => {
  const namespace = optionOf(words, '-n', '--namespace') ?? NAMESPACE
  if (namespace !== NAMESPACE) return []
  const faults = namedIn(words).filter((name) => !names.has(name))
  const selected = optionOf(words, '-l', '--selector')?.replaceAll("'", '').split(',') ?? []
  faults.push(
    ...selected.filter((each) => each.startsWith('app.kubernetes.io/') && !labels.has(each)),
  )
  if (words[0] !== 'port-forward') return faults
  const known = ports.get(namedIn(words)[0] ?? 'Pod/') ?? []
  const asked = words.filter((word) => /^\d+(:\d+)?$/.test(word))
  if (asked.length === 0 && words.length > 1) faults.push('no port')
  return [...faults, ...asked.filter((each) => !known.includes(Number(each.split(':').at(-1))))]
}

const statusPort = Number(SETTINGS.settings.status.default.split(':').at(-1))

interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly containers: readonly {
      readonly name: string
      readonly ports: readonly { readonly containerPort: number }[]
    }[]
  }
}

const portsOf = ({ kind, spec }: KubernetesObject): readonly number[] => {
  if (kind === 'Service') {
    return (spec as { readonly ports: readonly { readonly port: number }[] }).ports.map(
      ({ port }) => port,
    )
  }
  const { containers } = (spec as { readonly template: PodTemplate }).template.spec
  return containers.flatMap(({ name, ports }) => [
    ...ports.map(({ containerPort }) => containerPort),
    // On loopback, so that no port of the container is declared.
    ...(name === 'operator' ? [statusPort] : []),
  ])
}

const installedOf = (objects: readonly KubernetesObject[]): Installed => {
  const made = [DATA_PLANE_SECRET, ...OPERATOR_SECRETS]
  const deployments = objects.filter(({ kind }) => kind === 'Deployment')
  const reached = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'Service')
  const labels = deployments.flatMap(({ spec }) =>
    Object.entries((spec as { readonly template: PodTemplate }).template.metadata.labels),
  )
  return {
    names: new Set([
      ...objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`),
      ...made.map((name) => `Secret/${name}`),
    ]),
    ports: new Map([
      ...reached.map((each) => [`${each.kind}/${each.metadata.name}`, portsOf(each)] as const),
      ['Pod/', deployments.flatMap(portsOf)],
    ]),
    labels: new Set(labels.map(([key, value]) => `${key}=${value}`)),
  }
}

describe('helm commands', () => {
  it.each(pages)('of %s have one release', (page) => {
    const text = textOf(page)
    const named = Array.from(
      text.matchAll(/\bhelm (?:install|upgrade|uninstall|test|rollback) ([a-z][a-z0-9-]*)/g),
      ([, name = '']) => name,
    )
    expect(named.filter((name) => name !== RELEASE && !OTHER_RELEASES.has(name))).toEqual([])
  })
})

describeWhenAvailable('kubectl commands', helmAvailability(), () => {
  let installed: Installed
  beforeAll(async () => {
    const values = { gateway: { autoscaling: { enabled: true } } }
    installed = installedOf(await renderObjects({ release: RELEASE, namespace: NAMESPACE, values }))
  })

  it.each(pages)('of %s name what the chart makes', (page) => {
    const faulty = commandsIn(textOf(page)).flatMap((words) => {
      const faults = faultsOf(words, installed)
      return faults.length === 0 ? [] : [{ command: words.join(' '), faults }]
    })
    expect(faulty).toEqual([])
  })

  it('of its notes too', async () => {
    const notes = await renderNotes({ release: RELEASE, namespace: NAMESPACE })
    const commands = commandsIn(notes)
    expect(commands.flatMap(namedIn)).toContain('Service/svc-gateway')
    expect(commands.flatMap((words) => faultsOf(words, installed))).toEqual([])
  })

  it('are found, all that matter', () => {
    const named = new Set(pages.flatMap((page) => commandsIn(textOf(page)).flatMap(namedIn)))
    expect([...named]).toEqual(
      expect.arrayContaining([
        'Deployment/svc-gateway-operator',
        'Service/svc-gateway',
        'Lease/svc-operator',
        'Secret/svc-gateway-management-tls',
      ]),
    )
  })

  it.each([
    ['port-forward -n svc-gateway-system deployment/svc-operator 18085', 2],
    ['port-forward -n svc-gateway-system deployment/svc-gateway-operator 18085', 0],
    ['port-forward deployment/svc-gateway-operator 18086', 1],
    ['port-forward service/svc-gateway 8080:81', 1],
    ['port-forward pod/gateway-1', 1],
    ['port-forward POD 18082', 0],
    ['get lease svc-lease', 1],
    ['get secret NAME', 0],
    ['get pods -l app.kubernetes.io/component=operators', 1],
    ['rollout restart -n shop deployment/orders', 0],
  ])('%s: %d faults', (command, count) => {
    expect(faultsOf(command.split(' '), installed)).toHaveLength(count)
  })
})
