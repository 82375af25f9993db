// A wrong value ends in words that name it; every value that there is may be given, and is described.

import { readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, jest } from '@jest/globals'
import { parse } from 'yaml'
import { CHART, helmAvailability, renderChart, renderObjects, runHelm } from '../support/helm.ts'
import { onlyInTestAll } from '../support/availability.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { describeWhenAvailable } from '../support/when-available.ts'

jest.setTimeout(120_000)

/** A hundred renderings and more. */
const HELM = onlyInTestAll('helm', helmAvailability())

const VALUES = readFileSync(join(CHART, 'values.yaml'), 'utf8')

const EMPTY_VOLUME = { name: 'v', emptyDir: {} }

const WRONG: readonly (readonly [values: object, says: string | RegExp])[] = [
  [{ replica: 2 }, "additional properties 'replica' not allowed"],
  [{ gateway: { replica: 2 } }, /at '\/gateway': additional properties 'replica' not allowed/],
  [{ gateway: { replicas: 'two' } }, /at '\/gateway\/replicas': got string, want null or integer/],
  [{ gateway: { replicas: -1 } }, /at '\/gateway\/replicas'/],
  [{ operator: { replicas: 1.5 } }, /at '\/operator\/replicas'/],
  [{ operator: { logLevel: 'verbose' } }, /at '\/operator\/logLevel'/],
  [{ image: { digest: 'sha256:abc' } }, /at '\/image\/digest'/],
  [{ image: { pullPolicy: 'Sometimes' } }, /at '\/image\/pullPolicy'/],
  [{ hostOwnership: 'mine' }, /at '\/hostOwnership'/],
  [{ class: 'A B' }, /at '\/class'/],
  [{ namespaceQuota: { documents: -1 } }, /at '\/namespaceQuota\/documents'/],
  [{ namespaceQuota: { mb: '128Mi' } }, /at '\/namespaceQuota\/mb': got string, want integer/],
  [{ namespaceQuota: { bytes: 1 } }, "additional properties 'bytes' not allowed"],
  [{ watch: { namespaces: 'shop' } }, /at '\/watch\/namespaces': got string, want array/],
  [{ gateway: { service: { type: 'Cluster' } } }, /at '\/gateway\/service\/type'/],
  [{ gateway: { service: { port: 70000 } } }, /at '\/gateway\/service\/port'/],
  [{ gateway: { accessLog: 'sometimes' } }, /at '\/gateway\/accessLog'/],
  [{ gateway: { extraArgs: ['log-level=debug'] } }, /at '\/gateway\/extraArgs\/0'/],
  [{ gateway: { tls: { secrets: [{ name: 'a' }] } } }, /at '\/gateway\/tls\/secrets\/0'/],
  [{ gateway: { constructor: 1 } }, "additional properties 'constructor' not allowed"],
  // The operator would not start with it.
  [
    { sidecar: { resources: { limits: { 'ephemeral-storage': '1Gi' } } } },
    /at '\/sidecar\/resources\/limits'/,
  ],
  [{ redis: { away: 'ignore' } }, /at '\/redis\/away'/],
  [{ tracing: { share: 2 } }, /at '\/tracing\/share'/],
  [{ tracing: { endpoint: 'collector:4318' } }, /at '\/tracing\/endpoint'/],
  [{ commonLabels: { a: 1 } }, /at '\/commonLabels\/a'/],
  [
    { metrics: { serviceMonitor: { interval: 'often' } } },
    /at '\/metrics\/serviceMonitor\/interval'/,
  ],
  [
    { metrics: { prometheusRule: { disabled: ['NoSuchAlert'] } } },
    /at '\/metrics\/prometheusRule\/disabled\/0'/,
  ],
  // What several values say together.
  [{ gateway: { terminationGracePeriodSeconds: 20 } }, 'gateway.terminationGracePeriodSeconds'],
  [{ gateway: { service: { port: 0 } } }, 'gateway.service.port'],
  [
    { gateway: { autoscaling: { enabled: true, minReplicas: 9, maxReplicas: 3 } } },
    'gateway.autoscaling.minReplicas',
  ],
  [{ gateway: { extraCa: { configMap: 'a', secret: 'b' } } }, 'gateway.extraCa'],
  [{ sidecar: { enabled: true }, webhook: { enabled: false } }, 'sidecar.enabled'],
  [
    { sidecar: { enabled: true, namespaces: ['a'] }, watch: { namespaces: ['b'] } },
    'sidecar.namespaces',
  ],
  // Kubernetes would put 80 % of CPU in its place.
  [
    { gateway: { autoscaling: { enabled: true, targetCPUUtilizationPercentage: 0 } } },
    'gateway.autoscaling.targetCPUUtilizationPercentage: 0 leaves no metric',
  ],
  ...[0, '0%'].flatMap(
    (none) =>
      [
        [{ gateway: { maxSurge: none } }, 'gateway.maxSurge: with 0 no rollout can begin'],
        [
          { gateway: { podDisruptionBudget: { maxUnavailable: none } } },
          'gateway.podDisruptionBudget.maxUnavailable: with 0 no Pod may be evicted',
        ],
      ] as const,
  ),
  ...[10, '10', '512Ki', 1048575].map(
    (sizeLimit) => [{ gateway: { state: { sizeLimit } } }, 'gateway.state.sizeLimit'] as const,
  ),
  // What an API server would say in the midst of an upgrade.
  ...(
    [
      ['nodePort', 30080, {}],
      ['tlsNodePort', 30443, { type: 'ClusterIP' }],
      ['externalTrafficPolicy', 'Local', {}],
      ['loadBalancerClass', 'a.test/lb', { type: 'NodePort' }],
      ['loadBalancerSourceRanges', ['10.0.0.0/8'], {}],
    ] as const
  ).map(
    ([name, value, more]) =>
      [{ gateway: { service: { ...more, [name]: value } } }, `gateway.service.${name}: `] as const,
  ),
  [
    { gateway: { service: { tlsPort: 80 }, tls: { secrets: ['a'] } } },
    'gateway.service.tlsPort: 80 is gateway.service.port too',
  ],
  [
    {
      gateway: {
        service: { type: 'NodePort', nodePort: 30080, tlsNodePort: 30080 },
        tls: { secrets: ['a'] },
      },
    },
    'gateway.service.tlsNodePort: 30080 is gateway.service.nodePort too',
  ],
  ...['gateway', 'operator'].flatMap(
    (part) =>
      [
        [
          { [part]: { extraVolumes: [EMPTY_VOLUME, EMPTY_VOLUME] } },
          `${part}.extraVolumes: there are two volumes "v"`,
        ],
        [
          { [part]: { extraVolumeMounts: [{ name: 'absent', mountPath: '/x' }] } },
          `${part}.extraVolumeMounts: there is no volume "absent"`,
        ],
        [
          {
            [part]: {
              extraVolumes: [EMPTY_VOLUME],
              extraVolumeMounts: [
                { name: 'v', mountPath: '/x' },
                { name: 'v', mountPath: '/x' },
              ],
            },
          },
          `${part}.extraVolumeMounts: two volumes are mounted at /x`,
        ],
      ] as const,
  ),
  [
    { gateway: { extraVolumes: [{ name: 'oidc-state', emptyDir: {} }] } },
    'gateway.extraVolumes: there are two volumes "oidc-state"',
  ],
  [
    { sidecar: { enabled: true, volumes: [EMPTY_VOLUME, EMPTY_VOLUME] } },
    'sidecar.volumes: there are two volumes "v"',
  ],
  [
    { sidecar: { enabled: true, volumeMounts: [{ name: 'absent', mountPath: '/x' }] } },
    'sidecar.volumeMounts: there is no volume "absent"',
  ],
  // Every Pod with a sidecar would fail to start.
  ...(
    [
      ['--log-levle=debug', 'sidecar.args: --log-levle is no flag of svc-gateway'],
      ['--management=:1', "sidecar.args: --management can't be given here: the injection sets"],
      ['--drain-delay-seconds=9', 'SVC_GATEWAY_DRAIN_DELAY_SECONDS'],
      ['-v', 'sidecar.args: write each as --name=value'],
      ['--log-level=loud', 'sidecar.args: --log-level: "loud" is not valid; expected one of'],
      ['--max-routes=5', "--max-routes can't be given here: documents.maxRoutes sets it"],
    ] as const
  ).map(([arg, says]) => [{ sidecar: { enabled: true, args: [arg] } }, says] as const),
  // A Pod would end at once, or be killed under the first large document.
  ...(
    [
      ['trustedProxies', '10.0.0.0/33'],
      ['publicProxyProtocol', 'fd00::/129'],
      ['upstreamAllow', 'nonsense///'],
    ] as const
  ).map(
    ([name, value]) =>
      [
        { gateway: { [name]: ['10.0.0.0/8', value] } },
        `gateway.${name}: "${value}" is not valid; expected`,
      ] as const,
  ),
  [{ cluster: { networks: ['10.0.0'] } }, 'cluster.networks: "10.0.0" is not valid'],
  [{ networkPolicy: { apiServerCidrs: ['10.0.0.4/40'] } }, 'networkPolicy.apiServerCidrs'],
  [
    {
      gateway: { service: { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.4'] } },
    },
    'gateway.service.loadBalancerSourceRanges: "10.0.0.4" is no CIDR',
  ],
  ...(
    [
      [['--bogus'], '--bogus is no flag of svc-gateway'],
      [['--public=:80'], "--public can't be given here: the chart sets it"],
      [['--log-level=debug'], "--log-level can't be given here: gateway.logLevel sets it"],
      [['--drain-delay-seconds=4'], "--drain-delay-seconds can't be given here: set gateway.drain"],
      [['--max-connections'], '--max-connections has no value'],
      [['--max-connections=0'], '--max-connections: "0" is not valid; expected a whole number'],
      [['--max-connections=9', '--max-connections=8'], '--max-connections is given twice'],
      [
        ['--headers-timeout-seconds=2h'],
        '--headers-timeout-seconds: "2h" is not valid; expected seconds from 1 to 3600',
      ],
      [['--redis-away=accept'], '--redis-away needs --redis too'],
    ] as const
  ).map(([extraArgs, says]) => [{ gateway: { extraArgs } }, `gateway.extraArgs: ${says}`] as const),
  [{ operator: { extraArgs: ['--bogus'] } }, 'operator.extraArgs: --bogus is no flag'],
  [{ operator: { extraArgs: ['--once'] } }, 'operator.extraArgs: --once'],
  ...(
    [
      ['SVC_GATEWAY_LOGLEVEL', 'debug', 'SVC_GATEWAY_LOGLEVEL is no setting of svc-gateway'],
      ['SVC_GATEWAY_MAX_CONNECTIONS', 'many', 'SVC_GATEWAY_MAX_CONNECTIONS: "many" is not valid'],
      ['SVC_GATEWAY_DRAIN_DELAY_SECONDS', '5', 'SVC_GATEWAY_DRAIN_DELAY_SECONDS is given twice'],
      ['NODE_OPTIONS', '--max-old-space-size=385', 'NODE_OPTIONS: a heap of 385 MB'],
    ] as const
  ).map(
    ([name, value, says]) =>
      [{ gateway: { extraEnv: [{ name, value }] } }, `gateway.extraEnv: ${says}`] as const,
  ),
  ...['gateway', 'operator'].map(
    (part) =>
      [
        { [part]: { resources: { limits: { memory: '255Mi' } } } },
        `${part}.resources.limits.memory: 255Mi is too little`,
      ] as const,
  ),
  [
    { gateway: { processes: 8, resources: { limits: { memory: '1Gi' } } } },
    '128Mi while a large document is compiled, are 1152Mi',
  ],
  [
    { sidecar: { enabled: true, resources: { limits: { memory: '64Mi' } } } },
    'sidecar.resources.limits.memory',
  ],
  [{ fullnameOverride: 'sidecar' }, 'fullnameOverride'],
  // No Service can be called so.
  [{ fullnameOverride: 'api.gateway' }, 'fullnameOverride'],
  [{ fullnameOverride: '1st' }, 'fullnameOverride'],
  // As `wildcardNamespaces` has it; here it would be a namespace of that name.
  [{ watch: { namespaces: ['all'] } }, 'watch.namespaces'],
]

describeWhenAvailable('a wrong value', HELM, () => {
  it.each(WRONG)('%j is named', async (values, says) => {
    await expect(renderChart({ values })).rejects.toThrow(says)
  })
})

type Schema = Readonly<{
  type?: string | readonly string[]
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  $ref?: string
}>

const SCHEMA = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema & {
  readonly definitions: Readonly<Record<string, Schema>>
}

interface ValuePlace {
  readonly path: readonly string[]
  readonly isRequired: boolean
}

/** Each section and setting that values.yaml has, lists and free maps as one. */
const placesIn = (value: unknown, schema: Schema, path: readonly string[] = []): ValuePlace[] => {
  const { properties = {}, required = [] } =
    schema.$ref === undefined
      ? schema
      : (SCHEMA.definitions[schema.$ref.slice('#/definitions/'.length)] ?? {})
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(properties).flatMap(([name, each]) => {
    if (!Object.hasOwn(value, name)) return []
    const place = { path: [...path, name], isRequired: required.includes(name) }
    return [place, ...placesIn((value as Record<string, unknown>)[name], each, place.path)]
  })
}

const nullAt = (path: readonly string[]): object =>
  path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), null) as object

const PLACES = placesIn(parse(VALUES), SCHEMA)
const NULLS = PLACES.map(
  ({ path, isRequired }) => [path.join('.'), path, isRequired ? 'refused' : 'taken'] as const,
)

describeWhenAvailable('null for a section or setting', HELM, () => {
  it.each(NULLS.filter(([, , fate]) => fate === 'refused'))(
    '%s is refused in words',
    async (_name, path) => {
      const at = path
        .slice(0, -1)
        .map((name) => `/${name}`)
        .join('')
      const says = new RegExp(`at '${at}': missing propert(?:y|ies) .*'${String(path.at(-1))}'`)
      await expect(renderChart({ values: nullAt(path) })).rejects.toThrow(says)
    },
  )

  const taken = NULLS.filter(([, , fate]) => fate === 'taken').map(([, path]) => path)
  const isSection = (path: readonly string[]): boolean =>
    PLACES.some((each) => each.path.length > path.length && isWithin(each.path, path))
  const isWithin = (path: readonly string[], section: readonly string[]): boolean =>
    section.every((name, i) => path[i] === name)

  // Together, as helm takes a moment for each.
  it.each([
    ['setting', taken.filter((path) => !isSection(path))],
    ['section', taken.filter(isSection)],
  ])('every other %s at once is as if it were not given', async (_name, paths) => {
    expect(paths.length).toBeGreaterThan(1)
    const values: Record<string, unknown> = {}
    for (const path of paths) {
      let at = values
      for (const name of path.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>
      const last = path.at(-1) ?? ''
      at[last] ??= null
    }
    const objects = await renderObjects({ values })
    expect(objects.map(({ kind }) => kind)).toContain('Deployment')
    expect(JSON.stringify(objects)).not.toMatch(/<no value>|<nil>/)
  })
})

describeWhenAvailable('a chart that has this one as a dependency', HELM, () => {
  it.each([true, false])('may have enabled: %j as its condition', async (isEnabled) => {
    await using directory = await makeTempDir()
    const umbrella = join(directory.path, 'umbrella')
    await mkdir(join(umbrella, 'charts'), { recursive: true })
    await symlink(CHART, join(umbrella, 'charts/svc-gateway'))
    const dependency = { name: 'svc-gateway', version: '0.1.0', condition: 'svc-gateway.enabled' }
    const chart = {
      apiVersion: 'v2',
      name: 'umbrella',
      version: '1.0.0',
      dependencies: [dependency],
    }
    await writeFile(join(umbrella, 'Chart.yaml'), JSON.stringify(chart))
    const values = { 'svc-gateway': { enabled: isEnabled }, global: { any: 'thing' } }
    const { code, stdout, stderr } = await runHelm(['template', 'demo', umbrella], { values })
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.includes('kind: Deployment')).toBe(isEnabled)
  })
})

describeWhenAvailable('what the user gives', HELM, () => {
  it('stays as it is, selectors of topologySpreadConstraints too', async () => {
    const given = [
      {
        topologyKey: 'a',
        maxSkew: 1,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { mine: 'x' } },
      },
      {
        topologyKey: 'b',
        maxSkew: 2,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchExpressions: [{ key: 'mine', operator: 'Exists' }] },
      },
      { topologyKey: 'c', maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' },
    ]
    const objects = await renderObjects({
      values: {
        gateway: { topologySpreadConstraints: given },
        operator: { topologySpreadConstraints: given },
      },
    })
    const constraints = objects
      .filter(({ kind }) => kind === 'Deployment')
      .map((object) => {
        const { template } = object['spec'] as {
          readonly template: { readonly spec: { readonly topologySpreadConstraints: unknown } }
        }
        return template.spec.topologySpreadConstraints
      })
    expect(constraints).toHaveLength(2)
    for (const each of constraints)
      expect(each).toEqual([
        given[0],
        given[1],
        {
          ...given[2],
          labelSelector: { matchLabels: expect.any(Object) as unknown },
          matchLabelKeys: ['pod-template-hash'],
        },
      ])
  })

  it('replaces Pods where it says that the image is another one', async () => {
    const annotations = async (revision?: string): Promise<readonly unknown[]> => {
      const objects = await renderObjects({ values: { image: { revision } } })
      return objects
        .filter(({ kind }) => kind === 'Deployment')
        .map((object) => {
          const { template } = object['spec'] as {
            readonly template: {
              readonly metadata: { readonly annotations: Readonly<Record<string, string>> }
            }
          }
          return template.metadata.annotations['gateway.svc.dev/image-revision']
        })
    }
    expect(await annotations('sha256:12')).toEqual(['sha256:12', 'sha256:12'])
    expect(await annotations('')).toEqual([undefined, undefined])
  })
})

describeWhenAvailable('flags of sidecars', HELM, () => {
  it('are taken as the gateway has them', async () => {
    const args = ['--log-level=debug', '--no-allow-unmanaged', '--redis=redis://redis:6379']
    const text = await renderChart({ values: { sidecar: { enabled: true, args } } })
    for (const arg of args) expect(text).toContain(`- ${arg}\n`)
  })

  it.each([
    '--management-token=Sesame-1234',
    '--redis=redis://:Sesame-1234@redis',
    'redis://:Sesame-1234@redis',
  ])('show no secret where they are refused: %s', async (arg) => {
    const rendered = renderChart({ values: { sidecar: { enabled: true, args: [arg] } } })
    await expect(rendered).rejects.toThrow('sidecar.args')
    await expect(rendered).rejects.not.toThrow('Sesame')
  })
})

describeWhenAvailable('what the programs take', HELM, () => {
  it('the chart takes too', async () => {
    const text = await renderChart({
      values: {
        cluster: { networks: ['::1', 'fd00::/8', '10.0.0.1/32'] },
        gateway: {
          publicProxyProtocol: ['fe80::1%eth0/64', '::ffff:10.0.0.1/096'],
          upstreamAllow: ['*', '*.Example.test', 'db_1.', '192.0.2.1'],
          extraArgs: [
            '--max-connections=off',
            '--allow-unmanaged',
            '--node-name=$(POD_NAME)',
            '--upstream-deny=10.0.0.0/8',
            '--upstream-deny= a.test, ,*.b.test,',
            '--keep-alive-seconds=75.5s',
            '--headers-timeout-seconds=1m',
            '--redis-away=accept',
          ],
          extraEnv: [
            { name: 'SVC_GATEWAY_REDIS', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } },
            { name: 'SVC_GATEWAY_SERVICE_PORT_HTTP', value: '80' },
            { name: 'NODE_OPTIONS', value: '--trace-warnings --max-old-space-size=384' },
          ],
          resources: { limits: { memory: 536870912 } },
        },
        operator: {
          extraArgs: ['--identity=one', '--no-data-plane-tls'],
          extraEnv: [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=300' }],
          resources: { limits: { memory: null } },
        },
      },
    })
    expect(text).toContain('- "--node-name=$(POD_NAME)"')
    // Ours gives way: twice would be refused by the API server.
    expect(text).not.toContain('max-semi-space-size')
  })
})

describeWhenAvailable('the default values', HELM, () => {
  it('may be given as they stand', async () => {
    const given = await renderChart({ values: parse(VALUES) })
    const left = await renderChart()
    const random = /oidc-state\.json: .*/
    expect(given.replace(random, '')).toBe(left.replace(random, ''))
  })
})

describeWhenAvailable('a value that YAML takes for something else', HELM, () => {
  it('stays a name: of digits, or a word such as null', async () => {
    const objects = await renderObjects({
      values: {
        operator: { serviceAccount: { name: '1e3' } },
        gateway: {
          serviceAccountName: '0123',
          tls: { secrets: ['1'] },
          extraCa: { secret: 'null' },
          oidcStateKeys: { secret: '2', key: '3' },
        },
        redis: { secret: '4', key: '5' },
        tracing: { endpoint: 'http://collector:4318', headers: { secret: '6', key: '7' } },
      },
    })
    const names: unknown[] = []
    const walk = (value: unknown, key: string): void => {
      if (/^(name|namespace|secretName|serviceAccountName|key)$/.test(key)) names.push(value)
      else if (typeof value === 'object' && value !== null)
        for (const [member, each] of Object.entries(value)) walk(each, member)
    }
    for (const object of objects) if (object.kind !== 'CustomResourceDefinition') walk(object, '')
    expect(names).toEqual(expect.arrayContaining(['1e3', '0123', '1', 'null', '2', '4', '5', '6']))
    expect(names.filter((each) => typeof each !== 'string')).toEqual([])
  })

  it('a share that is small stays one that gateways can read', async () => {
    const values = {
      gateway: { accessLog: 0.00001 },
      tracing: { endpoint: 'http://collector:4318', share: 0.00001 },
    }
    const text = await renderChart({ values })
    expect(text).toContain('- --trace-share=0.00001\n')
    expect(text).toContain('- --access-log=0.00001\n')
  })
})

it('each value is described on the line before it', () => {
  const lines = VALUES.split('\n')
  const bare = lines.filter((line, i) => {
    const isLeaf = /^ *[\w]+: *\S/.test(line) && !/^ *#/.test(line)
    const before = lines[i - 1] ?? ''
    // Inside of a default that is an object or a list.
    return isLeaf && !/^ *# /.test(before) && !isWithinDefault(lines, i)
  })
  expect(bare).toEqual([])
})

/** Some line above, less indented than ours, is described itself: ours is part of its default. */
const isWithinDefault = (lines: readonly string[], at: number): boolean => {
  let indent = indentOf(lines[at] ?? '')
  for (let i = at - 1; i >= 0; i -= 1) {
    const line = lines[i] ?? ''
    if (line.trim() === '' || line.trim().startsWith('#') || indentOf(line) >= indent) continue
    if ((lines[i - 1] ?? '').trim().startsWith('# --')) return true
    indent = indentOf(line)
  }
  return false
}

const indentOf = (line: string): number => line.length - line.trimStart().length
